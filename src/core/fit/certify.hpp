// The proof that a fit's maps are the ones asked for, computed from the finished maps.
#pragma once

#include <cgmca/model.hpp>

#include "core/fit/solve.hpp"
#include "core/fit/whitened_data.hpp"

namespace cgmca {

// Fills in the whole certificate for two domains. For more, bound, gap and proof are left to `state_proof` of multi.
Certificate certify(const Solution& solution, const WhitenedData& whitened, const Matrix& edge_weights);

// Throws CertificateMismatch if a finished model holds a number that is not finite, or if its residuals are larger than
// rounding explains. The accuracy that ill-conditioned data lose in the form that was asked for counts as rounding.
void check_finished(const Model& model, const WhitenedData& whitened);

// min (σ_j - σ_{j+1}) / σ_1 over the directions used.
double smallest_gap(const Vector& s, Index used);

// (n-1)/n · ( tr C_1 + tr C_2 - 2 Σ_j σ_j(A) σ_j(B) ) · w, given (n-1)/n · (tr C_1 + tr C_2) · w.                  (14)
double objective_bound(double n, double covariance_trace, const Vector& singular_A, const Vector& singular_B,
                       double weight);

}  // namespace cgmca
