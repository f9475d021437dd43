// Conversion of texts whose characters are stored as numbers: 'U' of NPY (UTF-32), char of MATLAB
// (UTF-16).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cgmca::io {

// UTF-8 from code points or UTF-16 units, without zeros at the end. Invalid ones become U+FFFD.
std::string utf8_of(const std::vector<std::uint32_t>& letters);

// Code points and UTF-16 units from UTF-8. If the bytes are not UTF-8, they are taken as Latin-1.
std::vector<std::uint32_t> utf32_of(std::string_view text);
std::vector<std::uint16_t> utf16_of(std::string_view text);

}  // namespace cgmca::io
