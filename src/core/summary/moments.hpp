// What the stages after the summary read of it.                                                    docs/method.md (48)
#pragma once

#include <cgmca/summary.hpp>
#include <memory>
#include <vector>

#include "core/linalg/backend.hpp"
#include "core/summary/layout.hpp"
#include "core/summary/state.hpp"

namespace cgmca {

// Roots S_i and couplings X_ij:   Θ_i = S_i S_iᵀ,   Θ_ij = S_i X_ij S_jᵀ,   X_ji = X_ijᵀ
//
// While samples wait as rows, S_i are the centred samples and X_ij = I, which is not stored.
struct Moments {
  Index samples;
  double total_weight;  // n of the formulas
  double freedom;       // n - 1: Θ_ij = Xc_i Xc_jᵀ / freedom
  SummaryForm form;
  Layout layout;
  Vector mean;                            // of all features, domain by domain
  ByDomain<linalg::Array> S{};            // one a domain
  ByDomain<ByDomain<linalg::Array>> X{};  // X_ij for i < j; none if X_ij = I
  ByDomain<linalg::Indices> orders{};     // as those of Roots; none if X_ij = I
  Vector row_weights{};                   // w_j if column j of S_i is √w_j times a deviation; empty if all are 1
  std::shared_ptr<const Compressed> compressed;  // what roots and couplings were computed from; none if X_ij = I

  const linalg::Backend& on() const { return compressed ? compressed->G.on() : S.front().on(); }
  linalg::Array theta(std::size_t i, std::size_t j) const;  // Θ_ij, i <= j
};

// Weights that sum to 1 or less give no covariance. `refuse` throws then; `allow` sets freedom to 1.
enum class SmallWeights { refuse, allow };

Moments moments(const Summary& summary, SmallWeights small = SmallWeights::refuse);  // throws TooFewSamples

// H_i with H_i H_jᵀ = Σ w (x_i - c_i)(x_j - c_j)ᵀ over the samples, for given points c_i. All H_i have the same number
// of columns. For every linear f then Σ w ‖f(x_1 - c_1, x_2 - c_2)‖² = ‖f(H_1, H_2)‖_F².
ByDomain<Matrix> roots_about(const ByDomain<Vector>& points, const Summary& summary);

}  // namespace cgmca
