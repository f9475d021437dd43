// Moments of a domain that is added to a model, from its matched samples, and its whitening.    docs/method.md section 11
#pragma once

#include <cgmca/extend.hpp>
#include <vector>

#include "core/fit/whitened_data.hpp"

namespace cgmca {

// Moments of x, the new domain, and of t, the scores of the known domains stacked, among the matched samples or, once
// transported, among the samples of the fit.
struct Relation {
  std::vector<Index> rows;  // where the scores of each known domain begin, and where the last end
  WhitenedData whitened;    // of the matched samples
  Vector mean;              // of x
  Vector mean_scores;       // of t
  Matrix scores;            // Cov(t)
  Matrix cross;             // N = Cov(t, x) W_xᵀ, c_J×r
  Matrix own;               // H = W_x Cov(x) W_xᵀ, r×r: I unless transported

  bool transported = false;

  const WhitenedDomain& x() const { return whitened.domains.back(); }
  auto of(std::size_t j) const { return Eigen::seqN(rows[j], rows[j + 1] - rows[j]); }  // the scores of known domain j
};

// The moments from a summary of known domains and, last, the new one.
Relation relation_of(const Model& model, const Summary& matched, const std::vector<Domain>& known,
                     const AddOptions& options);

// To the samples of the fit, as far as R = Cov(x, t) Cov(t)⁺ tells, where t has the covariance Γ:                (71)
//   mean - R t̄,   Cov(x) + R (Γ - Cov(t)) Rᵀ,   Cov(t, x) + (Γ - Cov(t)) Rᵀ
void transport(Relation& relation, const Model& model, const std::vector<Domain>& known);

// The new domain whitened: L and W of Θ̃ = α L_x H L_xᵀ + β I, which are L_x `out` and `in`ᵀ W_x.
struct WhitenedNew {
  Matrix in, out;  // r×r'
  Regularized covariance;
  Vector variance;  // d: diagonal of Θ̃
};

WhitenedNew whitened(const Relation& relation, const AddOptions& options);

// T Θ̃ Tᵀ
Matrix covariance_of_scores(const Relation& relation, const WhitenedNew& white, const Matrix& T);

}  // namespace cgmca
