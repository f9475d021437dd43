#include "io/shards.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "io/natural_order.hpp"
#include "support/file.hpp"

namespace cgmca::io {
namespace {

std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  std::sort(paths.begin(), paths.end(), sorts_before);
  return paths;
}

std::vector<std::string> listed(const std::string& list) {
  std::ifstream lines(list);
  if (!lines) throw IoError(fmt::format("cannot read the list of files '{}'", list));
  const std::filesystem::path folder = std::filesystem::path(list).parent_path();
  std::vector<std::string> sources;
  for (std::string line; std::getline(lines, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    sources.push_back((folder / line).string());
  }
  if (sources.empty()) throw FormatError(fmt::format("the list '{}' names no file; write one name a line", list));
  return sources;
}

class Shards : public BlockReader::Source {
 public:
  Shards(std::vector<std::string> sources, OpenOne open) : sources_(std::move(sources)), open_(std::move(open)) {
    for (std::size_t i = 0; i < sources_.size(); ++i) look_at(i);
    current_ = open_(sources_.front());
  }

  Index features() const override { return features_; }
  std::optional<Index> samples() const override {
    Index sum = 0;
    for (const auto& count : counts_) {
      if (!count) return std::nullopt;
      sum += *count;
    }
    return sum;
  }
  const std::vector<std::string>& ids() const override { return ids_; }
  bool is_text() const override { return text_; }
  std::vector<std::string> notes() const override { return notes_; }
  bool streams() const override { return streams_; }
  bool single() const override { return single_; }
  Matrix next(Index max_samples) override { return take<double>(max_samples); }
  Eigen::MatrixXf next_single(Index max_samples) override { return take<float>(max_samples); }

  void skip(Index count) override {
    while (count > 0) {
      if (!counts_[which_]) count_current();
      const Index some = std::min(count, *counts_[which_] - position_);
      if (some > 0) {
        current_->skip(some);
        position_ += some;
        count -= some;
      }
      if (count == 0) return;
      if (!open_next())
        throw InvalidInput(fmt::format("cannot skip {} more samples: '{}' ends", count, sources_.back()));
    }
  }

  void count() override {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (!counts_[i]) counts_[i] = count_of(sources_[i]);
    }
  }

  std::string place(Index sample, Index feature, bool columns) const override {
    std::size_t i = 0;
    for (; i < which_ && sample >= *counts_[i]; ++i) sample -= *counts_[i];
    const std::string there =
        i == which_ ? current_->place(sample, feature, columns) : open_(sources_[i])->place(sample, feature, columns);
    return fmt::format("{} of '{}'", there, sources_[i]);
  }

 private:
  // All have the same features; what one is, the whole is.
  void look_at(std::size_t i) {
    const auto source = open_(sources_[i]);
    counts_.push_back(source->samples());
    if (i == 0) {
      features_ = source->features();
      set_feature_names(source->feature_names());
      notes_ = source->notes();
      text_ = source->is_text();
      set_integers(source->integers());
    }
    if (source->features() != features_)
      throw WrongDimension(fmt::format("'{}' has {} features, '{}' has {}; the files of one domain must be alike",
                                       sources_[i], source->features(), sources_[0], features_));
    if (source->feature_names() != feature_names())
      throw InvalidInput(
          fmt::format("'{}' has other names of features, or another order, than '{}'", sources_[i], sources_[0]));
    single_ = single_ && source->single();
    streams_ = streams_ && source->streams();
    if (integers() != source->integers()) set_integers(false);
  }

  Index count_of(const std::string& source) const {
    const auto opened = open_(source);
    opened->count();
    return *opened->samples();
  }
  void count_current() { counts_[which_] = count_of(sources_[which_]); }

  bool open_next() {
    counts_[which_] = position_;
    if (which_ + 1 == sources_.size()) return false;
    current_.reset();
    current_ = open_(sources_[++which_]);
    position_ = 0;
    return true;
  }

  // As many as asked for, of as many files as it takes, so that blocks do not depend on how the samples were cut.
  template <class Scalar>
  Dense<Scalar> take(Index max_samples) {
    ids_.clear();
    std::vector<Dense<Scalar>> parts;
    Index count = 0;
    while (count < max_samples) {
      Dense<Scalar> part = next_of<Scalar>(*current_, max_samples - count);
      ids_.insert(ids_.end(), current_->ids().begin(), current_->ids().end());
      if (part.cols() == 0) {
        if (!open_next()) break;
        continue;
      }
      count += part.cols();
      position_ += part.cols();
      parts.push_back(std::move(part));
    }
    if (parts.size() == 1) return std::move(parts.front());
    Dense<Scalar> all(features_, count);
    count = 0;
    for (const Dense<Scalar>& part : parts) {
      all.middleCols(count, part.cols()) = part;
      count += part.cols();
    }
    return all;
  }

  std::vector<std::string> sources_;
  OpenOne open_;
  Index features_ = 0;
  std::vector<std::optional<Index>> counts_;  // samples of each
  bool single_ = true, streams_ = true, text_ = false;
  std::vector<std::string> notes_, ids_;
  std::unique_ptr<BlockReader::Source> current_;
  std::size_t which_ = 0;  // the current one
  Index position_ = 0;     // within it
};

}  // namespace

std::optional<std::vector<std::string>> shards_of(const std::string& source) {
  if (exists(source)) return std::nullopt;
  if (source.starts_with('@')) return listed(source.substr(1));
  if (source.find_first_of("*?[") == std::string::npos) return std::nullopt;
  std::vector<std::string> paths = matching(source);
  if (!paths.empty()) return paths;
  const auto colon = source.rfind(':');
  if (colon != std::string::npos && colon > 0 && source.find_first_of("*?[", colon) == std::string::npos) {
    paths = matching(source.substr(0, colon));
    for (std::string& path : paths) path += source.substr(colon);
  }
  if (paths.empty()) throw IoError(fmt::format("no file fits the pattern '{}'", source));
  return paths;
}

std::unique_ptr<BlockReader::Source> open_shards(std::vector<std::string> sources, const OpenOne& open) {
  return std::make_unique<Shards>(std::move(sources), open);
}

FileInfo describe_shards(const std::string& pattern, const std::vector<std::string>& files) {
  FileInfo all = describe_file(file_of(files.front()));
  for (std::size_t i = 1; i < files.size(); ++i) {
    const FileInfo one = describe_file(file_of(files[i]));
    if (one.arrays.size() != 1 || all.arrays.size() != 1 || one.arrays[0].shape.empty() ||
        one.arrays[0].shape.size() != all.arrays[0].shape.size())
      throw InvalidInput(fmt::format(
          "'{}' stands for {} files that are not alike or hold several arrays; name one file", pattern, files.size()));
    all.arrays[0].shape[0] += one.arrays[0].shape[0];
    if (all.arrays[0].missing && one.arrays[0].missing) *all.arrays[0].missing += *one.arrays[0].missing;
  }
  all.format = fmt::format("{} files, the first: {}", files.size(), all.format);
  return all;
}

}  // namespace cgmca::io

namespace cgmca {

std::vector<std::string> files_of(const std::string& source) {
  if (source == "-") return {};
  std::vector<std::string> files;
  for (const std::string& one : io::shards_of(source).value_or(std::vector<std::string>{source})) {
    files.push_back(file_of(one));
  }
  if (files.size() > 1 && source.starts_with('@')) files.push_back(source.substr(1));
  return files;
}

}  // namespace cgmca
