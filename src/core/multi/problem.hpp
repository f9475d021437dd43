// The trace problem that matching more than two domains comes to.
//
//   maximize   f(D) = Σ_{i≠j} w_ij tr(D_iᵀ H_ij D_j B_ji)   over D_i with orthonormal rows,   H_ij = F_iᵀ F_j
//
//   F_i: k×c_i of full column rank, C_i = F_i F_iᵀ;   B_ij = W_i Θ_ij W_jᵀ: r_i×r_j, B_ji = B_ijᵀ;   D_i: c_i×r_i
//
// The maps A_i = F_i D_i W_i then have the objective (n-1)/n · (Σ_i deg_i tr C_i - f), deg_i = Σ_j w_ij.
#pragma once

#include <cgmca/types.hpp>
#include <vector>

namespace cgmca::multi {

using Point = std::vector<Matrix>;  // D_i for every domain

inline double real(Index n) { return static_cast<double>(n); }

class MatchingProblem {
 public:
  // B[i][j] is read for i < j with w_ij > 0; the others may be empty. Throws InvalidInput where shapes do not fit, a
  // number is not finite, F_i has not full column rank, or c_i > r_i.
  MatchingProblem(std::vector<Matrix> F, std::vector<std::vector<Matrix>> B, const MatrixView& weights);

  Index domains() const { return std::ssize(F_); }
  Index common_dimension() const { return F_[0].rows(); }       // k
  Index rank(Index i) const { return ranks_[i]; }               // r_i
  Index covariance_rank(Index i) const { return F(i).cols(); }  // c_i
  const Matrix& F(Index i) const { return F_[i]; }              // k×c_i
  const Matrix& lift(Index i) const { return lift_[i]; }        // J_i = C_i^(-1/2) F_i: k×c_i, JᵀJ = I
  const Matrix& H(Index i, Index j) const { return H_[i][j]; }  // c_i×c_j
  const Matrix& B(Index i, Index j) const { return B_[i][j]; }  // r_i×r_j, for i < j
  double weight(Index i, Index j) const { return weights_(i, j); }
  bool edge(Index i, Index j) const { return weights_(i, j) > 0; }

  Matrix DB(const Matrix& D_i, Index i, Index j) const;  // D_i B_ij: c_i×r_j, for an edge i, j in any order
  // w_ij H_ij D_j B_ji: c_i×r_i, what domain j adds to the gradient G_i
  Matrix pull(Index i, Index j, const Matrix& D_j) const;
  Matrix gradient(Index i, const Point& D) const;  // G_i = Σ_j w_ij H_ij D_j B_ji, half of ∂f/∂D_i
  double value(const Point& D) const;              // f(D)
  Matrix summed_covariance() const;                // Σ_i deg_i C_i: k×k
  double scale() const;                            // Σ_i deg_i tr C_i

  // Σ_{i<j} w_ij (J_i D_i B_ij D_jᵀ J_jᵀ + its transpose): covariance of the scores in the common space.   k×k
  Matrix shared_covariance(const Point& D) const;

  // 2 w_ij Σ_s σ_s(H_ij) σ_s(B_ij) for i < j, zero elsewhere: no D lets the pair i, j add more to f (von Neumann).
  Matrix pairwise_bounds() const;

  void check_feasible(const Point& D) const;  // throws InvalidInput unless D_i D_iᵀ = I to 1e-10

 private:
  void check_shapes();

  std::vector<Matrix> F_, lift_;
  std::vector<std::vector<Matrix>> B_, H_;
  Matrix weights_;
  std::vector<Index> ranks_;
};

// How far two points are apart, not counting what leaves every D_iᵀ H_ij D_j as it is (a common rotation for identity
// covariances, signs of directions for commuting ones):
//   √( Σ w_ij ‖D_iᵀ H_ij D_j - E_iᵀ H_ij E_j‖² / (2 Σ w_ij ‖H_ij‖²) ),   rounding up to about 1e-8
double distance(const MatchingProblem& problem, const Point& D, const Point& E);

}  // namespace cgmca::multi
