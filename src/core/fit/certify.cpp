#include "core/fit/certify.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::Array;
using linalg::AtB;
using linalg::Backend;

// ‖A Θ Aᵀ - C‖_F / ‖C‖_F with A Θ Aᵀ = M (T Θ Tᵀ) Mᵀ, in the basis U of C's range, where C = diag(s²).             (15)
double constraint_residual(const SolvedMap& map, const Array& score_covariance) {
  const Backend& on = score_covariance.on();
  const PrescribedCovariance& C = map.C;
  Array difference;
  if (map.only_scales) {
    difference = linalg::scaled_columns(linalg::scaled_rows(C.s, on.copy(score_covariance)), C.s);
  } else {
    const Array K = AtB(C.U, map.mixing);
    difference = ABt(AB(K, score_covariance), K);
  }
  const Vector squares = C.s.cwiseAbs2();
  on.add_diagonal(difference, -squares);
  return std::sqrt(on.squared_norm(difference)) / squares.norm();
}

// tr(M_i X M_jᵀ)
double trace(const SolvedMap& one, const Array& X, const SolvedMap& two) {
  if (one.only_scales && two.only_scales) {
    const Vector diagonal = X.on().diagonal(X);
    const Index c = diagonal.size();
    return diagonal.dot(one.C.s.head(c).cwiseProduct(two.C.s.head(c)));
  }
  return X.on().dot(AtB(one.mixing, two.mixing), X);
}

// tr(M_i Y_iᵀ Θ Y_j M_jᵀ)
double cross_trace(const SolvedMap& one, const Array& Y1, const Array& theta, const SolvedMap& two, const Array& Y2) {
  if (!(one.only_scales && two.only_scales)) return trace(one, AB(AtB(Y1, theta), Y2), two);
  // Only the diagonal of Y_iᵀ Θ Y_j counts.
  const Index c = std::min(one.C.s.size(), two.C.s.size());
  const Array left = AtB(theta, Y1.left(c));
  left.on().scale_columns(left, one.C.s.head(c).cwiseProduct(two.C.s.head(c)));
  return left.on().dot(left, Y2.left(c));
}

// Covariances of the canonical scores t_i = T_i (x_i - mean_i).
struct ScoreMoments {
  std::vector<Array> own;  // T_i Θ̃_i T_iᵀ
  // Σ_i deg_i tr A_i Θ̃_i A_iᵀ - 2 Σ_{i<j} w_ij tr A_i Θ_ij A_jᵀ; Σ_{i<j} w_ij ‖A_i S_i - A_j S_j‖_F² if plain (1) (26)
  double squared_distance = 0;
};

bool is_plain(const Factors& factors) {
  for (std::size_t i = 0; i < factors.domains.size(); ++i) {
    if (!factors.data->pooled[i].empty() || !factors.domains[i].covariance.plain()) return false;
  }
  return true;
}

// ‖A_i S_i - A_j S_j‖_F², i < j
double squared_distance(const SolvedMap& one, const Array& one_TS, const SolvedMap& two, const Array& two_TS) {
  const Array difference = AB(two.mixing, two_TS);
  difference.on().add(difference, AB(one.mixing, one_TS), -1);
  return difference.on().squared_norm(difference);
}

// Calls work(i, j) for the edges i < j of a graph.
template <class Work>
void for_each_edge(const Matrix& weights, const Work& work) {
  for (Index i = 0; i < weights.rows(); ++i) {
    for (Index j = i + 1; j < weights.rows(); ++j) {
      if (weights(i, j) > 0) work(i, j);
    }
  }
}

// T_i S_i of the matched samples, and T_i Θ_i T_iᵀ of all, put into `own`.
std::vector<Array> score_samples(const Solution& solution, const Factors& factors, std::vector<Array>& own) {
  std::vector<Array> TS;
  for (std::size_t i = 0; i < solution.maps.size(); ++i) {
    const Array& T = solution.maps[i].weights;
    const Array& pooled = factors.data->pooled[i];
    TS.push_back(AtB(T, factors.data->moments.S[i]));
    const Array all = pooled.empty() ? TS[i] : AtB(T, pooled);
    own.push_back(ABt(all, all));
  }
  return TS;
}

