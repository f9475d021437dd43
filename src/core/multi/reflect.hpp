// The search over sign and order patterns: local optima of covariances that do not commute differ by these.
#pragma once

#include "core/multi/ascent.hpp"

namespace cgmca::multi {

struct ReflectionSearch {
  Ascent best;
  Index sweeps = 0, trials = 0;
  bool complete = false;  // every neighbour of the best point was tried
};

// Moves tried from `from`, and again from whatever is better: reflect one shared direction in all domains at once, swap
// two of them, reflect one direction in one domain. Each is followed by an ascent.
ReflectionSearch search_reflections(const MatchingProblem& problem, const Ascent& from, const AscentOptions& options,
                                    Index max_trials);

}  // namespace cgmca::multi
