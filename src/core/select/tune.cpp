#include <cgmca/error.hpp>
#include <cgmca/tune.hpp>

#include "core/select/tune_baselines.hpp"
#include "core/select/tune_choose.hpp"
#include "core/select/tune_grid.hpp"
#include "core/select/tune_multi.hpp"

namespace cgmca {

TuneResult tune(const Folds& folds, const TuneOptions& given) {
  if (folds.domains() < 2) throw InvalidInput("tuning needs two domains or more; these folds have 1");
  const Matrix weights = weights_of(given.graph, folds.domains());
  const std::vector<bool> spectrum(static_cast<std::size_t>(folds.domains()), true);
  const TuneOptions options = completed(given, folds);
  Grid grid = make_grid(options, !given.max_ranks.empty());
  const Matrix references = references_of(options.pairs);
  Baselines baselines(folds, options, references);
  const LabelPlaces places = find_places(options.labels, options.pairs);
  const Index parts = folds.options().folds;
  for (Index repeat = 0; repeat < folds.repeats(); ++repeat) {
    for (Index fold = 0; fold < parts; ++fold) {
      const Factors training = factorize(folds.training(repeat, fold), options.data, spectrum);
      const Directions directions = directions_of(training);
      HeldOut held = hold_out(folds.held_out(repeat, fold), directions);
      if (options.labels.samples != nullptr) {
        add_labels(held, options.labels, places, directions, folds, repeat, fold);
      }
      if (options.pairs.X1 != nullptr) add_pairs(held, options.pairs, references, directions, folds, repeat, fold);
      if (!options.matched.samples.empty()) add_views(held, options.matched, directions, folds, repeat, fold);
      score(grid, reduce(training), held, weights);
      baselines.add(held, directions, repeat, fold);
      if (options.progress) {
        options.progress(static_cast<double>(repeat * parts + fold + 1) / static_cast<double>(folds.repeats() * parts));
      }
    }
  }
  baselines.finish();
  return choose(grid, baselines, folds, options);
}

}  // namespace cgmca