// Yᵀ G Y = H + Hᵀ with H = Yᵀ N Y: G = N + Nᵀ, where N is its upper triangle with half the diagonal. A product with a
// triangle costs half of one with G.
Array congruent(const Array& Y, const Array& G) {
  const Backend& on = Y.on();
  const Array N = on.copy(G);
  on.assign_diagonal(N, 0.5 * on.diagonal(G));
  const Array H = AtB(Y, on.upper_times(N, Y));
  on.add(H, on.transposed(H));
  return H;
}

// P_i T_iᵀ / √(n-1), of features at their raw size. So T_i Θ_ij T_jᵀ = Y_iᵀ G_ij Y_j comes from what was summed. Its roots and couplings are what the maps
// were made of, and would not show their own errors.
std::vector<Array> weights_in_frame(const Solution& solution, const Factors& factors) {
  const Moments& moments = factors.data->moments;
  const Frame& frame = *moments.compressed->frame;
  std::vector<Array> Y;
  for (Index i = 0; i < moments.layout.domains(); ++i) {
    const Vector& scale = factors.domains[static_cast<std::size_t>(i)].scale;
    Array T = solution.maps[static_cast<std::size_t>(i)].weights;
    if (scale.size() > 0) T = linalg::scaled_rows(scale.cwiseInverse(), T.on().copy(T));
    const linalg::Indices features = frame.features_of(i);
    Y.push_back(frame.times(i, T.on().gather_rows(T, features)));
    T.on().scale(Y.back(), 1 / std::sqrt(moments.freedom));
  }
  return Y;
}

ScoreMoments measure(const Solution& solution, const Factors& factors, const Matrix& weights) {
  const Moments& moments = factors.data->moments;
  const auto map = [&](Index i) -> const SolvedMap& { return solution.maps[static_cast<std::size_t>(i)]; };
  ScoreMoments result;
  const auto add_cross = [&](Index i, Index j, double cross) { result.squared_distance += -2 * weights(i, j) * cross; };
  if (!moments.compressed) {
    const std::vector<Array> TS = score_samples(solution, factors, result.own);
    const auto scores = [&](Index i) -> const Array& { return TS[static_cast<std::size_t>(i)]; };
    if (is_plain(factors)) {
      for_each_edge(weights, [&](Index i, Index j) {
        result.squared_distance += weights(i, j) * squared_distance(map(i), scores(i), map(j), scores(j));
      });
      return result;
    }
    for_each_edge(weights,
                  [&](Index i, Index j) { add_cross(i, j, trace(map(i), ABt(scores(i), scores(j)), map(j))); });
  } else {
    const Compressed& sums = *moments.compressed;
    const std::vector<Array> Y = weights_in_frame(solution, factors);
    const auto inside = [&](Index i) -> const Array& { return Y[static_cast<std::size_t>(i)]; };
    for (Index i = 0; i < factors.count(); ++i) {
      const Array& pooled = factors.data->pooled[static_cast<std::size_t>(i)];
      if (pooled.empty()) {
        result.own.push_back(congruent(inside(i), sums.frame->block(sums.G, i, i)));
      } else {
        const Array all = AtB(map(i).weights, pooled);
        result.own.push_back(ABt(all, all));
      }
    }
    for_each_edge(weights, [&](Index i, Index j) {
      add_cross(i, j, cross_trace(map(i), inside(i), sums.frame->block(sums.G, i, j), map(j), inside(j)));
    });
  }
  for (std::size_t i = 0; i < solution.maps.size(); ++i) {
    const Regularized& covariance = factors.domains[i].covariance;
    const Array& T = solution.maps[i].weights;
    if (!covariance.plain()) {
      T.on().scale(result.own[i], covariance.data);
      T.on().add(result.own[i], AtB(T, T), covariance.ridge);
    }
    result.squared_distance +=
        weights.row(static_cast<Index>(i)).sum() * trace(solution.maps[i], result.own[i], solution.maps[i]);
  }
  // Without regularization and extra samples it is a sum of squares, which rounding must not make negative.
  if (is_plain(factors)) result.squared_distance = std::max(0.0, result.squared_distance);
  return result;
}

}  // namespace

double smallest_gap(const Vector& s, Index used) {
  if (s(0) <= 0) return 0;
  const Index last = std::min(used, s.size() - 1);
  double gap = 1;
  for (Index j = 0; j < last; ++j) gap = std::min(gap, (s(j) - s(j + 1)) / s(0));
  return gap;
}

