// Shares of variance: how much of a domain its own canonical scores carry, how much of it another domain's scores
// explain, and which features take part. All are of the samples of the fit, from the model alone; MeasuredR2 measures
// on any samples.                                                                       docs/method.md section 7
//
// With a_fj = corr(x_f, t_j), Θ the covariance of a domain's samples and d its features, score j explains
//   variance       Σ_f Θ_ff a_fj² / tr Θ       of the features as they are
//   standardized   Σ_f a_fj² / d               of the features at unit variance
// Of a domain's own scores this is adequacy, of another domain's scores Stewart and Love's redundancy, σ_j² times it in
// a plain fit of two domains.
//
// Example:
//   const Model model = fit(X1, X2, C, C);
//   const Explained own = explained(model, Domain::one, Domain::one), from2 = explained(model, Domain::one, Domain::two);
//   std::cout << own.standardized.total() << " carried, " << from2.standardized.total() << " explained by domain 2\n";
//   const Vector weight = importance(model, Domain::two);   // d2, of sum 1
//   const Matrix structure = score_correlations(model, Domain::one, Domain::one);   // d1×c1
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/samples.hpp>
#include <cgmca/translate.hpp>
#include <cgmca/types.hpp>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Correlations of a domain's features with the canonical scores of a domain, over the samples of the fit: structure
// correlations where both are the same domain, else cross-loadings.   d×c. NaN for a feature that does not vary, or
// whose variance the ridge hides, and all NaN if the regularized covariance has no share of the data's (α = 0).
// Cross-loadings are approximate under max_rank or with extra samples. Throws MissingDomain. (33)
Matrix score_correlations(const Model& model, Domain features, Domain scores);

// The shares of a domain's variance that canonical scores explain.
struct Shares {
  Vector alone;       // c: score j by itself
  Vector cumulative;  // c: scores 1 … j together, their sum unless a ridge makes scores correlated
  double total() const { return cumulative.size() > 0 ? cumulative(cumulative.size() - 1) : 0; }  // all together
};
struct Explained {
  Shares variance;      // weighted by variance: of the features as they are
  Shares standardized;  // of the features at unit variance; those that do not vary are left out
};
// The shares of domain `of` that the scores of domain `by` explain, or its own if both are the same. NaN where α = 0.
// Throws MissingDomain. (63)
Explained explained(const Model& model, Domain of, Domain by);

// R² of a translation by lmmse from all other domains together.
struct TranslationR2 {
  Vector features;          // d: of each feature; NaN where it does not vary
  double variance = 0;      // of all, weighted by variance: 1 - Σ_f errors / Σ_f variances
  double standardized = 0;  // the mean over the features that vary
};
// As the model claims it of the samples of the fit. Only approximate under max_rank or with extra samples. (34)
TranslationR2 translation_r2(const Model& model, Domain to);

// The same measured on any matched samples: 1 - Σ w (x - x̂)² / Σ w (x - x̄)² of each feature, block by block. (35)
class MeasuredR2 {
 public:
  // Throws MissingDomain.
  MeasuredR2(const Model& model, Domain to);
  // Adds samples, one matrix a domain, d_i×n. No weights: 1 each.
  void add(const MatchedSamples& X, const Vector& weights = {});
  // The result for the samples added so far.
  TranslationR2 value() const;

 private:
  Domain to_;
  Translation translation_;
  Vector origin_;  // the first sample: a constant feature then contributes exact zeros
  Vector sum_, squares_, squared_errors_;
  double weight_ = 0;
};

// Each feature's share in what is translated from its domain to the others:                             (64)
//   Σ_j v_j a_fj² / Σ_g a_gj²  over  Σ_j v_j,   v_j the mean of what score j explains of the other domains (standardized)
// The d shares sum to 1. √(d · share) is the "variable importance in the projection" (VIP) of partial least squares: above 1
// for features that matter more than the average. Throws MissingDomain.
Vector importance(const Model& model, Domain domain);

// What the common space says of the correlation of every feature of one domain with every feature of another,
//   P_i R_il P_lᵀ at unit size, R_il = Cov(t_i, t_l):   d_i×d_l                                          (65)
// With all directions of a plain fit of two domains these are the correlations of the samples, with few the part of
// them that the directions carry. NaN as above. Throws MissingDomain.
Matrix shared_correlations(const Model& model, Domain one, Domain two);

}  // namespace cgmca
#pragma GCC visibility pop
