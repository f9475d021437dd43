// The .mat writer's one choice, open to the tests.
#pragma once

#include <cgmca/types.hpp>

#include <cstdint>
#include <string>

namespace cgmca::io {

// MATLAB 5 files count a variable's bytes, tags included, in a signed 32-bit number.
constexpr std::uint64_t largest_mat5 = (std::uint64_t{1} << 31) - 1024;

// Writes MATLAB 5, or MATLAB 7.3 where X takes more than `largest` bytes.
void write_mat(const std::string& path, const std::string& variable, const MatrixView& X,
               std::uint64_t largest);

}  // namespace cgmca::io
