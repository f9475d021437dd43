#include "io/matlab/mat5.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "io/matlab/mat.hpp"

namespace cgmca::io {
namespace {

constexpr std::uint32_t plain = 14, compressed = 15;

Mat5Tag tag_at(const unsigned char* bytes, bool big_endian) {
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{bytes[at + i]} << (8 * (big_endian ? 3 - i : i));
    return value;
  };
  return {word(0), word(4)};
}

}  // namespace

Mat5Frame::Mat5Frame(const std::string& path) : file_(path) {
  read(0, header_.data(), header_.size());
  for (std::uint64_t at = mat5_header_size; at < file_.size();) {
    std::array<unsigned char, mat5_tag_size> bytes{};
    read(at, bytes.data(), bytes.size());
    const Mat5Tag tag = tag_at(bytes.data(), big_endian());
    if (tag.type != plain && tag.type != compressed)
      damaged(fmt::format("there is no variable at byte {} (type {})", at, tag.type));
    const std::uint64_t end = at + mat5_tag_size + tag.length;
    if (end > file_.size()) damaged(fmt::format("it has {} bytes and needs {} at least", file_.size(), end));
    elements_.push_back({at + mat5_tag_size, tag});
    at = end;
  }
}

std::uint64_t Mat5Frame::subsystem() const {
  constexpr std::size_t place = 116;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{header_[place + i]} << (8 * (big_endian() ? 7 - i : i));
  const auto begins = [&](const Mat5Element& element) { return element.begin == value + mat5_tag_size; };
  return std::any_of(elements_.begin(), elements_.end(), begins) ? value : 0;  // it may be blanks
}

void Mat5Frame::read(std::uint64_t at, void* to, std::size_t count) const {
  if (count > file_.size() || at > file_.size() - count)
    damaged(fmt::format("it has {} bytes and needs {} at least", file_.size(), at + count));
  file_.read_at(at, to, count);
}

void Mat5Frame::damaged(const std::string& how) const {
  throw FormatError(fmt::format("'{}' is a damaged .mat file: {}", file_.path(), how));
}

std::vector<unsigned char> Mat5Frame::contents(const Mat5Element& element) const {
  if (element.tag.type == compressed) return inflate(element, std::numeric_limits<std::size_t>::max());
  std::vector<unsigned char> bytes(element.tag.length);
  read(element.begin, bytes.data(), bytes.size());
  return bytes;
}

// Enough for flags, dimensions and name: names have at most 63 letters, arrays a few dozen axes.
std::vector<unsigned char> Mat5Frame::start(const Mat5Element& element) const {
  constexpr std::uint32_t most = 4096;
  if (element.tag.type == compressed) return inflate(element, most);
  std::vector<unsigned char> bytes(std::min(element.tag.length, most));
  read(element.begin, bytes.data(), bytes.size());
  return bytes;
}

// Decompresses a zlib stream, which ends with a checksum, and removes the tag at its start. Memory
// grows with the data that arrive, not with the size in the tag.
std::vector<unsigned char> Mat5Frame::inflate(const Mat5Element& element, std::size_t most) const {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) throw IoError(fmt::format("no memory to read '{}'", file_.path()));
  const std::unique_ptr<z_stream, decltype([](z_stream* s) { inflateEnd(s); })> end(&stream);
  std::vector<unsigned char> in(1 << 16), block(1 << 18), out;
  std::uint64_t place = element.begin;
  const std::uint64_t stop = element.begin + element.tag.length;
  int status = Z_OK;
  while (status == Z_OK && out.size() < most) {
    if (stream.avail_in == 0 && place < stop) {
      stream.avail_in = static_cast<uInt>(std::min<std::uint64_t>(in.size(), stop - place));
      stream.next_in = in.data();
      read(place, in.data(), stream.avail_in);
      place += stream.avail_in;
    }
    stream.next_out = block.data();
    stream.avail_out = static_cast<uInt>(block.size());
    status = ::inflate(&stream, Z_NO_FLUSH);
    out.insert(out.end(), block.data(), stream.next_out);
  }
  if (status != Z_STREAM_END && out.size() < most)
    damaged(fmt::format("a compressed variable cannot be unpacked ({})",
                        stream.msg != nullptr ? stream.msg : "its data end too early"));
  if (out.size() < mat5_tag_size || tag_at(out.data(), big_endian()).type != plain)
    damaged("a compressed element holds no variable");
  out.erase(out.begin(), out.begin() + mat5_tag_size);
  return out;
}

namespace {

std::string class_name(const Mat5Node& node) {
  if (node.logical) return "logical";
  constexpr std::array<std::string_view, 18> names{
      "unknown", "cell",  "struct", "object", "char",   "double", "double", "single",          "int8",
      "uint8",   "int16", "uint16", "int32",  "uint32", "int64",  "uint64", "function handle", "opaque"};
  const auto which = static_cast<std::size_t>(node.kind);
  return std::string(names[which < names.size() ? which : 0]);
}

// Never for logical arrays, because MATLAB 5 could make them from any class.
bool node_fits_single(const Mat5Node& node) {
  const Mat5Class kind = node.kind;
  return !node.logical && (kind == Mat5Class::float32 || kind == Mat5Class::int8 || kind == Mat5Class::uint8 ||
                           kind == Mat5Class::int16 || kind == Mat5Class::uint16);
}

MatVariable described(const Mat5Node& node, const std::string& name) {
  return {.name = name,
          .matlab_class = class_name(node),
          .complex = node.complex,
          .sparse = node.is_sparse(),
          .single = node_fits_single(node),
          .shape = node.shape};
}

class Mat5File final : public MatFile {
 public:
  explicit Mat5File(const std::string& path) : frame_(path) {
    for (const Mat5Element& element : frame_.elements()) {
      const std::vector<unsigned char> start = frame_.start(element);
      const Mat5Node node(frame_, start);
      variables_.push_back(described(node, node.name));
    }
  }

