// BlockWriter: text as it comes; numbers of all other formats as those of an .npy file, from which they are copied into
// their place in another format once their number is known.
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "io/array/npy.hpp"
#include "io/numbers.hpp"
#include "io/source.hpp"
#include "io/target.hpp"
#include "io/text/csv_write.hpp"
#include "support/atomic_file.hpp"

namespace cgmca {

class BlockWriter::Target {
 public:
  explicit Target(Index features) : features_(features) {}
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual ~Target() = default;

  Index features() const { return features_; }
  Index samples() const { return samples_; }
  void add(const MatrixView& X, const std::vector<std::string>& ids) {
    append(X, ids);
    samples_ += X.cols();
  }
  virtual void commit(const io::Written& written) = 0;

 private:
  virtual void append(const MatrixView& X, const std::vector<std::string>& ids) = 0;

  Index features_, samples_ = 0;
};

namespace io {
namespace {

class TextTarget : public BlockWriter::Target {
 public:
  TextTarget(const TargetName& name, Index features, const WriteOptions& options)
      : Target(features), file_(name.path, name.extension == ".tsv" ? '\t' : ','), options_(options) {}

  void commit(const Written&) override {
    if (samples() == 0) file_.header(options_.feature_names);
    file_.commit();
  }

 private:
  void append(const MatrixView& X, const std::vector<std::string>& ids) override {
    if (X.cols() == 0) return;
    if (samples() == 0) {
      has_ids_ = !ids.empty();
      file_.header(options_.feature_names, has_ids_ ? std::optional(options_.id_name) : std::nullopt);
    }
    if (std::ssize(ids) != (has_ids_ ? X.cols() : 0))
      throw InvalidInput(
          fmt::format("{} names of samples for a block of {}; give one for each sample of every block, or none",
                      ids.size(), X.cols()));
    file_.add(X, ids, options_.single);
  }

  TextWriter file_;
  WriteOptions options_;
  bool has_ids_ = false;
};

// The numbers of an .npy file.
class NumbersInFile : public Numbers {
 public:
  NumbersInFile(const AtomicFile& file, Index features, Index samples, bool single)
      : Numbers(features, samples, single), file_(file) {}
  void read(Index first, Index count, void* to) const override {
    const std::uint64_t sample = static_cast<std::uint64_t>(features()) * size();
    file_.read_at(npy_start_size + static_cast<std::uint64_t>(first) * sample, to,
                  static_cast<std::size_t>(count) * sample);
  }

 private:
  const AtomicFile& file_;
};

class NumbersTarget : public BlockWriter::Target {
 public:
  NumbersTarget(TargetName name, Index features, const WriteOptions& options)
      : Target(features), name_(std::move(name)), options_(options), file_(place_of(name_)) {
    check();
    file_.write(start().data(), npy_start_size);
  }

  void commit(const Written& written) override {
    const std::string begin = start();
    file_.write_at(0, begin.data(), begin.size());
    if (is_npy() && place_of(name_) == name_.path) return file_.commit();
    const NumbersInFile X(file_, features(), samples(), options_.single);
    if (is_npy()) return copy_to_pipe(X, begin, written);
    if (is_text()) return write_in_one_piece(X);
    const Names& names = options_.feature_names;
    const Product product{name_.path, name_.member, X, names, options_.columns, adds(name_), written};
    if (name_.extension == ".npz") return write_npz(product, file_.temporary());
    name_.extension == ".mat" ? write_mat(product) : write_hdf5(product);
  }

 private:
  bool is_npy() const { return name_.extension == ".npy"; }
  bool is_text() const { return name_.extension == ".csv" || name_.extension == ".tsv"; }

  // The target itself if it can be written twice, otherwise a file beside it that is never committed.
  static std::string place_of(const TargetName& name) {
    std::error_code ignored;
    const bool whole =
        !std::filesystem::exists(name.path, ignored) || std::filesystem::is_regular_file(name.path, ignored);
    return name.extension == ".npy" && whole ? name.path : name.path + ".blocks";
  }

  void check() const {
    if (name_.extension == ".npz") check_npz_name(name_.member);
    if (name_.extension == ".mat") check_mat_name(name_.member);
    if (name_.extension == ".h5" || name_.extension == ".hdf5") check_hdf5_name(name_.member);
  }

  std::string start() const { return npy_start(features(), samples(), options_.single, options_.columns); }

  void append(const MatrixView& X, const std::vector<std::string>&) override {
    if (options_.single) {
      const Eigen::MatrixXf rounded = X.cast<float>();
      file_.write(rounded.data(), static_cast<std::size_t>(rounded.size()) * sizeof(float));
    } else if (X.outerStride() == X.rows()) {
      file_.write(X.data(), static_cast<std::size_t>(X.size()) * sizeof(double));
    } else {
      for (Index j = 0; j < X.cols(); ++j) {
        file_.write(X.col(j).data(), static_cast<std::size_t>(X.rows()) * sizeof(double));
      }
    }
  }

  void copy_to_pipe(const Numbers& X, const std::string& begin, const Written& written) const {
    AtomicFile pipe(name_.path);
    pipe.write(begin.data(), begin.size());
    write_numbers(
        X, By::sample, [&](std::uint64_t, const void* bytes, std::size_t count) { pipe.write(bytes, count); }, written);
    pipe.commit();
  }

  // Every sample is in every line.
  void write_in_one_piece(const Numbers& X) const {
    Matrix all(X.features(), X.samples());
    if (options_.single) {
      Eigen::MatrixXf floats(X.features(), X.samples());
      X.read(0, X.samples(), floats.data());
      all = floats.cast<double>();
    } else {
      X.read(0, X.samples(), all.data());
    }
    TextWriter text(name_.path, name_.extension == ".tsv" ? '\t' : ',');
    text.add(all.transpose(), {}, options_.single);
    text.commit();
  }

  TargetName name_;
  WriteOptions options_;
  AtomicFile file_;
};

std::unique_ptr<BlockWriter::Target> open_target(const std::string& target, Index features,
                                                 const WriteOptions& options) {
  if (features < 1)
    throw InvalidInput(fmt::format("samples of {} features cannot be written to '{}'", features, target));
  check_names(features, options.feature_names);
  TargetName name = target_name(target, options.variable);
  const bool text = name.extension == ".csv" || name.extension == ".tsv";
  if (text && !options.columns) return std::make_unique<TextTarget>(name, features, options);
  return std::make_unique<NumbersTarget>(std::move(name), features, options);
}

}  // namespace
}  // namespace io

BlockWriter::BlockWriter(const std::string& target, Index features, const WriteOptions& options)
    : target_(io::open_target(target, features, options)) {}
BlockWriter::~BlockWriter() = default;
BlockWriter::BlockWriter(BlockWriter&&) noexcept = default;
BlockWriter& BlockWriter::operator=(BlockWriter&&) noexcept = default;

Index BlockWriter::samples() const { return target_->samples(); }

void BlockWriter::add(const MatrixView& X, const std::vector<std::string>& ids) {
  if (X.rows() != target_->features())
    throw WrongDimension(fmt::format("a block of {} features for a file of {}", X.rows(), target_->features()));
  target_->add(X, ids);
}

void BlockWriter::commit(const std::function<void(Index)>& progress) { target_->commit(progress); }

}  // namespace cgmca
