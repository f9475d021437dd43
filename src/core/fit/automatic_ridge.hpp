// The ridge that needs no choice.
#pragma once

#include "core/fit/factors.hpp"

namespace cgmca {

// λ of (24) for domain i, counted from 0, if its `rank` leading directions are used: that of the least generalized
// cross-validation error of the regression of all other domains on it. `plain` has every domain's spectrum.     (25)
double automatic_ridge(const Factors& plain, std::size_t i, Index rank);

// For each domain whose ridge is automatic its λ, else the ridge as given. With more than two domains an automatic
// ridge is at least the geometric mean of the automatic ones, because translations use several domains together.
std::vector<double> chosen_ridges(const Factors& plain, const PerDomain<Ridge>& given, const std::vector<Index>& ranks);

}  // namespace cgmca
