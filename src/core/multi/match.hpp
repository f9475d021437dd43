// Solve and prove, each helping the other.
#pragma once

#include "core/multi/proof.hpp"
#include "core/multi/solver.hpp"

namespace cgmca::multi {

struct Matching {
  MatchingSolution solution;
  OptimalityProof proof;
};

// Ascents from the starts, then the proof. Where it fails, the point that the relaxation suggests and the reflection
// search are tried, and the proof again if they found a better point. Limits in seconds hold for the ascents and for
// each proof on their own.
Matching match(const MatchingProblem& problem, const SolverOptions& solver = {}, const ProofOptions& proof = {});

// From the two starts that the data suggest only: for many problems of which none has to be the very best. It depends
// on nothing but the problem.
MatchingSolution match_quickly(const MatchingProblem& problem);

}  // namespace cgmca::multi
