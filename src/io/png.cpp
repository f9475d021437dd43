// A folder of PNG images: every image is a sample, its pixel values the features.
//
// Images are found in the folder and its subfolders (not through links to folders), whatever the
// case of ".png", hidden files left out; their names are paths relative to the folder, in natural
// order: numbers by value (img2 before img10), letters without regard to case, then a name before
// its continuations.
//
// Values are those stored, neither scaled nor corrected for gamma or colour profile: 0..255, or
// 0..65535 from 16-bit files. What is stored in fewer than 8 bits, or through a palette, is spread
// to the 8 bits it stands for, since PNG optimizers choose such storage file by file without
// changing the picture; a palette of greys alone gives a grey image.
//
//   grey    h·w     features, row by row
//   colour  h·w·3   features, red, green and blue of a pixel together (as NumPy's h × w × 3)
//
// Opaque alpha is dropped. Transparency is refused: which background was meant is not ours to say.
#include "io/png.hpp"

#include "io/bytes.hpp"
#include "io/common.hpp"
#include "io/source.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

namespace cgmca::io {
namespace {

namespace fs = std::filesystem;

// ---- decoding ----

using FilePointer = std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })>;

// libpng leaves an error by longjmp, which must not pass over destructors. Every function here that
// calls setjmp therefore owns nothing, changes no local variable after it, and returns false where
// libpng gave up; whatever needs destroying belongs to the Decoder, whose destructor runs in any
// case.
class Decoder {
 public:
  explicit Decoder(const std::string& path)
      : path_(path), bytes_(File(path).size()), file_(std::fopen(path.c_str(), "rb")) {
    if (!file_) throw IoError(fmt::format("cannot read '{}': {}", path, std::strerror(errno)));
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw IoError(fmt::format("no memory to read '{}'", path));
    }
  }
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  ImageKind header() {
    if (!read_header()) fail();
    // Deflate makes 1032 bytes of one at most: a size beyond that is a lie to be found out before
    // memory is taken for it.
    constexpr std::uint64_t deflate = 1032;
    const std::uint64_t promised = std::uint64_t{stored_row_} * height_;
    if (promised / deflate > bytes_) {
      throw FormatError(
          fmt::format("'{}' claims {}×{} pixels, which its {} bytes cannot hold", path_, width_, height_, bytes_));
    }
    return {.width = width_, .height = height_, .channels = channels_ <= 2 || grey_palette_ ? 1 : 3, .bits = depth_};
  }

  // libpng's rows hold colours, then alpha where there is one, 16-bit values big-endian.
  void pixels(const ImageKind& kind, double* values) {
    make_rows();
    if (!read_pixels()) fail();
    const auto kept = static_cast<std::size_t>(kind.channels);
    const std::size_t colours = channels_ - (channels_ + 1) % 2;
    const std::size_t width = depth_ == 16 ? 2 : 1, opaque = depth_ == 16 ? 65535 : 255;
    const png_byte* next = store_.data();
    for (std::size_t pixel = 0; pixel < std::size_t{width_} * height_; ++pixel) {
      for (std::size_t channel = 0; channel < channels_; ++channel, next += width) {
        const std::size_t value = width == 2 ? std::size_t{next[0]} << 8 | next[1] : next[0];
        if (channel < kept) {
          values[pixel * kept + channel] = static_cast<double>(value);
        } else if (channel == colours && value != opaque) {
          throw FormatError(
              fmt::format("'{}' is transparent at row {}, column {} (alpha {} of {}); lay it on a background", path_,
                          pixel / width_, pixel % width_, value, opaque));
        }
      }
    }
  }

 private:
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, file_.get(), read_bytes);
    // -1: gamma, profiles, texts and every other chunk that does not make up the pixels
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_read_info(png_, info_);
    stored_row_ = png_get_rowbytes(png_, info_);
    width_ = png_get_image_width(png_, info_);
    height_ = png_get_image_height(png_, info_);
    png_set_expand(png_);  // palette to colour, 1, 2 and 4 bits to 8, transparent colours to alpha
    grey_palette_ = has_grey_palette();
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    row_ = png_get_rowbytes(png_, info_);
    depth_ = png_get_bit_depth(png_, info_);
    channels_ = png_get_channels(png_, info_);
    return true;
  }

  void make_rows() {
    try {
      store_.resize(row_ * height_);
      rows_.resize(height_);
    } catch (const std::bad_alloc&) {
      throw IoError(fmt::format("no memory for the {}×{} pixels of '{}'", width_, height_, path_));
    }
    for (std::size_t y = 0; y < height_; ++y) rows_[y] = store_.data() + y * row_;
  }

  bool read_pixels() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows_.data());
    png_read_end(png_, nullptr);
    return true;
  }

  bool has_grey_palette() {
    png_colorp palette = nullptr;
    int count = 0;
    if (png_get_PLTE(png_, info_, &palette, &count) == 0 || png_get_color_type(png_, info_) != PNG_COLOR_TYPE_PALETTE) {
      return false;
    }
    return std::all_of(palette, palette + count, [](const png_color& colour) {
      return colour.red == colour.green && colour.green == colour.blue;
    });
  }

  static void read_bytes(png_structp png, png_bytep to, std::size_t count) {
    auto* file = static_cast<std::FILE*>(png_get_io_ptr(png));
    if (std::fread(to, 1, count, file) != count) png_error(png, "the file ends too early");
  }

  static void on_error(png_structp png, png_const_charp message) {
    auto* self = static_cast<Decoder*>(png_get_error_ptr(png));
    std::strncpy(self->message_.data(), message, self->message_.size() - 1);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}  // the pixels are sound all the same

  [[noreturn]] void fail() const {
    if (std::ferror(file_.get()) != 0) throw IoError(fmt::format("cannot read '{}'", path_));
    throw FormatError(fmt::format("'{}' ({} bytes) is no sound PNG image: {}", path_, bytes_, message_.data()));
  }

  std::string path_;
  std::uint64_t bytes_;
  FilePointer file_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::size_t stored_row_ = 0, row_ = 0, channels_ = 0;
  png_uint_32 width_ = 0, height_ = 0;
  int depth_ = 0;
  bool grey_palette_ = false;
  std::vector<png_byte> store_;
  std::vector<png_bytep> rows_;
  std::array<char, 200> message_{};
};

