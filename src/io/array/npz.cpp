// NPZ, NumPy's format for several arrays: a ZIP archive whose members are NPY arrays, stored or
// deflated.
//
// scipy.sparse.save_npz stores one sparse matrix as several members. They are read as that matrix:
//
//   format            'csr', 'csc' or 'coo'
//   shape, data       number of rows and columns; the values
//   indices, indptr   csr: column of each value, where each row begins; csc: row, where each column begins
//   row, col          coo: row and column of each value
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/array/npy.hpp"
#include "io/array/zip_archive.hpp"
#include "io/common.hpp"
#include "io/describe.hpp"
#include "io/matlab/sparse.hpp"
#include "io/source.hpp"

namespace cgmca::io {
namespace {

class Npz {
 public:
  explicit Npz(const std::string& path) : path_(path), archive_(open_archive(path)) {}

  const std::vector<Entry>& entries() const { return entries_of(*archive_); }
  const Entry* find(const std::string& name) const {
    const auto same = [&](const Entry& entry) { return bare(entry.name) == name; };
    const auto found = std::find_if(entries().begin(), entries().end(), same);
    return found == entries().end() ? nullptr : &*found;
  }
  std::string title(const Entry& entry) const { return fmt::format("{}:{}", path_, bare(entry.name)); }
  std::unique_ptr<Bytes> open(const Entry& entry, bool share = false) const {
    return open_member(archive_, entry, title(entry), share);
  }

  // Whether a member holds the names of the features of another one.
  bool names_features(const std::string& name) const {
    return name.ends_with(names_suffix) && find(name.substr(0, name.size() - names_suffix.size())) != nullptr;
  }
  std::vector<std::string> features_of(const std::string& name) const {
    const Entry* const entry = find(name + std::string(names_suffix));
    return entry == nullptr ? std::vector<std::string>() : npy_texts(title(*entry), open(*entry));
  }

  // "csr", "csc" or "coo" if the archive holds one sparse matrix; otherwise empty.
  std::string sparse_format() const {
    const Entry* const format = find("format");
    if (format == nullptr || find("shape") == nullptr || find("data") == nullptr) return {};
    const auto texts = npy_texts(title(*format), open(*format));
    const bool known = texts.size() == 1 && (texts[0] == "csr" || texts[0] == "csc" || texts[0] == "coo");
    return known ? texts[0] : std::string();
  }
  Sparse sparse(const std::string& format, const ReadOptions& options) const;
  ArrayInfo describe_sparse(const std::string& format) const;

 private:
  const Entry& need(const char* name) const {
    const Entry* const entry = find(name);
    if (entry == nullptr)
      throw FormatError(fmt::format("'{}' is a damaged sparse matrix: it has no member '{}'", path_, name));
    return *entry;
  }
  // A vector of real numbers, or of the real (imaginary) parts of complex ones.
  std::vector<double> numbers(const char* name, bool imaginary = false) const {
    const Entry& entry = need(name);
    const Matrix x = read_vector(entry, ComplexAs::stack);
    const bool complex = is_complex(entry);
    if (imaginary && !complex) return {};
    return {x.data() + (imaginary ? x.size() / 2 : 0), x.data() + (complex && !imaginary ? x.size() / 2 : x.size())};
  }
  bool is_complex(const Entry& entry) const {
    return npy_header(title(entry), *open(entry)).array.element.kind == Element::Kind::complex;
  }
  // A vector as one column. Its elements are read as samples of one feature; stacked complex
  // numbers give all real parts, then all imaginary parts.
  Matrix read_vector(const Entry& entry, ComplexAs complex) const {
    const auto source = npy_source(title(entry), open(entry), {.columns = false, .complex = complex});
    const Matrix rows = source->next(std::numeric_limits<Index>::max()).transpose();
    return rows.reshaped();
  }
  std::vector<std::uint64_t> places(const char* name) const {
    std::vector<std::uint64_t> result;
    for (const double x : numbers(name)) {
      if (!(x >= 0 && x < 9e15))
        throw FormatError(fmt::format("'{}' is a damaged sparse matrix: its member '{}' holds {}", path_, name, x));
      result.push_back(static_cast<std::uint64_t>(x));
    }
    return result;
  }
  std::pair<std::uint64_t, std::uint64_t> sparse_shape() const {
    const auto shape = places("shape");
    if (shape.size() != 2)
      throw FormatError(fmt::format("'{}' is a sparse array of {} axes, not 2", path_, shape.size()));
    return {shape[0], shape[1]};
  }

