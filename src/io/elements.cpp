#include "elements.hpp"

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
  explicit operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = 0;
    if (exponent == 31) {
      value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    } else {
      value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    }
    return bits & 0x8000 ? -value : value;
  }
};

template <class T>
T load(const std::byte* in, bool swap) {
  std::array<std::byte, sizeof(T)> bytes;
  std::copy_n(in, sizeof(T), bytes.begin());
  if (swap) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

template <class T>
void convert(const std::byte* in, bool swap, Index count, double* out, Index stride) {
  for (Index i = 0; i < count; ++i) out[i * stride] = static_cast<double>(load<T>(in + i * Index{sizeof(T)}, swap));
}

using Convert = void (*)(const std::byte*, bool, Index, double*, Index);

Convert converter(const Element& element) {
  using Kind = Element::Kind;
  switch (element.kind) {
    case Kind::boolean:
      return convert<std::uint8_t>;
    case Kind::signed_integer:
      return element.size == 1   ? convert<std::int8_t>
             : element.size == 2 ? convert<std::int16_t>
             : element.size == 4 ? convert<std::int32_t>
                                 : convert<std::int64_t>;
    case Kind::unsigned_integer:
      return element.size == 1   ? convert<std::uint8_t>
             : element.size == 2 ? convert<std::uint16_t>
             : element.size == 4 ? convert<std::uint32_t>
                                 : convert<std::uint64_t>;
    case Kind::floating:
      break;
  }
  return element.size == 2 ? convert<Half> : element.size == 4 ? convert<float> : convert<double>;
}

bool foreign_order(const Element& element) {
  return element.size > 1 && element.big_endian != (std::endian::native == std::endian::big);
}

}  // namespace

bool is_native_double(const Element& element) {
  return element.kind == Element::Kind::floating && element.size == 8 && !foreign_order(element);
}

void to_doubles(const Element& element, const std::byte* in, Index count, double* out, Index stride) {
  converter(element)(in, foreign_order(element), count, out, stride);
}

}  // namespace cgmca::io
