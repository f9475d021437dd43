// Small sparse matrices, read as dense ones; and real features made from complex numbers.
#pragma once

#include <cgmca/io.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/source.hpp"

namespace cgmca::io {

// The most bytes that the dense matrix may have, and the most of those for each value that is stored, beyond the first 64
// MB: a file of a few hundred bytes is not to take a machine's memory.
constexpr double largest_dense = 2e9, most_dense_per_value = 1e6, always_dense = 64e6;

struct Sparse {
  std::uint64_t rows = 0, columns = 0;
  std::vector<std::uint64_t> row, column;  // of each value, from 0; values at the same place are added
  std::vector<double> real, imaginary;     // imaginary is empty for real numbers
};

// Throws FormatError if the dense matrix is too large, a value is outside of it, or the numbers are
// complex and the options refuse that.
std::unique_ptr<BlockReader::Source> dense_source(const Sparse& sparse, const ReadOptions& options,
                                                  const std::string& where);
// The check of the size alone, for use before the values are read.
void check_dense_size(std::uint64_t rows, std::uint64_t columns, const ReadOptions& options, const std::string& where);

// The row (or column) of each of `entries` values, from the n + 1 positions at which the n rows (or
// columns) begin: indptr of SciPy, jc of MATLAB.
std::vector<std::uint64_t> expand(const std::vector<std::uint64_t>& begins, std::size_t entries,
                                  const std::string& where);

// |re + i im|, |re + i im|², or re stacked on im.
template <class Scalar>  // double or float
Dense<Scalar> combined(Dense<Scalar> re, const Dense<Scalar>& im, ComplexAs complex);

}  // namespace cgmca::io
