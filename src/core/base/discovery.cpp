#include "core/base/discovery.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace cgmca {

double quantile_of_sorted(const Vector& sorted, double probability) {
  const double place = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<Index>(place);
  const Index above = std::min(below + 1, sorted.size() - 1);
  return sorted(below) + (place - static_cast<double>(below)) * (sorted(above) - sorted(below));
}

double quantile_of(Vector values, double probability) {
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values, probability);
}

Vector false_discovery_rates(const Vector& p) {
  const Vector values = p.array().isNaN().select(1.0, p);
  std::vector<Index> order(p.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values(a) < values(b); });
  Vector q(p.size());
  double least = 1;
  for (Index k = p.size() - 1; k >= 0; --k) {
    const Index i = order[k];
    least = std::min(least, values(i) * static_cast<double>(p.size()) / static_cast<double>(k + 1));
    q(i) = least;
  }
  return q;
}

}  // namespace cgmca
