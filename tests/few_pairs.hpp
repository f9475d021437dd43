// What the tests of few pairs have in common.
#pragma once

#include "testing.hpp"

namespace cgmca::few_pairs {

inline FitOptions truncated(Index rank) {
  FitOptions options;
  options.max_rank = {rank, rank};
  return options;
}

inline FitOptions ridged(const Ridge& one, const Ridge& two) {
  FitOptions options;
  options.ridge = {one, two};
  return options;
}

inline Matrix cross_covariance(const Matrix& X1, const Matrix& X2) {
  return testing::centred(X1) * testing::centred(X2).transpose() / static_cast<double>(X1.cols() - 1);
}

// Θ + ridge tr(Θ)/d I
inline Matrix with_ridge(const Matrix& theta, double ridge) {
  const Index d = theta.rows();
  return theta + ridge * theta.trace() / static_cast<double>(d) * Matrix::Identity(d, d);
}

inline Matrix mapped_covariance(const Model& model, Domain domain, const Matrix& theta) {
  const Matrix A = model.domain(domain).matrix();
  return A * theta * A.transpose();
}

inline void expect_certified(const Model& model) {
  const Certificate& certificate = model.certificate;
  for (double residual : certificate.constraint_residuals) EXPECT_LT(residual, 1e-11);
  EXPECT_NEAR(certificate.objective, certificate.bound, 1e-11 * certificate.covariance_trace);
}

}  // namespace cgmca::few_pairs
