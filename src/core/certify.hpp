// The proof that a fit's maps are the ones asked for, computed from the finished maps.
#pragma once

#include <cgmca/model.hpp>

#include "solve.hpp"
#include "whitening/factors.hpp"

namespace cgmca {

Certificate certify(const Solution& solution, const Factors& factors);

// (n-1)/n · ( tr C_1 + tr C_2 - 2 Σ_j σ_j(A) σ_j(B) ), given (n-1)/n · (tr C_1 + tr C_2).                         (14)
double objective_bound(double n, double covariance_trace, const Vector& singular_A, const Vector& singular_B);

}  // namespace cgmca
