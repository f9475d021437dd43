// What every fuzz target shares. A target is one file, fuzz/NAME.cpp, whose LLVMFuzzerTestOneInput
// makes a file of the bytes and reads it; fuzz/corpus/NAME/ holds files to start from.
//
// The library may refuse anything by one of its own exceptions; whatever else escapes, and any
// finding of the sanitizers, ends the run. Reading in blocks must agree with reading whole.
#pragma once

#include <cgmca/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "io/source.hpp"
#include "tests/sealed.hpp"

namespace cgmca::fuzz {

// The path of a file in memory that holds these bytes until the next call.
inline std::string file_of(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = ::memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (descriptor < 0 || ::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, data, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  return path;
}

// Writes a file on the disk, for readers that look beside it.
inline void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

// The same of a model or summary with the checksum that belongs to it, so that what lies behind it is reached.
inline std::string sealed_file_of(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = testing::sealed({reinterpret_cast<const char*>(data), size});
  return file_of(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

// Everything in blocks of `block` samples after `skipped` ones, or nothing where it is refused.
inline std::optional<Matrix> read_blocks(io::Opener open, const std::string& path, const ReadOptions& options,
                                         Index skipped, Index block) {
  try {
    const auto source = open(path, "", options);
    if (!source->samples() || *source->samples() >= skipped) source->skip(skipped);
    Matrix X = source->next(block);
    for (Matrix next = source->next(block); next.cols() > 0; next = source->next(block)) {
      X.conservativeResize(Eigen::NoChange, X.cols() + next.cols());
      X.rightCols(next.cols()) = next;
    }
    return X;
  } catch (const Error&) {
    return std::nullopt;
  }
}

inline void check(bool condition) {
  if (!condition) std::abort();
}

// Whole and in blocks; an odd number of bytes is read with samples as columns.
inline void read_all_ways(io::Opener open, const std::uint8_t* data, std::size_t size) {
  const std::string path = file_of(data, size);
  const ReadOptions options{size % 2 == 1};
  const auto whole = read_blocks(open, path, options, 0, std::numeric_limits<Index>::max());
  if (whole && whole->cols() > 100) return;
  // What is refused may be so after any number of samples, for which small blocks take too long.
  const auto blocks = read_blocks(open, path, options, 0, whole ? 3 : 1000);
  check(whole.has_value() == blocks.has_value());
  if (!whole) return;
  check(blocks->rows() == whole->rows() && blocks->cols() == whole->cols());
  const auto bytes = sizeof(double) * static_cast<std::size_t>(whole->size());
  check(bytes == 0 || std::memcmp(whole->data(), blocks->data(), bytes) == 0);
  if (whole->cols() < 2) return;
  const auto rest = read_blocks(open, path, options, 2, 3);
  check(rest && rest->cols() == whole->cols() - 2);
}

}  // namespace cgmca::fuzz
