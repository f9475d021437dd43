// MATLAB 5 files, which MATLAB writes as -v6 (plain) and -v7 (compressed), through matio.
//
// matio neither notices a file cut short nor checks a compressed variable's checksum: it would hand
// out whatever was in memory. Files are therefore verified first, the frame of
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

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <matio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "support/file.hpp"

namespace cgmca::io {
namespace {

// ---- the frame ----

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
  explicit Mat5Frame(const std::string& path) : file_(path) {
    std::array<unsigned char, header_size> header{};
    read(0, header.data(), header.size());
    big_endian_ = header[126] == 'M';
    for (std::uint64_t at = header_size; at < file_.size();) {
      std::array<unsigned char, tag_size> bytes{};
      read(at, bytes.data(), bytes.size());
      const Tag tag = tag_at(bytes.data(), big_endian_);
      if (tag.type != plain && tag.type != compressed) {
        damaged(fmt::format("byte {} begins no variable (type {})", at, tag.type));
      }
      if (tag.length > file_.size() - at - tag_size) cut_short(at + tag_size + tag.length);
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
      damaged(fmt::format("a variable of {} numbers stores {} bytes of type {}", numbers, length, type));
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
    if (inflateInit(&stream) != Z_OK) throw IoError(fmt::format("no memory to read '{}'", file_.path()));
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
      damaged(fmt::format("the compressed variable at byte {} breaks off or is corrupt (zlib: {})", element.begin,
                          stream.msg != nullptr ? stream.msg : "unexpected end"));
    }
  }

  void read(std::uint64_t at, unsigned char* to, std::size_t count) {
    if (count > file_.size() || at > file_.size() - count) cut_short(at + count);
    file_.read_at(at, to, count);
  }

  [[noreturn]] void cut_short(std::uint64_t needed) const {
    damaged(fmt::format("it has {} bytes and needs {} at least", file_.size(), needed));
  }
  [[noreturn]] void damaged(const std::string& how) const {
    throw FormatError(fmt::format("'{}' is a damaged .mat file: {}", file_.path(), how));
  }

  // Flags, dimensions and name: MATLAB's names have 63 letters, its arrays a few dozen axes.
  static constexpr std::size_t start_limit = 4096;

  File file_;
  bool big_endian_ = false;
  std::vector<Element> elements_;
  std::vector<unsigned char> start_;
  std::uint64_t length_ = 0;
};

// ---- matio ----

using Handle = std::unique_ptr<mat_t, decltype([](mat_t* file) { Mat_Close(file); })>;
using Variable = std::unique_ptr<matvar_t, decltype([](matvar_t* variable) { Mat_VarFree(variable); })>;

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

// Not of a logical array: MATLAB 5 could make one of any class.
bool fits_single(const matvar_t& variable) {
  const auto type = variable.class_type;
  return variable.isLogical == 0 && (type == MAT_C_SINGLE || type == MAT_C_INT8 || type == MAT_C_UINT8 ||
                                     type == MAT_C_INT16 || type == MAT_C_UINT16);
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

class Mat5File final : public MatFile {
 public:
  explicit Mat5File(const std::string& path) : frame_(path), file_(Mat_Open(path.c_str(), MAT_ACC_RDONLY)) {
    if (!file_) throw FormatError(fmt::format("'{}' is a damaged .mat file", path));
    while (Variable variable{Mat_VarReadNextInfo(file_.get())}) {
      MatVariable described{.name = variable->name == nullptr ? "" : variable->name,
                            .matlab_class = std::string(class_name(*variable)),
                            .complex = variable->isComplex != 0,
                            .single = fits_single(*variable),
                            .shape = {}};
      if (variable->dims != nullptr && variable->rank > 0) {
        described.shape.assign(variable->dims, variable->dims + variable->rank);
      }
      variables_.push_back(std::move(described));
      handles_.push_back(std::move(variable));
    }
  }

  const std::vector<MatVariable>& variables() const override { return variables_; }

  Matrix read(std::size_t index, const Layout& layout, const std::string& where) override {
    return read_as<double>(index, layout, where);
  }
  Eigen::MatrixXf read_single(std::size_t index, const Layout& layout, const std::string& where) override {
    return read_as<float>(index, layout, where);
  }

 private:
  template <class Scalar>
  Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> read_as(std::size_t index, const Layout& layout,
                                                                const std::string& where) {
    matvar_t& variable = *handles_[index];
    const Shape& shape = variables_[index].shape;
    const auto numbers = static_cast<std::uint64_t>(layout.samples * layout.features);
    frame_.verify(index, numbers);
    auto X = allocate<Scalar>(layout.features, layout.samples, where);
    if (Mat_VarReadDataAll(file_.get(), &variable) != 0 || variable.data == nullptr ||
        variable.nbytes / numbers < Mat_SizeOf(variable.data_type) ||
        !with_numbers(variable.data_type, variable.data,
                      [&](const auto* data) { fill(X, data, shape, layout.sample_axis); })) {
      throw FormatError(fmt::format("{} ({} {}) cannot be read", where, variables_[index].matlab_class, text(shape)));
    }
    return X;
  }

  Mat5Frame frame_;
  Handle file_;
  std::vector<MatVariable> variables_;
  std::vector<Variable> handles_;
};

}  // namespace

std::unique_ptr<MatFile> open_mat5(const std::string& path) { return std::make_unique<Mat5File>(path); }

void produce_mat5(const std::string& path, const std::string& name, const MatrixView& X, const std::string& target) {
  Matrix rows = X.transpose();  // samples × features, column-major as MATLAB has it
  std::array<std::size_t, 2> shape{static_cast<std::size_t>(rows.rows()), static_cast<std::size_t>(rows.cols())};
  // A header of our own, since matio's holds the time: the same matrix gives the same bytes.
  Handle file(Mat_CreateVer(path.c_str(), "MATLAB 5.0 MAT-file, written by cgmca", MAT_FT_MAT5));
  const Variable variable(
      Mat_VarCreate(name.c_str(), MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape.data(), rows.data(), MAT_F_DONT_COPY_DATA));
  bool good = file && variable && Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_NONE) == 0;
  good = file && Mat_Close(file.release()) == 0 && good;
  // matio does not notice a full disk; the numbers are stored plainly, so that the size tells.
  const auto bytes = static_cast<std::uint64_t>(rows.size()) * sizeof(double);
  if (!good || File(path).size() < header_size + bytes) {
    throw IoError(fmt::format("cannot write {} bytes to '{}'; is the disk full?", bytes, target));
  }
}

}  // namespace cgmca::io