  std::string path_;
  std::shared_ptr<Archive> archive_;
};

Sparse Npz::sparse(const std::string& format, const ReadOptions& options) const {
  Sparse sparse;
  const std::string where = fmt::format("'{}'", path_);
  std::tie(sparse.rows, sparse.columns) = sparse_shape();
  check_dense_size(sparse.rows, sparse.columns, options, where);
  sparse.real = numbers("data");
  sparse.imaginary = numbers("data", true);
  if (format == "coo") {
    sparse.row = places("row");
    sparse.column = places("col");
  } else {
    auto& along = format == "csr" ? sparse.row : sparse.column;
    auto& across = format == "csr" ? sparse.column : sparse.row;
    const auto begins = places("indptr");
    if (begins.size() != (format == "csr" ? sparse.rows : sparse.columns) + 1)
      throw FormatError(fmt::format("{} is a damaged sparse matrix: 'indptr' has {} places for {}×{} numbers", where,
                                    begins.size(), sparse.rows, sparse.columns));
    along = expand(begins, sparse.real.size(), where);
    across = places("indices");
  }
  if (sparse.row.size() != sparse.real.size() || sparse.column.size() != sparse.real.size())
    throw FormatError(fmt::format("{} is a damaged sparse matrix: {} values, {} rows and {} columns of them", where,
                                  sparse.real.size(), sparse.row.size(), sparse.column.size()));
  return sparse;
}

ArrayInfo Npz::describe_sparse(const std::string& format) const {
  const auto [rows, columns] = sparse_shape();
  const ArrayInfo data = describe_npy_array(title(need("data")), open(need("data")));
  return {.name = "",
          .shape = shape_of({rows, columns}),
          .type = fmt::format("sparse {} {}", format, data.type),
          .feature_names = {},
          .missing = data.missing};
}

}  // namespace

std::unique_ptr<BlockReader::Source> open_npz(const std::string& path, const std::string& member,
                                              const ReadOptions& options) {
  const Npz npz(path);
  if (member.empty()) {
    const std::string format = npz.sparse_format();
    if (!format.empty()) return dense_source(npz.sparse(format, options), options, fmt::format("'{}'", path));
  }
  const auto& entries = npz.entries();
  const auto named_npy = [](const Entry& entry) { return entry.name.ends_with(kNpy); };
  const bool any_npy = std::any_of(entries.begin(), entries.end(), named_npy);
  std::vector<Member> members;
  members.reserve(entries.size());
  for (const Entry& entry : entries) {
    const std::string name = bare(entry.name);
    const bool data = (named_npy(entry) || !any_npy) && !npz.names_features(name);
    members.push_back({name, fmt::format("{} bytes", entry.size), data});
  }
  const std::size_t chosen = choose_member(path, members, bare(member));
  const std::string name = fmt::format("{}:{}", path, members[chosen].name);
  auto bytes = npz.open(entries[chosen], options.share);
  const NpyHeader header = npy_header(name, *bytes);
  if (!header.refusal.empty()) throw FormatError(header.refusal);
  const bool stacked = header.array.element.kind == Element::Kind::complex && options.complex == ComplexAs::stack;
  auto source = array_source(header.array, std::move(bytes), options);
  source->set_feature_names(names_as_read(npz.features_of(members[chosen].name), source->features(), stacked));
  return source;
}

FileInfo describe_npz(const std::string& path) {
  const Npz npz(path);
  if (const std::string format = npz.sparse_format(); !format.empty())
    return {"SciPy sparse matrix in a NumPy archive", {npz.describe_sparse(format)}};
  FileInfo info{"NumPy archive", {}};
  for (const Entry& entry : npz.entries()) {
    const std::string name = bare(entry.name);
    if (npz.names_features(name)) continue;
    if (!entry.name.ends_with(kNpy)) {
      info.arrays.push_back({name, {}, fmt::format("{} bytes, not an array", entry.size), {}, std::nullopt});
      continue;
    }
    ArrayInfo array = describe_npy_array(npz.title(entry), npz.open(entry));
    array.name = name;
    array.feature_names = npz.features_of(name);
    info.arrays.push_back(std::move(array));
  }
  return info;
}

}  // namespace cgmca::io
