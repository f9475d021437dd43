// NPY, NumPy's format for one array.
//
//   "\x93NUMPY"  major minor  length: u16 (major 1) or u32 (2, 3), little-endian  header  elements
//
// The header is a Python dictionary in ASCII (major 3: UTF-8), padded with blanks:
//
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//
// Hand-written because Debian has no C++ library that reads it in blocks and checks the header.
#include "io/array/npy.hpp"

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

#include "io/array/array_source.hpp"
#include "io/array/elements.hpp"
#include "io/describe.hpp"
#include "io/unicode.hpp"
#include "support/text.hpp"

namespace cgmca::io {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 1 << 20;  // arrays of numbers need about a hundred bytes
constexpr std::size_t most_dimensions = 64;      // NumPy's own limit

// The next `count` bytes, or fewer at the end.
std::string read_text(Bytes& bytes, std::size_t count) {
  std::string text(std::min<std::uint64_t>(count, bytes.remaining().value_or(count)), '\0');
  text.resize(bytes.read(text.data(), text.size()));
  return text;
}

// Parses the Python dictionary in the header. Errors quote the text where they occur.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  NpyHeader parse() {
    header_.array.name = name_;
    ArrayHeader& header = header_.array;
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
        fail(fmt::format("unknown key {}", io::quoted(key)));
      }
      if (accept('}')) break;
      expect(',');
    }
    if (!descr || !order || !shape) fail("it lacks 'descr', 'fortran_order' or 'shape'");
    return header_;
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
    if (!accept(c)) fail(fmt::format("'{}' expected at {}", c, io::quoted(text_)));
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
    if (!accept("False")) fail(fmt::format("True or False expected at {}", io::quoted(text_)));
    return false;
  }

  Shape tuple() {
    Shape result;
    expect('(');
    while (!accept(')')) {
      blanks();
      std::uint64_t length = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), length);
      if (error != std::errc()) fail(fmt::format("a length of the shape expected at {}", io::quoted(text_)));
      if (result.size() == most_dimensions) fail(fmt::format("its shape has more than {} dimensions", most_dimensions));
      result.push_back(length);
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      accept('L');  // Python 2 wrote 3L
      if (accept(')')) break;
      expect(',');
    }
    return result;
  }

  // Skips the fields of a structured array: a list of tuples, which may have strings in them.
  void pass_list() {
    int depth = 0;
    do {
      blanks();
      if (text_.empty()) fail("a list does not end");
      if (text_.front() == '\'' || text_.front() == '"') {
        string();
        continue;
      }
      if (text_.front() == '[' || text_.front() == '(') ++depth;
      if (text_.front() == ']' || text_.front() == ')') --depth;
      text_.remove_prefix(1);
    } while (depth > 0);
  }

  // Byte order ('<' '>' '=' '|'), kind, size in bytes (for 'U' in characters of 4 bytes).
  Element element() {
    blanks();
    if (text_.starts_with('[')) {
      pass_list();
      header_.type = "structured";
      refuse("a structured array", "save one field of it, or its fields stacked as columns");
      return {};
    }
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
    if (const auto known = kind_of(rest)) {
      element.kind = *known;
      element.size = rest == "c16" ? 16 : rest[1] - '0';
      header_.type = name(element);
      return element;
    }
    header_.type = io::quoted(descr);
    std::size_t letters = 0;
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), letters);
    constexpr std::size_t longest = 1 << 16;
    if ((kind == 'U' || kind == 'S') && error == std::errc() && end == rest.data() + rest.size() && letters < longest) {
      header_.text = kind;
      header_.letters = letters;
    }
    if (kind == 'O')
      refuse("Python objects", "save numbers: numpy.save(path, a.astype(float))");
    else
      refuse(fmt::format("elements of type {}", io::quoted(descr)), "save numbers: numpy.save(path, a.astype(float))");
    return element;
  }

  static std::optional<Element::Kind> kind_of(std::string_view type) {
    using Kind = Element::Kind;
    constexpr std::array<std::pair<std::string_view, Kind>, 14> kinds = {{
        {"b1", Kind::boolean},
        {"i1", Kind::signed_integer},
        {"i2", Kind::signed_integer},
        {"i4", Kind::signed_integer},
        {"i8", Kind::signed_integer},
        {"u1", Kind::unsigned_integer},
        {"u2", Kind::unsigned_integer},
        {"u4", Kind::unsigned_integer},
        {"u8", Kind::unsigned_integer},
        {"f2", Kind::floating},
        {"f4", Kind::floating},
        {"f8", Kind::floating},
        {"c8", Kind::complex},
        {"c16", Kind::complex},
    }};
    for (const auto& [known, kind] : kinds)
      if (type == known) return kind;
    return std::nullopt;
  }

  void refuse(const std::string& what, const char* advice) {
    header_.refusal = fmt::format("'{}' holds {}, which cannot be read; {}", name_, what, advice);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("'{}' has a malformed NPY header: {}", name_, what));
  }

  const std::string& name_;
  std::string_view text_;
  NpyHeader header_;
};

}  // namespace

