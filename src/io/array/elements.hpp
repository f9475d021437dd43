// The types of numbers in files, and their conversion to double or float.
#pragma once

#include <cgmca/types.hpp>
#include <cstddef>
#include <string>

namespace cgmca::io {

struct Element {
  enum class Kind { boolean, signed_integer, unsigned_integer, floating, complex };
  Kind kind = Kind::floating;
  Index size = 8;           // bytes: 1 (boolean), 1 2 4 8 (integers), 2 4 8 (floating), 8 16 (complex)
  bool big_endian = false;  // ignored for single bytes
  // What is read from a complex number a + ib: √(a² + b²), a² + b², a or b.
  enum class Part { magnitude, power, real, imaginary };
  Part part = Part::magnitude;
};

std::string name(const Element& element);  // NumPy's name: "bool", "uint8", "float64", "complex128"

// Whether a float represents every value exactly. It does for booleans, integers of 8 and 16 bits,
// floating-point numbers of 16 and 32 bits, and parts of complex numbers of 2 × 32 bits.
bool fits_single(const Element& element);

// Whether the bytes are those of a Scalar in memory, so that they need no conversion.
template <class Scalar>
bool is_native(const Element& element);

// out[i · stride] = the i-th of `count` elements, which are contiguous at `in` (with any
// alignment). Scalar is double or float; other values are rounded to the nearest one.
template <class Scalar>
void convert(const Element& element, const std::byte* in, Index count, Scalar* out, Index stride = 1);

}  // namespace cgmca::io
