// The covariance that the output of a map shall have: C = F Fᵀ, k×k, positive semidefinite of any rank c.
//
// One table, covariance_kinds(), says how each kind is written, what it means and what it takes. Command line, Python, C,
// MATLAB and R read it, so a new kind is a row there and its meaning in fit/prescribed.cpp.
//
// Example:
//   const Model plain = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
//   const Covariance spread = Covariance::parse("data1:3");  // as domain 1 spreads: Covariance::data(Domain::one, 3)
//   const Model like1 = fit(X1, X2, spread, spread);
//   const Covariance known = Covariance::diagonal(Vector{{1.0, 0.5}});
//   std::cout << spread.name() << ", " << spread.number() << "; " << known.description() << "\n";  // data1, 3; …
#pragma once

#include <cgmca/types.hpp>
#include <functional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// A prescribed covariance, given by its entries or by a rule that the fit applies to its data.
class Covariance {
 public:
  // Whether C is given by its entries or by a rule, and by which rule.
  enum class Kind { entries, identity, data, principal, correlation, likelihood };

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

  // diag(λ_1, …, λ_t) of the largest eigenvalues λ of a domain's own sample covariance: data(domain, rank) in the axes of
  // its principal directions. Distances are the same, in t dimensions instead of that domain's number of features.
  // Throws InvalidInput if the rank is below 1. docs/method.md (28')
  static Covariance principal(Domain domain, Index rank);

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

  // What a spec such as "data1:8" or "file:C.npy" says. `read_file` gives the numbers of a file, row by row; without it a
  // spec that names a file is refused. Throws InvalidInput if there is no such kind, or if the number is missing, is not
  // wanted or is below 1, and what `read_file` throws.
  static Covariance parse(const std::string& spec,
                          const std::function<Matrix(const std::string& path)>& read_file = nullptr);

  Kind kind() const { return kind_; }        // what a fit makes of it
  Domain domain() const { return domain_; }  // of data, principal and likelihood: the domain in its name
  Index number() const { return number_; }   // K or T, or 0 if there is none or if the fit finds it
  std::string name() const;                  // "identity", "data1", …; "matrix" if it was given by its entries
  const Matrix& U() const { return U_; }     // of entries, C = U diag(s²) Uᵀ: k×c, orthonormal columns
  const Vector& s() const { return s_; }     // of entries: c, descending and positive
  // A description for people: "identity:4", "matrix 12×12 of rank 9", "data1:500".
  const std::string& description() const { return description_; }
  // Whether both are the same rule, or have the same U and s.
  bool operator==(const Covariance& other) const;

 private:
  Covariance(Kind kind, Index number, Domain domain = Domain::one);
  Covariance(Matrix U, Vector s, std::string description);

  Kind kind_;
  Index number_ = 0;
  Domain domain_ = Domain::one;
  Matrix U_;
  Vector s_;
  std::string description_;
};

// The argument after the name of a covariance in a spec.
enum class CovarianceTakes { nothing, perhaps_number, number, file };

// A row of the table of covariances.
struct CovarianceKind {
  Covariance::Kind kind;  // what a fit makes of it
  const char* name;       // what a spec begins with; the number of a domain follows if of_domain
  const char* form;       // as people write it: "data1:T"
  const char* meaning;    // in a few words
  bool of_domain;         // the name ends with the number of a domain
  bool two_domains;       // for two domains only
  CovarianceTakes takes;  // what follows the ':'
  // The covariance of the numbers of a file; null for rules.
  Covariance (*of_numbers)(const Matrix& rows);
};

// The table of all covariances.
const std::vector<CovarianceKind>& covariance_kinds();
// The forms of all covariances, for a message: "identity, identity:K, …".
std::string covariance_forms();

}  // namespace cgmca
#pragma GCC visibility pop
