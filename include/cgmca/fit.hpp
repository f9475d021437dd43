// The closed-form fit (Algorithm 1 of the CGMCA paper; docs/method.md sections 2, 3 and 6).
#pragma once

#include <array>
#include <cgmca/covariance.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <memory>
#include <optional>

#pragma GCC visibility push(default)
namespace cgmca {

// How a domain's sample covariance Θ (d×d) is regularized before it is whitened.            docs/method.md (24) (25)
struct Ridge {
  double value = 0;        // Θ + value · tr(Θ)/d · I: 0 is the plain fit, and the scale of the data does not matter
  bool automatic = false;  // (1-ρ) Θ + ρ tr(Θ)/d · I with the oracle-approximating shrinkage ρ, which needs no choice

  Ridge(double value_ = 0) : value(value_) {}  // NOLINT: a number is a ridge
  static Ridge oas() {
    Ridge ridge;
    ridge.automatic = true;
    return ridge;
  }
  bool operator==(const Ridge&) const = default;
};
std::string name(const Ridge& ridge);  // "0.1", "auto"

// For few pairs of many features, where n-1 <= d and the plain fit makes every correlation 1. One entry a domain.
struct FitOptions {
  std::optional<double> rank_tol;   // a domain's rank counts σ_j > rank_tol·σ_1; default max(d, n)·eps
  std::array<Index, 2> max_rank{};  // only this many leading principal directions of a domain; 0: all of them
  std::array<Ridge, 2> ridge{};     // the constraint then holds for the regularized covariance
  std::array<const SampleSummary*, 2> extra{};  // samples without partner: they better a domain's mean and covariance
};

// Maps A1, A2 that minimize (n-1)/n ‖A1 S1 - A2 S2‖_F² subject to A_i Θ_i A_iᵀ = C_i.
// Throws TooFewSamples, NoVariance, CommonDimension, or Infeasible where C_i has a higher rank than
// domain i.
Model fit(const PairSummary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options = {});

// The same for data at hand.   X1: d1×n, X2: d2×n
Model fit(const MatrixView& X1, const MatrixView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options = {});

// The same in two steps, where several fits share the costly one: other covariances, ranks and ridges of the same data.
class Factorization {
 public:
  explicit Factorization(const PairSummary& summary, const FitOptions& options = {});  // rank_tol and extra of these
  ~Factorization();
  Factorization(Factorization&&) noexcept;
  Factorization& operator=(Factorization&&) noexcept;

  Model fit(const Covariance& c1, const Covariance& c2, const FitOptions& options = {}) const;  // max_rank and ridge

 private:
  std::unique_ptr<const struct Factors> factors_;
};

// The coefficient ρ of the oracle-approximating shrinkage (Chen, Wiesel, Eldar, Hero 2010, as scikit-learn's OAS has
// it) of a d×d sample covariance Θ of n samples, from its trace and that of its square.                          (25)
double oas_shrinkage(double trace, double trace_of_square, Index d, Index n);

}  // namespace cgmca
#pragma GCC visibility pop
