// What every format of src/io/ offers: its samples in order, in blocks.
#pragma once

#include <cgmca/io.hpp>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace cgmca {

class BlockReader::Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  virtual Index features() const = 0;
  virtual std::optional<Index> samples() const = 0;
  virtual std::vector<std::string> feature_names() const { return names_; }  // one a feature, all different, or none
  void set_feature_names(std::vector<std::string> names) { names_ = std::move(names); }
  virtual const std::vector<std::string>& ids() const;  // of the samples handed out last, or none
  // Where the file has a number; `columns` as it was opened with.
  virtual std::string place(Index sample, Index feature, bool columns) const;
  virtual bool streams() const { return true; }
  // features × (at most max_samples), which may be more than there are; no columns at the end
  virtual Matrix next(Index max_samples) = 0;
  // The same in floats, which hold every number exactly where single() says so.
  virtual bool single() const { return false; }
  virtual Eigen::MatrixXf next_single(Index max_samples) { return next(max_samples).cast<float>(); }
  virtual void skip(Index count) = 0;  // at most what is left where samples() is known
  virtual void count() {}              // so that samples() is known

 private:
  std::vector<std::string> names_;
};

namespace io {

template <class Scalar>  // double or float
using Dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

template <class Scalar>
Dense<Scalar> next_of(BlockReader::Source& source, Index max_samples) {
  if constexpr (std::is_same_v<Scalar, float>)
    return source.next_single(max_samples);
  else
    return source.next(max_samples);
}

using Opener = std::unique_ptr<BlockReader::Source> (*)(const std::string& path, const std::string& member,
                                                        const ReadOptions& options);

// One source file each. `member` is empty where the user named none.
std::unique_ptr<BlockReader::Source> open_npy(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_npz(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_csv(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_idx(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_mat(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_hdf5(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_png_folder(const std::string&, const std::string&, const ReadOptions&);

Index write_csv_index(const std::string& path);  // write_row_index() of a text file

// One array each; the file is replaced. Names are one a feature, or none.
using Names = std::vector<std::string>;
void write_npy(const std::string& path, const MatrixView& X);
void write_npz(const std::string& path, const std::string& member, const MatrixView& X, const Names& names = {});
void write_csv(const std::string& path, const MatrixView& X, char separator, const Names& names = {});
void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names = {});
void write_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names& names = {});

// The same, added to a file that exists, or in place of its member of that name.
void add_to_npz(const std::string& path, const std::string& member, const MatrixView& X, const Names& names);
void add_to_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names);
void add_to_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names& names);

// What a file of each format holds, for describe_file().
FileInfo describe_npy(const std::string& path);
FileInfo describe_npz(const std::string& path);
FileInfo describe_csv(const std::string& path);
FileInfo describe_idx(const std::string& path);
FileInfo describe_mat(const std::string& path);
FileInfo describe_hdf5(const std::string& path);
FileInfo describe_png_folder(const std::string& path);

// A matrix already in memory, handed out in blocks (formats that cannot stream).
std::unique_ptr<BlockReader::Source> in_memory(Matrix X);
std::unique_ptr<BlockReader::Source> in_memory(Eigen::MatrixXf X);

}  // namespace io
}  // namespace cgmca
