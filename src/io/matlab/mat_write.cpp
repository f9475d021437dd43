// Writes a variable and the names of its features to a .mat file: a new one, or one that exists.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "io/hdf5/hdf5.hpp"
#include "io/matlab/mat.hpp"
#include "io/source.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::io {

// Accepts what MATLAB's isvarname accepts.
void check_mat_name(const std::string& name) {
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

// A column-major samples × features array (MATLAB) is a row-major features × samples one (HDF5).
void produce_mat73(const MatOutput& output) {
  const Numbers& X = output.X;
  if (output.add) copy_file(output.target, output.path);
  const PlacedFile file(output.path, output.target);
  const std::uint64_t begin = lay_out_hdf5(output.path, file,
                                           {.dataset = output.name,
                                            .rows = output.columns ? X.samples() : X.features(),
                                            .columns = output.columns ? X.features() : X.samples(),
                                            .names = output.names,
                                            .matlab = true,
                                            .add = output.add,
                                            .single = X.single()});
  if (!output.add) {
    constexpr std::size_t text_size = 124;
    std::string header = "MATLAB 7.3 MAT-file, written by cgmca";
    header.resize(text_size, ' ');
    header.append(std::endian::native == std::endian::little ? "\0\2IM" : "\2\0MI", 4);
    file.write(0, header.data(), header.size());
  }
  write_numbers(
      X, output.columns ? By::sample : By::feature,
      [&](std::uint64_t place, const void* bytes, std::size_t count) { file.write(begin + place, bytes, count); },
      output.written);
}

namespace {

void write_new_mat(const Product& product, std::uint64_t largest) {
  check_mat_name(product.member);
  const bool large = product.X.bytes() > largest;
  write_atomically(product.target, [&](const std::string& temporary) {
    (large ? produce_mat73 : produce_mat5)(
        {temporary, product.target, product.member, product.X, product.names, product.columns, false, product.written});
  });
}

void add_variable_of(const Product& product) {
  check_mat_name(product.member);
  const std::string& path = product.target;
  const MatKind kind = mat_kind(path);
  if (kind == MatKind::mat5 && product.X.bytes() > largest_mat5)
    throw InvalidInput(
        fmt::format("'{}' has {} bytes, more than a variable of the MATLAB 5 file '{}' can have ({}); write it to "
                    "another file, which becomes one of MATLAB 7.3",
                    product.member, product.X.bytes(), path, largest_mat5));
  write_atomically(path, [&](const std::string& temporary) {
    (kind == MatKind::mat73 ? produce_mat73 : produce_mat5)(
        {temporary, path, product.member, product.X, product.names, product.columns, true, product.written});
  });
}

}  // namespace

void write_mat(const Product& product) {
  product.add ? add_variable_of(product) : write_new_mat(product, largest_mat5);
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, std::uint64_t largest,
               const Names& names) {
  write_new_mat({path, variable, NumbersInMemory(X), names, false, false, {}}, largest);
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names) {
  write_mat(path, variable, X, largest_mat5, names);
}

void add_to_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names) {
  add_variable_of({path, variable, NumbersInMemory(X), names, false, true, {}});
}

}  // namespace cgmca::io