// ---- names ----

// Negative, zero, positive as a sorts before, with, after b. '/' sorts before every character, so
// that a subfolder's files stay together.
int natural_order(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto rank = [](char c) { return c == '/' ? 0 : std::tolower(static_cast<unsigned char>(c)); };
  const auto take_number = [&](std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    std::string_view number = text.substr(0, end);
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    text.remove_prefix(end);
    return number;
  };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const std::string_view m = take_number(a), n = take_number(b);
      if (m.size() != n.size()) return m.size() < n.size() ? -1 : 1;
      if (const int order = m.compare(n); order != 0) return order;
    } else {
      if (const int order = rank(a.front()) - rank(b.front()); order != 0) return order;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

// Names that differ in case or leading zeros alone: by their bytes, so that the order is one.
bool sorts_before(const std::string& a, const std::string& b) {
  const int order = natural_order(a, b);
  return order != 0 ? order < 0 : a < b;
}

bool is_image(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension == ".png";
}

std::vector<std::string> list_images(const std::string& folder) {
  std::vector<std::string> names;
  try {
    for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::end(entry); ++entry) {
      const fs::path& path = entry->path();
      const bool hidden = path.filename().string().starts_with('.');
      if (hidden && entry->is_directory()) entry.disable_recursion_pending();
      if (hidden || !is_image(path) || !entry->is_regular_file()) continue;
      names.push_back(path.lexically_relative(folder).generic_string());
    }
  } catch (const fs::filesystem_error& error) {
    throw IoError(fmt::format("cannot read the folder '{}': {}", folder, error.code().message()));
  }
  std::sort(names.begin(), names.end(), sorts_before);
  return names;
}

std::string in(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

class PngSource final : public BlockReader::Source {
 public:
  PngSource(const std::string& folder, std::vector<std::string> names)
      : folder_(folder), names_(std::move(names)), kind_(Decoder(in(folder_, names_.at(0))).header()) {}

  Index features() const override { return kind_.features(); }
  std::optional<Index> samples() const override { return static_cast<Index>(names_.size()); }
  void skip(Index count) override { position_ += std::min(count, *samples() - position_); }

  Matrix next(Index max_samples) override {
    const Index count = std::min(max_samples, *samples() - position_);
    Matrix X = allocate(features(), count, fmt::format("'{}'", folder_));
    for (Index i = 0; i < count; ++i) {
      const std::string& name = names_[static_cast<std::size_t>(position_ + i)];
      Decoder decoder(in(folder_, name));
      if (const ImageKind kind = decoder.header(); kind != kind_) {
        throw FormatError(fmt::format("the images of '{}' differ: '{}' is {}, '{}' is {}", folder_, names_.front(),
                                      text(kind_), name, text(kind)));
      }
      decoder.pixels(kind_, X.col(i).data());
    }
    position_ += count;
    return X;
  }

 private:
  std::string folder_;
  std::vector<std::string> names_;
  ImageKind kind_;
  Index position_ = 0;
};

// Names by what is left once the part that differs is marked; removed, where one side has none.
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
          fmt::format("'{}' and '{}' in '{}' are the same name without '{}'", existing->second, name, folder, part));
    }
  }
  return names;
}

}  // namespace

std::string text(const ImageKind& kind) {
  return fmt::format("{}×{} {} {}-bit", kind.width, kind.height, kind.channels == 1 ? "grey" : "colour", kind.bits);
}

Image decode_png(const std::string& path) {
  Decoder decoder(path);
  Image image{.kind = decoder.header(), .values = {}};
  image.values = allocate(image.kind.features(), 1, fmt::format("'{}'", path));
  decoder.pixels(image.kind, image.values.data());
  return image;
}

std::unique_ptr<BlockReader::Source> open_png_folder(const std::string& path, const std::string& member,
                                                     const ReadOptions&) {
  if (!member.empty()) {
    throw InvalidInput(fmt::format("'{}' is a folder of images and has no '{}'", path, member));
  }
  std::vector<std::string> names = list_images(path);
  if (names.empty()) throw FormatError(fmt::format("'{}' holds no PNG images", path));
  return std::make_unique<PngSource>(path, std::move(names));
}

}  // namespace cgmca::io

namespace cgmca {

ImagePairs match_images(const std::string& folder1, const std::string& folder2, const std::string& match) {
  const auto slash = match.find('/');
  if (slash == std::string::npos || match.find('/', slash + 1) != std::string::npos) {
    throw InvalidInput(
        fmt::format("'{}' does not say how the names differ; use two parts with one '/', as in real/synth", match));
  }
  const std::string part1 = match.substr(0, slash), part2 = match.substr(slash + 1);
  // No file name holds a zero byte: a mark keeps "1real0" apart from "10synth".
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
  if (names.empty()) throw InvalidInput(fmt::format("no image of '{}' is named", folder));
  return io::PngSource(folder, names).next(static_cast<Index>(names.size()));
}

}  // namespace cgmca
