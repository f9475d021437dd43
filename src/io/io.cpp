// Finds the format that reads or writes a file, from its name and its first bytes.
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "io/bytes.hpp"
#include "io/describe.hpp"
#include "io/shards.hpp"
#include "io/source.hpp"
#include "io/target.hpp"
#include "io/text/csv_dialect.hpp"
#include "support/file.hpp"

namespace cgmca {
namespace {

namespace fs = std::filesystem;

struct Format {
  const char* name;
  io::Opener open;
  FileInfo (*describe)(const std::string& path);
  bool has_members;
};
constexpr Format npy = {"NPY", io::open_npy, io::describe_npy, false},
                 npz = {"NPZ", io::open_npz, io::describe_npz, true},
                 csv = {"CSV", io::open_csv, io::describe_csv, false},
                 idx = {"IDX", io::open_idx, io::describe_idx, false},
                 mat = {"MAT", io::open_mat, io::describe_mat, true},
                 hdf5 = {"HDF5", io::open_hdf5, io::describe_hdf5, true},
                 png_folder = {"a folder of PNG images", io::open_png_folder, io::describe_png_folder, false};

constexpr std::array<std::pair<std::string_view, Format>, 9> by_extension = {{{".npy", npy},
                                                                              {".npz", npz},
                                                                              {".csv", csv},
                                                                              {".tsv", csv},
                                                                              {".idx", idx},
                                                                              {".gz", idx},
                                                                              {".mat", mat},
                                                                              {".h5", hdf5},
                                                                              {".hdf5", hdf5}}};

constexpr std::array<std::pair<std::string_view, Format>, 12> by_content = {{
    {{"\x93NUMPY", 6}, npy},
    {{"PK\3\4", 4}, npz},
    {{"PK\5\6", 4}, npz},  // an archive without members
    {{"\x89HDF\r\n\x1a\n", 8}, hdf5},
    {{"MATLAB ", 7}, mat},
    {{"\x1f\x8b", 2}, idx},
    {{"\0\0\x08", 3}, idx},
    {{"\0\0\x09", 3}, idx},
    {{"\0\0\x0b", 3}, idx},
    {{"\0\0\x0c", 3}, idx},
    {{"\0\0\x0d", 3}, idx},
    {{"\0\0\x0e", 3}, idx},
}};

std::string extension_of(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

[[noreturn]] void refuse_format(const std::string& path) {
  throw FormatError(fmt::format(
      "'{}' is not in a format that can be read; it seems to be {}. Give .npy, .npz, .csv, .tsv, "
      ".csv.gz, .npy.gz, IDX (also .gz), .mat, .h5, .hdf5 or a folder of PNG images. Parquet and Zarr are read by the "
      "Python package",
      path, io::what_it_seems_to_be(path)));
}

// That of "a.csv.gz" is ".csv"; of "a.gz", which may be of any kind, it is ".gz".
std::string extension_inside(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension != ".gz") return extension;
  const std::string inside = extension_of(fs::path(path).stem().string());
  return inside == ".csv" || inside == ".tsv" || inside == ".npy" ? inside : extension;
}

const Format& format_of(const std::string& path) {
  if (std::error_code ignored; fs::is_directory(path, ignored)) return png_folder;
  const std::string extension = extension_inside(path);
  for (const auto& [known, format] : by_extension)
    if (extension == known) return format;

  if (io::foreign_kind(path)) refuse_format(path);
  const File file(path);
  std::string start(std::min<std::uint64_t>(file.size(), 8), '\0');
  file.read_at(0, start.data(), start.size());
  for (const auto& [known, format] : by_content)
    if (start.starts_with(known)) return format;
  refuse_format(path);
}

struct Name {
  std::string path, member;
};

// PATH:MEMBER. If the whole text is an existing path, it is the path; otherwise the path is the
// longest existing one before a ':'.
Name split(const std::string& source) {
  if (exists(source)) return {source, ""};
  for (auto colon = source.rfind(':'); colon != std::string::npos && colon > 0; colon = source.rfind(':', colon - 1)) {
    const std::string path = source.substr(0, colon);
    if (!exists(path)) continue;
    if (colon + 1 == source.size())
      throw InvalidInput(fmt::format("'{}' names nothing after the ':'; name a member, or leave out the ':'", source));
    return {path, source.substr(colon + 1)};
  }
  return {source, ""};  // opening it reports why it cannot be read
}

// PATH:MEMBER of a file to be written. The path ends at the first ':' after the extension of a
// format with members. The member is empty if there is none.
Name split_target(const std::string& target) {
  for (auto colon = target.find(':'); colon != std::string::npos; colon = target.find(':', colon + 1)) {
    const std::string path = target.substr(0, colon), extension = extension_of(path);
    if (extension != ".npz" && extension != ".mat" && extension != ".h5" && extension != ".hdf5") continue;
    if (colon + 1 == target.size())
      throw InvalidInput(fmt::format("'{}' names nothing after the ':'; name a member, or leave out the ':'", target));
    return {path, target.substr(colon + 1)};
  }
  return {target, ""};
}

[[noreturn]] void refuse_target(const std::string& target) {
  for (auto colon = target.find(':'); colon != std::string::npos; colon = target.find(':', colon + 1)) {
    const std::string path = target.substr(0, colon), extension = extension_of(path);
    if (extension == ".npy" || extension == ".csv" || extension == ".tsv")
      throw InvalidInput(
          fmt::format("'{}' holds one array and has no members: leave out '{}', or write to a .npz, "
                      ".mat or .h5 file",
                      path, target.substr(colon)));
  }
  throw InvalidInput(
      fmt::format("cannot tell from '{}' the format to write: .npy, .npz, .csv, .tsv, .mat, .h5 or .hdf5", target));
}

std::unique_ptr<BlockReader::Source> open_one(const std::string& source, const ReadOptions& options) {
  if (source == "-") return io::open_csv(source, "", options);
  const Name name = split(source);
  const Format& format = format_of(name.path);
  if (!name.member.empty() && !format.has_members)
    throw InvalidInput(fmt::format("'{}' ({}) has no members: leave out ':{}'", name.path, format.name, name.member));
  if (!options.id.empty() && options.id != io::no_id && format.open != io::open_csv)
    throw InvalidInput(fmt::format("'{}' ({}) has no ID column '{}': only text files (.csv, .tsv) have one", name.path,
                                   format.name, options.id));
  return format.open(name.path, name.member, options);
}

std::unique_ptr<BlockReader::Source> open(const std::string& source, const ReadOptions& options) {
  auto shards = io::shards_of(source);
  if (!shards) return open_one(source, options);
  return io::open_shards(std::move(*shards), [options](const std::string& one) { return open_one(one, options); });
}

// Runs `work`, and reports if there is too little memory for it.
template <class Work>
auto within_memory(const std::string& source, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw IoError(fmt::format("not enough memory to read '{}' in one piece", source));
  }
}

void check_block(Index max_samples) {
  if (max_samples < 1)
    throw InvalidInput(fmt::format("a block of {} samples was asked for; at least 1 is needed", max_samples));
}

// Writes X(·, j) as row j of the file.
void write_rows(const std::string& target, const MatrixView& X, const std::string& variable, const io::Names& names) {
  const io::TargetName name = io::target_name(target, variable);
  const auto& [path, extension, member, named] = name;
  const bool add = adds(name);
  if (extension == ".npy") return io::write_npy(path, X);
  if (extension == ".csv") return io::write_csv(path, X, ',', names);
  if (extension == ".tsv") return io::write_csv(path, X, '\t', names);
  if (extension == ".npz") {
    return add ? io::add_to_npz(path, member, X, names) : io::write_npz(path, member, X, names);
  }
  if (extension == ".mat") {
    add ? io::add_to_mat(path, member, X, names) : io::write_mat(path, member, X, names);
  } else {
    add ? io::add_to_hdf5(path, member, X, names) : io::write_hdf5(path, member, X, names);
  }
}

}  // namespace

