// The ridge that needs no choice.
#pragma once

#include "core/fit/whitened_data.hpp"

namespace cgmca {

// λ of (24) for domain i, counted from 0, if its `rank` leading directions are used. It has the least generalized
// cross-validation error of the regression of all other domains on it. `plain` has every domain's spectrum.     (25)
double automatic_ridge(const WhitenedData& plain, std::size_t i, Index rank);

// For each domain λ if its ridge is automatic, else the given ridge. With more than two domains an automatic
// ridge is at least the geometric mean of the automatic ones, because translations use several domains together.
std::vector<double> chosen_ridges(const WhitenedData& plain, const PerDomain<Ridge>& given,
                                  const std::vector<Index>& ranks);

}  // namespace cgmca
