// What a ridge makes of a domain's covariance.
#pragma once

#include <cgmca/domain.hpp>
#include <cgmca/regularization.hpp>
#include <string>

namespace cgmca {

// Throws InvalidInput if a rank limit or ridge cannot be one, or where there are settings for another number of
// domains.
void check(const Regularization& options, Index domains);

// data and ridge of (24) for a domain of d features with tr Θ, and concentration tr Θ²/(tr Θ)², where an automatic ridge
// cannot be found from couplings: for incomplete samples and for a domain that is added. n: the weight of its samples.
Regularized regularized(const Ridge& ridge, double trace, double concentration, Index features, Index samples,
                        double n);
// ρ of the oracle-approximating shrinkage (Chen, Wiesel, Eldar, Hero 2010), as scikit-learn's OAS has it.
double oas_shrinkage(double trace, double trace_of_square, Index features, double n);

// A sentence for people where the units of a domain's features decide what a ridge or max_rank leaves of it: where at
// most √d of its d features hold 99 % of the variance. Pixels and wavelengths never do. Else empty.
std::string units_decide(Domain domain, const Vector& variance);

}  // namespace cgmca
