#include "student.hpp"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace cgmca {
namespace {

constexpr double kPrecision = 1e-16;
constexpr double kNormalFrom = 1e6;  // degrees of freedom from which one more term of the normal quantile is exact

// The continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun 26.5.8):
//   I_x(a, b) = x^a (1-x)^b / (a B(a, b)) · 1/(1 + d_1/(1 + d_2/(1 + …)))
double beta_fraction(double x, double a, double b) {
  constexpr double tiny = 1e-300;
  const auto safe = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / safe(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double step : {even, odd}) {
      d = 1 / safe(1 + step * d);
      c = safe(1 + step / c);
      change = c * d;
      result *= change;
    }
    if (std::abs(change - 1) < kPrecision) break;
  }
  return result;
}

double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

// P(T > x) for x >= 0.
double tail(double x, double degrees) {
  if (degrees >= kNormalFrom) return 0.5 * std::erfc(x / std::sqrt(2.0));
  return 0.5 * incomplete_beta(degrees / (degrees + x * x), degrees / 2, 0.5);
}

}  // namespace

double student_quantile(double probability, double degrees) {
  if (probability < 0.5) return -student_quantile(1 - probability, degrees);
  const double wanted = 1 - probability;
  double low = 0, high = 1;
  while (tail(high, degrees) > wanted) std::tie(low, high) = std::pair(high, 2 * high);
  while (high - low > 4 * std::numeric_limits<double>::epsilon() * high) {
    const double middle = 0.5 * (low + high);
    (tail(middle, degrees) > wanted ? low : high) = middle;
  }
  const double x = 0.5 * (low + high);
  return degrees >= kNormalFrom ? x + x * (x * x + 1) / (4 * degrees) : x;
}

}  // namespace cgmca
