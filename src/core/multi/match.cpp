#include "match.hpp"

#include <utility>

namespace cgmca::multi {

Matching match(const MatchingProblem& problem, const SolverOptions& options, const ProofOptions& proof_options) {
  constexpr int rounds = 4;
  Solver solver(problem, options);
  solver.ascend_from_starts();
  OptimalityProof proof = prove(problem, solver.best(), proof_options);
  for (int round = 0; round < rounds && !proof.certified && problem.domains() > 2; ++round) {
    bool better = !proof.relaxed.empty() && solver.ascend_from("relaxation", proof.relaxed);
    if (!better && options.reflections) better = solver.search_reflections();
    if (!better) break;
    proof = prove(problem, solver.best(), proof_options);
  }
  return {solver.solution(), std::move(proof)};
}

}  // namespace cgmca::multi
