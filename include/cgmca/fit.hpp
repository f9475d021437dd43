// The fit: of two domains in closed form (Algorithm 1 of the CGMCA paper; docs/method.md sections 2, 3 and 6), of more
// by a search with a proof of how good its answer is (section 8).
//
// Threads: fits may run side by side, of one summary too, and each uses BLAS's threads.
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/fit_options.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Maps A1, A2 that minimize (n-1)/n ‖A1 S1 - A2 S2‖_F² subject to A_i Θ_i A_iᵀ = C_i, of a summary of two domains.
// Throws TooFewSamples, NoVariance, CommonDimension, InvalidInput, or Infeasible where C_i has a higher rank than
// domain i.
Model fit(const Summary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options = {});

// Maps A_1, …, A_m that minimize (n-1)/n Σ_{i<j} w_ij ‖A_i S_i - A_j S_j‖_F² subject to A_i Θ_i A_iᵀ = C_i, of a
// summary of m >= 2 domains; one covariance for all, or one each. Of two domains it is the fit above, to the bit. The
// certificate says whether the maps are proven to be the best, and otherwise how far from it they may be. Throws as
// above, and NotSquare, NotSymmetric, NotPositive, NotFinite or InvalidInput for a graph that cannot be one.
Model fit(const Summary& summary, const std::vector<Covariance>& covariances, const FitOptions& options = {});

// The same for data at hand.   X_i: d_i×n
Model fit(const MatchedSamples& X, const std::vector<Covariance>& covariances, const FitOptions& options = {});

// The same for data at hand.   X1: d1×n, X2: d2×n
Model fit(const SampleView& X1, const SampleView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options = {});

// The same in two steps, where several fits share the costly one: other covariances, ranks and ridges of the same data.
class Factorization {
 public:
  explicit Factorization(const Summary& summary, const DataOptions& options = {});
  ~Factorization();
  Factorization(Factorization&&) noexcept;
  Factorization& operator=(Factorization&&) noexcept;

  Model fit(const Covariance& c1, const Covariance& c2, const Regularization& options = {}) const;
  Model fit(const std::vector<Covariance>& covariances, const Regularization& options = {},
            const MatchingOptions& matching = {}) const;

 private:
  struct Inside;
  std::unique_ptr<const Inside> inside_;
};

}  // namespace cgmca
#pragma GCC visibility pop
