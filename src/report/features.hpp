// What a model says about single features, in numbers that do not depend on their units (docs/method.md section 7).
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/translate.hpp>
#include <cgmca/types.hpp>
#include <vector>

namespace cgmca::report {

// Correlation of each feature with the first `count` canonical scores t = T (x - mean) of its domain, over the samples
// of the fit.   d×count, count <= scores(); NaN for a feature that does not vary, or whose variance the ridge hides,
// and all NaN where the regularized covariance has no share of the data's (α = 0). (33)
Matrix feature_correlations(const Model& model, Domain domain, Index count);

// R² of each feature of `to`, translated from the other domain by lmmse: its share of explained variance over the
// pairs of the fit, d_to. NaN as above. Only approximate under max_rank or with extra samples. Of more than two domains
// from all others together; then only for a fit without ridges.                                              (34) (40)
Vector claimed_r2(const Model& model, Domain to);

// The same measured on any matched samples: 1 - Σ w (x - x̂)² / Σ w (x - x̄)² of each feature, block by block. (35)
class MeasuredR2 {
 public:
  MeasuredR2(const Model& model, Domain to);                               // throws MissingDomain
  void add(const std::vector<MatrixView>& X, const Vector& weights = {});  // one a domain; no weights: 1 each
  void add(const MatrixView& X1, const MatrixView& X2, const Vector& weights = {}) { add({X1, X2}, weights); }
  Vector value() const;  // NaN for a feature that does not vary in these pairs

 private:
  Domain to_;
  Translation translation_;
  Vector origin_;  // the first sample: a constant feature then contributes exact zeros
  Vector sum_, squares_, squared_errors_;
  double weight_ = 0;
};

}  // namespace cgmca::report
