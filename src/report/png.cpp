#include "report/png.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>

#include "support/atomic_file.hpp"

namespace cgmca::report {
namespace {

void check(const Image& image) {
  if (image.height > 0 && image.width > 0 &&
      image.pixels.size() == static_cast<std::size_t>(image.height * image.width)) {
    return;
  }
  throw InvalidInput(fmt::format("a {}×{} image with {} pixels", image.height, image.width, image.pixels.size()));
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t present = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < present ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= present ? digits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

}  // namespace

Image gray(std::span<const double> values, Index height, Index width, double low, double high) {
  Image image{height, width, std::vector<std::uint8_t>(values.size())};
  check(image);
  const double scale = high > low ? 255 / (high - low) : 0;
  std::transform(values.begin(), values.end(), image.pixels.begin(), [&](double value) {
    const double level = (value - low) * scale;
    return static_cast<std::uint8_t>(level > 0 ? std::lround(std::min(level, 255.0)) : 0);  // NaN > 0 is false
  });
  return image;
}

Image montage(std::span<const Image> images, Index columns, Index gap, std::uint8_t background) {
  if (images.empty() || columns < 1 || gap < 0) {
    throw InvalidInput(fmt::format("a montage of {} images in {} columns, gap {}", images.size(), columns, gap));
  }
  const Index height = images[0].height, width = images[0].width, count = std::ssize(images);
  columns = std::min(columns, count);
  const Index rows = (count + columns - 1) / columns;
  Image whole{gap + rows * (height + gap), gap + columns * (width + gap), {}};
  whole.pixels.assign(static_cast<std::size_t>(whole.height * whole.width), background);
  for (Index k = 0; k < count; ++k) {
    const Image& image = images[k];
    check(image);
    if (image.height != height || image.width != width) {
      throw InvalidInput(
          fmt::format("a montage of {}×{} images with one of {}×{}", height, width, image.height, image.width));
    }
    const Index top = gap + k / columns * (height + gap), left = gap + k % columns * (width + gap);
    for (Index i = 0; i < height; ++i) {
      std::copy_n(image.pixels.begin() + i * width, width, whole.pixels.begin() + (top + i) * whole.width + left);
    }
  }
  return whole;
}

Image enlarge(const Image& image, Index factor) {
  check(image);
  if (factor < 1) throw InvalidInput(fmt::format("an image enlarged {} times", factor));
  Image large{image.height * factor, image.width * factor, {}};
  large.pixels.reserve(static_cast<std::size_t>(large.height * large.width));
  for (Index i = 0; i < large.height; ++i) {
    for (Index j = 0; j < large.width; ++j) {
      large.pixels.push_back(image.pixels[i / factor * image.width + j / factor]);
    }
  }
  return large;
}

std::vector<std::uint8_t> png(const Image& image) {
  check(image);
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::vector<std::uint8_t> bytes(size);
  if (png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
    throw IoError(fmt::format("cannot encode a {}×{} image as PNG: {}", image.height, image.width, header.message));
  }
  bytes.resize(size);
  return bytes;
}

void write_png(const std::string& path, const Image& image) {
  const std::vector<std::uint8_t> bytes = png(image);
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

std::string data_uri(const Image& image) { return "data:image/png;base64," + base64(png(image)); }

}  // namespace cgmca::report
