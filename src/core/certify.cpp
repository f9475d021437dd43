#include "certify.hpp"

#include <algorithm>
#include <array>

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::Array;
using linalg::AtB;
using linalg::Backend;

// min (σ_j - σ_{j+1}) / σ_1 over the directions used.
double smallest_gap(const Vector& s, Index used) {
  if (s(0) <= 0) return 0;
  const Index last = std::min(used, s.size() - 1);
  double gap = 1;
  for (Index j = 0; j < last; ++j) gap = std::min(gap, (s(j) - s(j + 1)) / s(0));
  return gap;
}

// ‖A Θ Aᵀ - C‖_F / ‖C‖_F with A Θ Aᵀ = M (T Θ Tᵀ) Mᵀ, in the basis U of C's range, where C = diag(s²).             (15)
double constraint_residual(const Array& mixing, const Array& score_covariance, const PrescribedCovariance& C) {
  const Array K = AtB(C.U, mixing);
  const Array difference = ABt(AB(K, score_covariance), K);
  const Vector squares = C.s.cwiseAbs2();
  K.on().add_diagonal(difference, -squares);
  return std::sqrt(K.on().squared_norm(difference)) / squares.norm();
}

// tr(M_i X M_jᵀ)
double trace(const Array& Mi, const Array& X, const Array& Mj) { return X.on().dot(AtB(Mi, Mj), X); }

// Covariances of the canonical scores t_i = T_i (x_i - mean_i).
struct ScoreMoments {
  std::array<Array, 2> own;  // T_i Θ̃_i T_iᵀ
  double squared_distance;  // tr A1 Θ̃1 A1ᵀ + tr A2 Θ̃2 A2ᵀ - 2 tr A1 Θ12 A2ᵀ; ‖A1 S1 - A2 S2‖_F² if plain    (1) (26)
};

bool is_plain(const Factors& factors) {
  if (factors.form == SummaryForm::gram) return false;
  for (std::size_t i = 0; i < factors.domains.size(); ++i) {
    if (!factors.data->pooled[i].empty() || !factors.domains[i].covariance.plain()) return false;
  }
  return true;
}

// ‖A1 S1 - A2 S2‖_F²; further columns of S1 are zero.
double squared_distance(const Solution& solution, const Array& T1S1, const Array& T2S2) {
  const Array difference = AB(solution.maps[1].mixing, T2S2);
  T1S1.on().add(difference.left(T1S1.cols()), AB(solution.maps[0].mixing, T1S1), -1);
  return T1S1.on().squared_norm(difference);
}

ScoreMoments measure(const Solution& solution, const Factors& factors) {
  const Moments& moments = factors.data->moments;
  ScoreMoments result;
  Array cross;
  if (moments.form == SummaryForm::gram) {
    for (const std::size_t i : {0U, 1U}) {
      const auto place = static_cast<Index>(i);
      const Array& T = solution.maps[i].weights;
      result.own[i] = AB(AtB(T, moments.theta_block(place, place)), T);
    }
    cross = AB(AtB(solution.maps[0].weights, moments.theta_block(0, 1)), solution.maps[1].weights);
  } else {
    std::array<Array, 2> TS;
    for (const std::size_t i : {0U, 1U}) {
      const Array& T = solution.maps[i].weights;
      const Array& pooled = factors.data->pooled[i];
      TS[i] = AtB(T, moments.S[i]);
      const Array all = pooled.empty() ? TS[i] : AtB(T, pooled);
      result.own[i] = ABt(all, all);
    }
    if (is_plain(factors)) {
      result.squared_distance = squared_distance(solution, TS[0], TS[1]);
      return result;
    }
    cross = ABt(TS[0], TS[1].left(TS[0].cols()));
  }
  result.squared_distance = -2 * trace(solution.maps[0].mixing, cross, solution.maps[1].mixing);
  for (const std::size_t i : {0U, 1U}) {
    const Regularized& covariance = factors.domains[i].covariance;
    const Array &T = solution.maps[i].weights, &M = solution.maps[i].mixing;
    if (!covariance.plain()) {
      T.on().scale(result.own[i], covariance.data);
      T.on().add(result.own[i], AtB(T, T), covariance.ridge);
    }
    result.squared_distance += trace(M, result.own[i], M);
  }
  return result;
}

}  // namespace

double objective_bound(double n, double covariance_trace, const Vector& singular_A, const Vector& singular_B) {
  const Index m = std::min(singular_A.size(), singular_B.size());
  return covariance_trace - 2 * (n - 1) / n * singular_A.head(m).dot(singular_B.head(m));
}

Certificate certify(const Solution& solution, const Factors& factors) {
  Certificate certificate;
  const ScoreMoments scores = measure(solution, factors);
  const double n = factors.total_weight, factor = (n - 1) / n;
  certificate.singular_A = solution.singular_A;
  certificate.singular_B = solution.singular_B;
  certificate.objective = factor * scores.squared_distance;
  Index used = 0;
  for (const std::size_t i : {0U, 1U}) {
    const SolvedMap& map = solution.maps[i];
    const WhitenedDomain& domain = factors.domains[i];
    certificate.covariance_trace += factor * map.C.s.squaredNorm();
    certificate.constraint_residuals[i] = constraint_residual(map.mixing, scores.own[i], map.C);
    certificate.constrained[i] = domain.covariance;
    certificate.ranks[i] = domain.rank();
    certificate.covariance_ranks[i] = map.C.s.size();
    certificate.tolerances[i] = domain.tolerance;
    used = std::max(used, map.C.s.size());
  }
  certificate.bound = objective_bound(n, certificate.covariance_trace, certificate.singular_A, certificate.singular_B);
  certificate.min_gap = smallest_gap(certificate.singular_B, used);
  return certificate;
}

}  // namespace cgmca
