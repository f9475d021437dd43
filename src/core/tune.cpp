#include <cgmca/classify.hpp>
#include <cgmca/error.hpp>
#include <cgmca/invert.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/random.hpp>
#include <cgmca/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "factor.hpp"
#include "linalg/linalg.hpp"
#include "solve.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;

// The order in which the folds receive the pairs of the g-th group.
std::vector<std::uint32_t> deal(const FoldOptions& options, Index repeat, Index group) {
  const std::uint64_t seed = options.seed + 0x9E3779B97F4A7C15U * static_cast<std::uint64_t>(repeat);
  return random_numbers::permutation({seed, random_numbers::Purpose::folds, static_cast<std::uint32_t>(group)},
                                     static_cast<std::uint32_t>(options.folds));
}

// A training set in the coordinates of its own principal directions: y_i = U_iᵀ (x_i - mean_i), r_i of them instead of
// d_i. Maps, distances and translation errors are the same there, for every truncation and ridge.
Factors reduce(Factors factors) {
  for (DomainFactor& factor : factors.domains) {
    factor.variance = factor.s.cwiseAbs2();
    factor.mean = Vector::Zero(factor.rank());
    factor.U = Matrix::Identity(factor.rank(), factor.rank());
  }
  factors.data.reset();
  return factors;
}

// Held-out pairs in those coordinates: for every linear f, Σ_j ‖f(y_1j, y_2j)‖² = ‖f(H_1, H_2)‖_F².
struct HeldOut {
  double samples = 0;
  std::array<Matrix, 2> H;          // r_i×m
  std::array<double, 2> outside{};  // Σ_j of the squared distance from the training set's directions
  std::array<double, 2> total{};    // Σ_j ‖x_ij - mean_i‖²
  Matrix labelled, queries;         // of TransferLabels
  std::vector<int> query_labels;
};

HeldOut hold_out(const PairSummary& part, const Factors& factors) {
  const PairSummary::Moments moments = part.factored_moments();
  const double n = static_cast<double>(part.samples());
  HeldOut held;
  held.samples = n;
  const Index m = std::max(moments.S1.cols(), moments.S2.cols());
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    const Matrix& S = domain == Domain::one ? moments.S1 : moments.S2;
    const DomainFactor& factor = factors[domain];
    const Vector step = part.mean(domain) - factor.mean;
    held.H[i] = Matrix::Zero(factor.rank(), m + 1);
    held.H[i].leftCols(S.cols()) = std::sqrt(n - 1) * AtB(factor.U, S);
    held.H[i].col(m) = std::sqrt(n) * AtB(factor.U, step);
    held.total[i] = (n - 1) * S.squaredNorm() + n * step.squaredNorm();
    held.outside[i] = std::max(0.0, held.total[i] - held.H[i].squaredNorm());
  }
  return held;
}

void add_labels(HeldOut& held, const TransferLabels& labels, const Factors& factors, const PairFolds& folds,
                Index repeat, Index fold) {
  const auto coordinates = [&](Domain domain, const Matrix& X) {
    return AtB(factors[domain].U, X.colwise() - factors[domain].mean);
  };
  std::vector<Index> mine;
  for (Index j = 0; j < folds.samples(); ++j) {
    if (folds.fold_of(repeat, j) != fold) continue;
    mine.push_back(j);
    held.query_labels.push_back(labels.query_labels[static_cast<std::size_t>(j)]);
  }
  held.labelled = coordinates(Domain::one, *labels.samples);
  held.queries = coordinates(Domain::two, (*labels.queries)(Eigen::all, mine));
}

using Errors = std::array<double, kCriteria.size()>;

Errors measure(const Model& model, const HeldOut& held, const TransferLabels& labels) {
  const DomainMap& one = model.domain(Domain::one);
  const DomainMap& two = model.domain(Domain::two);
  const auto translation_error = [&](Domain to) {
    const auto i = slot(to);
    const Translation lmmse = translation(model, other(to), to);
    const Matrix missed = held.H[i] - AB(lmmse.left, AB(lmmse.right, held.H[1 - i]));
    return (held.outside[i] + missed.squaredNorm()) / held.total[i];
  };
  const double spread = one.mixing.squaredNorm() + two.mixing.squaredNorm();
  Errors errors{};
  errors[0] = (linalg::ABC(one.mixing, one.weights, held.H[0]) - linalg::ABC(two.mixing, two.weights, held.H[1]))
                  .squaredNorm() /
              held.samples / spread;
  errors[1] = translation_error(Domain::one);
  errors[2] = translation_error(Domain::two);
  errors[3] = std::numeric_limits<double>::quiet_NaN();
  if (labels.samples != nullptr) {
    const std::vector<int> found =
        nearest_neighbour(linalg::ABC(one.mixing, one.weights, held.labelled), labels.sample_labels,
                          linalg::ABC(two.mixing, two.weights, held.queries));
    errors[3] = 1 - accuracy(found, held.query_labels);
  }
  return errors;
}

