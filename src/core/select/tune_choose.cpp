#include "core/select/tune_choose.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace cgmca {
namespace {

// The mean over the training sets and its standard error sd/√folds. They are those of a - b if b is given.
Score score_of(const std::vector<Errors>& a, const std::vector<Errors>* b, Criterion criterion, Index folds) {
  const auto c = static_cast<std::size_t>(criterion);
  const double count = static_cast<double>(a.size());
  const auto value = [&](std::size_t s) { return a[s][c] - (b == nullptr ? 0 : (*b)[s][c]); };
  double sum = 0, squares = 0;
  for (std::size_t s = 0; s < a.size(); ++s) sum += value(s);
  const double mean = sum / count;
  for (std::size_t s = 0; s < a.size(); ++s) squares += (value(s) - mean) * (value(s) - mean);
  return {mean, std::sqrt(squares / (count - 1) / static_cast<double>(folds))};
}

std::array<Score, kCriteria.size()> scores_of(const std::vector<Errors>& errors, Index folds) {
  std::array<Score, kCriteria.size()> scores;
  for (const Criterion criterion : kCriteria) {
    scores[static_cast<std::size_t>(criterion)] = score_of(errors, nullptr, criterion, folds);
  }
  return scores;
}

bool simpler(const Candidate& a, const Candidate& b) {
  const auto unlimited = [](Index rank) { return rank == 0 ? std::numeric_limits<Index>::max() : rank; };
  const auto strength = [](const Ridge& ridge) { return ridge.automatic ? -1.0 : ridge.value; };
  return std::tuple(unlimited(a.rank), unlimited(a.max_rank), -strength(a.ridge)) <
         std::tuple(unlimited(b.rank), unlimited(b.max_rank), -strength(b.ridge));
}

// The trial with the least error. An unknown error counts as the largest. Among equal ones it is the simplest.
std::size_t least(const TuneResult& result, const std::vector<std::size_t>& trials, Criterion criterion) {
  const auto error = [&](std::size_t t) {
    const double mean = result.trials[t][criterion].mean;
    return std::isnan(mean) ? std::numeric_limits<double>::infinity() : mean;
  };
  return *std::min_element(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
    return error(a) != error(b) ? error(a) < error(b) : simpler(result.trials[a].candidate, result.trials[b].candidate);
  });
}

// The simplest of the trials that the criterion cannot distinguish from the best.
std::size_t pick(const TuneResult& result, std::vector<std::size_t> alike) {
  if (result.criterion != Criterion::classification) return result.best;
  std::vector<std::size_t> likelihoods;
  std::copy_if(alike.begin(), alike.end(), std::back_inserter(likelihoods),
               [&](std::size_t t) { return !has_rank(result.trials[t].candidate.family); });
  return likelihoods.empty() ? least(result, alike, *result.tie_break) : least(result, likelihoods, result.criterion);
}

// For each fold, the error of the setting that the other folds of its repeat would choose.
Score expected(const Grid& grid, const std::vector<std::size_t>& places, Criterion criterion, Index folds) {
  const auto c = static_cast<std::size_t>(criterion);
  const auto parts = static_cast<std::size_t>(folds);
  std::vector<Errors> found;
  for (std::size_t first = 0; first < grid.errors[places[0]].size(); first += parts) {
    std::vector<double> sums;
    for (const std::size_t t : places) {
      double sum = 0;
      for (std::size_t f = 0; f < parts; ++f) sum += grid.errors[t][first + f][c];
      sums.push_back(sum);
    }
    for (std::size_t f = 0; f < parts; ++f) {
      double least = std::numeric_limits<double>::infinity();
      Errors chosen = grid.errors[places[0]][first + f];
      for (std::size_t k = 0; k < places.size(); ++k) {
        const Errors& own = grid.errors[places[k]][first + f];
        if (!(sums[k] - own[c] < least)) continue;
        least = sums[k] - own[c];
        chosen = own;
      }
      found.push_back(chosen);
    }
  }
  return score_of(found, nullptr, criterion, folds);
}

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// A sentence that compares a baseline with the choice; empty if the choice is clearly better or there is no baseline.
std::string verdict(const std::string& baseline, const std::vector<Errors>& errors, const std::vector<Errors>& chosen,
                    const TuneResult& result) {
  const Score own = score_of(errors, nullptr, result.criterion, result.folds.folds);
  const Score more = score_of(chosen, &errors, result.criterion, result.folds.folds);
  const double error = result.trials[result.chosen][result.criterion].mean;
  if (!std::isfinite(own.mean) || more.mean < -more.standard_error) return {};
  if (more.mean > more.standard_error) {
    return fmt::format("{} does better: an error of {:.4f} against {:.4f} of the choice. No setting tried helps here",
                       baseline, own.mean, error);
  }
  return fmt::format("{} does as well: an error of {:.4f}, {:.4f} of the choice, which cannot be told apart", baseline,
                     own.mean, error);
}