NpyHeader npy_header(const std::string& name, Bytes& bytes) {
  std::string start = read_text(bytes, 8);
  if (!start.starts_with(magic))
    throw FormatError(
        fmt::format("'{}' is not an NPY array: it starts with {} instead of \\x93NUMPY", name, io::quoted(start)));
  const int major = start.size() == 8 ? start[6] : 0;
  if (start.size() == 8 && (major < 1 || major > 3))
    throw FormatError(fmt::format("'{}': NPY version {} is unknown (known: 1, 2, 3)", name, major));
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::string length_bytes = read_text(bytes, length_size);
  std::size_t length = 0;
  for (std::size_t i = length_bytes.size(); i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(length_bytes[i]);
  if (length > longest_header)
    throw FormatError(fmt::format("'{}': an NPY header of {} bytes (more than {}) is not a plain array", name, length,
                                  longest_header));
  const std::string text = read_text(bytes, length);
  if (length_bytes.size() < length_size || text.size() < length)
    throw FormatError(
        fmt::format("'{}' is truncated: its NPY header promises {} bytes, but {} are "
                    "there",
                    name, length, text.size()));
  NpyHeader header = HeaderParser(name, text).parse();
  header.array.begin = start.size() + length_size + length;
  return header;
}

std::unique_ptr<BlockReader::Source> npy_source(const std::string& name, std::unique_ptr<Bytes> bytes,
                                                const ReadOptions& options) {
  const NpyHeader header = npy_header(name, *bytes);
  if (!header.refusal.empty()) throw FormatError(header.refusal);
  return array_source(header.array, std::move(bytes), options);
}

std::unique_ptr<BlockReader::Source> open_npy(const std::string& path, const std::string&, const ReadOptions& options) {
  return npy_source(path, contents_of(std::make_shared<const File>(path)), options);
}

std::vector<std::string> npy_texts(const std::string& name, std::unique_ptr<Bytes> bytes) {
  const NpyHeader header = npy_header(name, *bytes);
  if (header.text == '\0' || header.letters == 0 || header.array.shape.size() > 1) return {};
  const std::size_t size = header.text == 'U' ? 4 : 1;
  const Element letter{Element::Kind::unsigned_integer, static_cast<Index>(size), header.array.element.big_endian};
  std::vector<std::byte> text(header.letters * size);
  std::vector<double> numbers(header.letters);
  std::vector<std::string> texts;
  const std::uint64_t count = header.array.shape.empty() ? 1 : header.array.shape[0];
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes->read(text.data(), text.size()) < text.size()) return {};
    convert(letter, text.data(), std::ssize(numbers), numbers.data());
    std::vector<std::uint32_t> letters(numbers.begin(), numbers.end());
    if (header.text == 'U') {
      texts.push_back(utf8_of(letters));
    } else {
      const std::string bytes_of_text(letters.begin(), letters.end());
      texts.push_back(as_utf8(bytes_of_text.substr(0, bytes_of_text.find_last_not_of('\0') + 1)));
    }
  }
  return texts;
}

ArrayInfo describe_npy_array(const std::string& name, std::unique_ptr<Bytes> bytes) {
  const NpyHeader header = npy_header(name, *bytes);
  ArrayInfo info{.name = "",
                 .shape = shape_of(header.array.shape),
                 .type = header.type,
                 .feature_names = {},
                 .missing = std::nullopt};
  if (!header.refusal.empty() || header.array.element.kind == Element::Kind::complex || !is_matrix(header.array.shape))
    return info;
  info.missing = count_missing(*array_source(header.array, std::move(bytes), {}));
  return info;
}

FileInfo describe_npy(const std::string& path) {
  auto bytes = contents_of(std::make_shared<const File>(path));
  const bool compressed = !bytes->remaining().has_value();
  return {compressed ? "NumPy array, compressed by gzip" : "NumPy array", {describe_npy_array(path, std::move(bytes))}};
}

}  // namespace cgmca::io