std::vector<Index> series_up_to(Index limit) {  // 1, 2, 5, 10, 20, 50, …
  std::vector<Index> values;
  for (Index decade = 1; decade <= limit; decade *= 10) {
    for (Index step : {1, 2, 5}) {
      if (step * decade <= limit) values.push_back(step * decade);
    }
  }
  return values;
}

TuneOptions with_defaults(TuneOptions options, const PairFolds& folds) {
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

void check(const TuneOptions& options, const PairFolds& folds) {
  if (folds.samples() < 2 * folds.options().folds) {
    throw TooFewSamples(
        fmt::format("{} pairs for {} folds; each fold needs at least 2 pairs", folds.samples(), folds.options().folds));
  }
  if (options.families.empty()) throw InvalidInput("the grid holds no covariance to try");
  for (Index rank : options.ranks) {
    if (rank < 1) throw InvalidInput(fmt::format("a rank of {} in the grid; give at least 1", rank));
  }
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
std::array<Score, 4> summarize(const std::vector<Errors>& errors, Index folds) {
  std::array<Score, 4> scores;
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
  return std::tuple(a.rank, unlimited(a.max_rank), -strength(a.ridge)) <
         std::tuple(b.rank, unlimited(b.max_rank), -strength(b.ridge));
}

// Of `trials` the one of the least error; of equals the simplest.
std::size_t least(const TuneResult& result, const std::vector<std::size_t>& trials, Criterion criterion) {
  return *std::min_element(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
    const double first = result.trials[a][criterion].mean, second = result.trials[b][criterion].mean;
    return first != second ? first < second : simpler(result.trials[a].candidate, result.trials[b].candidate);
  });
}

std::vector<std::size_t> within_one_standard_error(const TuneResult& result, std::vector<std::size_t> trials,
                                                   Criterion criterion) {
  const Score& best = result.trials[least(result, trials, criterion)][criterion];
  std::erase_if(trials,
                [&](std::size_t t) { return result.trials[t][criterion].mean > best.mean + best.standard_error; });
  return trials;
}

// The simplest within one standard error of the best. The share of a few pairs that are classified wrong can hardly
// tell candidates apart; of those it leaves, the translation error, which is continuous, leaves those within *its*
// standard error.
void choose(TuneResult& result) {
  std::vector<std::size_t> trials(result.trials.size());
  std::iota(trials.begin(), trials.end(), std::size_t{0});
  result.best = least(result, trials, result.criterion);
  trials = within_one_standard_error(result, trials, result.criterion);
  if (result.criterion == Criterion::classification) {
    trials = within_one_standard_error(result, trials, Criterion::translation);
  }
  result.chosen = *std::min_element(trials.begin(), trials.end(), [&](std::size_t a, std::size_t b) {
    return simpler(result.trials[a].candidate, result.trials[b].candidate);
  });
}

}  // namespace

PairFolds::PairFolds(Index d1, Index d2, const FoldOptions& options) : options_(options) {
  if (options.folds < 2) throw InvalidInput(fmt::format("{} folds; at least 2 are needed", options.folds));
  if (options.repeats < 1) throw InvalidInput(fmt::format("{} repeats; at least 1 is needed", options.repeats));
  const std::vector<PairSummary> empty(static_cast<std::size_t>(options.folds),
                                       PairSummary(d1, d2, options.accumulate));
  parts_.assign(static_cast<std::size_t>(options.repeats), empty);
}

void PairFolds::add(const MatrixView& X1, const MatrixView& X2) {
  // Each fold's own check would name its own rows: check here, and add nothing where that fails.
  parts_[0][0].check(X1, X2, samples_);
  for (Index repeat = 0; repeat < options_.repeats; ++repeat) {
    std::vector<std::vector<Index>> columns(static_cast<std::size_t>(options_.folds));
    for (Index j = 0; j < X1.cols(); ++j) {
      columns[static_cast<std::size_t>(fold_of(repeat, samples_ + j))].push_back(j);
    }
    for (std::size_t fold = 0; fold < columns.size(); ++fold) {
      if (columns[fold].empty()) continue;
      parts_[static_cast<std::size_t>(repeat)][fold].add(X1(Eigen::all, columns[fold]), X2(Eigen::all, columns[fold]));
    }
  }
  samples_ += X1.cols();
}

