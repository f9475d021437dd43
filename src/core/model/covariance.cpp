#include <cgmca/covariance.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using thresholds::kCovarianceRounding;
using thresholds::kEpsilon;

void check_finite(const char* what, const MatrixView& M) {
  if (M.allFinite()) return;
  for (Index i = 0; i < M.rows(); ++i) {
    for (Index j = 0; j < M.cols(); ++j) {
      if (!std::isfinite(M(i, j))) {
        throw NotFinite(fmt::format("the {} holds NaN or infinity at row {}, column {} (counted from 0)", what, i, j),
                        i, j);
      }
    }
  }
}

void check_symmetric(const MatrixView& C) {
  Index row = 0, column = 0;
  const double most = (C - C.transpose()).cwiseAbs().maxCoeff(&row, &column), scale = C.cwiseAbs().maxCoeff();
  if (most <= kCovarianceRounding * scale) return;
  throw NotSymmetric(
      fmt::format("the covariance is not symmetric: entry ({}, {}) is {} and ({}, {}) is {}. "
                  "If only rounding tells them apart, give (C + Cᵀ)/2",
                  row, column, C(row, column), column, row, C(column, row)));
}

Index count_above(const Vector& descending, double threshold) {
  return std::count_if(descending.begin(), descending.end(), [&](double value) { return value > threshold; });
}

}  // namespace

Covariance::Covariance(Matrix U, Vector s, std::string description)
    : kind_(Kind::entries), U_(std::move(U)), s_(std::move(s)), description_(std::move(description)) {}

Covariance Covariance::matrix(const MatrixView& C) {
  const Index k = C.rows();
  if (k != C.cols() || k == 0)
    throw NotSquare(fmt::format("a covariance is a square matrix; this one is {}×{}", k, C.cols()));
  check_finite("covariance", C);
  check_symmetric(C);
  const auto [values, Q] = linalg::symmetric_eigen(0.5 * (C + C.transpose()));
  if (values(k - 1) < -kCovarianceRounding * std::max(values(0), 0.0)) {
    throw NotPositive(fmt::format(
        "the covariance is indefinite: its smallest eigenvalue is {:.3g}, its largest {:.3g}; none may be negative",
        values(k - 1), values(0)));
  }
  const Index c = count_above(values, static_cast<double>(k) * kEpsilon * values(0));
  if (values(0) <= 0 || c == 0)
    throw NotPositive("the covariance is zero, so that nothing would be left of the samples; give a variance above 0");
  return {Q.leftCols(c), values.head(c).cwiseSqrt(), fmt::format("matrix {}×{} of rank {}", k, k, c)};
}

Covariance Covariance::factor(const MatrixView& F) {
  if (F.size() == 0)
    throw InvalidInput(
        fmt::format("the covariance factor is {}×{}; it needs at least one row and one column", F.rows(), F.cols()));
  check_finite("covariance factor", F);
  const auto svd = linalg::thin_svd(F);
  const Index c = count_above(svd.s, static_cast<double>(std::max(F.rows(), F.cols())) * kEpsilon * svd.s(0));
  if (c == 0)
    throw NotPositive(
        "the covariance factor is zero, so that nothing would be left of the samples; give a nonzero one");
  return {svd.U.leftCols(c), svd.s.head(c), fmt::format("factor {}×{} of rank {}", F.rows(), F.cols(), c)};
}

Covariance Covariance::diagonal(const VectorView& sd) {
  const Index k = sd.size();
  if (k == 0) throw InvalidInput("a diagonal covariance needs at least one standard deviation; none is given");
  check_finite("list of standard deviations", sd);
  Index worst = 0;
  if (sd.minCoeff(&worst) < 0) {
    throw NotPositive(
        fmt::format("standard deviation {} (counted from 0) is {}; it cannot be negative", worst, sd(worst)));
  }
  std::vector<Index> order(k);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return sd(a) > sd(b); });
  const Index c = (sd.array() > 0).count();
  if (c == 0)
    throw NotPositive(
        "all standard deviations are zero, so that nothing would be left of the samples; give one above 0");
  Matrix U = Matrix::Zero(k, c);
  Vector s(c);
  for (Index j = 0; j < c; ++j) {
    const Index feature = order[j];
    U(feature, j) = 1;
    s(j) = sd(feature);
  }
  return {std::move(U), std::move(s), fmt::format("diagonal {}×{} of rank {}", k, k, c)};
}

bool Covariance::operator==(const Covariance& other) const {
  const auto same = [](const auto& a, const auto& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && (a.array() == b.array()).all();
  };
  return kind_ == other.kind_ && number_ == other.number_ && domain_ == other.domain_ && same(U_, other.U_) &&
         same(s_, other.s_);
}

}  // namespace cgmca
