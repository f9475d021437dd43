// The order of names with numbers in them.
#pragma once

#include <string>

namespace cgmca::io {

// Natural order: numbers by value (img2 before img10), letters regardless of case, '/' before every other character, so
// that the files of a folder stay together. Names that differ only in case or leading zeros are ordered by their bytes,
// so that there is only one order.
bool sorts_before(const std::string& a, const std::string& b);

}  // namespace cgmca::io
