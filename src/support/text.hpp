// Text of unknown encoding.
#pragma once

#include <string>
#include <string_view>

namespace cgmca {

// The text itself where it is valid UTF-8; otherwise it is taken for Latin-1, as spreadsheets write it, and converted.
std::string as_utf8(std::string_view text);

// For a terminal: control characters, which could move its cursor or change its title, are shown as "\x1b", as bytes
// are that are no UTF-8, and marks that
// turn the direction of text as "\u202e". Line feeds and tabs stay. A word of more than 400 bytes loses its middle.
std::string printable(std::string_view text);

}  // namespace cgmca
