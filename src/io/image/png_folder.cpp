// A folder of PNG images: every image is a sample, and its pixel values are the features.
//
// Images are searched in the folder and its subfolders, but not in hidden ones or through links to
// folders. ".png" may be in upper case; hidden files are ignored. The names are paths relative to
// the folder, in natural order: numbers by value (img2 before img10), letters regardless of case,
// and a name before longer ones that begin with it.
#include "io/common.hpp"
#include "io/image/png.hpp"
#include "io/natural_order.hpp"
#include "io/source.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <utility>

namespace cgmca::io {
namespace {

bool is_image(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension == ".png";
}

std::string in(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

class PngSource final : public BlockReader::Source {
 public:
  PngSource(const std::string& folder, std::vector<std::string> names)
      : folder_(folder), names_(std::move(names)), kind_(png_kind(in(folder_, names_.at(0)))) {
    set_integers(true);
  }

  Index features() const override { return kind_.features(); }
  std::optional<Index> samples() const override { return std::ssize(names_); }
  void skip(Index count) override { position_ += std::min(count, *samples() - position_); }

  bool single() const override { return true; }  // values have at most 16 bits
  Matrix next(Index max_samples) override { return take<double>(max_samples); }
  Eigen::MatrixXf next_single(Index max_samples) override { return take<float>(max_samples); }

 private:
  template <class Scalar>
  Dense<Scalar> take(Index max_samples) {
    const Index count = std::min(max_samples, *samples() - position_);
    Dense<Scalar> X = allocate<Scalar>(features(), count, fmt::format("'{}'", folder_));
    for (Index i = 0; i < count; ++i) {
      const std::string& name = names_[position_ + i];
      if (const ImageKind kind = decode_png(in(folder_, name), kind_, X.col(i).data()); kind != kind_) {
        throw FormatError(fmt::format("the images of '{}' differ: '{}' is {}, '{}' is {}", folder_, names_.front(),
                                      text(kind_), name, text(kind)));
      }
    }
    position_ += count;
    return X;
  }

  std::string folder_;
  std::vector<std::string> names_;
  ImageKind kind_;
  Index position_ = 0;
};

// The names of the images by key. The key is the name with `part`, in which the two folders differ,
// replaced by `mark`.
std::map<std::string, std::string> keyed(const std::string& folder, const std::string& part, const std::string& mark) {
  std::map<std::string, std::string> names;
  for (const std::string& name : list_images(folder)) {
    std::string key = name;
    for (std::size_t at = 0; !part.empty() && (at = key.find(part, at)) != std::string::npos; at += mark.size()) {
      key.replace(at, part.size(), mark);
    }
    const auto [existing, added] = names.emplace(key, name);
    if (!added) {
      throw InvalidInput(
          fmt::format("'{}' and '{}' in '{}' have the same name without '{}', so that neither can be matched",
                      existing->second, name, folder, part));
    }
  }
  return names;
}

}  // namespace

std::unique_ptr<BlockReader::Source> open_png_folder(const std::string& path, const std::string& member,
                                                     const ReadOptions&) {
  if (!member.empty()) {
    throw InvalidInput(fmt::format("'{}' is a folder of images and has no members; leave out ':{}'", path, member));
  }
  for (const char* sign : {".zarray", ".zgroup", "zarr.json"}) {
    if (std::filesystem::exists(in(path, sign)))
      throw FormatError(fmt::format(
          "'{}' is a Zarr array; the Python package reads it (cgmca.dask), or save it by numpy.save", path));
  }
  std::vector<std::string> names = list_images(path);
  if (names.empty()) throw FormatError(fmt::format("'{}' holds no PNG images", path));
  return std::make_unique<PngSource>(path, std::move(names));
}

}  // namespace cgmca::io

namespace cgmca {

std::vector<std::string> list_images(const std::string& folder) {
  std::vector<std::string> names;
  try {
    for (auto entry = std::filesystem::recursive_directory_iterator(folder); entry != std::filesystem::end(entry);
         ++entry) {
      const std::filesystem::path& path = entry->path();
      const bool hidden = path.filename().string().starts_with('.');
      if (hidden && entry->is_directory()) entry.disable_recursion_pending();
      if (hidden || !io::is_image(path) || !entry->is_regular_file()) continue;
      names.push_back(path.lexically_relative(folder).generic_string());
    }
  } catch (const std::filesystem::filesystem_error& error) {
    throw IoError(fmt::format("cannot read the folder '{}': {}", folder, error.code().message()));
  }
  std::sort(names.begin(), names.end(), io::sorts_before);
  return names;
}

ImagePairs match_images(const std::string& folder1, const std::string& folder2, const std::string& match) {
  const auto slash = match.find('/');
  if (slash == std::string::npos || match.find('/', slash + 1) != std::string::npos) {
    throw InvalidInput(
        fmt::format("'{}' does not say how the names differ; use two parts with one '/', as in real/synth", match));
  }
  const std::string part1 = match.substr(0, slash), part2 = match.substr(slash + 1);
  // The mark is a zero byte, which no file name has, so that "1real0" and "10synth" get different
  // keys. If one part is empty, the mark is empty too.
  const std::string mark = part1.empty() || part2.empty() ? std::string() : std::string(1, '\0');
  const auto names1 = io::keyed(folder1, part1, mark), names2 = io::keyed(folder2, part2, mark);

  ImagePairs found;
  for (const auto& [key, name1] : names1) {
    const auto other = names2.find(key);
    if (other != names2.end()) {
      found.pairs.emplace_back(name1, other->second);
    } else {
      found.unmatched1.push_back(name1);
    }
  }
  for (const auto& [key, name2] : names2) {
    if (!names1.contains(key)) found.unmatched2.push_back(name2);
  }
  std::sort(found.pairs.begin(), found.pairs.end(),
            [](const auto& a, const auto& b) { return io::sorts_before(a.first, b.first); });
  std::sort(found.unmatched1.begin(), found.unmatched1.end(), io::sorts_before);
  std::sort(found.unmatched2.begin(), found.unmatched2.end(), io::sorts_before);
  return found;
}

Matrix read_images(const std::string& folder, const std::vector<std::string>& names) {
  if (names.empty()) throw InvalidInput(fmt::format("no image of the folder '{}' is named; name at least one", folder));
  return io::PngSource(folder, names).next(std::ssize(names));
}

}  // namespace cgmca
