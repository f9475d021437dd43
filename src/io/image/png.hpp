// One PNG image, decoded.
#pragma once

#include <cgmca/types.hpp>

#include <string>

namespace cgmca::io {

struct ImageKind {
  Index width = 0, height = 0;
  Index channels = 1;  // 1 grey, 3 colour
  int bits = 8;        // 8: values 0..255; 16: 0..65535

  Index features() const { return width * height * channels; }
  bool operator==(const ImageKind&) const = default;
};

std::string text(const ImageKind& kind);  // "128×128 grey 8-bit"

struct Image {
  ImageKind kind;
  Vector values;  // row by row, channels together: height × width × channels
};

// Throws IoError (cannot be read) or FormatError (not a PNG, damaged, or transparent).
Image decode_png(const std::string& path);

// png_kind() reads only the header. The other reads kind.features() values, if the image is of the
// wanted kind.
ImageKind png_kind(const std::string& path);
template <class Scalar>  // double or float
ImageKind decode_png(const std::string& path, const ImageKind& wanted, Scalar* values);

}  // namespace cgmca::io
