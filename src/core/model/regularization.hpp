// What a ridge makes of a domain's covariance.
#pragma once

#include <cgmca/regularization.hpp>

namespace cgmca {

// Throws InvalidInput where a rank limit or ridge cannot be one, or where there are settings for another number of
// domains.
void check(const Regularization& options, Index domains);

// data and ridge of (24) for a domain of d features with tr Θ, and concentration tr Θ²/(tr Θ)². n: the weight of its
// samples.
Regularized regularized(const Ridge& ridge, double trace, double concentration, Index features, Index samples,
                        double n);

}  // namespace cgmca
