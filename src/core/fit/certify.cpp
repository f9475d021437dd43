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
    const Array K = AtB(C.U, map.M);
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
  return X.on().dot(AtB(one.M, two.M), X);
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

bool is_plain(const WhitenedData& whitened) {
  for (std::size_t i = 0; i < whitened.domains.size(); ++i) {
    if (!whitened.source->pooled[i].empty() || !whitened.domains[i].covariance.plain()) return false;
  }
  return true;
}

// ‖A_i S_i - A_j S_j‖_F², i < j
double squared_distance(const SolvedMap& one, const Array& one_TS, const SolvedMap& two, const Array& two_TS) {
  const Array difference = AB(two.M, two_TS);
  difference.on().add(difference, AB(one.M, one_TS), -1);
  return difference.on().squared_norm(difference);
}

// Calls work(i, j) for the edges i < j of a graph.
template <class Work>
void for_each_edge(const Matrix& edge_weights, const Work& work) {
  for (Index i = 0; i < edge_weights.rows(); ++i) {
    for (Index j = i + 1; j < edge_weights.rows(); ++j) {
      if (edge_weights(i, j) > 0) work(i, j);
    }
  }
}

// T_i S_i of the matched samples. T_i Θ_i T_iᵀ of all samples is written to `own`.
std::vector<Array> score_samples(const Solution& solution, const WhitenedData& whitened, std::vector<Array>& own) {
  std::vector<Array> TS;
  for (std::size_t i = 0; i < solution.maps.size(); ++i) {
    const Array& Tt = solution.maps[i].Tt;
    const Array& pooled = whitened.source->pooled[i];
    TS.push_back(AtB(Tt, whitened.source->moments.S[i]));
    const Array all = pooled.empty() ? TS[i] : AtB(Tt, pooled);
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

// Y_i = P_i T_iᵀ / √(n-1), for features at their raw size. T_i Θ_ij T_jᵀ = Y_iᵀ G_ij Y_j is then computed from the sums
// themselves. The roots and couplings would not show their own errors, because the maps were made from them.
std::vector<Array> weights_in_frame(const Solution& solution, const WhitenedData& whitened) {
  const Moments& moments = whitened.source->moments;
  const Frame& frame = *moments.compressed->frame;
  std::vector<Array> Y;
  for (Index i = 0; i < moments.layout.domains(); ++i) {
    const Vector& scale = whitened.domains[i].scale;
    Array Tt = solution.maps[i].Tt;
    if (scale.size() > 0) Tt = linalg::scaled_rows(scale.cwiseInverse(), Tt.on().copy(Tt));
    const linalg::Indices features = frame.features_of(i);
    Y.push_back(frame.times(i, Tt.on().gather_rows(Tt, features)));
    Tt.on().scale(Y.back(), 1 / std::sqrt(moments.freedom));
  }
  return Y;
}

ScoreMoments measure(const Solution& solution, const WhitenedData& whitened, const Matrix& edge_weights) {
  const Moments& moments = whitened.source->moments;
  const ByDomain<SolvedMap>& maps = solution.maps;
  ScoreMoments result;
  double& sum = result.squared_distance;
  if (!moments.compressed) {
    const std::vector<Array> TS = score_samples(solution, whitened, result.own);
    if (is_plain(whitened)) {
      for_each_edge(edge_weights, [&](Index i, Index j) {
        sum += edge_weights(i, j) * squared_distance(maps[i], TS[i], maps[j], TS[j]);
      });
      return result;
    }
    for_each_edge(edge_weights, [&](Index i, Index j) {
      sum -= 2 * edge_weights(i, j) * trace(maps[i], ABt(TS[i], TS[j]), maps[j]);
    });
  } else {
    const Compressed& all = *moments.compressed;
    const std::vector<Array> Y = weights_in_frame(solution, whitened);
    for (Index i = 0; i < whitened.count(); ++i) {
      const Array& pooled = whitened.source->pooled[i];
      const Array TS = pooled.empty() ? Array() : AtB(maps[i].Tt, pooled);
      result.own.push_back(pooled.empty() ? congruent(Y[i], all.frame->block(all.G, i, i)) : ABt(TS, TS));
    }
    for_each_edge(edge_weights, [&](Index i, Index j) {
      sum -= 2 * edge_weights(i, j) * cross_trace(maps[i], Y[i], all.frame->block(all.G, i, j), maps[j], Y[j]);
    });
  }
  for (Index i = 0; i < whitened.count(); ++i) {
    const Regularized& covariance = whitened.domains[i].covariance;
    const Backend& on = maps[i].Tt.on();
    if (!covariance.plain()) {
      on.scale(result.own[i], covariance.data);
      on.add(result.own[i], AtB(maps[i].Tt, maps[i].Tt), covariance.ridge);
    }
    sum += edge_weights.row(i).sum() * trace(maps[i], result.own[i], maps[i]);
  }
  // Without regularization and extra samples it is a sum of squares, which rounding must not make negative.
  if (is_plain(whitened)) sum = std::max(0.0, sum);
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

Certificate certify(const Solution& solution, const WhitenedData& whitened, const Matrix& edge_weights) {
  Certificate certificate(whitened.count());
  const ScoreMoments scores = measure(solution, whitened, edge_weights);
  const double n = whitened.total_weight, factor = (n - 1) / n;
  certificate.edge_weights = edge_weights;
  certificate.samples_residual = whitened.source->samples_residual;
  certificate.singular_A = solution.singular_A;
  certificate.singular_B = solution.singular_B;
  certificate.objective = factor * scores.squared_distance;
  Index used = 0;
  for (std::size_t i = 0; i < solution.maps.size(); ++i) {
    const SolvedMap& map = solution.maps[i];
    const WhitenedDomain& domain = whitened.domains[i];
    const double degree = edge_weights.row(static_cast<Index>(i)).sum();
    certificate.covariance_trace += degree * factor * map.C.s.squaredNorm();
    certificate.constraint_residuals[i] = constraint_residual(map, scores.own[i]);
    certificate.constrained[i] = domain.covariance;
    certificate.ranks[i] = domain.rank();
    certificate.covariance_ranks[i] = map.C.s.size();
    certificate.tolerances[i] = domain.tolerance;
    used = std::max(used, map.C.s.size());
  }
  if (whitened.count() != 2) return certificate;
  certificate.bound = objective_bound(n, certificate.covariance_trace, certificate.singular_A, certificate.singular_B,
                                      edge_weights(0, 1));
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

// The residual that rounding alone may cause in a domain: eps κ(S), or eps κ(S)² if only products of samples were kept.
double explained(const WhitenedData& whitened, std::size_t i) {
  const WhitenedDomain& domain = whitened.domains[i];
  const double power = whitened.form == SummaryForm::gram ? 2 : 1;
  const double rounding =
      thresholds::gram_rounding(domain.features, domain.covariance.samples) * std::pow(domain.condition, power);
  return std::isfinite(rounding) ? std::min(rounding, 1.0) : 0;
}

}  // namespace

void check_finished(const Model& model, const WhitenedData& whitened) {
  const Certificate& certificate = model.certificate;
  double largest = thresholds::kRefusedCertificate;
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    if (!finite(*model.domains[i])) refuse(fmt::format("the map of domain {} holds NaN or infinity", i + 1));
    const double residual = certificate.constraint_residuals[i];
    const double limit = std::max(thresholds::kRefusedCertificate, explained(whitened, i));
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
