// From the errors of all training sets to a choice, with its reasons in words. docs/method.md (43)
#pragma once

#include <cgmca/tune.hpp>

#include "core/select/tune_baselines.hpp"
#include "core/select/tune_grid.hpp"

namespace cgmca {

// Throws InvalidInput if no candidate is feasible, or if no candidate has a value of the criterion.
TuneResult choose(const Grid& grid, const Baselines& baselines, const Folds& folds, const TuneOptions& options);

// Fills in the error with half of the pairs, if it is known, and the recommendation in words.
void recommend(TuneResult& result, const std::vector<Errors>& with_half);

}  // namespace cgmca
