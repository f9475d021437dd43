#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>

#include <fmt/format.h>

#include "certify.hpp"
#include "factor.hpp"
#include "linalg.hpp"
#include "solve.hpp"

namespace cgmca {

Factorization::Factorization(const PairSummary& summary, const FitOptions& options) {
  if (options.rank_tol && !(*options.rank_tol >= 0 && *options.rank_tol < 1)) {
    throw InvalidInput(fmt::format(
        "a rank tolerance of {}; it is a fraction of the largest singular value, from 0 to 1", *options.rank_tol));
  }
  // 1. S_i = U_i Σ_i V_iᵀ and B = V1ᵀ V2.
  factors_ = std::make_unique<const Factors>(factorize(summary, options));
}
Factorization::~Factorization() = default;
Factorization::Factorization(Factorization&&) noexcept = default;
Factorization& Factorization::operator=(Factorization&&) noexcept = default;

Model Factorization::fit(const Covariance& c1, const Covariance& c2, const FitOptions& options) const {
  // What truncation and ridge make of them.
  Factors factors = *factors_;
  regularize(factors, options);

  // 2. - 4. The maps.
  Solution solution = solve(factors, linalg::thin_svd(factors.B), c1, c2);

  // 5. The proof.
  certify(solution, factors);
  return std::move(solution.model);
}

Model fit(const PairSummary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options) {
  return Factorization(summary, options).fit(c1, c2, options);
}

Model fit(const MatrixView& X1, const MatrixView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options) {
  PairSummary summary(X1.rows(), X2.rows());
  summary.add(X1, X2);
  return fit(summary, c1, c2, options);
}

}  // namespace cgmca
