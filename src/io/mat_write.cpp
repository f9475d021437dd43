// Writes a variable and the names of its features to a .mat file: a new one, or one that exists.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "io/hdf5.hpp"
#include "io/mat.hpp"
#include "io/source.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::io {
namespace {

// Accepts what MATLAB's isvarname accepts.
void check_variable_name(const std::string& name) {
  constexpr std::array<std::string_view, 20> keywords{
      "break",  "case", "catch",     "classdef", "continue",   "else",   "elseif", "end",    "for", "function",
      "global", "if",   "otherwise", "parfor",   "persistent", "return", "spmd",   "switch", "try", "while"};
  constexpr std::size_t longest = 63;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > longest || !letter(name.front()) || !std::all_of(name.begin(), name.end(), part) ||
      std::find(keywords.begin(), keywords.end(), name) != keywords.end()) {
    throw InvalidInput(
        fmt::format("'{}' cannot name a MATLAB variable: a letter, then letters, digits or '_', "
                    "{} characters at most, no keyword",
                    name, longest));
  }
}

std::uint64_t bytes_of(const MatrixView& X) { return static_cast<std::uint64_t>(X.size()) * sizeof(double); }

}  // namespace

// A column-major samples × features array (MATLAB) is a row-major features × samples one (HDF5).
void produce_mat73(const MatOutput& output) {
  const MatrixView& X = output.X;
  if (output.add) copy_file(output.target, output.path);
  const PlacedFile file(output.path, output.target);
  std::uint64_t place = lay_out_hdf5(output.path, file,
                                     {.dataset = output.name,
                                      .rows = X.rows(),
                                      .columns = X.cols(),
                                      .names = output.names,
                                      .matlab = true,
                                      .add = output.add});
  if (!output.add) {
    constexpr std::size_t text_size = 124;
    std::string header = "MATLAB 7.3 MAT-file, written by cgmca";
    header.resize(text_size, ' ');
    header.append(std::endian::native == std::endian::little ? "\0\2IM" : "\2\0MI", 4);
    file.write(0, header.data(), header.size());
  }
  constexpr Index block = 64;
  for (Index f = 0; f < X.rows(); f += block) {
    const Matrix rows = X.middleRows(f, std::min(block, X.rows() - f)).transpose();
    const auto bytes = static_cast<std::size_t>(rows.size()) * sizeof(double);
    file.write(place, rows.data(), bytes);
    place += bytes;
  }
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, std::uint64_t largest,
               const Names& names) {
  check_variable_name(variable);
  const bool large = bytes_of(X) > largest;
  write_atomically(path, [&](const std::string& temporary) {
    (large ? produce_mat73 : produce_mat5)({temporary, path, variable, X, names, false});
  });
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names) {
  write_mat(path, variable, X, largest_mat5, names);
}

void add_to_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names) {
  check_variable_name(variable);
  const MatKind kind = mat_kind(path);
  if (kind == MatKind::mat5 && bytes_of(X) > largest_mat5)
    throw InvalidInput(
        fmt::format("'{}' has {} bytes, more than a variable of the MATLAB 5 file '{}' can have ({}); write it to "
                    "another file, which becomes one of MATLAB 7.3",
                    variable, bytes_of(X), path, largest_mat5));
  write_atomically(path, [&](const std::string& temporary) {
    (kind == MatKind::mat73 ? produce_mat73 : produce_mat5)({temporary, path, variable, X, names, true});
  });
}

}  // namespace cgmca::io
