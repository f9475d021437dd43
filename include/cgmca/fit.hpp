// The closed-form fit (Algorithm 1 of the CGMCA paper; docs/method.md sections 2 and 3).
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <optional>

namespace cgmca {

struct FitOptions {
  std::optional<double> rank_tol;  // a domain's rank counts σ_j > rank_tol·σ_1; default max(d, n)·eps
};

// Maps A1, A2 that minimize (n-1)/n ‖A1 S1 - A2 S2‖_F² subject to A_i Θ_i A_iᵀ = C_i.
// Throws TooFewSamples, NoVariance, CommonDimension, or Infeasible where C_i has a higher rank than
// domain i.
Model fit(const PairSummary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options = {});

// The same for data at hand.   X1: d1×n, X2: d2×n
Model fit(const MatrixView& X1, const MatrixView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options = {});

}  // namespace cgmca
