// .mat: MATLAB 5 (mat5.cpp) and MATLAB 7.3 (mat73.cpp). `file.mat:cfg.x` is the field x of the
// struct or object cfg.
//
// MATLAB stores arrays column-major: element (i1, i2, …) of an s1×s2×… array is at the position
// i1 + s1 (i2 + s2 (…)). Samples are the first index (the last one if `columns`). The others are
// flattened in row-major order, the last one fastest, as everywhere in cgmca. So A(n, h, w) here and
// the .npy file that SciPy and NumPy make from it give the same matrix, and so does A(h, w, n) with
// `columns`. In MATLAB that matrix is reshape(permute(A, [1 3 2]), n, []), not reshape(A, n, []).
#include "io/matlab/mat.hpp"

#include "io/common.hpp"
#include "io/describe.hpp"
#include "io/source.hpp"
#include "support/file.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace cgmca::io {
namespace {

std::unique_ptr<MatFile> open_either(const std::string& path) {
  return mat_kind(path) == MatKind::mat5 ? open_mat5(path) : open_mat73(path);
}

bool is_numeric(const MatVariable& variable) {
  constexpr std::array<std::string_view, 11> numeric{"double", "single", "logical", "int8",  "uint8", "int16",
                                                     "uint16", "int32",  "uint32",  "int64", "uint64"};
  return std::find(numeric.begin(), numeric.end(), variable.matlab_class) != numeric.end();
}

// Why a variable cannot be read as numbers, and what to do.
std::string refusal(const MatVariable& variable) {
  const std::string& kind = variable.matlab_class;
  if (kind == "char") return "is text (char), not numbers";
  if (kind == "cell") return "is a cell array; store one numeric array, as cell2mat makes";
  return fmt::format("is of class {}; store a numeric array", kind);
}

std::string type_of(const MatVariable& variable) {
  return (variable.sparse ? "sparse " : "") + std::string(variable.complex ? "complex " : "") + variable.matlab_class;
}

// Not one of MATLAB's own variables, which have no name, or one that begins with '#'.
bool is_users(const MatVariable& variable) { return !variable.name.empty() && variable.name.front() != '#'; }

std::vector<Member> members_of(const std::vector<MatVariable>& variables) {
  std::vector<Member> members;
  for (const MatVariable& variable : variables) {
    const std::string kind = type_of(variable);
    members.push_back({variable.name, variable.shape.empty() ? kind : fmt::format("{} {}", kind, text(variable.shape)),
                       is_numeric(variable)});
  }
  return members;
}

struct Found {
  MatPath path;
  MatVariable variable;
};

// The variable called 'cfg.x' if there is one (not from MATLAB); otherwise the field x of cfg.
Found find(MatFile& file, const std::string& path, const std::string& member) {
  std::vector<MatVariable> variables = file.list({});
  std::erase_if(variables, [](const auto& variable) { return !is_users(variable); });
  const auto whole = std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.name == member; });
  if (whole != variables.end() && !member.empty()) return {{member}, *whole};
  Found found;
  std::string holder = path, rest = member;
  while (true) {
    const std::string name = rest.substr(0, rest.find('.'));
    const std::size_t chosen = choose_member(holder, members_of(variables), name);
    found.variable = variables[chosen];
    found.path.push_back(found.variable.name);
    if (name.size() == rest.size()) return found;
    rest = rest.substr(name.size() + 1);
    holder += (found.path.size() == 1 ? ":" : ".") + name;
    if (!found.variable.has_fields())
      throw FormatError(
          fmt::format("'{}' is of class {} and has no fields: leave out '.{}'", holder, type_of(found.variable), rest));
    variables = file.list(found.path);
  }
}

// For a struct or an object of which no field is named: lists the fields.
[[noreturn]] void refuse_struct(MatFile& file, const std::string& path, const MatVariable& variable,
                                const MatPath& where) {
  const std::string name = fmt::format("{}", fmt::join(where, "."));
  const std::vector<MatVariable> fields = file.list(where);
  std::vector<std::string> kinds;
  std::string example = fields.empty() ? "x" : fields.front().name;
  for (const Member& field : members_of(fields)) kinds.push_back(fmt::format("{} ({})", field.name, field.kind));
  if (const auto first = std::find_if(fields.begin(), fields.end(), is_numeric); first != fields.end())
    example = first->name;
  throw FormatError(fmt::format("'{}' in '{}' is {} {}; name a field of it, as in '{}:{}.{}': {}", name, path,
                                variable.matlab_class == "object" ? "an" : "a", variable.matlab_class, path, name,
                                example, fmt::join(kinds, ", ")));
}

// Samples and features. Throws FormatError if their product overflows.
Layout layout_of(const MatVariable& variable, const ReadOptions& options, const std::string& where) {
  const Layout layout(variable.shape, options.columns, where);
  Index size = 0;
  if (__builtin_mul_overflow(layout.samples, layout.features, &size)) {
    throw FormatError(fmt::format("{} claims {} numbers, more than any memory holds", where, text(variable.shape)));
  }
  return layout;
}