io::TargetName io::target_name(const std::string& target, const std::string& variable) {
  const Name name = split_target(target);
  TargetName result{name.path, extension_of(name.path), "", false};
  constexpr std::array<std::string_view, 3> plain = {".npy", ".csv", ".tsv"};
  constexpr std::array<std::string_view, 4> archives = {".npz", ".mat", ".h5", ".hdf5"};
  if (std::find(plain.begin(), plain.end(), result.extension) != plain.end()) return result;
  if (std::find(archives.begin(), archives.end(), result.extension) == archives.end()) refuse_target(target);
  result.member = name.member.empty() ? variable : name.member;
  result.named = !name.member.empty();
  return result;
}

bool io::adds(const TargetName& name) { return name.named && exists(name.path); }

void io::check_names(Index features, const std::vector<std::string>& names) {
  if (!names.empty() && std::ssize(names) != features)
    throw InvalidInput(fmt::format("{} names of features for {} features; give one for each", names.size(), features));
}

const std::vector<std::string>& BlockReader::Source::ids() const {
  static const std::vector<std::string> none;
  return none;
}

std::string BlockReader::Source::place(Index sample, Index feature, bool columns) const {
  const auto [row, column] = columns ? std::pair(feature, sample) : std::pair(sample, feature);
  return fmt::format("row {}, column {}", row + 1, column + 1);
}

