#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/assemble.hpp"
#include "core/solve.hpp"
#include "held_out.hpp"

namespace cgmca {
namespace {

std::vector<Index> series_up_to(Index limit) {  // 1, 2, 5, 10, 20, 50, …
  std::vector<Index> values;
  for (Index decade = 1; decade <= limit; decade *= 10) {
    for (Index step : {1, 2, 5}) {
      if (step * decade <= limit) values.push_back(step * decade);
    }
  }
  return values;
}

TuneOptions with_defaults(TuneOptions options, const Folds& folds) {
  const Index k = folds.options().folds, n = folds.samples();
  const Index training = n - (n + k - 1) / k;  // the smallest
  const Index most = std::min({folds.dimension(Domain::one), folds.dimension(Domain::two), training - 1});
  if (options.ranks.empty()) options.ranks = series_up_to(most);
  if (options.max_ranks.empty()) {
    for (Index rank : series_up_to(most)) {
      if (rank >= 5 && rank < most) options.max_ranks.push_back(rank);
    }
    options.max_ranks.push_back(0);
  }
  if (options.ridges.empty()) options.ridges = {0.0, 0.01, 0.1, 1.0, Ridge::oas()};
  if (!options.criterion) {
    options.criterion = options.labels.samples != nullptr ? Criterion::classification : Criterion::translation;
  }
  return options;
}

void check_pairs(const PairSamples& pairs, const Folds& folds) {
  for (const Domain domain : kDomains) {
    const Matrix* X = domain == Domain::one ? pairs.X1 : pairs.X2;
    if (X != nullptr && X->rows() == folds.dimension(domain) && X->cols() == folds.samples()) continue;
    throw InvalidInput(fmt::format("domain {} of the pairs: {} samples of {} features; the folds hold {} of {}",
                                   number(domain), X == nullptr ? 0 : X->cols(), X == nullptr ? 0 : X->rows(),
                                   folds.samples(), folds.dimension(domain)));
  }
}

void check(const TuneOptions& options, const Folds& folds) {
  if (folds.samples() < 2 * folds.options().folds) {
    throw TooFewSamples(
        fmt::format("{} pairs for {} folds; each fold needs at least 2 pairs", folds.samples(), folds.options().folds));
  }
  if (options.families.empty()) throw InvalidInput("the grid holds no covariance to try");
  for (Index rank : options.ranks) {
    if (rank < 1) throw InvalidInput(fmt::format("a rank of {} in the grid; give at least 1", rank));
  }
  if (options.criterion == Criterion::partner && options.pairs.X1 == nullptr) {
    throw InvalidInput("the criterion partner needs the pairs themselves (TuneOptions::pairs)");
  }
  if (options.pairs.X1 != nullptr) check_pairs(options.pairs, folds);
  const TransferLabels& labels = options.labels;
  if (options.criterion == Criterion::classification && labels.samples == nullptr) {
    throw InvalidInput("classification needs labels: of samples of domain 1, and of the pairs");
  }
  if (labels.samples == nullptr) return;
  const auto check_labelled = [&](const char* what, const Matrix* X, const std::vector<int>& of, Domain domain,
                                  Index expected) {
    if (X == nullptr || X->cols() != static_cast<Index>(of.size()) || X->rows() != folds.dimension(domain) ||
        (expected > 0 && X->cols() != expected)) {
      throw InvalidInput(fmt::format("{}: {} samples of {} features with {} labels; {} features{} are needed", what,
                                     X == nullptr ? 0 : X->cols(), X == nullptr ? 0 : X->rows(), of.size(),
                                     folds.dimension(domain),
                                     expected > 0 ? fmt::format(" and {} of both", expected) : ""));
    }
  };
  check_labelled("labelled samples of domain 1", labels.samples, labels.sample_labels, Domain::one, 0);
  check_labelled("domain 2 of the pairs", labels.queries, labels.query_labels, Domain::two, folds.samples());
}

// Means over the folds, and sd / √folds.
std::array<Score, kCriteria.size()> summarize(const std::vector<Errors>& errors, Index folds) {
  std::array<Score, kCriteria.size()> scores;
  const double count = static_cast<double>(errors.size());
  for (std::size_t c = 0; c < scores.size(); ++c) {
    double sum = 0, squares = 0;
    for (const Errors& error : errors) sum += error[c];
    const double mean = sum / count;
    for (const Errors& error : errors) squares += (error[c] - mean) * (error[c] - mean);
    scores[c] = {mean, std::sqrt(squares / (count - 1) / static_cast<double>(folds))};
  }
  return scores;
}

bool simpler(const Candidate& a, const Candidate& b) {
  const auto unlimited = [](Index rank) { return rank == 0 ? std::numeric_limits<Index>::max() : rank; };
  const auto strength = [](const Ridge& ridge) { return ridge.automatic ? -1.0 : ridge.value; };
  return std::tuple(unlimited(a.rank), unlimited(a.max_rank), -strength(a.ridge)) <
         std::tuple(unlimited(b.rank), unlimited(b.max_rank), -strength(b.ridge));
}

// An error that is not known is the largest.
double error_of(const Trial& trial, Criterion criterion) {
  const double mean = trial[criterion].mean;
  return std::isnan(mean) ? std::numeric_limits<double>::infinity() : mean;
}

// Of `trials` the one of the least error; of equals the simplest.
std::size_t least(const TuneResult& result, const std::vector<std::size_t>& trials, Criterion criterion) {
  return *std::min_element(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
    const double first = error_of(result.trials[a], criterion), second = error_of(result.trials[b], criterion);
    return first != second ? first < second : simpler(result.trials[a].candidate, result.trials[b].candidate);
  });
}

std::vector<std::size_t> within_one_standard_error(const TuneResult& result, std::vector<std::size_t> trials,
                                                   Criterion criterion) {
  const Score& best = result.trials[least(result, trials, criterion)][criterion];
  std::erase_if(trials,
                [&](std::size_t t) { return error_of(result.trials[t], criterion) > best.mean + best.standard_error; });
  return trials;
}

// The simplest within one standard error of the best. The share of a few pairs that are classified wrong can hardly
// tell candidates apart; of those it leaves, the translation error, which is continuous, leaves those within *its*
// standard error.
void choose(TuneResult& result) {
  std::vector<std::size_t> trials(result.trials.size());
  std::iota(trials.begin(), trials.end(), std::size_t{0});
  result.best = least(result, trials, result.criterion);
  if (std::isnan(result.trials[result.best][result.criterion].mean)) {
    throw InvalidInput(
        fmt::format("the criterion {} is not known for anything in the grid: a correlation of every training set is 1. "
                    "Give ridges above 0, or smaller max_ranks",
                    name(result.criterion)));
  }
  trials = within_one_standard_error(result, trials, result.criterion);
  if (result.criterion == Criterion::classification) {
    trials = within_one_standard_error(result, trials, Criterion::translation);
  }
  result.chosen = *std::min_element(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
    return simpler(result.trials[a].candidate, result.trials[b].candidate);
  });
}

}  // namespace

