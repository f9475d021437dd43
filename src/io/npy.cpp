// NPY, NumPy's format for one array.
//
//   "\x93NUMPY"  major minor  length: u16 (major 1) or u32 (2, 3), little-endian  header  elements
//
// The header is a Python dictionary in ASCII (major 3: UTF-8), padded with blanks:
//
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//
// Hand-written because Debian has no C++ library for it that reads in blocks and trusts no header.
#include "npy.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "array_source.hpp"
#include "elements.hpp"
#include "support/atomic_file.hpp"

namespace cgmca::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 1 << 20;  // those of plain numbers have some hundred bytes
constexpr std::size_t most_dimensions = 64;      // NumPy's own limit

// As many bytes as there are, at most `count`.
std::string read_text(Bytes& bytes, std::size_t count) {
  std::string text(std::min<std::uint64_t>(count, bytes.remaining().value_or(count)), '\0');
  text.resize(bytes.read(text.data(), text.size()));
  return text;
}

// The Python dictionary in the header; what it cannot hold is refused where it stands.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  ArrayHeader parse() {
    ArrayHeader header;
    header.name = name_;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        header.element = element();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        fail(fmt::format("unknown key {}", quoted(key)));
      }
      if (accept('}')) break;
      expect(',');
    }
    if (!descr || !order || !shape) fail("it lacks 'descr', 'fortran_order' or 'shape'");
    return header;
  }

 private:
  void blanks() {
    const auto start = text_.find_first_not_of(" \t\n");
    text_.remove_prefix(start == std::string_view::npos ? text_.size() : start);
  }
  bool accept(char c) {
    blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' expected at {}", c, quoted(text_)));
  }
  bool accept(std::string_view word) {
    blanks();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }

  std::string_view string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const auto end = text_.find(quote);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string_view result = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return result;
  }

  bool boolean() {
    if (accept("True")) return true;
    if (!accept("False")) fail(fmt::format("True or False expected at {}", quoted(text_)));
    return false;
  }

  Shape tuple() {
    Shape result;
    expect('(');
    while (!accept(')')) {
      blanks();
      std::uint64_t length = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), length);
      if (error != std::errc()) fail(fmt::format("a length of the shape expected at {}", quoted(text_)));
      if (result.size() == most_dimensions) fail(fmt::format("its shape has more than {} dimensions", most_dimensions));
      result.push_back(length);
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      accept('L');  // Python 2 wrote 3L
      if (accept(')')) break;
      expect(',');
    }
    return result;
  }

  // Byte order ('<' '>' '=' '|'), kind, size in bytes.
  Element element() {
    blanks();
    if (text_.starts_with('[')) refuse("a structured array", "save one field of it, or its fields stacked as columns");
    const std::string_view descr = string();
    std::string_view rest = descr;
    Element element;
    element.big_endian = std::endian::native == std::endian::big;
    if (!rest.empty() && std::string_view("<>=|").find(rest.front()) != std::string_view::npos) {
      if (rest.front() == '<') element.big_endian = false;
      if (rest.front() == '>') element.big_endian = true;
      rest.remove_prefix(1);
    }
    const char kind = rest.empty() ? '\0' : rest.front();
    if (kind == 'c') refuse("complex numbers", "save their real and imaginary parts side by side as columns");
    if (kind == 'O') refuse("Python objects", "save numbers: numpy.save(path, a.astype(float))");
    if (rest == "b1")
      element.kind = Element::Kind::boolean;
    else if (rest == "i1" || rest == "i2" || rest == "i4" || rest == "i8")
      element.kind = Element::Kind::signed_integer;
    else if (rest == "u1" || rest == "u2" || rest == "u4" || rest == "u8")
      element.kind = Element::Kind::unsigned_integer;
    else if (rest == "f2" || rest == "f4" || rest == "f8")
      element.kind = Element::Kind::floating;
    else
      refuse(fmt::format("elements of type {}", quoted(descr)), "save numbers: numpy.save(path, a.astype(float))");
    element.size = rest[1] - '0';
    return element;
  }

  [[noreturn]] void refuse(const std::string& what, const char* advice) const {
    throw FormatError(fmt::format("'{}' holds {}, which cannot be read; {}", name_, what, advice));
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("'{}' has a malformed NPY header: {}", name_, what));
  }

  const std::string& name_;
  std::string_view text_;
};

}  // namespace

std::unique_ptr<BlockReader::Source> npy_source(const std::string& name, std::unique_ptr<Bytes> bytes,
                                                const ReadOptions& options) {
  std::string start = read_text(*bytes, 8);
  if (!start.starts_with(magic))
    throw FormatError(
        fmt::format("'{}' is no NPY array: it starts with {} instead of \\x93NUMPY", name, quoted(start)));
  const int major = start.size() == 8 ? start[6] : 0;
  if (start.size() == 8 && (major < 1 || major > 3))
    throw FormatError(fmt::format("'{}': NPY version {} is unknown (known: 1, 2, 3)", name, major));
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::string length_bytes = read_text(*bytes, length_size);
  std::size_t length = 0;
  for (std::size_t i = length_bytes.size(); i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(length_bytes[i]);
  if (length > longest_header)
    throw FormatError(
        fmt::format("'{}': an NPY header of {} bytes (more than {}) is no plain array", name, length, longest_header));
  const std::string text = read_text(*bytes, length);
  if (length_bytes.size() < length_size || text.size() < length)
    throw FormatError(
        fmt::format("'{}' is truncated: its NPY header promises {} bytes, but {} are "
                    "there",
                    name, length, text.size()));
  ArrayHeader header = HeaderParser(name, text).parse();
  header.begin = start.size() + length_size + length;
  return array_source(header, std::move(bytes), options);
}

std::unique_ptr<BlockReader::Source> open_npy(const std::string& path, const std::string&, const ReadOptions& options) {
  return npy_source(path, std::make_unique<FileBytes>(std::make_shared<File>(path)), options);
}

void write_npy(const std::string& path, const MatrixView& X) {
  std::string header = fmt::format("{{'descr': '{}f8', 'fortran_order': False, 'shape': ({}, {}), }}",
                                   std::endian::native == std::endian::little ? '<' : '>', X.cols(), X.rows());
  // The elements start at a multiple of 64 bytes; the header ends in a newline.
  const std::size_t before = magic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  const std::array<char, 4> version_and_length = {1, 0, static_cast<char>(header.size() & 0xff),
                                                  static_cast<char>(header.size() >> 8)};
  AtomicFile file(path);
  file.write(magic.data(), magic.size());
  file.write(version_and_length.data(), version_and_length.size());
  file.write(header.data(), header.size());
  // The columns of X, one after the other, are the rows of the file.
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(double); };
  if (X.outerStride() == X.rows())
    file.write(X.data(), bytes(X.size()));
  else
    for (Index j = 0; j < X.cols(); ++j) file.write(X.col(j).data(), bytes(X.rows()));
  file.commit();
}

}  // namespace cgmca::io
