// Upper bounds on f by duality.
//
// For symmetric Λ_it (c_it×c_it) and M_i (r_i×r_i, positive semidefinite) let, for every channel t,
//   K_t = blkdiag(I⊗Λ_it + M_i⊗I) - [w_ij B_ij⊗H_ij^t]          p_t×p_t, p_t = Σ_i r_i c_it
// Then no feasible point has a larger f than
//   Σ_t μ_t Σ_i tr Λ_it + Σ_i tr M_i + Σ_t μ_t (Σ_i c_it) max(0, -λ_min(K_t))
// because f = Σ tr Λ + Σ tr(M_i D_iᵀD_i) - Σ_t Σ_a x_taᵀ K_t x_ta with x_ta = vec(E_itaᵀ D_i), ‖x_ta‖² = Σ_i c_it.
#pragma once

#include "core/multi/structure.hpp"

namespace cgmca::multi {

struct DualPoint {
  std::vector<std::vector<Matrix>> lambda;  // [channel][domain]: c_it×c_it
  std::vector<Matrix> M;                    // [domain]: r_i×r_i
};

class Dual {
 public:
  Dual(const MatchingProblem& problem, Structure structure);

  const MatchingProblem& problem() const { return problem_; }
  const Structure& structure() const { return structure_; }
  Index channels() const { return std::ssize(structure_.channels); }
  const Channel& channel(Index t) const { return structure_.channels[t]; }
  Index size(Index t) const { return offset(t, problem_.domains()); }  // p_t
  Index offset(Index t, Index i) const;                                // where domain i begins in K_t

  Matrix K(Index t, const DualPoint& y) const;
  double value(const DualPoint& y) const;  // Σ_t μ_t Σ_i tr Λ_it + Σ_i tr M_i

  // The bound above, for any y: never below the largest f. Rounding is on the safe side: eigenvalues are taken to be
  // wrong by p eps ‖K‖, sums by their number of terms times eps, M by its negative eigenvalues, H by structure().error.
  double bound(const DualPoint& y) const;

  // x_ta for the copies of channel t, as columns.   p_t×μ_t
  Matrix stacked(Index t, const Point& D) const;
  // Its inverse: D_i = polar(Σ_ta E_ita x_ta) for X[t]: p_t×μ_t.
  Point unstacked(const std::vector<Matrix>& X) const;

 private:
  Matrix cross_blocks(Index t) const;  // [w_ij B_ij⊗H_ij^t]
  const MatchingProblem& problem_;
  Structure structure_;
  std::vector<std::vector<Index>> offsets_;
  std::vector<Matrix> Q_;
};

// Dual points that touch f at D: with Γ_i = sym(G_i D_iᵀ), Λ_i = Γ_i - N_i and M_i = D_iᵀ N_i D_i, N_i ⪰ 0, their value
// is f(D), so that K ⪰ 0 proves D to be optimal.
class TouchingPoints {
 public:
  TouchingPoints(const Dual& dual, const Point& D);

  // N_i as it would be for two domains: with the eigenvectors u_p of Γ_i, h_p² = u_pᵀ (Σ_j w_ij H_ij H_ijᵀ) u_p and
  // ρ_p = γ_p/h_p descending,   N_p = Σ_{s>=p} ½ (h_s + h_{s+1}) (ρ_s - ρ_{s+1}).   For identity covariances it is
  // Γ_i - λ_min(Γ_i) I, the best choice.
  DualPoint guess() const;
  // The one nearest to any dual point.
  DualPoint nearest(const DualPoint& y) const;

 private:
  DualPoint from(const std::vector<Matrix>& N) const;
  const Dual& dual_;
  const Point& D_;
  std::vector<Matrix> Gamma_;
};

}  // namespace cgmca::multi
