// From the errors of all training sets to a choice, with its reasons in words. docs/method.md (43)
#pragma once

#include <cgmca/tune.hpp>

#include "core/select/tune_baselines.hpp"
#include "core/select/tune_grid.hpp"

namespace cgmca {

// Throws InvalidInput where nothing of the grid is feasible, or the criterion is known of none.
TuneResult choose(const Grid& grid, const Baselines& baselines, const Folds& folds, const TuneOptions& options);

// Fills in the error with half of the pairs, of which there may be none, and the recommendation in words.
void recommend(TuneResult& result, const std::vector<Errors>& with_half);

}  // namespace cgmca
