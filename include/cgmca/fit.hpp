// The fit: for two domains in closed form (Algorithm 1 of the CGMCA paper; docs/method.md sections 2, 3 and 6), for
// more by a search with a proof of how good its answer is (section 8).
//
// Example:
//   const Model two = fit(X1, X2, C, C);
//   const Model three = fit({X1, X2, X3}, {C});
//   if (!three.certificate.certified) std::cout << "within " << three.certificate.gap << " of the best\n";
//
// Threads: several fits may run at once, also of one summary, and each uses BLAS's threads.
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/fit_options.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Finds the maps A1, A2 that minimize (n-1)/n ‖A1 S1 - A2 S2‖_F² subject to A_i Θ_i A_iᵀ = C_i, from a summary of two
// domains. Throws TooFewSamples, NoVariance, CommonDimension, InvalidInput, or Infeasible where C_i has a higher
// rank than domain i.
Model fit(const Summary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options = {});

// Finds the maps A_1, …, A_m that minimize (n-1)/n Σ_{i<j} w_ij ‖A_i S_i - A_j S_j‖_F² subject to A_i Θ_i A_iᵀ = C_i,
// from a summary of m >= 2 domains. There is one covariance for all, or one for each. For two domains it is the fit
// above, to the bit. The certificate says whether the maps are proven to be the best, or how far from the best they may
// be. Throws as above, and NotSquare, NotSymmetric, NotPositive, NotFinite or InvalidInput for a graph that cannot be
// one.
Model fit(const Summary& summary, const std::vector<Covariance>& covariances, const FitOptions& options = {});

// The same for m domains in memory.   X_i: d_i×n. Throws as above and as Summary::add does.
Model fit(const MatchedSamples& X, const std::vector<Covariance>& covariances, const FitOptions& options = {});

// The same for two domains in memory.   X1: d1×n, X2: d2×n. Throws as above and as Summary::add does.
Model fit(const SampleView& X1, const SampleView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options = {});

// A fit in two steps. Fits of the same data with other covariances, ranks and ridges share the first, costly step.
//
// Example:
//   Summary summary({d1, d2});
//   summary.add(X1, X2);
//   const PreparedFit prepared(summary);
//   for (const Index k : {1, 2, 3}) {
//     std::cout << prepared.fit(Covariance::identity(k), Covariance::identity(k)).certificate.objective << "\n";
//   }
class PreparedFit {
 public:
  // Whitens the summary's domains. Throws TooFewSamples, NoVariance, NumericalFailure, DeviceError.
  explicit PreparedFit(const Summary& summary, const DataOptions& options = {});
  ~PreparedFit();
  PreparedFit(PreparedFit&&) noexcept;
  PreparedFit& operator=(PreparedFit&&) noexcept;

  // The fit of two domains, of these data. Throws as fit does.
  Model fit(const Covariance& c1, const Covariance& c2, const Regularization& options = {}) const;
  // The fit of m >= 2 domains, of these data. Throws as fit does.
  Model fit(const std::vector<Covariance>& covariances, const Regularization& options = {},
            const MatchingOptions& matching = {}) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace cgmca
#pragma GCC visibility pop
