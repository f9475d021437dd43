// One PNG image, by libpng.
//
// The values are the stored ones, neither scaled nor corrected for gamma or colour profile: 0..255,
// or 0..65535 from 16-bit files. Palettes, and values of fewer than 8 bits, are expanded to 8 bits,
// because PNG optimizers choose such storage for each file without changing the picture. A palette
// of greys only gives a grey image.
//
//   grey    h·w     features, row by row
//   colour  h·w·3   features, red, green and blue of a pixel together (as NumPy's h × w × 3)
//
// Opaque alpha is dropped. Transparent images are refused, because the background is unknown.
#include "io/image/png.hpp"

#include "io/common.hpp"
#include "support/file.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace cgmca::io {
namespace {

using FilePointer = std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })>;

// libpng reports errors by longjmp, which must not skip destructors. So a function here that calls
// setjmp owns nothing, changes no local variable after it, and returns false if libpng fails.
// Everything that must be destroyed belongs to the Decoder, whose destructor always runs.
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
    // Deflate expands a byte to at most 1032. A larger image size is wrong, and is refused before
    // memory is allocated for it.
    constexpr std::uint64_t deflate = 1032;
    const std::uint64_t promised = std::uint64_t{stored_row_} * height_;
    if (promised / deflate > bytes_) {
      throw FormatError(
          fmt::format("'{}' claims {}×{} pixels, which its {} bytes cannot hold", path_, width_, height_, bytes_));
    }
    return {.width = width_, .height = height_, .channels = channels_ <= 2 || grey_palette_ ? 1 : 3, .bits = depth_};
  }

  // A pixel in libpng's rows has its colours, then alpha if there is one; 16-bit values are
  // big-endian.
  template <class Scalar>
  void pixels(const ImageKind& kind, Scalar* values) {
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
          values[pixel * kept + channel] = static_cast<Scalar>(value);
        } else if (channel == colours && value != opaque) {
          throw FormatError(fmt::format(
              "'{}' is transparent at row {}, column {} (alpha {} of {}); save it with an opaque background", path_,
              pixel / width_, pixel % width_, value, opaque));
        }
      }
    }
  }

 private:
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, file_.get(), read_bytes);
    // -1: ignore gamma, profiles, texts and all other chunks without pixels
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
  static void on_warning(png_structp, png_const_charp) {}  // warnings do not concern the pixels

  [[noreturn]] void fail() const {
    if (std::ferror(file_.get()) != 0) throw IoError(fmt::format("cannot read '{}'", path_));
    throw FormatError(fmt::format("'{}' ({} bytes) is not a valid PNG image: {}", path_, bytes_, message_.data()));
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

}  // namespace

std::string text(const ImageKind& kind) {
  return fmt::format("{}×{} {} {}-bit", kind.width, kind.height, kind.channels == 1 ? "grey" : "colour", kind.bits);
}

Image decode_png(const std::string& path) {
  Decoder decoder(path);
  Image image{.kind = decoder.header(), .values = {}};
  image.values = allocate<double>(image.kind.features(), 1, fmt::format("'{}'", path));
  decoder.pixels(image.kind, image.values.data());
  return image;
}

template <class Scalar>
ImageKind decode_png(const std::string& path, const ImageKind& wanted, Scalar* values) {
  Decoder decoder(path);
  const ImageKind kind = decoder.header();
  if (kind == wanted) decoder.pixels(kind, values);
  return kind;
}
template ImageKind decode_png(const std::string&, const ImageKind&, double*);
template ImageKind decode_png(const std::string&, const ImageKind&, float*);

ImageKind png_kind(const std::string& path) { return Decoder(path).header(); }

}  // namespace cgmca::io
