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

}  // namespace cgmca
