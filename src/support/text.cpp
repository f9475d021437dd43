#include "support/text.hpp"

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

}  // namespace

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
