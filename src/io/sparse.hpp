// Sparse matrices, read as dense ones while these are small; and the parts of complex numbers put together.
#pragma once

#include <cgmca/io.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "source.hpp"

namespace cgmca::io {

// The dense matrix may have this many bytes.
constexpr double largest_dense = 2e9;

struct Sparse {
  std::uint64_t rows = 0, columns = 0;
  std::vector<std::uint64_t> row, column;  // places from 0; values of the same place are added
  std::vector<double> real, imaginary;     // imaginary: empty of real numbers
};

// Throws FormatError where the dense matrix is too large, a place lies outside it, or complex numbers are refused.
std::unique_ptr<BlockReader::Source> dense_source(const Sparse& sparse, const ReadOptions& options,
                                                  const std::string& where);
// The first of these checks, to be made before the values are read.
void check_dense_size(std::uint64_t rows, std::uint64_t columns, const ReadOptions& options, const std::string& where);

// Row or column numbers from the places at which each begins (indptr, jc): n + 1 of them for `entries` values.
std::vector<std::uint64_t> expand(const std::vector<std::uint64_t>& begins, std::size_t entries,
                                  const std::string& where);

// |re + i im|, |re + i im|², or re above im.
template <class Scalar>  // double or float
Dense<Scalar> combined(Dense<Scalar> re, const Dense<Scalar>& im, ComplexAs complex);

}  // namespace cgmca::io
