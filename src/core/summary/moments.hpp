// What the stages after the summary read of it.                                                    docs/method.md (18)
#pragma once

#include <cgmca/summary.hpp>
#include <vector>

#include "core/linalg/backend.hpp"
#include "layout.hpp"

namespace cgmca {

// rows, qr: S_i S_jᵀ = Θ_ij; where S_i has fewer columns than S_j, its further columns are zero.
// gram: Θ itself, p×p.
struct Moments {
  Index samples;
  SummaryForm form;
  Layout layout;
  Vector mean;  // of all features, domain by domain
  std::vector<linalg::Array> S;
  bool first_is_triangle = false;  // S_1ᵀ is upper triangular already (form qr)
  linalg::Array theta;

  linalg::Array theta_block(Index i, Index j) const {
    return theta.block(layout.start(i), layout.start(j), layout.features(i), layout.features(j));
  }
};

Moments moments(const Summary& summary);           // throws TooFewSamples
Moments factored_moments(const Summary& summary);  // the same, never in the gram form

// H_i with H_i H_jᵀ = Σ (x_i - c_i)(x_j - c_j)ᵀ over the samples, for any points c, one a domain; all have as many
// columns. For every linear f then Σ ‖f(x_1 - c_1, x_2 - c_2)‖² = ‖f(H_1, H_2)‖_F².
std::vector<Matrix> roots_about(const std::vector<Vector>& points, const Summary& summary);

}  // namespace cgmca
