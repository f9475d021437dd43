// How far a point can be from the best one: bounds on f that hold for every feasible point.
#pragma once

#include <functional>
#include <limits>

#include "core/multi/problem.hpp"

namespace cgmca::multi {

struct ProofOptions {
  double tolerance = 1e-9;      // certified: bound - f <= tolerance · |f|, or rounding of the scale
  Index max_size = 3000;        // of a matrix K whose eigenvalues are computed; beyond it the pairwise bound
  Index max_iterations = 1000;  // of ADMM; 0: the quick test only
  Index min_iterations = 100;   // if max_work allows fewer, none: they would hardly improve the quick bound
  double max_work = 1.5e11;  // of ADMM: iterations · Σ_t p_t³, about half a minute; unlike a limit in seconds it does
                             // not make the bound depend on the machine
  double max_seconds = std::numeric_limits<double>::infinity();     // of ADMM
  std::function<void(Index iteration, double f)> report = nullptr;  // after each iteration of ADMM; may throw to stop
};

// What the bound rests on: Algorithm 1 for two domains; the quick test of dual.hpp, for the three kinds of covariances;
// ADMM; the sum of what each pair of domains could reach alone.
enum class Bound { closed_form, identity, commuting, dense, admm, pairwise };
const char* name(Bound bound);

struct OptimalityProof {
  double f = 0, bound = 0;  // f(D) <= the largest f <= bound
  bool certified = false;   // D is a global optimum to rounding
  Bound how = Bound::pairwise;
  double gap = 0;               // (bound - f) / |f|; 0 where bound - f is rounding of the scale
  double gap_of_scale = 0;      // (bound - f) / Σ deg_i tr C_i
  double gap_of_objective = 0;  // (bound - f) / (Σ deg_i tr C_i - f), infinite where that is not positive
  Index size = 0;               // of the largest K; 0 where none was used
  Index iterations = 0;         // of ADMM
  double seconds = 0;
  Point relaxed;  // where ADMM ended without a certificate: a point to ascend from; else empty
};

// Throws InvalidInput where D is not feasible. The result does not depend on the number of threads.
OptimalityProof prove(const MatchingProblem& problem, const Point& D, const ProofOptions& options = {});

}  // namespace cgmca::multi