const char* name(Family family) {
  switch (family) {
    case Family::identity:
      return "identity";
    case Family::correlation:
      return "correlation";
    case Family::data1:
      return "data1";
    case Family::data2:
      return "data2";
    case Family::likelihood1:
      return "likelihood1";
    case Family::likelihood2:
      return "likelihood2";
  }
  return "?";
}

bool has_rank(Family family) { return family != Family::likelihood1 && family != Family::likelihood2; }

const char* name(Criterion criterion) {
  switch (criterion) {
    case Criterion::distance:
      return "distance";
    case Criterion::translation:
      return "translation";
    case Criterion::translation_to2:
      return "translation-to-2";
    case Criterion::classification:
      return "classification";
    case Criterion::likelihood:
      return "likelihood";
    case Criterion::partner:
      return "partner";
  }
  return "?";
}

Covariance Candidate::covariance() const {
  switch (family) {
    case Family::identity:
      return Covariance::identity(rank);
    case Family::correlation:
      return Covariance::correlation(rank);
    case Family::data1:
      return Covariance::data(Domain::one, rank);
    case Family::data2:
      return Covariance::data(Domain::two, rank);
    case Family::likelihood1:
      return Covariance::likelihood(Domain::one);
    case Family::likelihood2:
      break;
  }
  return Covariance::likelihood(Domain::two);
}

std::string Candidate::covariance_name() const {
  return has_rank(family) ? fmt::format("{}:{}", name(family), rank) : name(family);
}

Regularization Candidate::regularization() const { return {max_rank, ridge}; }

FitOptions Candidate::options(const DataOptions& data) const { return {data.rank_tol, max_rank, ridge, data.extra}; }

std::string Candidate::description() const {
  return fmt::format("{}, {}, ridge {}", covariance_name(),
                     max_rank == 0 ? "all ranks" : fmt::format("max rank {}", max_rank), name(ridge));
}

