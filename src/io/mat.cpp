// .mat: MATLAB 5 (what MATLAB's -v6 and -v7 write) and MATLAB 7.3 (HDF5 inside), through matio.
//
// MATLAB keeps arrays column-major: element (i1, i2, …) of an s1×s2×… array lies at
// i1 + s1 (i2 + s2 (…)). Samples are the first index (the last if `columns`); the others are
// flattened in row-major order, the last one fastest, as everywhere in cgmca. Hence A(n, h, w) here
// and the .npy that SciPy and NumPy make of it give the same matrix, and so does A(h, w, n) with
// `columns`. (In MATLAB itself, that is reshape(permute(A, [1 3 2]), n, []), not
// reshape(A, n, []).)
//
// matio neither notices a file cut short nor checks a compressed variable's checksum: it would hand
// out whatever was in memory. MATLAB 5 files are therefore verified first, the frame of
//
//   128 bytes                    text, version, "IM" (little-endian) or "MI" (big-endian)
//   8 + length, repeated         element: type (14 plain variable, 15 zlib stream), length, data
//
// and, within the chosen variable, of
//
//   8                            type 14, length     (in the zlib stream, where compressed)
//   8 + 8                        flags
//   8 + 4·rank, padded to 8      dimensions
//   8 + name, padded to 8        name                (4 letters or fewer: 8 bytes in all)
//   8 + length                   numbers: type, length, data
#include "io/mat.hpp"

#include "atomic_file.hpp"
#include "io/common.hpp"
#include "io/hdf5.hpp"
#include "io/source.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <matio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace cgmca::io {
namespace {

using MatFile = std::unique_ptr<mat_t, decltype([](mat_t* file) { Mat_Close(file); })>;
using Variable =
    std::unique_ptr<matvar_t, decltype([](matvar_t* variable) { Mat_VarFree(variable); })>;

std::string_view class_name(const matvar_t& variable) {
  if (variable.isLogical != 0 && variable.class_type != MAT_C_SPARSE) return "logical";
  switch (variable.class_type) {
    case MAT_C_EMPTY:
      return "empty";
    case MAT_C_CELL:
      return "cell";
    case MAT_C_STRUCT:
      return "struct";
    case MAT_C_OBJECT:
      return "object";
    case MAT_C_CHAR:
      return "char";
    case MAT_C_SPARSE:
      return "sparse";
    case MAT_C_DOUBLE:
      return "double";
    case MAT_C_SINGLE:
      return "single";
    case MAT_C_INT8:
      return "int8";
    case MAT_C_UINT8:
      return "uint8";
    case MAT_C_INT16:
      return "int16";
    case MAT_C_UINT16:
      return "uint16";
    case MAT_C_INT32:
      return "int32";
    case MAT_C_UINT32:
      return "uint32";
    case MAT_C_INT64:
      return "int64";
    case MAT_C_UINT64:
      return "uint64";
    case MAT_C_FUNCTION:
      return "function handle";
    case MAT_C_OPAQUE:
      return "opaque";
  }
  return "unknown";
}

// What to do about a variable that is no real matrix; empty where it is one.
std::string refusal(const matvar_t& variable) {
  switch (variable.class_type) {
    case MAT_C_CHAR:
      return "is text (char), not numbers";
    case MAT_C_CELL:
      return "is a cell array; store one numeric array, as cell2mat makes";
    case MAT_C_STRUCT:
      return "is a struct; store its field as a variable of its own";
    case MAT_C_SPARSE:
      return fmt::format("is sparse; store full({})", variable.name);
    case MAT_C_EMPTY:
    case MAT_C_OBJECT:
    case MAT_C_FUNCTION:
    case MAT_C_OPAQUE:
      return fmt::format("is of class {}; store a numeric array", class_name(variable));
    default:
      break;
  }
  if (variable.isComplex != 0) {
    return fmt::format(
        "is complex; store abs({0}), or real({0}) and imag({0}) as separate features",
        variable.name);
  }
  return {};
}

Shape shape_of(const matvar_t& variable) {
  if (variable.dims == nullptr || variable.rank < 1) return {};
  return {variable.dims, variable.dims + variable.rank};
}

std::uint64_t size_of(const Shape& shape, const std::string& where) {
  const Layout layout(shape, false, where);
  std::uint64_t size = 0;
  if (__builtin_mul_overflow(layout.samples, layout.features, &size)) {
    throw FormatError(
        fmt::format("{} claims {} numbers, more than any memory holds", where, text(shape)));
  }
  return size;
}

// ---- the frame of a MATLAB 5 file ----

struct Tag {
  std::uint32_t type, length;
};
constexpr std::size_t header_size = 128, tag_size = 8;
constexpr std::uint32_t plain = 14, compressed = 15;

Tag tag_at(const unsigned char* bytes, bool big_endian) {
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value |= std::uint32_t{bytes[at + i]} << (8 * (big_endian ? 3 - i : i));
    }
    return value;
  };
  return {word(0), word(4)};
}

