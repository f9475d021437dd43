// Quantiles of numbers, and false discovery rates of many tests.
#pragma once

#include <cgmca/types.hpp>

namespace cgmca {

// The quantile of sorted numbers, interpolated between neighbours.   0 <= probability <= 1
double quantile_of_sorted(const Vector& sorted, double probability);
// The same of any numbers.
double quantile_of(Vector values, double probability);

// Benjamini and Hochberg: q_(k) = min_{l >= k} n p_(l) / l, the least false discovery rate at which test k is among the
// discoveries. NaN counts as 1.
Vector false_discovery_rates(const Vector& p);

}  // namespace cgmca
