// Tuning of more than two domains: errors on held-out samples, and of baselines without a map.
#pragma once

#include <cgmca/tune.hpp>

#include "core/select/tune_held_out.hpp"

namespace cgmca {

// The labelled samples of a training set, and those held out.
void add_multi(HeldOut& held, const MatchedLabels& matched, const Directions& training, const Folds& folds,
               Index repeat, Index fold);

// Distance along the edges of the graph, the mean error of translations to each domain from all others, and of
// classification by the mean of all domains' points. NaN for what only two domains have.
Errors measure_multi(const Model& model, const HeldOut& held, const Matrix& edge_weights);

// Errors of the nearest neighbour without a map.
struct MultiWithoutMap {
  double stacked;              // by all features one above the other, each domain scaled to one variance in all
  std::vector<double> single;  // by each domain's own
};
MultiWithoutMap classify_without_map(const MatchedLabels& matched, const Folds& folds, const Directions& directions,
                                     Index repeat, Index fold);

}  // namespace cgmca
