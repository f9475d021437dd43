#include "report/features.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace cgmca::report {
namespace {

// Θ_ff of the samples; the model keeps that of Θ̃ = α Θ + β I (24). A variance below 1e-9 β is lost in the rounding of
// that sum.
Vector sample_variance(const DomainMap& map, const Regularized& covariance) {
  const Vector own = map.variance.array() - covariance.ridge;
  return (own.array() > 1e-9 * covariance.ridge).select(own / covariance.data, std::nan(""));
}

}  // namespace

Matrix feature_correlations(const Model& model, Domain domain, Index count) {
  const DomainMap& map = model.domain(domain);
  if (count < 0 || count > map.scores()) {
    throw InvalidInput(fmt::format("{} directions of a domain that has {}", count, map.scores()));
  }
  const Regularized& covariance = model.certificate.constrained[slot(domain)];
  const auto P = map.loadings.leftCols(count);
  const auto T = map.weights.topRows(count);
  // P = Θ̃ Tᵀ and T Θ̃ Tᵀ = I give the samples' own covariances Θ Tᵀ and variances diag(T Θ Tᵀ).
  const Matrix covariances = (P - covariance.ridge * T.transpose()) / covariance.data;
  const Vector variances = (1 - covariance.ridge * T.rowwise().squaredNorm().array()) / covariance.data;
  return sample_variance(map, covariance).cwiseSqrt().cwiseInverse().asDiagonal() * covariances *
         variances.cwiseSqrt().cwiseInverse().asDiagonal();
}

Vector claimed_r2(const Model& model, Domain to) {
  const Translation lmmse = translation(model, model.others(to), to);
  if (model.count() > 2) {
    for (const Regularized& one : model.certificate.constrained) {
      if (!one.plain()) throw InvalidInput("R² of more than two domains fitted with a ridge must be measured");
    }
    const Vector variance = sample_variance(model.domain(to), model.certificate.constrained[slot(to)]);
    return 1 - lmmse.standard_error.array().square() / variance.array();
  }
  const Regularized& covariance = model.certificate.constrained[slot(other(to))];
  // x̂ - mean = L t with L = P diag(σ) = cov(x, t) and cov(t) = (I - β T Tᵀ) / α, which is I in the plain fit.
  const Matrix& L = lmmse.left;
  const Matrix& T = lmmse.right;
  const Matrix spread = (Matrix::Identity(T.rows(), T.rows()) - covariance.ridge * T * T.transpose()) / covariance.data;
  const Vector explained = 2 * L.rowwise().squaredNorm() - L.cwiseProduct(L * spread).rowwise().sum();
  return explained.cwiseQuotient(sample_variance(model.domain(to), model.certificate.constrained[slot(to)]));
}

MeasuredR2::MeasuredR2(const Model& model, Domain to)
    : to_(to),
      translation_(translation(model, model.others(to), to)),
      sum_(Vector::Zero(translation_.mean_to.size())),
      squares_(sum_),
      squared_errors_(sum_) {}

void MeasuredR2::add(const std::vector<MatrixView>& X, const Vector& weights) {
  std::vector<MatrixView> from;
  for (const Domain domain : translation_.from) from.push_back(X[slot(domain)]);
  const MatrixView& to = X[slot(to_)];
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

Vector MeasuredR2::value() const {
  const Vector total = squares_ - sum_.cwiseAbs2() / weight_;
  return (total.array() > 0).select(1 - squared_errors_.array() / total.array(), std::nan(""));
}

}  // namespace cgmca::report