void add_remarks(TuneResult& result, const std::vector<Errors>& chosen, const Baselines& baselines) {
  if (result.alike == result.trials.size() && result.alike > 1) {
    result.remarks.push_back(fmt::format(
        "these {} cannot tell any of the {} apart: the choice rests on {}",
        plural(static_cast<std::size_t>(result.samples), result.domains == 2 ? "pair" : "matched sample"),
        plural(result.alike, "setting"),
        result.tie_break ? fmt::format("their error of {}", name(*result.tie_break)) : "the least mean error"));
  }
  const bool classes = result.criterion == Criterion::classification;
  const bool many = result.domains > 2;
  const std::string alone =
      classes ? fmt::format("classifying by the matched samples of domain {} alone", number(baselines.single))
      : result.criterion == Criterion::partner    ? "guessing"
      : result.criterion == Criterion::likelihood ? "knowing nothing of the partner"
      : many                                      ? "the mean of each domain"
                                                  : "the mean of the target domain";
  const std::string plain = many ? "classifying by all features as they are, without a map,"
                                 : "leaving the samples as they are, without a map,";
  const std::string moved = "moving the samples by the difference of the means";
  for (const auto& [baseline, errors] : {std::pair(plain, &baselines.unmapped), std::pair(moved, &baselines.offset),
                                         std::pair(alone, &baselines.target_only)}) {
    std::string sentence = verdict(baseline, *errors, chosen, result);
    if (!sentence.empty()) result.remarks.push_back(std::move(sentence));
  }
}

// Errors fall as a power of the number of pairs, no faster than 1/n: e(n) = e_2 (n/n_2)^-γ through two of them.
double extrapolated(double n1, double e1, double n2, double e2, double n) {
  const double power = std::min(1.0, std::log(e1 / e2) / std::log(n2 / n1));
  return e2 * std::pow(n / n2, -power);
}

std::string what_more_would_bring(const TuneResult& result) {
  const Score& half = result.with_half;
  if (!std::isfinite(half.mean)) return "There are too few to tell what more of them would bring.";
  const auto n = static_cast<double>(result.samples), k = static_cast<double>(result.folds.folds);
  const double now = result.trials[result.chosen][result.criterion].mean, half_size = n * std::floor(k / 2) / k;
  const char* noun = result.domains == 2 ? "pairs" : "matched samples";
  std::string text = fmt::format("With {:.0f} {} the error is {:.3g}, with {:.0f} it is {:.3g}", half_size, noun,
                                 half.mean, n * (k - 1) / k, now);
  if (!(now > 0 && half.mean > now)) return text + fmt::format(": more {} promise little.", noun);
  const double more = extrapolated(half_size, half.mean, n * (k - 1) / k, now, 2 * n);
  return text + fmt::format(": {:.0f} would bring about {:.3g}.", 2 * n, more);
}