Index PairFolds::fold_of(Index repeat, Index sample) const {
  return deal(options_, repeat, sample / options_.folds)[static_cast<std::size_t>(sample % options_.folds)];
}

const PairSummary& PairFolds::held_out(Index repeat, Index fold) const {
  return parts_.at(static_cast<std::size_t>(repeat)).at(static_cast<std::size_t>(fold));
}

PairSummary PairFolds::training(Index repeat, Index fold) const {
  PairSummary merged(dimension(Domain::one), dimension(Domain::two), options_.accumulate);
  for (Index part = 0; part < options_.folds; ++part) {
    if (part != fold) merged.merge(held_out(repeat, part));
  }
  return merged;
}

PairSummary PairFolds::all() const { return training(0, -1); }

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
  }
  return "?";
}

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
      break;
  }
  return Covariance::data(Domain::two, rank);
}

FitOptions Candidate::options(FitOptions base) const {
  base.max_rank = {max_rank, max_rank};
  base.ridge = {ridge, ridge};
  return base;
}

std::string Candidate::description() const {
  return fmt::format("{}:{}, {}, ridge {}", name(family), rank,
                     max_rank == 0 ? "all ranks" : fmt::format("max rank {}", max_rank), name(ridge));
}

TuneResult tune(const PairFolds& folds, const TuneOptions& given) {
  const TuneOptions options = with_defaults(given, folds);
  check(options, folds);
  // The grid, with everything that shares a factorization of B together.
  std::vector<Candidate> grid;
  for (Index max_rank : options.max_ranks) {
    for (const Ridge& ridge : options.ridges) {
      for (Family family : options.families) {
        for (Index rank : options.ranks) grid.push_back({family, rank, max_rank, ridge});
      }
    }
  }
  std::vector<std::vector<Errors>> errors(grid.size());
  std::vector<char> feasible(grid.size(), 1);  // not bool: threads write neighbours
  const std::size_t shared = options.families.size() * options.ranks.size();
  const FoldOptions& dealt = folds.options();
  for (Index repeat = 0; repeat < dealt.repeats; ++repeat) {
    for (Index fold = 0; fold < dealt.folds; ++fold) {
      const Factors training = factorize(folds.training(repeat, fold), options.base);
      HeldOut held = hold_out(folds.held_out(repeat, fold), training);
      if (options.labels.samples != nullptr) add_labels(held, options.labels, training, folds, repeat, fold);
      const Factors reduced = reduce(training);
      // What shares a factorization of B is one task: the factors are small here.
      side_by_side(static_cast<Index>(grid.size() / shared), [&](Index task) {
        const std::size_t first = static_cast<std::size_t>(task) * shared;
        Factors factors = reduced;
        regularize(factors, grid[first].options());
        const linalg::Svd svd = linalg::thin_svd(factors.B);
        for (std::size_t t = first; t < first + shared; ++t) {
          if (feasible[t] == 0) continue;
          try {
            const Covariance C = grid[t].covariance();
            errors[t].push_back(measure(solve(factors, svd, C, C).model, held, options.labels));
          } catch (const Infeasible&) {
            feasible[t] = 0;
          }
        }
      });
      if (options.progress) {
        options.progress(static_cast<double>(repeat * dealt.folds + fold + 1) /
                         static_cast<double>(dealt.repeats * dealt.folds));
      }
    }
  }
  TuneResult result;
  result.criterion = *options.criterion;
  result.samples = folds.samples();
  result.folds = dealt;
  for (std::size_t t = 0; t < grid.size(); ++t) {
    if (feasible[t] != 0) {
      result.trials.push_back({grid[t], summarize(errors[t], dealt.folds)});
    } else {
      result.infeasible.push_back(grid[t]);
    }
  }
  if (result.trials.empty()) {
    throw InvalidInput(
        fmt::format("nothing of the grid is feasible for training sets of {} pairs; the smallest rank tried is {}",
                    folds.samples() - (folds.samples() + dealt.folds - 1) / dealt.folds,
                    *std::min_element(options.ranks.begin(), options.ranks.end())));
  }
  choose(result);
  return result;
}

Model fit(const PairSummary& summary, const Candidate& candidate, const FitOptions& base) {
  const Covariance C = candidate.covariance();
  return fit(summary, C, C, candidate.options(base));
}

}  // namespace cgmca
