#include <cgmca/error.hpp>
#include <cgmca/tune.hpp>

#include <algorithm>

#include "core/model/regularization.hpp"
#include "core/select/tune_baselines.hpp"
#include "core/select/tune_choose.hpp"
#include "core/select/tune_grid.hpp"
#include "core/select/tune_multi.hpp"

namespace cgmca {
namespace {

// Of ridges and limits of the rank that are to be tried in raw units.
std::vector<std::string> remarks_of_units(const Factors& training, const TuneOptions& options) {
  std::vector<std::string> remarks;
  const auto is_plain = [](const auto& values) {
    return std::all_of(values.begin(), values.end(),
                       [](const auto& one) { return one == std::remove_cvref_t<decltype(one)>{}; });
  };
  if (options.data.scale || (is_plain(options.ridges) && is_plain(options.max_ranks))) return remarks;
  for (std::size_t i = 0; i < training.domains.size(); ++i) {
    std::string sentence = units_decide(static_cast<Domain>(i + 1), training.domains[i].variance);
    if (!sentence.empty()) remarks.push_back(std::move(sentence));
  }
  return remarks;
}

}  // namespace

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
  std::vector<std::string> remarks;
  for (Index repeat = 0; repeat < folds.repeats(); ++repeat) {
    for (Index fold = 0; fold < parts; ++fold) {
      const Factors training = factorize(folds.training(repeat, fold), options.data, spectrum);
      const Directions directions = directions_of(training);
      if (repeat == 0 && fold == 0) remarks = remarks_of_units(training, options);
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
  TuneResult result = choose(grid, baselines, folds, options);
  result.remarks.insert(result.remarks.end(), remarks.begin(), remarks.end());
  return result;
}

}  // namespace cgmca
