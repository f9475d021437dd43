// A problem restricted to subspaces of its domains: D_i = E_i Q_iᵀ with Q_i (r_i×p_i) of orthonormal columns.
//
// Sweeps then cost p_i p_j instead of r_i r_j. As in a block Krylov method, the points of a few sweeps of the whole
// problem span subspaces in which most of the remaining way lies.
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

// Whether sweeps restricted to the span of so many points cost only a small part of sweeps of the whole problem.
bool worth_restricting(const MatchingProblem& problem, Index points);

}  // namespace cgmca::multi
