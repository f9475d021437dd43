// Texts of files that keep their letters as numbers: NPY's 'U' (UTF-32), MATLAB's char (UTF-16).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cgmca::io {

// UTF-8 of code points or of UTF-16 units, zeros at the end left out. What is no code point becomes U+FFFD.
std::string utf8_of(const std::vector<std::uint32_t>& letters);

// The code points, and the UTF-16 units, of UTF-8. Bytes that are not UTF-8 are taken for Latin-1.
std::vector<std::uint32_t> utf32_of(std::string_view text);
std::vector<std::uint16_t> utf16_of(std::string_view text);

}  // namespace cgmca::io
