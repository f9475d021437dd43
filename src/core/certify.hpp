// The proof that a fit's maps are the ones asked for, computed from the finished maps.
#pragma once

#include <cgmca/model.hpp>

#include "solve.hpp"
#include "whitening/factors.hpp"

namespace cgmca {

// Fills in the whole certificate for two domains. For more, bound, gap and proof are left to `state_proof` of multi.
Certificate certify(const Solution& solution, const Factors& factors, const Matrix& weights);

// (n-1)/n · ( tr C_1 + tr C_2 - 2 Σ_j σ_j(A) σ_j(B) ) · w, given (n-1)/n · (tr C_1 + tr C_2) · w.                  (14)
double objective_bound(double n, double covariance_trace, const Vector& singular_A, const Vector& singular_B,
                       double weight);

}  // namespace cgmca
