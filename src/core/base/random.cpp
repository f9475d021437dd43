#include <cgmca/random.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cgmca::random_numbers {
namespace {

std::array<std::uint32_t, 2> key_of(std::uint64_t seed) {
  return {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
}

// The middle of the w-th of 2³² equal parts of (0, 1); exact.
double part(std::uint32_t word) { return (static_cast<double>(word) + 0.5) * 0x1p-32; }

// ((c[7] r + c[6]) r + …) r + c[0]
double polynomial(const std::array<double, 8>& c, double r) {
  double value = c[7];
  for (std::size_t k = 7; k-- > 0;) value = value * r + c[k];
  return value;
}

// Wichura, Algorithm AS 241, PPND16: numerator and denominator for |p - ½| <= 0.425, …
constexpr std::array<double, 8> kA{3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                   1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                   3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr std::array<double, 8> kB{1.0,
                                   4.2313330701600911252e1,
                                   6.8718700749205790830e2,
                                   5.3941960214247511077e3,
                                   2.1213794301586595867e4,
                                   3.9307895800092710610e4,
                                   2.8729085735721942674e4,
                                   5.2264952788528545610e3};
// … for sqrt(-ln min(p, 1 - p)) <= 5, …
constexpr std::array<double, 8> kC{1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                   3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array<double, 8> kD{1.0,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
// … and beyond.
constexpr std::array<double, 8> kE{6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                   2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array<double, 8> kF{1.0,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0], p1 = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return c;
}

// x = m 2^e with m in [√½, √2), s = (m - 1)/(m + 1):   ln x = e ln 2 + 2 (s + s³/3 + s⁵/5 + …), |s| < 0.172
double natural_logarithm(double x) {
  int e = 0;
  double m = std::frexp(x, &e);  // exact
  if (m < 0.70710678118654752440) {
    m *= 2;
    --e;
  }
  const double s = (m - 1) / (m + 1), q = s * s;
  double series = 0;
  for (int k = 21; k >= 3; k -= 2) series = (series + 1.0 / k) * q;
  return e * 0.69314718055994530942 + (2 * s + 2 * s * series);
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double r = std::sqrt(-natural_logarithm(q < 0 ? p : 1 - p));
  const double z =
      r <= 5 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6) : polynomial(kE, r - 5) / polynomial(kF, r - 5);
  return q < 0 ? -z : z;
}

void fill_normal(std::uint64_t seed, Purpose purpose, std::uint32_t item, double* out, std::size_t count) {
  for (std::size_t first = 0; first < count; first += 4) {
    const auto words =
        philox({static_cast<std::uint32_t>(first / 4), item, static_cast<std::uint32_t>(purpose), 0}, key_of(seed));
    for (std::size_t k = 0; k < std::min<std::size_t>(4, count - first); ++k) {
      out[first + k] = normal_quantile(part(words[k]));
    }
  }
}

Stream::Stream(std::uint64_t seed, Purpose purpose, std::uint32_t item)
    : key_(key_of(seed)), counter_{0, item, static_cast<std::uint32_t>(purpose), 0} {}

std::uint32_t Stream::word() {
  if (used_ == words_.size()) {
    words_ = philox(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return words_[used_++];
}

// floor(w·bound/2³²), drawn again for the 2³² mod bound values of w that would favour some results (Lemire, 2019).
std::uint32_t Stream::below(std::uint32_t bound) {
  const std::uint32_t surplus = (0U - bound) % bound;
  std::uint64_t product = 0;
  do product = std::uint64_t{word()} * bound;
  while (static_cast<std::uint32_t>(product) < surplus);
  return static_cast<std::uint32_t>(product >> 32);
}

double Stream::uniform() { return part(word()); }

double Stream::normal() { return normal_quantile(uniform()); }

std::vector<std::uint32_t> permutation(Stream stream, std::uint32_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t k = n; k > 1; --k) std::swap(order[k - 1], order[stream.below(k)]);
  return order;
}

}  // namespace cgmca::random_numbers
