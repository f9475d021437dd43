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
  // I_k: plain matching component analysis. Throws InvalidInput for k < 1.
  static Covariance identity(Index k);

  // I_k for the largest k that the data allow, min(r_1, …, r_m), which the fit finds.
  static Covariance largest_identity();

  // A symmetric positive semidefinite k×k matrix. Throws NotFinite, NotSquare, or, beyond rounding
  // (1e-10 of its largest entry or eigenvalue), NotSymmetric or NotPositive. Eigenvalues up to k·eps
  // of the largest count as zero.
  static Covariance matrix(const MatrixView& C);

  // F Fᵀ for any k×p factor F. Throws InvalidInput if F is empty, NotFinite, or NotPositive if it is zero.
  static Covariance factor(const MatrixView& F);

  // diag(sd²) of k standard deviations: independent measurement uncertainties. Throws InvalidInput if there are none,
  // NotFinite, or NotPositive if one is negative or all are zero.
  static Covariance diagonal(const VectorView& standard_deviations);

  // The best rank-t approximation of a domain's own sample covariance; k is that domain's number of
  // features. Throws InvalidInput if the rank is below 1.
  static Covariance data(Domain domain, Index rank);

  // diag(σ_1², …, σ_K²) of the canonical correlations σ that the fit finds: the standard deviation along each common
  // direction is its correlation. For more than two domains σ_j is the weighted mean of the pairs' correlations along
  // the j-th direction of the fit with identity covariances. Throws InvalidInput for k < 1. docs/method.md (41)
  static Covariance correlation(Index k);

  // Makes neighbours in the common space likely partners: with the canonical correlations σ < 1 that the fit finds,
  // diag(1/(1-σ_j²)) for the domain `query` and diag(σ_j²/(1-σ_j²)) for the other, over all correlated directions. For
  // normal data the sample of the other domain nearest to a mapped query is its most likely partner. No rank has to be
  // chosen. Prescribe it for both of two domains. A fit in which a correlation is 1 throws Saturated; a ridge, or more
  // samples than features, avoids that. docs/method.md (28)
  static Covariance likelihood(Domain query);

  // What is prescribed, in words: "identity:4", "matrix 12×12 of rank 9", "data1:500".
  const std::string& description() const { return description_; }

  // Given by its entries: C = U diag(s²) Uᵀ.
  struct Factor {
    Matrix U;  // k×c, orthonormal columns
    Vector s;  // c, descending and positive
  };
  // Made by identity().
  struct Identity {
    Index k;  // dimensions of the common space
  };
  // Made by data().
  struct OfData {
    Domain domain;  // whose covariance it is
    Index rank;     // t
  };
  // Made by largest_identity().
  struct LargestIdentity {};
  // Made by correlation().
  struct OfCorrelations {
    Index k;  // dimensions of the common space
  };
  // Made by likelihood().
  struct OfLikelihood {
    Domain query;  // the domain whose samples look for their partners
  };
  // One of the kinds above.
  using Value = std::variant<Factor, Identity, OfData, LargestIdentity, OfCorrelations, OfLikelihood>;
  // What a fit makes of it.
  const Value& value() const { return value_; }

 private:
  Covariance(Value value, std::string description) : value_(std::move(value)), description_(std::move(description)) {}

  Value value_;
  std::string description_;
};

}  // namespace cgmca
#pragma GCC visibility pop
