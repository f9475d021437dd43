#include "io/array/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace cgmca::io {
namespace {

// IEEE 754 binary16: 1 sign bit, 5 exponent bits (bias 15), 10 fraction bits.
struct Half {
  std::uint16_t bits;
  template <class Scalar>
  explicit operator Scalar() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = 0;
    if (exponent == 31) {
      value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    } else {
      value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    }
    return static_cast<Scalar>(bits & 0x8000 ? -value : value);
  }
};

template <class T>
T load(const std::byte* in, bool swap) {
  std::array<std::byte, sizeof(T)> bytes;
  std::copy_n(in, sizeof(T), bytes.begin());
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

template <class T, class Scalar>
void convert_all(const std::byte* in, bool swap, Index count, Scalar* out, Index stride) {
  for (Index i = 0; i < count; ++i) out[i * stride] = static_cast<Scalar>(load<T>(in + i * Index{sizeof(T)}, swap));
}

template <class T>
double part_of(T a, T b, Element::Part part) {
  const double re = static_cast<double>(a), im = static_cast<double>(b);
  switch (part) {
    case Element::Part::magnitude:
      return std::hypot(re, im);
    case Element::Part::power:
      return re * re + im * im;
    case Element::Part::real:
      return re;
    case Element::Part::imaginary:
      break;
  }
  return im;
}

template <class T, class Scalar>
void convert_complex(const Element& element, const std::byte* in, bool swap, Index count, Scalar* out, Index stride) {
  constexpr Index half = sizeof(T);
  for (Index i = 0; i < count; ++i, in += 2 * half)
    out[i * stride] = static_cast<Scalar>(part_of(load<T>(in, swap), load<T>(in + half, swap), element.part));
}

template <class Scalar>
using Convert = void (*)(const std::byte*, bool, Index, Scalar*, Index);

template <class Scalar>
Convert<Scalar> converter(const Element& element) {
  using Kind = Element::Kind;
  switch (element.kind) {
    case Kind::boolean:
      return convert_all<std::uint8_t>;
    case Kind::signed_integer:
      return element.size == 1   ? convert_all<std::int8_t, Scalar>
             : element.size == 2 ? convert_all<std::int16_t, Scalar>
             : element.size == 4 ? convert_all<std::int32_t, Scalar>
                                 : convert_all<std::int64_t, Scalar>;
    case Kind::unsigned_integer:
      return element.size == 1   ? convert_all<std::uint8_t, Scalar>
             : element.size == 2 ? convert_all<std::uint16_t, Scalar>
             : element.size == 4 ? convert_all<std::uint32_t, Scalar>
                                 : convert_all<std::uint64_t, Scalar>;
    case Kind::floating:
    case Kind::complex:  // see convert()
      break;
  }
  return element.size == 2   ? convert_all<Half, Scalar>
         : element.size == 4 ? convert_all<float, Scalar>
                             : convert_all<double, Scalar>;
}

bool foreign_order(const Element& element) {
  return element.size > 1 && element.big_endian != (std::endian::native == std::endian::big);
}

}  // namespace

std::string name(const Element& element) {
  const Index bits = 8 * element.size;
  switch (element.kind) {
    case Element::Kind::boolean:
      return "bool";
    case Element::Kind::signed_integer:
      return fmt::format("int{}", bits);
    case Element::Kind::unsigned_integer:
      return fmt::format("uint{}", bits);
    case Element::Kind::floating:
      return fmt::format("float{}", bits);
    case Element::Kind::complex:
      break;
  }
  return fmt::format("complex{}", bits);
}

bool fits_single(const Element& element) {
  using Part = Element::Part;
  if (element.kind == Element::Kind::complex)
    return element.size == 8 && (element.part == Part::real || element.part == Part::imaginary);
  return element.size <= (element.kind == Element::Kind::floating ? 4 : 2);
}

template <class Scalar>
bool is_native(const Element& element) {
  return element.kind == Element::Kind::floating && element.size == Index{sizeof(Scalar)} && !foreign_order(element);
}

template <class Scalar>
void convert(const Element& element, const std::byte* in, Index count, Scalar* out, Index stride) {
  if (element.kind == Element::Kind::complex) {
    (element.size == 8 ? convert_complex<float, Scalar>
                       : convert_complex<double, Scalar>)(element, in, foreign_order(element), count, out, stride);
    return;
  }
  converter<Scalar>(element)(in, foreign_order(element), count, out, stride);
}

template bool is_native<double>(const Element&);
template bool is_native<float>(const Element&);
template void convert(const Element&, const std::byte*, Index, double*, Index);
template void convert(const Element&, const std::byte*, Index, float*, Index);

}  // namespace cgmca::io