namespace {

// The candidates, with those that share a factorization of B together, and their errors so far.
struct Grid {
  std::vector<Candidate> candidates;
  std::size_t shared;  // how many share a factorization
  std::vector<std::vector<Errors>> errors;
  std::vector<char> feasible;  // not bool: threads write neighbours
};

Grid make_grid(const TuneOptions& options) {
  Grid grid;
  for (const Index max_rank : options.max_ranks) {
    for (const Ridge& ridge : options.ridges) {
      for (const Family family : options.families) {
        if (!has_rank(family)) {
          grid.candidates.push_back({family, 0, max_rank, ridge});
          continue;
        }
        for (const Index rank : options.ranks) grid.candidates.push_back({family, rank, max_rank, ridge});
      }
    }
  }
  grid.shared = grid.candidates.size() / (options.max_ranks.size() * options.ridges.size());
  grid.errors.resize(grid.candidates.size());
  grid.feasible.assign(grid.candidates.size(), 1);
  return grid;
}

// One training set and what it leaves out. What shares a factorization of B is one task: the factors are small here.
void score(Grid& grid, const Factors& reduced, const HeldOut& held, const TransferLabels& labels) {
  side_by_side(static_cast<Index>(grid.candidates.size() / grid.shared), [&](Index task) {
    const std::size_t first = static_cast<std::size_t>(task) * grid.shared;
    const Factors factors = regularize(reduced, grid.candidates[first].regularization());
    const linalg::ArraySvd svd = factors.B().on().thin_svd(factors.B());
    for (std::size_t t = first; t < first + grid.shared; ++t) {
      if (grid.feasible[t] == 0) continue;
      try {
        const Covariance C = grid.candidates[t].covariance();
        grid.errors[t].push_back(measure(assemble(solve(factors, svd, C, C), factors), held, labels));
      } catch (const Infeasible&) {
        grid.feasible[t] = 0;
      } catch (const Saturated&) {  // a likelihood without a ridge
        grid.feasible[t] = 0;
      }
    }
  });
}

TuneResult collect(const Grid& grid, const Folds& folds, const TuneOptions& options) {
  const FoldOptions& dealt = folds.options();
  TuneResult result;
  result.criterion = *options.criterion;
  result.samples = folds.samples();
  result.folds = dealt;
  for (std::size_t t = 0; t < grid.candidates.size(); ++t) {
    if (grid.feasible[t] != 0) {
      result.trials.push_back({grid.candidates[t], summarize(grid.errors[t], dealt.folds)});
    } else {
      result.infeasible.push_back(grid.candidates[t]);
    }
  }
  if (result.trials.empty()) {
    throw InvalidInput(
        fmt::format("nothing of the grid is feasible for training sets of {} pairs; the smallest rank tried is {}",
                    folds.samples() - (folds.samples() + dealt.folds - 1) / dealt.folds,
                    *std::min_element(options.ranks.begin(), options.ranks.end())));
  }
  return result;
}

}  // namespace

TuneResult tune(const Folds& folds, const TuneOptions& given) {
  if (folds.domains() != 2) {
    throw InvalidInput(fmt::format("tuning of {} domains; it chooses for pairs", folds.domains()));
  }
  const TuneOptions options = with_defaults(given, folds);
  check(options, folds);
  Grid grid = make_grid(options);
  const FoldOptions& dealt = folds.options();
  for (Index repeat = 0; repeat < dealt.repeats; ++repeat) {
    for (Index fold = 0; fold < dealt.folds; ++fold) {
      const Factors training = factorize(folds.training(repeat, fold), options.data, {true, true});
      const Directions directions = directions_of(training);
      HeldOut held = hold_out(folds.held_out(repeat, fold), directions);
      if (options.labels.samples != nullptr) add_labels(held, options.labels, directions, folds, repeat, fold);
      if (options.pairs.X1 != nullptr) add_pairs(held, options.pairs, directions, folds, repeat, fold);
      score(grid, reduce(training), held, options.labels);
      if (options.progress) {
        options.progress(static_cast<double>(repeat * dealt.folds + fold + 1) /
                         static_cast<double>(dealt.repeats * dealt.folds));
      }
    }
  }
  TuneResult result = collect(grid, folds, options);
  choose(result);
  return result;
}

Model fit(const Summary& summary, const Candidate& candidate, const DataOptions& data) {
  const Covariance C = candidate.covariance();
  return fit(summary, C, C, candidate.options(data));
}

}  // namespace cgmca
