// Random numbers that are the same on every platform, in any order and on any number of threads.
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011) turns a counter and a
// key into four 32-bit words. There is no state: the key is the seed, and the counter says what the words are for,
//   (block, item, purpose, 0):   e.g. pixels 4·block … 4·block + 3 of image `item`.
// Normal numbers are Φ⁻¹((w + ½)/2³²) of one word w, by Wichura's AS 241. The logarithm in it is computed here, not by
// libm: it uses only +, -, *, / and sqrt, which IEEE 754 rounds alike everywhere (compiled without fused multiply-add).
//
// Example:
//   random_numbers::Stream stream(1, random_numbers::Purpose{1000}, 0);
//   const double z = stream.normal();
//   const std::vector<std::uint32_t> order = random_numbers::permutation(stream, 10);
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca::random_numbers {

// A purpose of numbers. Streams of different purposes are independent. The library uses these two and
// others up to 7; for other numbers take another value, such as Purpose{1000}.
enum class Purpose : std::uint32_t { folds = 4, pairing = 5 };

// Four random words for a counter and a key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// ln x of a positive finite x, to within 2 ulp.
double natural_logarithm(double x);
// Φ⁻¹(p) for 0 < p < 1, to a relative 1e-15 or so.
double normal_quantile(double p);

// Fills out with independent standard normal numbers: |z| <= 6.4, four to a block.
void fill_normal(std::uint64_t seed, Purpose purpose, std::uint32_t item, double* out, std::size_t count);

// The random numbers of one item, one after the other.
class Stream {
 public:
  // The stream of this seed, purpose and item; streams that differ in any of them are independent.
  Stream(std::uint64_t seed, Purpose purpose, std::uint32_t item);
  std::uint32_t word();                      // the next 32 random bits
  std::uint32_t below(std::uint32_t bound);  // uniform on 0 … bound - 1, without bias
  double uniform();                          // in (0, 1)
  double normal();                           // standard normal

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_, words_{};
  std::size_t used_ = 4;
};

// A random order of 0 … n - 1 (Fisher-Yates).
std::vector<std::uint32_t> permutation(Stream stream, std::uint32_t n);

}  // namespace cgmca::random_numbers
#pragma GCC visibility pop
