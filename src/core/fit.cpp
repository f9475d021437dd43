#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>

#include <fmt/format.h>

#include "certify.hpp"
#include "factor.hpp"
#include "linalg/linalg.hpp"
#include "solve.hpp"

namespace cgmca {

namespace {

void check_rank_tolerance(const FitOptions& options) {
  if (options.rank_tol && !(*options.rank_tol >= 0 && *options.rank_tol < 1)) {
    throw InvalidInput(fmt::format(
        "a rank tolerance of {}; it is a fraction of the largest singular value, from 0 to 1", *options.rank_tol));
  }
}

}  // namespace

Factorization::Factorization(const PairSummary& summary, const FitOptions& options) {
  check_rank_tolerance(options);
  // 1. S_i = U_i Σ_i V_iᵀ and B = V1ᵀ V2.
  factors_ = std::make_unique<const Factors>(factorize(summary, options));
}
Factorization::~Factorization() = default;
Factorization::Factorization(Factorization&&) noexcept = default;
Factorization& Factorization::operator=(Factorization&&) noexcept = default;

namespace {

// Steps 2 to 5 of Algorithm 1.
Model finish(const Factors& factors, const Covariance& c1, const Covariance& c2) {
  // 2. - 4. The maps.
  Solution solution = solve(factors, svd_of_cross_matrix(factors, c1, c2), c1, c2);

  // 5. The proof.
  certify(solution, factors);
  return std::move(solution.model);
}

}  // namespace

Model Factorization::fit(const Covariance& c1, const Covariance& c2, const FitOptions& options) const {
  // What truncation and ridge make of them.
  Factors factors = *factors_;
  regularize(factors, options);

  return finish(factors, c1, c2);
}

Model fit(const PairSummary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options) {
  // Truncation, ridge and a covariance taken from a domain need its spectrum; otherwise a triangle may do.
  std::array<bool, 2> spectrum{};
  for (auto i : {0U, 1U}) spectrum[i] = options.max_rank[i] != 0 || options.ridge[i] != Ridge(0);
  for (const Covariance* covariance : {&c1, &c2}) {
    if (const auto* data = std::get_if<Covariance::OfData>(&covariance->value())) spectrum[slot(data->domain)] = true;
  }
  if (spectrum[0] && spectrum[1]) return Factorization(summary, options).fit(c1, c2, options);
  check_rank_tolerance(options);
  Factors factors = factorize(summary, options, spectrum);
  regularize(factors, options);
  return finish(factors, c1, c2);
}

Model fit(const MatrixView& X1, const MatrixView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options) {
  PairSummary summary(X1.rows(), X2.rows());
  summary.add(X1, X2);
  return fit(summary, c1, c2, options);
}

}  // namespace cgmca
