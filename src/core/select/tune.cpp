#include <cgmca/error.hpp>
#include <cgmca/tune.hpp>

#include <algorithm>
#include <limits>

#include "core/fit/nuisance.hpp"
#include "core/model/regularization.hpp"
#include "core/select/tune_baselines.hpp"
#include "core/select/tune_choose.hpp"
#include "core/select/tune_grid.hpp"
#include "core/select/tune_multi.hpp"

namespace cgmca {
namespace {

// Warnings about domains whose units decide what a ridge or max_rank leaves.
std::vector<std::string> remarks_of_units(const Folds& folds, const TuneOptions& options) {
  std::vector<std::string> remarks;
  const auto is_plain = [](const auto& values) {
    return std::all_of(values.begin(), values.end(),
                       [](const auto& one) { return one == std::remove_cvref_t<decltype(one)>{}; });
  };
  if (options.data.scale || (is_plain(options.ridges) && is_plain(options.max_ranks))) return remarks;
  const WhitenedData training =
      whiten_domains(folds.training(0, 0), options.data, std::vector<bool>(folds.domains(), false));
  for (std::size_t i = 0; i < training.domains.size(); ++i) {
    std::string sentence = units_decide(domain_at(i), training.domains[i].variance);
    if (!sentence.empty()) remarks.push_back(std::move(sentence));
  }
  return remarks;
}

// What all training sets have in common.
class Search {
 public:
  Search(const Folds& folds, const TuneOptions& options, const Matrix& edge_weights)
      : folds_(folds),
        options_(options),
        edge_weights_(edge_weights),
        references_(references_of(options.pairs)),
        places_(find_places(options.labels, options.pairs)),
        downstream_(downstream_of(options)) {}

  const Matrix& references() const { return references_; }

  // Measures the grid, and the baselines if there are any, on a fold that `training` does not hold.
  void measure(Grid& grid, Baselines* baselines, const Summary& training, Index repeat, Index fold) const {
    const std::vector<bool> spectrum(folds_.domains(), true);
    const WhitenedData whitened = whiten_domains(training, options_.data, spectrum);
    const Directions directions = directions_of(whitened);
    HeldOut held = hold_out(folds_.held_out(repeat, fold), directions);
    if (options_.labels.samples != nullptr) {
      add_labels(held, options_.labels, places_, directions, folds_, repeat, fold);
    }
    if (options_.pairs.X1 != nullptr) add_pairs(held, options_.pairs, references_, directions, folds_, repeat, fold);
    if (!options_.matched.samples.empty()) add_multi(held, options_.matched, directions, folds_, repeat, fold);
    if (downstream_.f) {
      held.directions = &directions;
      held.downstream = &downstream_;
    }
    score(grid, reduce(whitened), held, edge_weights_);
    if (baselines != nullptr) baselines->add(held, directions, repeat, fold);
  }

 private:
  const Folds& folds_;
  const TuneOptions& options_;
  const Matrix& edge_weights_;
  const Matrix references_;
  const LabelPlaces places_;
  const Downstream downstream_;
};

// The largest rank that every training set allows: that of the first one, which is as small as the smallest.
Index largest_rank(const Folds& folds, const DataOptions& data) {
  const Index n = folds.samples(), k = folds.options().folds;
  Index most = n - (n + k - 1) / k - 1;
  const WhitenedData whitened = whiten_domains(folds.training(0, 0), data, std::vector<bool>(folds.domains(), false));
  for (const WhitenedDomain& domain : whitened.domains) most = std::min(most, domain.rank());
  return most;
}

// The pairs of about half of the folds other than the given one.
Summary half_of(const Folds& folds, Index repeat, Index fold) {
  const Index parts = folds.options().folds, wanted = std::max<Index>(1, parts / 2);
  Summary half = folds.held_out(repeat, (fold + 1) % parts);
  for (Index step = 2; step <= wanted; ++step) half.merge(folds.held_out(repeat, (fold + step) % parts));
  return half;
}

// The errors of the choice with half of the pairs, on up to ten folds of the first repeat. Ranks are limited to those
// that half of the pairs have.
std::vector<Errors> with_half(const Search& search, const Folds& folds, const Candidate& choice) {
  Grid one;
  one.candidates = {choice};
  one.groups = {0, 1};
  one.errors.resize(1);
  one.feasible = {1};
  const Index parts = folds.options().folds, tried = std::min<Index>(parts, 10);
  for (Index k = 0; k < tried; ++k) {
    const Index fold = k * parts / tried;
    const Summary half = half_of(folds, 0, fold);
    if (half.samples() < 2) return {};
    const Index most = half.samples() - 1;
    one.candidates[0].rank = std::min(choice.rank, most);
    one.candidates[0].max_rank = std::min(choice.max_rank, most);
    search.measure(one, nullptr, half, 0, fold);
    if (one.feasible[0] == 0) return {};
  }
  return one.errors[0];
}

}  // namespace

TuneResult tune(const Folds& folds, const TuneOptions& given) {
  if (has_nuisance(folds.held_out(0, 0))) {
    throw InvalidInput("tune does not remove a nuisance; choose settings for samples from which it was removed");
  }
  if (folds.domains() < 2) throw InvalidInput("tuning needs two domains or more; these folds have 1");
  const Matrix edge_weights = weights_of(given.graph, folds.domains());
  check_folds(folds);
  const TuneOptions options = completed(given, folds, given.ranks.empty() ? largest_rank(folds, given.data) : 0);
  Grid grid = make_grid(options, !given.max_ranks.empty());
  const Search search(folds, options, edge_weights);
  Baselines baselines(folds, options, search.references());
  const Index parts = folds.options().folds;
  for (Index repeat = 0; repeat < folds.repeats(); ++repeat) {
    for (Index fold = 0; fold < parts; ++fold) {
      search.measure(grid, &baselines, folds.training(repeat, fold), repeat, fold);
      if (options.progress) {
        options.progress(static_cast<double>(repeat * parts + fold + 1) / static_cast<double>(folds.repeats() * parts));
      }
    }
  }
  baselines.finish();
  constexpr Index kSteadyFold = 5;  // pairs
  if (folds.samples() < kSteadyFold * parts) baselines.even_out(grid.errors);
  TuneResult result = choose(grid, baselines, folds, options);
  recommend(result, with_half(search, folds, result.choice()));
  for (std::string& remark : remarks_of_units(folds, options)) result.remarks.push_back(std::move(remark));
  return result;
}

}  // namespace cgmca
