#include <cgmca/error.hpp>
#include <cgmca/explained.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {
namespace {

// E with E Eᵀ = C G⁻¹ Cᵀ: E Lᵀ = C with G = L Lᵀ. The squares of its first j columns sum to what the first j scores
// explain together. A score that those before it determine adds nothing.
Matrix one_after_another(const Matrix& C, const Matrix& G) {
  Matrix E = Matrix::Zero(C.rows(), C.cols()), L = Matrix::Zero(G.rows(), G.cols());
  for (Index j = 0; j < G.rows(); ++j) {
    const Vector row = L.row(j).head(j);
    const double rest = G(j, j) - row.squaredNorm();
    if (!(rest > thresholds::kSingularScores * G(j, j))) continue;
    L(j, j) = std::sqrt(rest);
    const Index below = G.rows() - j - 1;
    L.col(j).tail(below) = (G.col(j).tail(below) - L.block(j + 1, 0, below, j) * row) / L(j, j);
    E.col(j) = (C.col(j) - E.leftCols(j) * row) / L(j, j);
  }
  return E;
}

Vector running_sums(const Vector& parts) {
  Vector sums = parts;
  for (Index j = 1; j < sums.size(); ++j) sums(j) += sums(j - 1);
  return sums;
}

// The weighted mean of the features' shares Cov(x_f, ·)² / variance_f. A weight of 0 excludes shares that are NaN.
Shares shares(const Matrix& C, const Vector& score_variances, const Matrix& E, const Vector& weights) {
  const Vector alone = C.cwiseAbs2().transpose() * weights;
  return {alone.cwiseQuotient(score_variances), running_sums(E.cwiseAbs2().transpose() * weights)};
}

Vector finite_or_zero(const Vector& values) { return values.array().isFinite().select(values, 0.0); }

TranslationR2 summed_up(Vector features, const Vector& explained, const Vector& variance) {
  const auto known = features.array().isFinite();
  TranslationR2 r2;
  r2.variance = known.select(explained, 0.0).sum() / known.select(variance, 0.0).sum();
  r2.standardized = known.select(features, 0.0).sum() / static_cast<double>(known.count());
  r2.features = std::move(features);
  return r2;
}

}  // namespace

Matrix score_correlations(const Model& model, Domain features, Domain scores) {
  const Vector deviations = sample_variance(model, features).cwiseSqrt();
  const Vector spreads = sample_covariance(model, {scores}).diagonal().cwiseSqrt();
  return deviations.cwiseInverse().asDiagonal() * sample_loadings(model, features, scores) *
         spreads.cwiseInverse().asDiagonal();
}

Explained explained(const Model& model, Domain of, Domain by) {
  const Vector variance = sample_variance(model, of);
  const Matrix C = sample_loadings(model, of, by), G = sample_covariance(model, {by});
  const Matrix E = model.certificate.constrained[by].plain() ? C : one_after_another(C, G);
  const Vector whole = finite_or_zero(variance);
  if (!(whole.sum() > 0)) {
    const Vector unknown = Vector::Constant(C.cols(), std::nan(""));
    return {{unknown, unknown}, {unknown, unknown}};
  }
  const auto varies = whole.array() > 0;
  const Vector known = varies.cast<double>();
  const Vector unit = varies.select(whole.array().inverse(), 0.0) / known.sum();
  return {shares(C, G.diagonal(), E, known / whole.sum()), shares(C, G.diagonal(), E, unit)};
}

