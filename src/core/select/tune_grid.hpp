// What is tried, and what it scored on each training set's held-out pairs.
#pragma once

#include <cgmca/folds.hpp>
#include <cgmca/tune.hpp>
#include <vector>

#include "core/select/tune_held_out.hpp"

namespace cgmca {

// The options with everything that was left open filled in. `most`: the largest rank that training sets have. Throws
// InvalidInput and TooFewSamples.
TuneOptions completed(TuneOptions options, const Folds& folds, Index most);
// Throws TooFewSamples where a fold, or what it leaves, would hold too few.
void check_folds(const Folds& folds);

// Candidates in groups of the same max_rank and ridge, which share the whitened data and the SVD of B.
struct Grid {
  std::vector<Candidate> candidates;
  std::vector<std::size_t> groups;          // where each begins, and the end
  std::vector<std::vector<Errors>> errors;  // [candidate][training set]
  std::vector<char> feasible;               // not bool: threads write neighbours
};
// `every`: each max_rank with each ridge. Otherwise a ridge is combined with the largest max_rank only, because both
// suppress directions of little variance and one of them is enough.
Grid make_grid(const TuneOptions& options, bool every);

// Fits every candidate to one training set and measures it on what the set leaves out.
// `weights` are those of the graph.
void score(Grid& grid, const WhitenedData& training, const HeldOut& held, const Matrix& edge_weights);

}  // namespace cgmca
