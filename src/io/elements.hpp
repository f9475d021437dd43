// The number types files hold, and their conversion to double.
#pragma once

#include <cgmca/types.hpp>
#include <cstddef>
#include <string>

namespace cgmca::io {

struct Element {
  enum class Kind { boolean, signed_integer, unsigned_integer, floating };
  Kind kind = Kind::floating;
  Index size = 8;           // bytes: 1 (boolean), 1 2 4 8 (integers), 2 4 8 (floating)
  bool big_endian = false;  // of no meaning for a single byte
};

// Whether the element's bytes are those of a double in memory, so that none need be converted.
bool is_native_double(const Element& element);

// out[i · stride] = the i-th of `count` elements stored one after the other at `in` (any
// alignment). 64-bit integers beyond 2⁵³ are rounded to the nearest double.
void to_doubles(const Element& element, const std::byte* in, Index count, double* out, Index stride = 1);

}  // namespace cgmca::io