  std::vector<MatVariable> list(const MatPath& path) override {
    if (path.empty()) return variables_;
    Mat5Node node = find(path);
    if (node.kind != Mat5Class::structure && node.kind != Mat5Class::object) return {};
    if (node.size() != 1) throw FormatError(refusal_of_struct_array(path.back(), node.shape));
    std::vector<MatVariable> found;
    for (const std::string& field : node.fields()) found.push_back(described(node.child(), field));
    return found;
  }

  Matrix read(const MatPath& path, bool imaginary, const Layout& layout, const std::string& where) override {
    return read_as<double>(path, imaginary, layout, where);
  }
  Eigen::MatrixXf read_single(const MatPath& path, bool imaginary, const Layout& layout,
                              const std::string& where) override {
    return read_as<float>(path, imaginary, layout, where);
  }

  // The lists of rows and values may have unused entries at the end.
  Sparse read_sparse(const MatPath& path, const std::string& where) override {
    Mat5Node node = find(path);
    if (node.shape.size() != 2) frame_.damaged(fmt::format("a sparse matrix of {}", text(node.shape)));
    Sparse sparse{
        .rows = node.shape[0], .columns = node.shape[1], .row = {}, .column = {}, .real = {}, .imaginary = {}};
    const auto places = [&] {
      const std::vector<double> values = doubles(node.numbers());
      return std::vector<std::uint64_t>(values.begin(), values.end());
    };
    sparse.row = places();
    std::vector<std::uint64_t> begins = places();
    if (begins.size() <= sparse.columns)
      frame_.damaged(
          fmt::format("a sparse matrix of {} columns, and {} places where one begins", sparse.columns, begins.size()));
    begins.resize(sparse.columns + 1);
    sparse.column = expand(begins, sparse.row.size(), where);
    const std::size_t count = sparse.column.size();
    sparse.row.resize(count);
    sparse.real = doubles(node.numbers());
    if (node.complex) sparse.imaginary = doubles(node.numbers());
    if (sparse.real.size() < count || (node.complex && sparse.imaginary.size() < count))
      frame_.damaged(fmt::format("a sparse matrix of {} places and {} values", count, sparse.real.size()));
    sparse.real.resize(count);
    if (node.complex) sparse.imaginary.resize(count);
    return sparse;
  }

  std::vector<std::string> texts(const MatPath& path) override { return find(path).texts(); }

 private:
  static std::vector<double> doubles(const Mat5Node::Numbers& numbers) {
    std::vector<double> values(numbers.count);
    convert(numbers.element, numbers.data, static_cast<Index>(numbers.count), values.data());
    return values;
  }

  // The variable at a path. list() has shown that it exists.
  Mat5Node find(const MatPath& path) {
    std::size_t index = 0;
    while (index < variables_.size() && variables_[index].name != path.front()) ++index;
    if (index == variables_.size()) throw std::logic_error("no variable of this name");
    if (held_ != index) contents_ = frame_.contents(frame_.elements()[index]);
    held_ = index;
    Mat5Node node(frame_, contents_);
    for (std::size_t depth = 1; depth < path.size(); ++depth) {
      const std::vector<std::string> fields = node.fields();
      const auto wanted = std::find(fields.begin(), fields.end(), path[depth]);
      for (auto field = fields.begin(); field != wanted && field != fields.end(); ++field) node.pass();
      node = node.child();
    }
    return node;
  }

  template <class Scalar>
  Dense<Scalar> read_as(const MatPath& path, bool imaginary, const Layout& layout, const std::string& where) {
    Mat5Node node = find(path);
    Mat5Node::Numbers numbers = node.all_numbers();
    if (imaginary) numbers = node.all_numbers();
    Dense<Scalar> X = allocate<Scalar>(layout.features, layout.samples, where);
    const bool aligned = reinterpret_cast<std::uintptr_t>(numbers.data) % alignof(Scalar) == 0;
    if (is_native<Scalar>(numbers.element) && aligned) {
      fill(X, reinterpret_cast<const Scalar*>(numbers.data), node.shape, layout.sample_axis);
    } else {
      Dense<Scalar> values = allocate<Scalar>(X.size(), 1, where);
      convert(numbers.element, numbers.data, X.size(), values.data());
      fill(X, values.data(), node.shape, layout.sample_axis);
    }
    return X;
  }

  Mat5Frame frame_;
  std::vector<MatVariable> variables_;
  std::vector<unsigned char> contents_;  // of the variable read last
  std::size_t held_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

std::unique_ptr<MatFile> open_mat5(const std::string& path) { return std::make_unique<Mat5File>(path); }

}  // namespace cgmca::io