// x̂ - mean = L t with cov(x, t) = C and cov(t) = G, which in the plain fit is K.
TranslationR2 translation_r2(const Model& model, Domain to) {
  const std::vector<Domain> from = model.others(to);
  const Translation lmmse = translation(model, from, to);
  const Matrix L = lmmse.left.leftCols(lmmse.left.cols() - model.nuisance_values());  // of what a nuisance leaves
  const Index scores = L.cols();
  Matrix C(L.rows(), 0);
  for (const Domain j : from) {
    const Matrix own = model.cross_loadings(to, j);
    C.conservativeResize(Eigen::NoChange, C.cols() + own.cols());
    C.rightCols(own.cols()) = own;
  }
  const Matrix G = sample_covariance(model, from).topLeftCorner(scores, scores);
  const Vector variance = sample_variance(model, to);
  const Vector own = linalg::AB(L, G).cwiseProduct(L).rowwise().sum();
  // Towards identity L = cov(x - x_from, t), and x̂ leaves x - x_from - L t.
  const Vector part = lmmse.identity
                          ? Vector(variance - model.difference_variance + 2 * L.rowwise().squaredNorm() - own)
                          : Vector(2 * L.cwiseProduct(C.leftCols(scores)).rowwise().sum() - own);
  return summed_up(part.cwiseQuotient(variance), part, variance);
}

MeasuredR2::MeasuredR2(const Model& model, Domain to)
    : to_(to),
      translation_(translation(model, model.others(to), to)),
      sum_(Vector::Zero(translation_.mean_to.size())),
      squares_(sum_),
      squared_errors_(sum_) {}

void MeasuredR2::add(const MatchedSamples& X, const Vector& weights) {
  std::vector<SampleView> from;
  const auto view = X[to_].doubles();
  const MatrixView to = view->topRows(translation_.mean_to.size());
  std::vector<std::shared_ptr<const MatrixView>> held;
  for (std::size_t j = 0; j < translation_.from.size(); ++j) {
    held.push_back(X[translation_.from[j]].doubles());
    from.emplace_back(held.back()->topRows(translation_.features_from[j]));
  }
  if (translation_.features_from.size() > from.size()) {  // a nuisance
    from.emplace_back(view->bottomRows(translation_.features_from.back()));
  }
  if (to.cols() == 0) return;
  if (origin_.size() == 0) origin_ = to.col(0);
  const Matrix errors = to - translation_(translation_.stacked(from)), moved = to.colwise() - origin_;
  if (weights.size() == 0) {
    squared_errors_ += errors.rowwise().squaredNorm();
    sum_ += moved.rowwise().sum();
    squares_ += moved.rowwise().squaredNorm();
    weight_ += static_cast<double>(to.cols());
  } else {
    squared_errors_ += errors.cwiseAbs2() * weights;
    sum_ += moved * weights;
    squares_ += moved.cwiseAbs2() * weights;
    weight_ += weights.sum();
  }
}

TranslationR2 MeasuredR2::value() const {
  const Vector total = squares_ - sum_.cwiseAbs2() / weight_;
  const Vector r2 = (total.array() > 0).select(1 - squared_errors_.array() / total.array(), std::nan(""));
  return summed_up(r2, total - squared_errors_, total);
}

Vector importance(const Model& model, Domain domain) {
  const Index c = model.domain(domain).scores();
  Vector explains = Vector::Zero(c);
  for (const Domain other : model.others(domain)) {
    if (model.domains[other]) explains += explained(model, other, domain).standardized.alone;
  }
  const Matrix squares = score_correlations(model, domain, domain).cwiseAbs2();
  const Matrix known = squares.array().isFinite().select(squares, 0.0);
  const Vector sums = known.colwise().sum().transpose();
  const Vector scale = (sums.array() > 0).select(explains.array() / sums.array(), 0.0);
  const Vector parts = known * scale;
  return parts / parts.sum();
}

Matrix shared_correlations(const Model& model, Domain one, Domain two) {
  const auto scaled = [&](Domain domain) -> Matrix {
    const DomainMap& map = model.domain(domain);
    return sample_variance(model, domain).cwiseSqrt().cwiseInverse().asDiagonal() *
           map.loadings.leftCols(std::min(map.scores(), map.loadings.cols()));
  };
  const Matrix P = scaled(one), Q = scaled(two);
  return linalg::ABt(linalg::AB(P, model.score_covariance(one, two).topLeftCorner(P.cols(), Q.cols())), Q);
}

}  // namespace cgmca
