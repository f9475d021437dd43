#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "io/matlab/mat5.hpp"
#include "io/unicode.hpp"
#include "support/text.hpp"

namespace cgmca::io {
namespace {

constexpr std::uint32_t matrix_type = 14, utf8_type = 16;

std::optional<Element> element_of(std::uint32_t type, bool big_endian) {
  using Kind = Element::Kind;
  switch (type) {
    case 1:
      return Element{Kind::signed_integer, 1, big_endian};
    case 2:
    case 16:  // UTF-8
      return Element{Kind::unsigned_integer, 1, big_endian};
    case 3:
      return Element{Kind::signed_integer, 2, big_endian};
    case 4:
    case 17:  // UTF-16
      return Element{Kind::unsigned_integer, 2, big_endian};
    case 5:
      return Element{Kind::signed_integer, 4, big_endian};
    case 6:
    case 18:  // UTF-32
      return Element{Kind::unsigned_integer, 4, big_endian};
    case 7:
      return Element{Kind::floating, 4, big_endian};
    case 9:
      return Element{Kind::floating, 8, big_endian};
    case 12:
      return Element{Kind::signed_integer, 8, big_endian};
    case 13:
      return Element{Kind::unsigned_integer, 8, big_endian};
    default:
      return std::nullopt;
  }
}

std::string letters_of(std::span<const unsigned char> bytes) {
  const std::string text(bytes.begin(), bytes.end());
  return text.substr(0, text.find('\0'));
}

}  // namespace

Mat5Node::Mat5Node(const Mat5Frame& frame, std::span<const unsigned char> bytes) : frame_(&frame), rest_(bytes) {
  if (bytes.empty()) {  // [] within a cell array or a struct
    kind = Mat5Class::float64;
    shape = {0, 0};
    return;
  }
  const Part flags = part();
  if (flags.data.size() < 8) frame.damaged("a variable begins without its flags");
  const std::uint32_t bits = word(flags.data, 0);
  kind = static_cast<Mat5Class>(bits & 0xff);
  complex = (bits & 0x800) != 0;
  logical = (bits & 0x200) != 0;
  if (kind != Mat5Class::opaque) {
    const Part dimensions = part();
    for (std::size_t at = 0; at + 4 <= dimensions.data.size(); at += 4) shape.push_back(word(dimensions.data, at));
  }
  name = letters_of(part().data);
}

std::uint32_t Mat5Node::word(std::span<const unsigned char> bytes, std::size_t at) const {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{bytes[at + i]} << (8 * (frame_->big_endian() ? 3 - i : i));
  return value;
}

// Up to 4 bytes of data are in the tag itself. The upper half of its first word is then their
// number.
Mat5Node::Part Mat5Node::part() {
  if (rest_.size() < mat5_tag_size) frame_->damaged("a variable ends within its own header");
  const std::uint32_t type = word(rest_, 0), length = word(rest_, 4);
  const std::uint32_t small = type >> 16;
  if (small > 4 || (small == 0 && length > rest_.size() - mat5_tag_size))
    frame_->damaged(fmt::format("a part of {} bytes in the {} that are left of a variable", small > 4 ? small : length,
                                rest_.size() - mat5_tag_size));
  const Part found =
      small > 0 ? Part{type & 0xffff, rest_.subspan(4, small)} : Part{type, rest_.subspan(mat5_tag_size, length)};
  const std::size_t padded = small > 0 ? 0 : (std::size_t{length} + 7) / 8 * 8;
  rest_ = rest_.subspan(std::min(mat5_tag_size + padded, rest_.size()));
  return found;
}

std::uint64_t Mat5Node::size() const {
  std::uint64_t size = 1;
  for (const std::uint64_t length : shape)
    if (__builtin_mul_overflow(size, length, &size)) frame_->damaged(fmt::format("a variable claims {}", text(shape)));
  return size;
}

Mat5Node::Numbers Mat5Node::numbers() {
  const Part found = part();
  const auto element = element_of(found.type, frame_->big_endian());
  if (!element || found.data.size() % static_cast<std::size_t>(element->size) != 0)
    frame_->damaged(fmt::format("numbers of type {} in {} bytes", found.type, found.data.size()));
  return {*element, reinterpret_cast<const std::byte*>(found.data.data()),
          found.data.size() / static_cast<std::size_t>(element->size)};
}

Mat5Node::Numbers Mat5Node::all_numbers() {
  const std::uint32_t type = rest_.size() < mat5_tag_size ? 0 : word(rest_, 0) & 0xffff;
  const Numbers found = numbers();
  if (found.count != size())
    frame_->damaged(fmt::format("a variable of {} numbers stores {} bytes of type {}", size(),
                                found.count * static_cast<std::uint64_t>(found.element.size), type));
  return found;
}

bool Mat5Node::is_sparse() const {
  if (kind == Mat5Class::sparse) return true;
  constexpr std::uint32_t int32_type = 5;
  return kind == Mat5Class::uint8 && logical && rest_.size() >= mat5_tag_size &&
         (word(rest_, 0) & 0xffff) == int32_type;
}

Mat5Node Mat5Node::child() {
  const Part found = part();
  if (found.type != matrix_type) frame_->damaged(fmt::format("type {} where a variable belongs", found.type));
  return {*frame_, found.data};
}

std::vector<std::string> Mat5Node::fields() {
  if (kind == Mat5Class::object) pass();  // the name of its class
  const Part length = part(), names = part();
  const std::size_t each = length.data.size() < 4 ? 0 : word(length.data, 0);
  if (each == 0 && !names.data.empty()) frame_->damaged("a struct without the length of its fields' names");
  std::vector<std::string> result;
  for (std::size_t at = 0; each > 0 && at + each <= names.data.size(); at += each)
    result.push_back(letters_of(names.data.subspan(at, each)));
  return result;
}

std::vector<std::string> Mat5Node::rows_of_text() {
  if (shape.size() != 2 || size() == 0) return {};
  const std::span<const unsigned char> before = rest_;
  const Part part_of_text = part();
  std::vector<std::uint32_t> letters;
  if (part_of_text.type == utf8_type) {
    letters = utf32_of(std::string(part_of_text.data.begin(), part_of_text.data.end()));
  } else {
    rest_ = before;
    const Numbers units = numbers();
    std::vector<double> values(units.count);
    convert(units.element, units.data, static_cast<Index>(units.count), values.data());
    letters.assign(values.begin(), values.end());
  }
  const std::size_t rows = shape[0];
  if (rows == 1) return {utf8_of(letters)};
  if (letters.size() != size()) return {};
  std::vector<std::string> result;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::uint32_t> line;
    for (std::size_t at = row; at < letters.size(); at += rows) line.push_back(letters[at]);
    const std::string text = utf8_of(line);
    result.push_back(text.substr(0, text.find_last_not_of(' ') + 1));
  }
  return result;
}

std::vector<std::string> Mat5Node::texts() {
  if (kind == Mat5Class::text) return rows_of_text();
  if (kind != Mat5Class::cell) return {};
  std::vector<std::string> result;
  for (std::uint64_t i = 0; i < size(); ++i) {
    Mat5Node cell = child();
    if (cell.kind != Mat5Class::text) return {};
    const auto rows = cell.rows_of_text();
    result.push_back(rows.size() == 1 ? rows[0] : std::string());
  }
  return result;
}

}  // namespace cgmca::io