BlockReader::BlockReader(const std::string& source, const ReadOptions& options)
    : name_(source), columns_(options.columns), source_(within_memory(source, [&] { return open(source, options); })) {}
BlockReader::~BlockReader() = default;
BlockReader::BlockReader(BlockReader&&) noexcept = default;
BlockReader& BlockReader::operator=(BlockReader&&) noexcept = default;

Index BlockReader::features() const { return source_->features(); }
std::vector<std::string> BlockReader::feature_names() const { return source_->feature_names(); }
const std::vector<std::string>& BlockReader::ids() const { return source_->ids(); }

bool BlockReader::is_text() const { return source_->is_text(); }

std::vector<std::string> BlockReader::notes() const { return source_->notes(); }
std::string BlockReader::place(Index sample, Index feature) const { return source_->place(sample, feature, columns_); }
std::optional<Index> BlockReader::samples() const { return source_->samples(); }
Index BlockReader::position() const { return position_; }
bool BlockReader::streams() const { return source_->streams(); }

bool BlockReader::single() const { return source_->single(); }

bool BlockReader::holds_floats() const { return source_->single() && !source_->integers(); }

Matrix BlockReader::next(Index max_samples) {
  check_block(max_samples);
  Matrix X = within_memory(name_, [&] { return source_->next(max_samples); });
  position_ += X.cols();
  return X;
}

Eigen::MatrixXf BlockReader::next_single(Index max_samples) {
  check_block(max_samples);
  Eigen::MatrixXf X = within_memory(name_, [&] { return source_->next_single(max_samples); });
  position_ += X.cols();
  return X;
}

void BlockReader::skip(Index count) {
  const auto n = samples();
  if (count < 0) throw InvalidInput(fmt::format("cannot skip {} samples of '{}'; give 0 or more", count, name_));
  if (n && count > *n - position_)
    throw InvalidInput(
        fmt::format("cannot skip {} samples of '{}': {} of its {} are left", count, name_, *n - position_, *n));
  source_->skip(count);
  position_ += count;
}

Index BlockReader::count_samples() {
  source_->count();
  return *samples();
}

std::string row_index_of(const std::string& path) { return path + ".rows"; }

Index write_row_index(const std::string& path) {
  const Format& format = format_of(path);
  if (format.open != io::open_csv)
    throw InvalidInput(
        fmt::format("'{}' ({}) needs no index of its rows: only text (.csv, .tsv) does", path, format.name));
  return io::write_csv_index(path);
}

Matrix read(const std::string& source, const ReadOptions& options) {
  return BlockReader(source, options).next(std::numeric_limits<Index>::max());
}

FileInfo describe_file(const std::string& path) {
  if (path == "-") return io::describe_csv(path);
  if (const auto shards = io::shards_of(path)) return io::describe_shards(path, *shards);
  const Format& format = format_of(path);
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  const bool unpacked = extension_inside(path) != extension_of(path);  // what is inside is ours
  if (!folder && !unpacked && io::foreign_kind(path)) refuse_format(path);
  try {
    return within_memory(path, [&] { return format.describe(path); });
  } catch (const FormatError& error) {
    // The messages for text and archives say what is wrong. For other formats, also say what the
    // file seems to be.
    const std::string kind = folder ? "" : io::what_it_seems_to_be(path);
    if (kind.empty() || kind.starts_with("binary") || kind.starts_with("a ZIP") || format.open == io::open_csv) throw;
    throw FormatError(fmt::format("{}. It seems to be {}", error.what(), kind));
  }
}

void write(const std::string& target, const MatrixView& X, const WriteOptions& options) {
  io::check_names(X.rows(), options.feature_names);
  if (options.columns) {
    const bool text = extension_of(target) == ".csv" || extension_of(target) == ".tsv";
    const Matrix rows = X.transpose();
    return write_rows(target, rows, options.variable, text ? io::Names() : options.feature_names);
  }
  write_rows(target, X, options.variable, options.feature_names);
}

std::string file_of(const std::string& source_or_target) {
  const Name name = split(source_or_target);
  return name.member.empty() ? split_target(source_or_target).path : name.path;
}

}  // namespace cgmca
