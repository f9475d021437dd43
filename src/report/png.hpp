// Grey images, their PNG files, and many of them laid out as one.
#pragma once

#include <cgmca/types.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cgmca::report {

// 8-bit grey, row-major: pixel (i, j) is pixels[i·width + j]; 0 black, 255 white.
struct Image {
  Index height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};

// values (row-major, height·width of them): low and below become black, high and above white; NaN black.
Image gray(std::span<const double> values, Index height, Index width, double low = 0, double high = 1);

// Images of one size, row by row with `columns` in a row and `gap` pixels of `background` around each.
// Throws InvalidInput where sizes differ.
Image montage(std::span<const Image> images, Index columns, Index gap = 1, std::uint8_t background = 128);

// Every pixel becomes factor×factor pixels, for viewers that would blur a small image.
Image enlarge(const Image& image, Index factor);

std::vector<std::uint8_t> png(const Image& image);
void write_png(const std::string& path, const Image& image);  // atomic; throws IoError
std::string data_uri(const Image& image);                     // data:image/png;base64,…

}  // namespace cgmca::report
