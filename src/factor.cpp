#include "factor.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "linalg.hpp"

namespace cgmca {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// The features that vary. A constant one has exactly zero variance in every form of summary.
std::vector<Index> varying(const Vector& variance, Domain domain) {
  std::vector<Index> features;
  for (Index j = 0; j < variance.size(); ++j) {
    if (variance(j) > 0) features.push_back(j);
  }
  if (features.empty()) {
    throw NoVariance(fmt::format("domain {} has no variance: each of its {} features is constant over all samples",
                                 number(domain), variance.size()));
  }
  return features;
}

// Rows back in the places of the features they belong to, zero elsewhere.
Matrix scatter_rows(const MatrixView& rows, const std::vector<Index>& places, Index d) {
  if (static_cast<Index>(places.size()) == d) return rows;
  Matrix all = Matrix::Zero(d, rows.cols());
  all(places, Eigen::all) = rows;
  return all;
}

Index rank_above(const Vector& descending, double tolerance) {
  return std::count_if(descending.begin(), descending.end(),
                       [&](double value) { return value > tolerance * descending(0); });
}

// Thin SVD of S without its zero rows.
struct SampleFactor {
  DomainFactor factor;
  Matrix V;
  linalg::SvdRoutine routine;
};

SampleFactor factor_samples(const Matrix& S, Domain domain, double tolerance) {
  const std::vector<Index> features = varying(S.rowwise().squaredNorm(), domain);
  const bool all = static_cast<Index>(features.size()) == S.rows();
  linalg::Svd svd = all ? linalg::thin_svd(S) : linalg::thin_svd(S(features, Eigen::all));
  const Index r = rank_above(svd.s, tolerance);
  return {
      {scatter_rows(svd.U.leftCols(r), features, S.rows()), svd.s.head(r), tolerance}, svd.V.leftCols(r), svd.routine};
}

// The same from Θ = U Σ² Uᵀ. Its eigenvalues carry an error of about eps·λ_1, so the rank cannot be
// told below it.
DomainFactor factor_covariance(const MatrixView& theta, Domain domain, double tolerance) {
  const std::vector<Index> features = varying(theta.diagonal(), domain);
  const auto [values, Q] = linalg::symmetric_eigen(theta(features, features));
  const double of_values = std::max(tolerance * tolerance, static_cast<double>(theta.rows()) * kEpsilon);
  const Index r = rank_above(values, of_values);
  return {scatter_rows(Q.leftCols(r), features, theta.rows()), values.head(r).cwiseSqrt(), std::sqrt(of_values)};
}

}  // namespace

Factors factorize(const PairSummary& summary, const FitOptions& options) {
  PairSummary::Moments moments = summary.moments();
  const auto tolerance = [&](Domain domain) {
    const Index extent = std::max(summary.dimension(domain), summary.samples());
    return options.rank_tol.value_or(static_cast<double>(extent) * kEpsilon);
  };
  if (moments.form == SummaryForm::gram) {
    const Index d1 = summary.dimension(Domain::one), d2 = summary.dimension(Domain::two);
    const Matrix& theta = moments.theta;
    DomainFactor one = factor_covariance(theta.topLeftCorner(d1, d1), Domain::one, tolerance(Domain::one));
    DomainFactor two = factor_covariance(theta.bottomRightCorner(d2, d2), Domain::two, tolerance(Domain::two));
    // B = W1 Θ12 W2ᵀ                                                            (8)
    Matrix B = linalg::AB(linalg::AtB(one.whitening(), theta.topRightCorner(d1, d2)), two.whitening());
    return {{std::move(one), std::move(two)}, std::move(B), std::move(moments), "gram syevd"};
  }
  SampleFactor one = factor_samples(moments.S1, Domain::one, tolerance(Domain::one));
  SampleFactor two = factor_samples(moments.S2, Domain::two, tolerance(Domain::two));
  // B = V1ᵀ V2; rows that V1 lacks are zero                                     (8)
  Matrix B = linalg::AtB(one.V, two.V.topRows(one.V.rows()));
  std::string route = fmt::format("{} {}", name(moments.form), linalg::name(std::max(one.routine, two.routine)));
  return {{std::move(one.factor), std::move(two.factor)}, std::move(B), std::move(moments), std::move(route)};
}

}  // namespace cgmca