std::unique_ptr<BlockReader::Source> source_of(MatFile& file, const Found& found, const ReadOptions& options,
                                               const std::string& where) {
  const MatVariable& variable = found.variable;
  if (variable.complex && options.complex == ComplexAs::refuse)
    throw FormatError(fmt::format("{} {}", where, complex_refusal()));
  if (variable.sparse) {
    if (variable.shape.size() == 2) check_dense_size(variable.shape[0], variable.shape[1], options, where);
    return dense_source(file.read_sparse(found.path, where), options, where);
  }
  const Layout layout = layout_of(variable, options, where);
  const bool stacked = variable.complex && options.complex == ComplexAs::stack;
  if (layout.samples == 0) return in_memory(Matrix(stacked ? 2 * layout.features : layout.features, 0));
  if (!variable.complex) {
    if (variable.single) {
      auto source = in_memory(file.read_single(found.path, false, layout, where));
      source->set_integers(variable.matlab_class != "single" && variable.matlab_class != "double");
      return source;
    }
    return in_memory(file.read(found.path, false, layout, where));
  }
  if (variable.single && stacked) {
    return in_memory(combined<float>(file.read_single(found.path, false, layout, where),
                                     file.read_single(found.path, true, layout, where), options.complex));
  }
  return in_memory(combined<double>(file.read(found.path, false, layout, where),
                                    file.read(found.path, true, layout, where), options.complex));
}

// The names of the features: the variable NAME_features in the same file or struct.
std::vector<std::string> stored_names(MatFile& file, MatPath path) {
  path.back() += names_suffix;
  const std::vector<MatVariable> beside = file.list(MatPath(path.begin(), path.end() - 1));
  const bool there = std::any_of(beside.begin(), beside.end(), [&](const auto& v) { return v.name == path.back(); });
  return there ? file.texts(path) : std::vector<std::string>();
}

std::optional<Index> missing_in(MatFile& file, const Found& found) {
  const MatVariable& variable = found.variable;
  if (!is_numeric(variable) || variable.complex || !is_matrix(variable.shape)) return std::nullopt;
  const std::string where = fmt::format("'{}'", fmt::join(found.path, "."));
  if (variable.sparse) {
    const std::vector<double> values = file.read_sparse(found.path, where).real;
    return std::count_if(values.begin(), values.end(), [](double x) { return x != x; });
  }
  return count_missing(*source_of(file, found, {}, where));
}

// Describes the variables at a path and, recursively, the fields of structs.
void describe_all(MatFile& file, const MatPath& path, FileInfo& info) {
  constexpr std::size_t deepest = 20;
  const std::vector<MatVariable> variables = file.list(path);
  const auto is_there = [&](const std::string& name) {
    return std::any_of(variables.begin(), variables.end(), [&](const auto& variable) { return variable.name == name; });
  };
  for (const MatVariable& variable : variables) {
    const std::string& name = variable.name;
    if (!is_users(variable)) continue;
    if (name.ends_with(names_suffix) && is_there(name.substr(0, name.size() - names_suffix.size()))) continue;
    Found found{path, variable};
    found.path.push_back(name);
    ArrayInfo array{.name = fmt::format("{}", fmt::join(found.path, ".")),
                    .shape = shape_of(variable.shape),
                    .type = type_of(variable),
                    .feature_names = {},
                    .missing = std::nullopt};
    try {
      if (variable.has_fields() && path.size() < deepest) {
        describe_all(file, found.path, info);
        continue;
      }
      array.missing = missing_in(file, found);
      if (is_numeric(variable)) array.feature_names = stored_names(file, found.path);
    } catch (const FormatError& error) {
      array.type += fmt::format(", which cannot be read: {}", error.what());
    }
    info.arrays.push_back(std::move(array));
  }
}

}  // namespace

MatKind mat_kind(const std::string& path) {
  const File file(path);
  std::string header(128, '\0');
  file.read_at(0, header.data(), std::min<std::uint64_t>(file.size(), header.size()));
  if (header.starts_with("\x89HDF\r\n")) {
    throw FormatError(
        fmt::format("'{}' is an HDF5 file without MATLAB's header; rename it to .h5 to read it as such", path));
  }
  const std::string_view mark = std::string_view(header).substr(124, 4);
  using namespace std::string_view_literals;
  if (mark == "\0\1IM"sv || mark == "\1\0MI"sv) return MatKind::mat5;
  if (mark == "\0\2IM"sv || mark == "\2\0MI"sv) return MatKind::mat73;
  throw FormatError(
      fmt::format("'{}' ({} bytes) has no header of a MATLAB 5 or 7.3 file. Files of MATLAB 4, and of "
                  "Octave's own formats, must be saved again with save -v7",
                  path, file.size()));
}

std::string refusal_of_struct_array(const std::string& name, const Shape& shape) {
  return fmt::format("'{}' is an array of {} structs; store the field of one of them, or [{}.x] of all, as a variable",
                     name, text(shape), name);
}

std::unique_ptr<BlockReader::Source> open_mat(const std::string& path, const std::string& member,
                                              const ReadOptions& options) {
  const std::unique_ptr<MatFile> file = open_either(path);
  const Found found = find(*file, path, member);
  const std::string name = fmt::format("{}", fmt::join(found.path, "."));
  const std::string where = fmt::format("'{}' in '{}'", name, path);
  if (found.variable.has_fields()) refuse_struct(*file, path, found.variable, found.path);
  if (!is_numeric(found.variable)) throw FormatError(fmt::format("{} {}", where, refusal(found.variable)));
  auto source = source_of(*file, found, options, where);
  const bool stacked = found.variable.complex && options.complex == ComplexAs::stack;
  source->set_feature_names(names_as_read(stored_names(*file, found.path), source->features(), stacked));
  return source;
}

FileInfo describe_mat(const std::string& path) {
  FileInfo info{mat_kind(path) == MatKind::mat5 ? "MATLAB 5 MAT-file" : "MATLAB 7.3 MAT-file", {}};
  describe_all(*open_either(path), {}, info);
  return info;
}

}  // namespace cgmca::io
