#include "support/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cgmca {
namespace {

// How many bytes the sequence has that begins with this one; 0 where none does.
std::size_t length_of_sequence(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = length_of_sequence(byte(i));
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    // Not longer than needed, no surrogates, nothing above U+10FFFF.
    if (length == 3 && byte(i) == 0xE0 && byte(i + 1) < 0xA0) return false;
    if (length == 3 && byte(i) == 0xED && byte(i + 1) >= 0xA0) return false;
    if (length == 4 && byte(i) == 0xF0 && byte(i + 1) < 0x90) return false;
    if (length == 4 && byte(i) == 0xF4 && byte(i + 1) >= 0x90) return false;
    i += length;
  }
  return true;
}

// U+0080 to U+009F are control characters too; U+202A to U+202E and U+2066 to U+2069 turn the direction of text.
bool is_harmless(char32_t c) {
  if (c < 0x20) return c == '\n' || c == '\t';
  return !(c >= 0x7F && c < 0xA0) && !(c >= 0x202A && c <= 0x202E) && !(c >= 0x2066 && c <= 0x2069);
}

// Of a whole sequence of UTF-8.
char32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  char32_t c = byte(0) & (0xFFU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) c = (c << 6) | (byte(i) & 0x3FU);
  return c;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::string_view sequence = text.substr(i, std::max<std::size_t>(1, length_of_sequence(first)));
    const bool valid = is_utf8(sequence);
    const char32_t c = valid ? code_point(sequence) : first;
    if (valid && is_harmless(c)) {
      result += sequence;
    } else {
      result += c < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(c))
                          : fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    }
    i += valid ? sequence.size() : 1;
  }
  return result;
}

// At whole characters.
std::string shortened(const std::string& word) {
  constexpr std::size_t longest = 400, kept = 180;
  if (word.size() <= longest) return word;
  const auto inside = [&](std::size_t i) { return (static_cast<unsigned char>(word[i]) & 0xC0) == 0x80; };
  std::size_t head = kept, tail = word.size() - kept;
  while (inside(head)) --head;
  while (inside(tail)) ++tail;
  return word.substr(0, head) + "…" + word.substr(tail);
}

}  // namespace

std::string printable(std::string_view text) {
  const std::string safe = escaped(text);
  std::string result;
  for (std::size_t start = 0; start < safe.size();) {
    const std::size_t end = std::min(safe.find_first_of(" \n\t", start), safe.size());
    result += shortened(safe.substr(start, end - start));
    if (end < safe.size()) result += safe[end];
    start = end + 1;
  }
  return result;
}

std::string as_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xC0 | (byte >> 6));
      result += static_cast<char>(0x80 | (byte & 0x3F));
    }
  }
  return result;
}

}  // namespace cgmca
