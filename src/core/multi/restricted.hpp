// A problem restricted to subspaces of its domains: D_i = E_i Q_iᵀ with Q_i (r_i×p_i) of orthonormal columns.
//
// Sweeps cost p_i p_j in place of r_i r_j there. What a few sweeps of the whole problem have visited spans subspaces in
// which most of the way is still to go, as in a block Krylov method.
#pragma once

#include "core/multi/problem.hpp"

namespace cgmca::multi {

class Restricted {
 public:
  // The subspaces that hold all these points.
  Restricted(const MatchingProblem& whole, const std::vector<Point>& visited);

  const MatchingProblem& problem() const { return problem_; }  // B_ij ← Q_iᵀ B_ij Q_j
  Point down(const Point& D) const;                            // D_i Q_i
  Point up(const Point& E) const;                              // E_i Q_iᵀ

 private:
  std::vector<Matrix> Q_;
  MatchingProblem problem_;
};

// Whether sweeps of the problem restricted to what `points` points span cost a small part of those of the whole.
bool worth_restricting(const MatchingProblem& problem, Index points);

}  // namespace cgmca::multi
