// The closed-form fit (Algorithm 1 of the CGMCA paper; docs/method.md sections 2, 3 and 6).
//
// Threads: fits may run side by side, of one summary too, and each uses BLAS's threads.
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/fit_options.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <memory>

#pragma GCC visibility push(default)
namespace cgmca {

// Maps A1, A2 that minimize (n-1)/n ‖A1 S1 - A2 S2‖_F² subject to A_i Θ_i A_iᵀ = C_i, of a summary of two domains.
// Throws TooFewSamples, NoVariance, CommonDimension, InvalidInput, or Infeasible where C_i has a higher rank than
// domain i.
Model fit(const Summary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options = {});

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

 private:
  struct Inside;
  std::unique_ptr<const Inside> inside_;
};

}  // namespace cgmca
#pragma GCC visibility pop
