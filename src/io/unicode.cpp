#include "io/unicode.hpp"

#include "support/text.hpp"

namespace cgmca::io {
namespace {

constexpr std::uint32_t high = 0xd800, low = 0xdc00, no_surrogate = 0xe000, beyond_16_bits = 0x10000, end = 0x110000,
                        unknown = 0xfffd;

void append(std::string& text, std::uint32_t letter) {
  if (letter >= end || (letter >= high && letter < no_surrogate)) letter = unknown;
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto rest = [&](int shift) { put(0x80 | (letter >> shift & 0x3f)); };
  if (letter < 0x80) {
    put(letter);
  } else if (letter < 0x800) {
    put(0xc0 | letter >> 6);
    rest(0);
  } else if (letter < beyond_16_bits) {
    put(0xe0 | letter >> 12);
    rest(6);
    rest(0);
  } else {
    put(0xf0 | letter >> 18);
    rest(12);
    rest(6);
    rest(0);
  }
}

}  // namespace

std::string utf8_of(const std::vector<std::uint32_t>& letters) {
  std::size_t count = letters.size();
  while (count > 0 && letters[count - 1] == 0) --count;
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t letter = letters[i], next = i + 1 < count ? letters[i + 1] : 0;
    const bool pair = letter >= high && letter < low && next >= low && next < no_surrogate;
    append(text, pair ? beyond_16_bits + ((letter - high) << 10) + (next - low) : letter);
    if (pair) ++i;
  }
  return text;
}

std::vector<std::uint32_t> utf32_of(std::string_view text) {
  const std::string valid = as_utf8(text);
  std::vector<std::uint32_t> letters;
  for (const char c : valid) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80)
      letters.back() = letters.back() << 6 | (byte & 0x3f);
    else
      letters.push_back(byte < 0x80 ? byte : byte < 0xe0 ? byte & 0x1f : byte < 0xf0 ? byte & 0x0f : byte & 0x07);
  }
  return letters;
}

std::vector<std::uint16_t> utf16_of(std::string_view text) {
  std::vector<std::uint16_t> units;
  for (const std::uint32_t letter : utf32_of(text)) {
    if (letter < beyond_16_bits) {
      units.push_back(static_cast<std::uint16_t>(letter));
    } else {
      units.push_back(static_cast<std::uint16_t>(high + ((letter - beyond_16_bits) >> 10)));
      units.push_back(static_cast<std::uint16_t>(low + ((letter - beyond_16_bits) & 0x3ff)));
    }
  }
  return units;
}

}  // namespace cgmca::io
