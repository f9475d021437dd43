#include "certify.hpp"

#include <algorithm>
#include <array>

#include "linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::AtB;

// min (σ_j - σ_{j+1}) / σ_1 over the directions used.
double smallest_gap(const Vector& s, Index used) {
  if (s(0) <= 0) return 0;
  const Index last = std::min(used, s.size() - 1);
  double gap = 1;
  for (Index j = 0; j < last; ++j) gap = std::min(gap, (s(j) - s(j + 1)) / s(0));
  return gap;
}

// ‖A Θ Aᵀ - C‖_F / ‖C‖_F with A Θ Aᵀ = M (T Θ Tᵀ) Mᵀ, in the basis U of C's range, where C =
// diag(s²).      (15)
double constraint_residual(const Matrix& mixing, const Matrix& score_covariance, const Covariance::Factor& C) {
  const Matrix K = AtB(C.U, mixing);
  Matrix difference = ABt(AB(K, score_covariance), K);
  difference.diagonal() -= C.s.cwiseAbs2();
  return difference.norm() / C.s.cwiseAbs2().norm();
}

// tr(M_i X M_jᵀ)
double trace(const Matrix& Mi, const Matrix& X, const Matrix& Mj) { return AtB(Mi, Mj).cwiseProduct(X).sum(); }

// Covariances of the canonical scores t_i = T_i (x_i - mean_i).
struct ScoreMoments {
  std::array<Matrix, 2> own;  // T_i Θ̃_i T_iᵀ
  double squared_distance;  // tr A1 Θ̃1 A1ᵀ + tr A2 Θ̃2 A2ᵀ - 2 tr A1 Θ12 A2ᵀ; ‖A1 S1 - A2 S2‖_F² if plain   (1) (26)
};

ScoreMoments measure(const DomainMap& one, const DomainMap& two, const Factors& factors) {
  const std::array<const DomainMap*, 2> maps = {&one, &two};
  const PairSummary::Moments& moments = factors.data->moments;
  ScoreMoments result;
  Matrix cross;
  bool plain = true;
  if (moments.form == SummaryForm::gram) {
    const Matrix& theta = moments.theta;
    const Index d1 = one.features(), d2 = two.features();
    result.own = {ABt(AB(one.weights, theta.topLeftCorner(d1, d1)), one.weights),
                  ABt(AB(two.weights, theta.bottomRightCorner(d2, d2)), two.weights)};
    cross = ABt(AB(one.weights, theta.topRightCorner(d1, d2)), two.weights);
    plain = false;
  } else {
    const Matrix T1S1 = AB(one.weights, moments.S1), T2S2 = AB(two.weights, moments.S2);
    const std::array<const Matrix*, 2> of_pairs = {&T1S1, &T2S2};
    for (auto i : {0U, 1U}) {
      const bool extra = factors.data->pooled[i].size() > 0;
      const Matrix TS = extra ? AB(maps[i]->weights, factors.data->pooled[i]) : *of_pairs[i];
      result.own[i] = ABt(TS, TS);
      plain = plain && !extra && factors.domains[i].covariance.plain();
    }
    if (plain) {
      Matrix difference = -AB(two.mixing, T2S2);
      difference.leftCols(T1S1.cols()) += AB(one.mixing, T1S1);  // S1's further columns are zero
      result.squared_distance = difference.squaredNorm();
    } else {
      cross = ABt(T1S1, T2S2.leftCols(T1S1.cols()));
    }
  }
  for (auto i : {0U, 1U}) {
    const Regularized& covariance = factors.domains[i].covariance;
    if (covariance.plain()) continue;
    result.own[i] = covariance.data * result.own[i] + covariance.ridge * ABt(maps[i]->weights, maps[i]->weights);
  }
  if (!plain) {
    result.squared_distance = trace(one.mixing, result.own[0], one.mixing) +
                              trace(two.mixing, result.own[1], two.mixing) - 2 * trace(one.mixing, cross, two.mixing);
  }
  return result;
}

}  // namespace

void certify(Solution& solution, const Factors& factors) {
  Model& model = solution.model;
  const auto& C = solution.C;
  Certificate& certificate = model.certificate;
  const ScoreMoments scores = measure(*model.domains[0], *model.domains[1], factors);
  const double n = static_cast<double>(model.samples), factor = (n - 1) / n;
  const Index m = std::min(certificate.singular_A.size(), certificate.singular_B.size());
  certificate.covariance_trace = factor * (C[0].s.squaredNorm() + C[1].s.squaredNorm());
  certificate.objective = factor * scores.squared_distance;
  certificate.bound = certificate.covariance_trace -
                      2 * factor * certificate.singular_A.head(m).dot(certificate.singular_B.head(m));  // (14)
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    certificate.constraint_residuals[i] = constraint_residual(model.domains[i]->mixing, scores.own[i], C[i]);
    certificate.constrained[i] = factors[domain].covariance;
    certificate.ranks[i] = factors[domain].rank();
    certificate.covariance_ranks[i] = C[i].s.size();
    certificate.tolerances[i] = factors[domain].tolerance;
  }
  certificate.min_gap = smallest_gap(certificate.singular_B, std::max(C[0].s.size(), C[1].s.size()));
  certificate.route = factors.route;
}

}  // namespace cgmca