struct Element {
  std::uint64_t begin;  // where its data begin, after the tag
  Tag tag;
};

class Mat5Frame {
 public:
  // Every top-level element, each of which must lie within the file.
  explicit Mat5Frame(const std::string& path)
      : path_(path), size_(size_of_file(path)), in_(path, std::ios::binary) {
    std::array<unsigned char, header_size> header{};
    read(0, header.data(), header.size());
    big_endian_ = header[126] == 'M';
    for (std::uint64_t at = header_size; at < size_;) {
      std::array<unsigned char, tag_size> bytes{};
      read(at, bytes.data(), bytes.size());
      const Tag tag = tag_at(bytes.data(), big_endian_);
      if (tag.type != plain && tag.type != compressed) {
        damaged(fmt::format("byte {} begins no variable (type {})", at, tag.type));
      }
      if (tag.length > size_ - at - tag_size) cut_short(at + tag_size + tag.length);
      elements_.push_back({at + tag_size, tag});
      at += tag_size + tag.length;
    }
  }

  // The chosen variable, a real array of `numbers` elements, is all there.
  void verify(std::size_t index, std::uint64_t numbers) {
    const Element element = elements_[index];
    if (element.tag.type == compressed) {
      inflate(element);
    } else {
      start_.resize(std::min<std::size_t>(element.tag.length, start_limit));
      read(element.begin, start_.data(), start_.size());
      length_ = element.tag.length;
    }
    std::uint64_t at = element.tag.type == compressed ? tag_size : 0;
    for (int part = 0; part < 3; ++part) at = after(at);  // flags, dimensions, name
    const auto [type, length, data] = part_at(at);
    constexpr std::array<std::uint64_t, 14> width{0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
    const std::uint64_t each = type < width.size() ? width[type] : 0;
    if (each == 0 || length % each != 0 || length / each != numbers || data + length > length_) {
      damaged(fmt::format("a variable of {} numbers stores {} bytes of type {}", numbers, length,
                          type));
    }
  }

 private:
  struct Part {
    std::uint32_t type;
    std::uint64_t length, data;
  };

  // Up to 4 bytes of data sit in the tag itself, whose first word then holds their number above the
  // type.
  Part part_at(std::uint64_t at) const {
    if (at + tag_size > start_.size()) damaged("a variable ends within its own header");
    const Tag tag = tag_at(start_.data() + at, big_endian_);
    if (tag.type >> 16 != 0) return {tag.type & 0xffff, tag.type >> 16, at + tag_size / 2};
    return {tag.type, tag.length, at + tag_size};
  }

  std::uint64_t after(std::uint64_t at) const {
    const Part part = part_at(at);
    return part.data < at + tag_size ? at + tag_size : part.data + (part.length + 7) / 8 * 8;
  }

  // Runs through the whole zlib stream, which ends in a checksum of what it held; keeps its start.
  void inflate(const Element& element) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw IoError(fmt::format("no memory to read '{}'", path_));
    const std::unique_ptr<z_stream, decltype([](z_stream* s) { inflateEnd(s); })> end(&stream);
    std::vector<unsigned char> in(1 << 16), out(1 << 18);
    std::uint64_t place = element.begin;
    const std::uint64_t stop = element.begin + element.tag.length;
    length_ = 0;
    start_.clear();
    int status = Z_OK;
    while (status == Z_OK) {
      if (stream.avail_in == 0 && place < stop) {
        stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(in.size(), stop - place));
        stream.next_in = in.data();
        read(place, in.data(), stream.avail_in);
        place += stream.avail_in;
      }
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      status = ::inflate(&stream, Z_NO_FLUSH);
      const std::size_t made = out.size() - stream.avail_out;
      const std::size_t kept = std::min(made, start_limit - std::min(start_limit, start_.size()));
      start_.insert(start_.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(kept));
      length_ += made;
    }
    if (status != Z_STREAM_END) {
      damaged(fmt::format("the compressed variable at byte {} breaks off or is corrupt (zlib: {})",
                          element.begin, stream.msg != nullptr ? stream.msg : "unexpected end"));
    }
  }

  void read(std::uint64_t at, unsigned char* to, std::size_t count) {
    if (count > size_ || at > size_ - count) cut_short(at + count);
    in_.seekg(static_cast<std::streamoff>(at));
    in_.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count));
    if (!in_) throw IoError(fmt::format("cannot read '{}' at byte {}", path_, at));
  }

  [[noreturn]] void cut_short(std::uint64_t needed) const {
    damaged(fmt::format("it has {} bytes and needs {} at least", size_, needed));
  }
  [[noreturn]] void damaged(const std::string& how) const {
    throw FormatError(fmt::format("'{}' is a damaged .mat file: {}", path_, how));
  }

  // Flags, dimensions and name: MATLAB's names have 63 letters, its arrays a few dozen axes.
  static constexpr std::size_t start_limit = 4096;

  std::string path_;
  std::uint64_t size_;
  std::ifstream in_;
  bool big_endian_ = false;
  std::vector<Element> elements_;
  std::vector<unsigned char> start_;
  std::uint64_t length_ = 0;
};