double objective_bound(double n, double covariance_trace, const Vector& singular_A, const Vector& singular_B,
                       double weight) {
  const Index m = std::min(singular_A.size(), singular_B.size());
  return covariance_trace - weight * (2 * (n - 1) / n) * singular_A.head(m).dot(singular_B.head(m));
}

Certificate certify(const Solution& solution, const Factors& factors, const Matrix& weights) {
  Certificate certificate(factors.count());
  const ScoreMoments scores = measure(solution, factors, weights);
  const double n = factors.total_weight, factor = (n - 1) / n;
  certificate.weights = weights;
  certificate.samples_residual = factors.data->samples_residual;
  certificate.singular_A = solution.singular_A;
  certificate.singular_B = solution.singular_B;
  certificate.objective = factor * scores.squared_distance;
  Index used = 0;
  for (std::size_t i = 0; i < solution.maps.size(); ++i) {
    const SolvedMap& map = solution.maps[i];
    const WhitenedDomain& domain = factors.domains[i];
    const double degree = weights.row(static_cast<Index>(i)).sum();
    certificate.covariance_trace += degree * factor * map.C.s.squaredNorm();
    certificate.constraint_residuals[i] = constraint_residual(map, scores.own[i]);
    certificate.constrained[i] = domain.covariance;
    certificate.ranks[i] = domain.rank();
    certificate.covariance_ranks[i] = map.C.s.size();
    certificate.tolerances[i] = domain.tolerance;
    used = std::max(used, map.C.s.size());
  }
  if (factors.count() != 2) return certificate;
  certificate.bound =
      objective_bound(n, certificate.covariance_trace, certificate.singular_A, certificate.singular_B, weights(0, 1));
  certificate.min_gap = smallest_gap(certificate.singular_B, used);
  return certificate;
}

namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw CertificateMismatch(fmt::format(
      "the maps that were computed are not the ones asked for: {}, which rounding does not explain. BLAS, LAPACK or "
      "the memory of this machine computed wrongly",
      what));
}

bool finite(const DomainMap& map) {
  bool all = map.mean.allFinite() && map.weights.allFinite() && map.mixing.allFinite() && map.loadings.allFinite() &&
             map.variance.allFinite();
  for (const Matrix& cross : map.cross_loadings) all = all && cross.allFinite();
  return all;
}

// How far rounding alone may take a domain's residual: eps κ(S), and eps κ(S)² where only products of samples were kept.
double explained(const Factors& factors, std::size_t i) {
  const WhitenedDomain& domain = factors.domains[i];
  const double power = factors.form == SummaryForm::gram ? 2 : 1;
  const double rounding =
      thresholds::gram_rounding(domain.features, domain.covariance.samples) * std::pow(domain.condition, power);
  return std::isfinite(rounding) ? std::min(rounding, 1.0) : 0;
}

}  // namespace

void check_finished(const Model& model, const Factors& factors) {
  const Certificate& certificate = model.certificate;
  double largest = thresholds::kRefusedCertificate;
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    if (!finite(*model.domains[i])) refuse(fmt::format("the map of domain {} holds NaN or infinity", i + 1));
    const double residual = certificate.constraint_residuals[i];
    const double limit = std::max(thresholds::kRefusedCertificate, explained(factors, i));
    largest = std::max(largest, limit);
    if (!(residual <= limit)) {  // NaN is refused too
      refuse(fmt::format("the covariance of domain {}'s output differs from the one prescribed by {:.1e} of it", i + 1,
                         residual));
    }
  }
  bool all = certificate.singular_A.allFinite() && certificate.singular_B.allFinite() &&
             std::isfinite(certificate.gap) && std::isfinite(certificate.min_gap);
  for (const auto& row : model.score_covariances) {
    for (const Matrix& R : row) all = all && R.allFinite();
  }
  if (!all) refuse("its correlations hold NaN or infinity");
  const double excess = certificate.objective - certificate.bound, scale = certificate.covariance_trace;
  const bool holds = excess >= -largest * scale && (!certificate.certified || excess <= largest * scale);
  if (holds && std::isfinite(scale)) return;
  refuse(fmt::format("their objective is {:.9g}, where the least possible is {:.9g}", certificate.objective,
                     certificate.bound));
}

}  // namespace cgmca
