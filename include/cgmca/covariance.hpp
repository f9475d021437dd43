// The covariance that the output of a map shall have: C = F Fᵀ, k×k, positive semidefinite of any rank c.
//
// Example:
//   const Model plain = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
//   const Covariance spread = Covariance::data(Domain::one, 3);  // as domain 1 spreads
//   const Model like1 = fit(X1, X2, spread, spread);
//   const Covariance known = Covariance::diagonal(Vector{{1.0, 0.5}});
//   std::cout << known.description() << "\n";
#pragma once

#include <cgmca/types.hpp>
#include <string>
#include <variant>

#pragma GCC visibility push(default)
namespace cgmca {

// A prescribed covariance, given by its entries or by a rule that the fit applies to its data.
class Covariance {
 public:
  // I_k: plain matching component analysis.
  static Covariance identity(Index k);

  // I_k for the largest k that the data allow, min(r_1, …, r_m): found by the fit.
  static Covariance largest_identity();

  // A symmetric positive semidefinite k×k matrix. Throws NotSquare, NotSymmetric or NotPositive
  // beyond rounding (1e-10 of its largest entry or eigenvalue); eigenvalues up to k·eps of the
  // largest count as zero.
  static Covariance matrix(const MatrixView& C);

  // F Fᵀ for any k×p factor F.
  static Covariance factor(const MatrixView& F);

  // diag(sd²): independent measurement uncertainties.
  static Covariance diagonal(const VectorView& standard_deviations);

  // The best rank-t approximation of a domain's own sample covariance; k is that domain's
  // dimension.
  static Covariance data(Domain domain, Index rank);

  // diag(σ_1², …, σ_K²) of the canonical correlations σ that the fit finds: each common direction spreads as its pair
  // is correlated. For more than two domains σ_j is the weighted mean of the pairs' correlations along the j-th
  // direction of the fit with identity covariances. docs/method.md (41)
  static Covariance correlation(Index k);

  // Makes neighbours in the common space likely partners: with the canonical correlations σ < 1 that the fit finds,
  // diag(1/(1-σ_j²)) for the domain `query` and diag(σ_j²/(1-σ_j²)) for the other, over all correlated directions. For
  // normal data the sample of the other domain nearest to a mapped query is its most likely partner. No rank has to be
  // chosen. Prescribe it for both of two domains. A fit where a correlation is 1 throws InvalidInput; a ridge, or more
  // samples than features, avoids that. docs/method.md (28)
  static Covariance likelihood(Domain query);

  // For instance "identity:4", "matrix 12×12 of rank 9", "data1:500".
  const std::string& description() const { return description_; }

  // C = U diag(s²) Uᵀ with s descending and positive.   U: k×c, orthonormal columns
  struct Factor {
    Matrix U;
    Vector s;
  };
  struct Identity {
    Index k;
  };
  struct OfData {
    Domain domain;
    Index rank;
  };
  struct LargestIdentity {};
  struct OfCorrelations {
    Index k;
  };
  struct OfLikelihood {
    Domain query;
  };
  using Value = std::variant<Factor, Identity, OfData, LargestIdentity, OfCorrelations, OfLikelihood>;
  const Value& value() const { return value_; }

 private:
  Covariance(Value value, std::string description) : value_(std::move(value)), description_(std::move(description)) {}

  Value value_;
  std::string description_;
};

}  // namespace cgmca
#pragma GCC visibility pop