// ---- from MATLAB's order to ours ----

// X(f, s) = data[place(f) + s · stride], where place(f) follows the features in row-major order.
template <class T>
void fill(Matrix& X, const T* data, const Shape& shape, std::size_t sample_axis) {
  std::vector<Index> strides(shape.size());
  Index stride = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    strides[axis] = stride;
    stride *= static_cast<Index>(shape[axis]);
  }
  const Index step = strides[sample_axis];

  std::vector<Index> place(static_cast<std::size_t>(X.rows()), 0);
  Index period = 1;  // features after which this axis has gone through all its values
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (axis == sample_axis) continue;
    const auto extent = static_cast<Index>(shape[axis]);
    for (Index f = 0; f < X.rows(); ++f) {
      place[static_cast<std::size_t>(f)] += f / period % extent * strides[axis];
    }
    period *= extent;
  }

  constexpr Index block = 64;  // samples at a time, so that both sides stay in the cache
  for (Index begin = 0; begin < X.cols(); begin += block) {
    const Index end = std::min(X.cols(), begin + block);
    for (Index f = 0; f < X.rows(); ++f) {
      const T* feature = data + place[static_cast<std::size_t>(f)];
      for (Index s = begin; s < end; ++s) X(f, s) = static_cast<double>(feature[s * step]);
    }
  }
}

// Calls `use` with the variable's numbers in their own type.
template <class Use>
bool with_numbers(enum matio_types type, const void* data, Use use) {
  switch (type) {
    case MAT_T_DOUBLE:
      use(static_cast<const double*>(data));
      return true;
    case MAT_T_SINGLE:
      use(static_cast<const float*>(data));
      return true;
    case MAT_T_INT8:
      use(static_cast<const std::int8_t*>(data));
      return true;
    case MAT_T_UINT8:
      use(static_cast<const std::uint8_t*>(data));
      return true;
    case MAT_T_INT16:
      use(static_cast<const std::int16_t*>(data));
      return true;
    case MAT_T_UINT16:
      use(static_cast<const std::uint16_t*>(data));
      return true;
    case MAT_T_INT32:
      use(static_cast<const std::int32_t*>(data));
      return true;
    case MAT_T_UINT32:
      use(static_cast<const std::uint32_t*>(data));
      return true;
    case MAT_T_INT64:
      use(static_cast<const std::int64_t*>(data));
      return true;
    case MAT_T_UINT64:
      use(static_cast<const std::uint64_t*>(data));
      return true;
    default:
      return false;
  }
}