std::vector<std::size_t> collect(TuneResult& result, const Grid& grid, const Folds& folds, const TuneOptions& options) {
  std::vector<std::size_t> places;
  for (std::size_t t = 0; t < grid.candidates.size(); ++t) {
    if (grid.feasible[t] != 0) {
      result.trials.push_back({grid.candidates[t], scores_of(grid.errors[t], folds.options().folds)});
      places.push_back(t);
    } else {
      result.infeasible.push_back(grid.candidates[t]);
    }
  }
  if (result.trials.empty()) {
    const Index k = folds.options().folds;
    throw InvalidInput(
        fmt::format("nothing of the grid is feasible for training sets of {} {}; the smallest rank tried is {}. Try "
                    "smaller ones, or fewer folds",
                    folds.samples() - (folds.samples() + k - 1) / k, folds.domains() == 2 ? "pairs" : "matched samples",
                    *std::min_element(options.ranks.begin(), options.ranks.end())));
  }
  return places;
}

}  // namespace

TuneResult choose(const Grid& grid, const Baselines& baselines, const Folds& folds, const TuneOptions& options) {
  TuneResult result;
  result.criterion = *options.criterion;
  result.domains = folds.domains();
  result.samples = folds.samples();
  result.folds = folds.options();
  result.folds.repeats = folds.repeats();
  result.scale = options.data.scale;
  result.unmapped = scores_of(baselines.unmapped, result.folds.folds);
  result.offset = scores_of(baselines.offset, result.folds.folds);
  result.target_only = scores_of(baselines.target_only, result.folds.folds);
  const std::vector<std::size_t> places = collect(result, grid, folds, options);
  const auto errors = [&](std::size_t t) -> const std::vector<Errors>& { return grid.errors[places[t]]; };

  std::vector<std::size_t> alike(result.trials.size());
  std::iota(alike.begin(), alike.end(), std::size_t{0});
  result.best = least(result, alike, result.criterion);
  if (std::isnan(result.trials[result.best][result.criterion].mean)) {
    throw InvalidInput(
        fmt::format("the criterion {} is not known for anything in the grid: a correlation of every training set is 1. "
                    "Give ridges above 0, or smaller max_ranks",
                    name(result.criterion)));
  }
  std::erase_if(alike, [&](std::size_t t) {
    const Score more = score_of(errors(t), &errors(result.best), result.criterion, result.folds.folds);
    return !(more.mean <= more.standard_error);
  });
  result.alike = alike.size();
  if (result.criterion == Criterion::classification) {
    result.tie_break = options.pairs.X1 != nullptr ? Criterion::partner : Criterion::translation;
  }
  result.chosen = pick(result, alike);
  result.expected = expected(grid, places, result.criterion, result.folds.folds);
  add_remarks(result, errors(result.chosen), baselines);
  return result;
}

void recommend(TuneResult& result, const std::vector<Errors>& with_half) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  result.with_half = {kUnknown, kUnknown};
  if (with_half.size() > 1) {
    result.with_half = score_of(with_half, nullptr, result.criterion, std::ssize(with_half));
  }
  const auto c = static_cast<std::size_t>(result.criterion);
  result.recommendation.push_back(fmt::format("Chosen by {} over {} {}: {}.", name(result.criterion), result.samples,
                                              result.domains == 2 ? "pairs" : "matched samples",
                                              result.choice().description()));
  std::vector<std::string> others;
  std::string first;
  double least = result.trials[result.chosen].scores[c].mean;
  for (const auto& [what, scores] :
       {std::pair("no map", &result.unmapped),
        {"the difference of the means", &result.offset},
        {result.criterion == Criterion::classification ? "the target alone" : "the mean", &result.target_only}}) {
    const double error = (*scores)[c].mean;
    if (!std::isfinite(error)) continue;
    others.push_back(fmt::format("{} {:.3g}", what, error));
    if (error >= least) continue;
    least = error;
    first = what;
  }
  std::string compared = fmt::format("Its error on new samples is expected to be {:.3g} ± {:.2g}", result.expected.mean,
                                     result.expected.standard_error);
  if (!others.empty()) compared += fmt::format("; without a fit it is {}", fmt::join(others, ", "));
  result.recommendation.push_back(first.empty() ? compared + "." : fmt::format("Use {} instead. {}.", first, compared));
  result.recommendation.push_back(what_more_would_bring(result));
}

}  // namespace cgmca
