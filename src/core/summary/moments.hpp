// What the stages after the summary read of it.                                                    docs/method.md (18)
#pragma once

#include <cgmca/summary.hpp>
#include <vector>

#include "core/linalg/backend.hpp"
#include "core/summary/layout.hpp"

namespace cgmca {

// rows, qr: S_i S_jᵀ = Θ_ij; where S_i has fewer columns than S_j, its further columns are zero. Or, if there are links,
// S_i X_ij S_jᵀ = Θ_ij.
// gram: Θ itself, p×p.
struct Moments {
  Index samples;
  double total_weight;  // n of the formulas
  double freedom;       // n - 1: S_i S_jᵀ = Xc_i Xc_jᵀ / freedom
  SummaryForm form;
  Layout layout;
  Vector mean;  // of all features, domain by domain
  std::vector<linalg::Array> S{};
  std::vector<std::vector<linalg::Array>> links{};  // X_ij for i < j (form qr)
  // With links: the features of each domain that vary, in an order in which S_iᵀ is upper triangular.
  std::vector<linalg::Places> orders{};
  linalg::Array theta{};
  Vector row_weights{};  // w_j where column j of S_i is √w_j times a deviation (form rows); empty where all are 1
  // Of a form gram: R with RᵀR = freedom · Θ_ii, where known
  std::vector<linalg::ArrayTriangle> factors{};

  // Y_i Y_jᵀ of Y_i = T_i S_i and likewise Y_j, i < j: T_i Θ_ij T_jᵀ
  linalg::Array cross(std::size_t i, std::size_t j, const linalg::Array& Y_i, const linalg::Array& Y_j) const;
  const linalg::Backend& on() const { return form == SummaryForm::gram ? theta.on() : S.front().on(); }
  linalg::Array theta_block(Index i, Index j) const {
    return theta.block(layout.start(i), layout.start(j), layout.features(i), layout.features(j));
  }
};

Moments moments(const Summary& summary);  // throws TooFewSamples, also where the weights sum to at most 1
// The same with links where that is possible, which costs less: each domain has coordinates of its own.
Moments separate_moments(const Summary& summary);
// The same, never in the gram form. Samples whose weights sum to at most 1 have no covariance; their freedom is 1 here.
Moments factored_moments(const Summary& summary);

// H_i with H_i H_jᵀ = Σ w (x_i - c_i)(x_j - c_j)ᵀ over the samples, for any points c, one a domain; all have as many
// columns. For every linear f then Σ w ‖f(x_1 - c_1, x_2 - c_2)‖² = ‖f(H_1, H_2)‖_F².
std::vector<Matrix> roots_about(const std::vector<Vector>& points, const Summary& summary);

}  // namespace cgmca