enum class Version { five, seven_three };

Version version_of(const std::string& path) {
  const std::uint64_t bytes = size_of_file(path);
  std::string header(header_size, '\0');
  std::ifstream(path, std::ios::binary).read(header.data(), header_size);
  if (header.starts_with("\x89HDF\r\n")) {
    throw FormatError(fmt::format(
        "'{}' is an HDF5 file without MATLAB's header; rename it to .h5 to read it as such", path));
  }
  const std::string_view mark = std::string_view(header).substr(124, 4);
  using namespace std::string_view_literals;
  if (mark == "\0\1IM"sv || mark == "\1\0MI"sv) return Version::five;
  if (mark == "\0\2IM"sv || mark == "\2\0MI"sv) return Version::seven_three;
  throw FormatError(
      fmt::format("'{}' ({} bytes) has no header of a MATLAB 5 or 7.3 file; a MATLAB 4 file "
                  "must be saved again, with save -v7",
                  path, bytes));
}

std::vector<Variable> list_variables(mat_t* file) {
  std::vector<Variable> variables;
  while (Variable variable{Mat_VarReadNextInfo(file)}) variables.push_back(std::move(variable));
  return variables;
}

// Variables that are MATLAB's own (of its subsystem) have no name, or one that begins with '#'.
std::vector<Member> members_of(const std::vector<Variable>& variables) {
  std::vector<Member> members;
  for (const Variable& variable : variables) {
    const std::string name = variable->name == nullptr ? "" : variable->name;
    const Shape shape = shape_of(*variable);
    const bool ours = !name.empty() && name.front() != '#';
    members.push_back({name,
                       fmt::format("{}{} {}", variable->isComplex != 0 ? "complex " : "",
                                   class_name(*variable), text(shape)),
                       ours && !shape.empty() && refusal(*variable).empty()});
  }
  return members;
}

Matrix load(const std::string& path, const std::string& member, const ReadOptions& options) {
  const Hdf5Session session;
  const Version version = version_of(path);
  std::optional<Mat5Frame> frame;
  if (version == Version::five) frame.emplace(path);
  const MatFile file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  // Mat_Open succeeds on a 7.3 file that HDF5 cannot open.
  if (!file || !session.reason("H5Fopen").empty()) {
    throw FormatError(fmt::format("'{}' is a damaged .mat file: {}", path, session.reason()));
  }

  const std::vector<Variable> variables = list_variables(file.get());
  const std::size_t chosen = choose_member(path, members_of(variables), member);
  matvar_t& variable = *variables[chosen];
  const std::string where = fmt::format("'{}' in '{}'", variable.name, path);
  if (const std::string why = refusal(variable); !why.empty()) {
    throw FormatError(fmt::format("{} {}", where, why));
  }
  const Shape shape = shape_of(variable);
  const Layout layout(shape, options.columns, where);
  const std::uint64_t numbers = size_of(shape, where);
  if (numbers == 0) return {layout.features, 0};

  if (frame) frame->verify(chosen, numbers);
  Matrix X = allocate(layout.features, layout.samples, where);
  const bool failed = Mat_VarReadDataAll(file.get(), &variable) != 0 || variable.data == nullptr;
  const std::string reason = session.reason("H5Dread");  // which matio may pass over
  if (failed || !reason.empty() || variable.nbytes / numbers < Mat_SizeOf(variable.data_type) ||
      !with_numbers(variable.data_type, variable.data,
                    [&](const auto* data) { fill(X, data, shape, layout.sample_axis); })) {
    throw FormatError(fmt::format("{} ({} {}) cannot be read{}{}", where, class_name(variable),
                                  text(shape), reason.empty() ? "" : ": ", reason));
  }
  return X;
}

