// NPY arrays of doubles and of texts (see npy.cpp), in their own files or as members of NPZ
// archives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "io/array/npy.hpp"
#include "io/unicode.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::io {
namespace {

constexpr char native_order = std::endian::native == std::endian::little ? '<' : '>';

// The header ends with a newline, and is padded so that the elements begin at a multiple of 64
// bytes.
std::string start_of(const std::string& type, const std::string& shape, bool fortran = false) {
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}", native_order, type,
                                   fortran ? "True" : "False", shape);
  constexpr std::string_view mark = "\x93NUMPY";
  const std::size_t before = mark.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  const std::array<char, 4> version_and_length = {1, 0, static_cast<char>(header.size() & 0xff),
                                                  static_cast<char>(header.size() >> 8)};
  return std::string(mark) + std::string(version_and_length.data(), version_and_length.size()) + header;
}

void put_header(const std::string& type, const std::string& shape, const Put& put) {
  const std::string start = start_of(type, shape);
  put(start.data(), start.size());
}

}  // namespace

std::string npy_start(Index features, Index samples, bool single, bool columns) {
  const Index rows = columns ? features : samples, across = columns ? samples : features;
  std::string start = start_of(single ? "f4" : "f8", fmt::format("{}, {}", rows, across), columns);
  // Two numbers of up to 19 digits leave room; fewer digits might need 64 bytes less.
  while (start.size() < npy_start_size) start.insert(start.size() - 1, 64, ' '), start[8] = npy_start_size - 10;
  return start;
}

void put_npy(const MatrixView& X, const Put& put) {
  put_header("f8", fmt::format("{}, {}", X.cols(), X.rows()), put);
  // The columns of X, one after the other, are the rows of the file.
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(double); };
  if (X.outerStride() == X.rows())
    put(X.data(), bytes(X.size()));
  else
    for (Index j = 0; j < X.cols(); ++j) put(X.col(j).data(), bytes(X.rows()));
}

void put_npy(const std::vector<std::string>& texts, const Put& put) {
  std::vector<std::vector<std::uint32_t>> letters;
  std::size_t longest = 1;
  for (const std::string& text : texts) {
    letters.push_back(utf32_of(text));
    longest = std::max(longest, letters.back().size());
  }
  put_header(fmt::format("U{}", longest), fmt::format("{},", texts.size()), put);
  for (auto& text : letters) {
    text.resize(longest);
    put(text.data(), longest * sizeof(std::uint32_t));
  }
}

void write_npy(const std::string& path, const MatrixView& X) {
  AtomicFile file(path);
  put_npy(X, [&](const void* bytes, std::size_t count) { file.write(bytes, count); });
  file.commit();
}

}  // namespace cgmca::io
