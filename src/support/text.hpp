// Text of unknown encoding.
#pragma once

#include <string>
#include <string_view>

namespace cgmca {

// The text itself where it is valid UTF-8; otherwise it is taken for Latin-1, as spreadsheets write it, and converted.
std::string as_utf8(std::string_view text);

}  // namespace cgmca