// ---- writing ----

// What MATLAB's isvarname accepts.
void check_name(const std::string& name) {
  constexpr std::array<std::string_view, 20> keywords{
      "break",      "case",   "catch",    "classdef", "continue", "else",      "elseif",
      "end",        "for",    "function", "global",   "if",       "otherwise", "parfor",
      "persistent", "return", "spmd",     "switch",   "try",      "while"};
  constexpr std::size_t longest = 63;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto part = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || name.size() > longest || !letter(name.front()) ||
      !std::all_of(name.begin(), name.end(), part) ||
      std::find(keywords.begin(), keywords.end(), name) != keywords.end()) {
    throw InvalidInput(
        fmt::format("'{}' cannot name a MATLAB variable: a letter, then letters, digits or '_', "
                    "{} characters at most, no keyword",
                    name, longest));
  }
}

void produce_5(const std::string& path, const std::string& name, const MatrixView& X,
               const std::string& target) {
  Matrix rows = X.transpose();  // samples × features, column-major as MATLAB has it
  std::array<std::size_t, 2> shape{static_cast<std::size_t>(rows.rows()),
                                   static_cast<std::size_t>(rows.cols())};
  // A header of our own, since matio's holds the time: the same matrix gives the same bytes.
  MatFile file(Mat_CreateVer(path.c_str(), "MATLAB 5.0 MAT-file, written by cgmca", MAT_FT_MAT5));
  const Variable variable(Mat_VarCreate(name.c_str(), MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape.data(),
                                        rows.data(), MAT_F_DONT_COPY_DATA));
  bool good =
      file && variable && Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_NONE) == 0;
  good = file && Mat_Close(file.release()) == 0 && good;
  // matio does not notice a full disk; the numbers are stored plainly, so that the size tells.
  const auto bytes = static_cast<std::uint64_t>(rows.size()) * sizeof(double);
  if (!good || size_of_file(path) < header_size + bytes) {
    throw IoError(fmt::format("cannot write {} bytes to '{}'; is the disk full?", bytes, target));
  }
}

// An HDF5 file after 512 bytes of which the first 128 are a header like MATLAB 5's. HDF5's arrays
// are row-major, so that MATLAB's samples × features array is one of features × samples there.
void produce_73(const std::string& path, const std::string& name, const MatrixView& X,
                const std::string& target) {
  constexpr std::size_t userblock = 512, text_size = 124;
  const PlacedFile file(path, target);
  std::uint64_t place =
      lay_out_hdf5(path, file, name, X.rows(), X.cols(), userblock, {"MATLAB_class", "double"});
  std::string header = "MATLAB 7.3 MAT-file, written by cgmca";
  header.resize(text_size, ' ');
  header.append(std::endian::native == std::endian::little ? "\0\2IM" : "\2\0MI", 4);
  file.write(0, header.data(), header.size());
  constexpr Index block = 64;
  for (Index f = 0; f < X.rows(); f += block) {
    const Matrix rows = X.middleRows(f, std::min(block, X.rows() - f)).transpose();
    const auto bytes = static_cast<std::size_t>(rows.size()) * sizeof(double);
    file.write(place, rows.data(), bytes);
    place += bytes;
  }
}

}  // namespace

std::unique_ptr<BlockReader::Source> open_mat(const std::string& path, const std::string& member,
                                              const ReadOptions& options) {
  return in_memory(load(path, member, options));
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X,
               std::uint64_t largest) {
  check_name(variable);
  const bool large = static_cast<std::uint64_t>(X.size()) * sizeof(double) > largest;
  write_atomically(path, [&](const std::string& temporary) {
    (large ? produce_73 : produce_5)(temporary, variable, X, path);
  });
}

void write_mat(const std::string& path, const std::string& variable, const MatrixView& X) {
  write_mat(path, variable, X, largest_mat5);
}

}  // namespace cgmca::io
