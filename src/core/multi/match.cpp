#include "core/multi/match.hpp"

#include <utility>

namespace cgmca::multi {

Matching match(const MatchingProblem& problem, const SolverOptions& options, const ProofOptions& proof_options) {
  constexpr int rounds = 4;
  Solver solver(problem, options);
  solver.ascend_from_starts();
  ProofOptions reporting = proof_options;
  if (options.progress) {
    reporting.report = [&](Index k, double f) { options.progress({"proof", solver.ascents(), k, f}); };
  }
  OptimalityProof proof = prove(problem, solver.best(), reporting);
  for (int round = 0; round < rounds && !proof.certified && problem.domains() > 2; ++round) {
    bool better = !proof.relaxed.empty() && solver.ascend_from("relaxation", proof.relaxed);
    if (!better && options.reflections) better = solver.search_reflections();
    if (!better) break;
    proof = prove(problem, solver.best(), reporting);
  }
  return {solver.solution(), std::move(proof)};
}

MatchingSolution match_quickly(const MatchingProblem& problem) {
  SolverOptions options;
  options.random_starts = 0;
  options.reflections = false;
  options.max_sweeps = 500;
  return maximize(problem, options);
}

}  // namespace cgmca::multi
