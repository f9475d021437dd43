// .mat: MATLAB 5 (mat5.cpp) and MATLAB 7.3 (mat73.cpp).
//
// MATLAB keeps arrays column-major: element (i1, i2, …) of an s1×s2×… array lies at
// i1 + s1 (i2 + s2 (…)). Samples are the first index (the last if `columns`); the others are
// flattened in row-major order, the last one fastest, as everywhere in cgmca. Hence A(n, h, w) here
// and the .npy that SciPy and NumPy make of it give the same matrix, and so does A(h, w, n) with
// `columns`. (In MATLAB itself, that is reshape(permute(A, [1 3 2]), n, []), not
// reshape(A, n, []).)
#include "io/mat.hpp"

#include "io/common.hpp"
#include "io/describe.hpp"
#include "io/source.hpp"
#include "support/atomic_file.hpp"
#include "support/file.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace cgmca::io {
namespace {

std::unique_ptr<MatFile> open_either(const std::string& path) {
  const File file(path);
  std::string header(128, '\0');
  file.read_at(0, header.data(), std::min<std::uint64_t>(file.size(), header.size()));
  if (header.starts_with("\x89HDF\r\n")) {
    throw FormatError(
        fmt::format("'{}' is an HDF5 file without MATLAB's header; rename it to .h5 to read it as such", path));
  }
  const std::string_view mark = std::string_view(header).substr(124, 4);
  using namespace std::string_view_literals;
  if (mark == "\0\1IM"sv || mark == "\1\0MI"sv) return open_mat5(path);
  if (mark == "\0\2IM"sv || mark == "\2\0MI"sv) return open_mat73(path);
  throw FormatError(
      fmt::format("'{}' ({} bytes) has no header of a MATLAB 5 or 7.3 file; a MATLAB 4 file "
                  "must be saved again, with save -v7",
                  path, file.size()));
}

// What to do about a variable that is no real, full array; empty where it is one.
std::string refusal(const MatVariable& variable) {
  constexpr std::array<std::string_view, 11> numeric{"double", "single", "logical", "int8",  "uint8", "int16",
                                                     "uint16", "int32",  "uint32",  "int64", "uint64"};
  const std::string& name = variable.name;
  const std::string& kind = variable.matlab_class;
  if (kind == "char") return "is text (char), not numbers";
  if (kind == "cell") return "is a cell array; store one numeric array, as cell2mat makes";
  if (kind == "struct") return "is a struct; store its field as a variable of its own";
  if (kind == "sparse") return fmt::format("is sparse; store full({})", name);
  if (std::find(numeric.begin(), numeric.end(), kind) == numeric.end()) {
    return fmt::format("is of class {}; store a numeric array", kind);
  }
  if (variable.complex) {
    return fmt::format("is complex; store abs({0}), or real({0}) and imag({0}) as separate features", name);
  }
  return {};
}

// MATLAB's own variables (of its subsystem) have no name, or one that begins with '#'.
std::vector<Member> members_of(const std::vector<MatVariable>& variables) {
  std::vector<Member> members;
  for (const MatVariable& variable : variables) {
    const bool users = !variable.name.empty() && variable.name.front() != '#';
    const std::string kind = (variable.complex ? "complex " : "") + variable.matlab_class;
    members.push_back({variable.name, variable.shape.empty() ? kind : fmt::format("{} {}", kind, text(variable.shape)),
                       users && refusal(variable).empty()});
  }
  return members;
}

std::unique_ptr<BlockReader::Source> load(const std::string& path, const std::string& member,
                                          const ReadOptions& options) {
  const std::unique_ptr<MatFile> file = open_either(path);
  const std::size_t chosen = choose_member(path, members_of(file->variables()), member);
  const MatVariable& variable = file->variables()[chosen];
  const std::string where = fmt::format("'{}' in '{}'", variable.name, path);
  if (const std::string why = refusal(variable); !why.empty()) {
    throw FormatError(fmt::format("{} {}", where, why));
  }
  const Layout layout(variable.shape, options.columns, where);
  Index size = 0;
  if (__builtin_mul_overflow(layout.samples, layout.features, &size)) {
    throw FormatError(fmt::format("{} claims {} numbers, more than any memory holds", where, text(variable.shape)));
  }
  if (size == 0) return in_memory(Matrix(layout.features, 0));
  if (variable.single) return in_memory(file->read_single(chosen, layout, where));
  return in_memory(file->read(chosen, layout, where));
}

// What MATLAB's isvarname accepts.
void check_name(const std::string& name) {
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

}  // namespace

std::unique_ptr<BlockReader::Source> open_mat(const std::string& path, const std::string& member,
                                              const ReadOptions& options) {
  return load(path, member, options);
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, std::uint64_t largest) {
  check_name(variable);
  const bool large = static_cast<std::uint64_t>(X.size()) * sizeof(double) > largest;
  write_atomically(path, [&](const std::string& temporary) {
    (large ? produce_mat73 : produce_mat5)(temporary, variable, X, path);
  });
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names&) {
  write_mat(path, variable, X, largest_mat5);
}

void add_to_mat(const std::string& path, const std::string& variable, const MatrixView& X, const Names& names) {
  write_mat(path, variable, X, names);
}

FileInfo describe_mat(const std::string& path) {
  const std::unique_ptr<MatFile> file = open_either(path);
  FileInfo info{"MAT-file", {}};
  for (const MatVariable& variable : file->variables())
    info.arrays.push_back({variable.name, shape_of(variable.shape), variable.matlab_class, {}, std::nullopt});
  return info;
}

}  // namespace cgmca::io
