#include "core/select/tune_grid.hpp"

#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>

#include "core/fit/assemble.hpp"
#include "core/fit/multi.hpp"
#include "core/fit/solve.hpp"
#include "core/select/tune_multi.hpp"

namespace cgmca {
namespace {

std::vector<Index> series_up_to(Index limit) {  // 1, 2, 5, 10, 20, 50, …, limit
  std::vector<Index> values;
  for (Index decade = 1; decade <= limit; decade *= 10) {
    for (Index step : {1, 2, 5}) {
      if (step * decade < limit) values.push_back(step * decade);
    }
  }
  values.push_back(limit);
  return values;
}

// Whether `likelihood` covariances are tried: for criteria about nearest neighbours. Classes may need fewer directions.
std::vector<Family> families_for(Criterion criterion, Index domains) {
  switch (criterion) {
    case Criterion::classification:
      if (domains > 2) return {Family::identity, Family::correlation};
      return {Family::likelihood2, Family::identity, Family::correlation, Family::data1, Family::data2};
    case Criterion::likelihood:
    case Criterion::partner:
      return {Family::likelihood2};
    default:
      return {Family::identity};
  }
}

bool same_features(const Folds& folds) {
  return folds.domains() == 2 && folds.dimension(Domain::one) == folds.dimension(Domain::two);
}

// f behind a lock, because candidates are measured in parallel.
std::function<Matrix(const Matrix&)> by_one_thread(std::function<Matrix(const Matrix&)> f) {
  const auto door = std::make_shared<std::mutex>();
  return [door, f = std::move(f)](const Matrix& X) {
    const std::lock_guard<std::mutex> alone(*door);
    Matrix found = f(X);
    if (found.cols() == X.cols()) return found;
    throw InvalidInput(fmt::format("downstream gives {}×{} numbers for {} samples; it must give one column for each",
                                   found.rows(), found.cols(), X.cols()));
  };
}

TuneOptions with_defaults(TuneOptions options, const Folds& folds, Index most) {
  if (options.ranks.empty()) options.ranks = series_up_to(most);
  if (options.max_ranks.empty()) {
    for (Index rank : series_up_to(most)) {
      if (rank >= 5 && rank < most) options.max_ranks.push_back(rank);
    }
    options.max_ranks.push_back(0);
  }
  if (options.ridges.empty()) {
    options.ridges = {
        0.0, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100., 1e3, 1e9, Ridge::from_data()};
  }
  if (!options.criterion) {
    const bool labels = options.labels.samples != nullptr || !options.matched.samples.empty();
    options.criterion = labels ? Criterion::classification : Criterion::translation;
  }
  if (options.families.empty()) options.families = families_for(*options.criterion, folds.domains());
  if (options.towards.empty()) {
    options.towards = {Towards::zero};
    const bool translates = options.criterion == Criterion::translation ||
                            options.criterion == Criterion::translation_to2 ||
                            options.criterion == Criterion::downstream;
    if (translates && same_features(folds) && !options.data.scale) options.towards.push_back(Towards::identity);
  }
  if (options.downstream) options.downstream = by_one_thread(std::move(options.downstream));
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
  if (pairs.more1 != nullptr && pairs.more1->rows() != folds.dimension(Domain::one)) {
    throw InvalidInput(fmt::format("more samples of domain 1: {} features; the pairs have {}", pairs.more1->rows(),
                                   folds.dimension(Domain::one)));
  }
}

void check_matched(const MatchedLabels& matched, const Folds& folds) {
  if (std::ssize(matched.samples) != folds.domains()) {
    throw InvalidInput(
        fmt::format("labelled samples of {} domains; the folds hold {}", matched.samples.size(), folds.domains()));
  }
  for (const Domain domain : all_domains(folds.domains())) {
    const Matrix& X = *matched.samples[domain];
    if (X.rows() == folds.dimension(domain) && X.cols() == folds.samples()) continue;
    throw InvalidInput(fmt::format("domain {} of the labelled samples: {} of {} features; the folds hold {} of {}",
                                   number(domain), X.cols(), X.rows(), folds.samples(), folds.dimension(domain)));
  }
  if (std::ssize(matched.labels) != folds.samples()) {
    throw InvalidInput(
        fmt::format("{} labels for {} matched samples; each needs one", matched.labels.size(), folds.samples()));
  }
}

// Refuses, by name, what exists for two domains only.
void check_many(const TuneOptions& options, const Folds& folds) {
  const auto refuse = [&](const std::string& what, const char* instead) {
    throw InvalidInput(
        fmt::format("{} compares the samples of two domains; there are {}. {}", what, folds.domains(), instead));
  };
  const Criterion criterion = *options.criterion;
  if (criterion != Criterion::distance && criterion != Criterion::translation &&
      criterion != Criterion::classification) {
    refuse(fmt::format("the criterion {}", name(criterion)), "Choose by translation, distance or classification");
  }
  for (const Family family : options.families) {
    if (!has_rank(family)) refuse(fmt::format("the covariance {}", name(family)), "Try identity or correlation");
  }
  if (options.labels.samples != nullptr || options.pairs.X1 != nullptr) {
    refuse("TransferLabels or PairSamples", "More domains have MatchedLabels");
  }
  if (options.downstream) refuse("downstream", "Choose by translation");
  if (!options.matched.samples.empty()) check_matched(options.matched, folds);
  if (criterion == Criterion::classification && options.matched.samples.empty()) {
    throw InvalidInput("classification needs labels of the matched samples (TuneOptions::matched)");
  }
}

void check(const TuneOptions& options, const Folds& folds) {
  for (const Towards towards : options.towards) {
    if (towards == Towards::zero) continue;
    if (options.data.scale) {
      throw InvalidInput("translations towards identity need features in their own units; leave out scale");
    }
    if (same_features(folds)) continue;
    throw InvalidInput("translations towards identity are for two domains of the same features; these are others");
  }
  for (Index rank : options.ranks) {
    if (rank < 1) throw InvalidInput(fmt::format("a rank of {} in the grid; give at least 1", rank));
  }
  if (folds.domains() > 2) return check_many(options, folds);
  if (!options.matched.samples.empty()) throw InvalidInput("MatchedLabels are of more than two domains, not of two");
  if ((options.criterion == Criterion::partner || options.downstream) && options.pairs.X1 == nullptr) {
    throw InvalidInput(fmt::format("the criterion {} needs the pairs themselves (TuneOptions::pairs)",
                                   options.downstream ? "downstream" : "partner"));
  }
  if (options.criterion == Criterion::downstream && !options.downstream) {
    throw InvalidInput("the criterion downstream needs what is done with domain 1 (TuneOptions::downstream)");
  }
  if (options.pairs.X1 != nullptr) check_pairs(options.pairs, folds);
  const TransferLabels& labels = options.labels;
  if (options.criterion == Criterion::classification && labels.samples == nullptr) {
    throw InvalidInput("classification needs labels: of samples of domain 1, and of the pairs");
  }
  if (labels.samples == nullptr) return;
  const auto check_labelled = [&](const char* what, const Matrix* X, const std::vector<int>& of, Domain domain,
                                  Index least) {
    if (X == nullptr || X->cols() != std::ssize(of) || X->rows() != folds.dimension(domain) || X->cols() < least) {
      throw InvalidInput(fmt::format("{}: {} samples of {} features with {} labels; {} features{} are needed", what,
                                     X == nullptr ? 0 : X->cols(), X == nullptr ? 0 : X->rows(), of.size(),
                                     folds.dimension(domain),
                                     least > 1 ? fmt::format(" and at least {} of both", least) : ""));
    }
  };
  check_labelled("labelled samples of domain 1", labels.samples, labels.sample_labels, Domain::one, 1);
  check_labelled("domain 2 of the pairs", labels.queries, labels.query_labels, Domain::two, folds.samples());
}

}  // namespace

void check_folds(const Folds& folds) {
  const Index n = folds.samples(), k = folds.options().folds;
  const char* noun = folds.domains() == 2 ? "pair" : "matched sample";
  if (n < k) throw TooFewSamples(fmt::format("{} {}s for {} folds; each fold needs at least 1", n, noun, k));
  if (n - (n + k - 1) / k >= 2) return;
  throw TooFewSamples(fmt::format("{} {}s for {} folds; without a fold at least 2 must be left", n, noun, k));
}

TuneOptions completed(TuneOptions options, const Folds& folds, Index most) {
  options = with_defaults(std::move(options), folds, most);
  check(options, folds);
  return options;
}

// A likelihood weights its directions itself, so it is tried with the largest max_rank only.
Grid make_grid(const TuneOptions& options, bool every) {
  const auto size = [](Index rank) { return rank == 0 ? std::numeric_limits<Index>::max() : rank; };
  const Index largest = *std::max_element(options.max_ranks.begin(), options.max_ranks.end(),
                                          [&](Index a, Index b) { return size(a) < size(b); });
  const Index most = *std::max_element(options.ranks.begin(), options.ranks.end());
  Grid grid;
  for (const Index max_rank : options.max_ranks) {
    for (const Ridge& ridge : options.ridges) {
      if (!every && max_rank != largest && ridge != Ridge(0)) continue;
      grid.groups.push_back(grid.candidates.size());
      for (const Family family : options.families) {
        if (!has_rank(family)) {
          if (max_rank == largest) grid.candidates.push_back({family, 0, max_rank, ridge});
          continue;
        }
        for (const Index rank : options.ranks) {
          for (const Towards towards : options.towards) {
            const bool whole = rank == most && max_rank == largest;
            const bool only = options.towards.size() == 1;
            if (towards == Towards::zero || whole || only) {
              grid.candidates.push_back({family, rank, max_rank, ridge, towards});
            }
          }
        }
      }
    }
  }
  grid.groups.push_back(grid.candidates.size());
  grid.errors.resize(grid.candidates.size());
  grid.feasible.assign(grid.candidates.size(), 1);
  return grid;
}

namespace {

// The fits of one group. Those of two domains share an SVD of B.
std::function<Model(const Covariance&)> fits_of(const WhitenedData& whitened, const Matrix& edge_weights) {
  if (whitened.count() > 2) {
    return [&](const Covariance& C) {
      const std::vector<Covariance> all(whitened.domains.size(), C);
      return assemble(multi::match_quickly(whitened, all, edge_weights), whitened);
    };
  }
  const auto svd = std::make_shared<const linalg::ArraySvd>(whitened.B().on().thin_svd(whitened.B()));
  return [&, svd](const Covariance& C) { return assemble(solve(whitened, *svd, C, C), whitened); };
}

}  // namespace

void score(Grid& grid, const WhitenedData& training, const HeldOut& held, const Matrix& edge_weights) {
  parallel_for(std::ssize(grid.groups) - 1, [&](Index task) {
    const std::size_t first = grid.groups[task];
    const std::size_t end = grid.groups[task + 1];
    if (first == end) return;
    const WhitenedData whitened = regularize(training, grid.candidates[first].regularization());
    const auto fitted = fits_of(whitened, edge_weights);
    std::vector<std::size_t> measured;
    std::vector<Matrix> used;
    for (std::size_t t = first; t < end; ++t) {
      if (grid.feasible[t] == 0) continue;
      const Candidate& candidate = grid.candidates[t];
      try {
        const Model model = fitted(candidate.covariance());
        grid.errors[t].push_back(whitened.count() > 2 ? measure_multi(model, held, edge_weights)
                                                      : measure(model, held, candidate.towards));
        if (held.downstream == nullptr) continue;
        measured.push_back(t);
        used.push_back(estimates(model, held, candidate.towards));
      } catch (const Infeasible&) {
        grid.feasible[t] = 0;
      } catch (const Saturated&) {  // a likelihood without a ridge
        grid.feasible[t] = 0;
      }
    }
    if (measured.empty()) return;
    const std::vector<double> errors = downstream_errors(held, used);
    for (std::size_t k = 0; k < measured.size(); ++k) {
      error_of(grid.errors[measured[k]].back(), Criterion::downstream) = errors[k];
    }
  });
}

}  // namespace cgmca
