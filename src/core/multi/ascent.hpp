// One ascent of f from a given point to a stationary one.
#pragma once

#include <chrono>
#include <functional>

#include "core/multi/problem.hpp"

namespace cgmca::multi {

struct Ascent {
  Point D;
  double f = 0;
  Index sweeps = 0;
  bool converged = false;  // false: a limit was reached first
};

struct AscentOptions {
  Index max_sweeps = 5000;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  double f_tolerance = 1e-13;                                   // stop at Δf <= f_tolerance · f and
  double step_tolerance = 1e-8;                                 // max |ΔD| < step_tolerance
  std::function<void(Index sweep, double f)> report = nullptr;  // after each sweep, with f so far
};

// Sweeps of polar steps,   D_i ← polar(G_i + 1e-6 ‖G_i‖ D_i)   for i = 1 … m,
// from points extrapolated by Nesterov's weights; every fifth sweep tries one rotation common to all domains. f never
// falls: what would lower it is not taken.
Ascent ascend(const MatchingProblem& problem, Point start, const AscentOptions& options);

// The same stationary point to more digits. f is flat there, so that an ascent that watches f leaves D open to about
// the root of eps; these sweeps watch D, until it changes by less than 1e-13.
Point settled(const MatchingProblem& problem, Point D, Index max_sweeps);

// D_i ← polar(J_iᵀ R J_i D_i): the same rotation or reflection R (k×k) of the common space in every domain.
Point turned(const MatchingProblem& problem, const Point& D, const MatrixView& R);

}  // namespace cgmca::multi
