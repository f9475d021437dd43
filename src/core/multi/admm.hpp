// The best bound of its kind: the dual semidefinite program of dual.hpp,
//   minimize  Σ_t μ_t Σ_i tr Λ_it + Σ_i tr M_i   subject to   K_t = S_t ⪰ 0,  M_i = Z_i ⪰ 0
// by the alternating direction method of multipliers (Wen, Goldfarb, Yin 2010). A step solves for Λ and M in closed
// form and takes the eigenvectors of every K_t and M_i. Every iterate gives a valid bound (Dual::bound).
#pragma once

#include "core/multi/dual.hpp"

namespace cgmca::multi {

class Admm {
 public:
  // From a dual point and the primal point X_t = (1/μ_t) Σ_a x_ta x_taᵀ of D. `penalty` is in units of 1/K.
  Admm(const Dual& dual, DualPoint start, const Point& D, double penalty);

  void step();
  DualPoint point() const;  // with M_i made positive semidefinite
  // The feasible point that the multipliers X_t are nearest to: their leading μ_t eigenvectors. Where the relaxation is
  // tight it is the optimum.
  Point relaxed() const;

 private:
  void solve_domain(Index i);
  void split(const Matrix& A, Matrix& positive, Matrix& multiplier) const;

  const Dual& dual_;
  DualPoint y_;
  double rho_;
  std::vector<Matrix> S_, X_;  // [channel]: p_t×p_t
  std::vector<Matrix> Z_, Y_;  // [domain]: r_i×r_i
};

}  // namespace cgmca::multi
