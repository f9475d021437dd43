// The interface of every format in src/io/: it reads the samples in order, in blocks.
#pragma once

#include <cgmca/io.hpp>
#include <functional>
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
  virtual std::vector<std::string> feature_names() const { return names_; }  // all different, or empty
  void set_feature_names(std::vector<std::string> names) { names_ = std::move(names); }
  virtual const std::vector<std::string>& ids() const;  // of the samples returned last; may be empty
  // Where in the file a number is, for messages; `columns` is the option it was opened with.
  virtual std::string place(Index sample, Index feature, bool columns) const;
  virtual bool streams() const { return true; }
  virtual bool is_text() const { return false; }
  virtual std::vector<std::string> notes() const { return {}; }  // BlockReader::notes()
  // The next samples, at most max_samples, as features × samples; no columns at the end.
  virtual Matrix next(Index max_samples) = 0;
  // The same as floats. If single() is true, they represent all numbers exactly.
  virtual bool single() const { return false; }
  virtual Eigen::MatrixXf next_single(Index max_samples) { return next(max_samples).cast<float>(); }
  bool integers() const { return integers_; }  // what the file holds
  void set_integers(bool integers) { integers_ = integers; }
  virtual void skip(Index count) = 0;  // if samples() is known, count is at most what is left
  virtual void count() {}              // after it samples() is known

 private:
  std::vector<std::string> names_;
  bool integers_ = false;
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

// Each is in the source file of its format. `member` is empty if the user named none.
std::unique_ptr<BlockReader::Source> open_npy(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_npz(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_csv(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_categories(const std::string& path, const ReadOptions& options);
std::unique_ptr<BlockReader::Source> open_idx(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_mat(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_hdf5(const std::string&, const std::string&, const ReadOptions&);
std::unique_ptr<BlockReader::Source> open_png_folder(const std::string&, const std::string&, const ReadOptions&);

Index write_csv_index(const std::string& path);  // write_row_index() of a text file

// Each writes a file with one array, and replaces an existing file. `names` has one for each
// feature, or is empty.
using Names = std::vector<std::string>;
void write_npy(const std::string& path, const MatrixView& X);
void write_npz(const std::string& path, const std::string& member, const MatrixView& X, const Names& names = {});
void write_csv(const std::string& path, const MatrixView& X, char separator, const Names& names = {});
void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names = {});
void write_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names& names = {});

// The same for an existing file, to which the array is added. A member of the same name is
// replaced.
void add_to_npz(const std::string& path, const std::string& member, const MatrixView& X, const Names& names);
void add_to_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names);
void add_to_hdf5(const std::string& path, const std::string& dataset, const MatrixView& X, const Names& names);

// The same for numbers that may be in a file, by samples as rows or as columns. Text is not among them. They check the
// names of members too; check_*_name() does so before the work.
class Numbers;
enum class By;
using Written = std::function<void(Index samples)>;
struct Product {
  const std::string &target, &member;
  const Numbers& X;
  const Names& names;
  bool columns = false;  // samples are columns
  bool add = false;      // to a file that exists
  const Written& written;
};
void write_npz(const Product& product, const std::string& npy);  // a file with its numbers
void write_mat(const Product& product);
void write_hdf5(const Product& product);
void check_npz_name(const std::string& name);
void check_mat_name(const std::string& name);
void check_hdf5_name(const std::string& name);

// describe_file() for each format.
FileInfo describe_npy(const std::string& path);
FileInfo describe_npz(const std::string& path);
FileInfo describe_csv(const std::string& path);
FileInfo describe_idx(const std::string& path);
FileInfo describe_mat(const std::string& path);
FileInfo describe_hdf5(const std::string& path);
FileInfo describe_png_folder(const std::string& path);

// A matrix in memory as a source, for formats that cannot be read in blocks.
std::unique_ptr<BlockReader::Source> in_memory(Matrix X);
std::unique_ptr<BlockReader::Source> in_memory(Eigen::MatrixXf X);

}  // namespace io
}  // namespace cgmca
