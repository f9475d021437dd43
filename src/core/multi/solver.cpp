#include "core/multi/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/multi/ascent.hpp"
#include "core/multi/reflect.hpp"
#include "core/multi/starts.hpp"

namespace cgmca::multi {
namespace {

using Clock = std::chrono::steady_clock;

AscentOptions ascent_options(const SolverOptions& options) {
  if (options.random_starts < 0)
    throw InvalidInput(fmt::format("{} random starts; give 0 or more", options.random_starts));
  if (options.max_sweeps < 1)
    throw InvalidInput(fmt::format("a limit of {} sweeps; at least 1 is needed", options.max_sweeps));
  if (!(options.max_seconds > 0))
    throw InvalidInput(fmt::format("a limit of {} seconds; it must be above 0", options.max_seconds));
  AscentOptions result;
  result.max_sweeps = options.max_sweeps;
  constexpr double forever = 1e9;
  if (options.max_seconds < forever) {
    const std::chrono::duration<double> most(options.max_seconds);
    result.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
  }
  return result;
}

Point start_point(const MatchingProblem& problem, Index number, std::uint64_t seed) {
  if (number == 0) return spectral_start(problem);
  if (number == 1) return tree_start(problem);
  return random_start(problem, seed, static_cast<std::uint32_t>(number - 2));
}

const char* kind_of(Index number) { return number == 0 ? "spectral" : number == 1 ? "tree" : "random"; }

}  // namespace

Solver::Solver(const MatchingProblem& problem, SolverOptions options)
    : problem_(problem), options_(std::move(options)), ascent_(ascent_options(options_)) {}

AscentOptions Solver::reporting(const std::string& kind, Index number) const {
  AscentOptions result = ascent_;
  if (!options_.progress) return result;
  result.report = [call = options_.progress, mutex = mutex_, kind, number](Index sweep, double f) {
    const std::lock_guard lock(*mutex);
    call({kind, number, sweep, f});
  };
  return result;
}

// Among values that are equal to rounding the first stays the best.
bool Solver::add(Reached reached) {
  reached_.push_back(std::move(reached));
  const double new_f = reached_.back().ascent.f;
  if (reached_.size() == 1 || !(new_f > f() + thresholds::kBetterStart * std::abs(f()))) return false;
  best_ = reached_.size() - 1;
  return true;
}

void Solver::ascend_from_starts() {
  const Index count = problem_.domains() == 2 ? 2 : 2 + options_.random_starts;  // two domains: the tree is exact
  std::vector<std::optional<Ascent>> ascents(count);
  parallel_for(count, [&](Index s) {
    if (s > 0 && problem_.domains() > 2 && late()) return;
    ascents[s] = ascend(problem_, start_point(problem_, s, options_.seed), reporting(kind_of(s), s));
  });
  for (Index s = 0; s < count; ++s) {
    if (auto& ascent = ascents[s]) {
      add({kind_of(s), std::move(*ascent)});
    } else {
      starts_cut_ = true;
    }
  }
}

bool Solver::ascend_from(const std::string& kind, Point start) {
  if (late()) {
    starts_cut_ = true;
    return false;
  }
  const SerialBlas serial;  // as in parallel_for, so that the number of threads does not matter
  return add({kind, ascend(problem_, std::move(start), reporting(kind, ascents()))});
}

bool Solver::search_reflections() {
  const SerialBlas serial;
  const ReflectionSearch search = multi::search_reflections(
      problem_, reached_[best_].ascent, reporting("reflection", ascents()), options_.max_trials - trials_);
  trials_ += search.trials;
  trial_sweeps_ += search.sweeps;
  search_cut_ = !search.complete;
  return search.best.f > f() && add({"reflection", search.best});
}

MatchingSolution Solver::solution() const {
  MatchingSolution solution{best(), f(), {}, trial_sweeps_, trials_, starts_cut_ || search_cut_};
  for (const auto& [name, ascent] : reached_) {
    const double below = std::max(0.0, f() - ascent.f) / std::max(std::abs(f()), 1e-300);
    solution.starts.push_back(
        {name, ascent.f, ascent.sweeps, ascent.converged, below, distance(problem_, ascent.D, best())});
    if (name != "reflection") solution.sweeps += ascent.sweeps;  // the search has counted its own
    solution.stopped_early |= !ascent.converged;
  }
  return solution;
}

MatchingSolution maximize(const MatchingProblem& problem, const SolverOptions& options) {
  Solver solver(problem, options);
  solver.ascend_from_starts();
  if (options.reflections && problem.domains() > 2) solver.search_reflections();
  return solver.solution();
}

}  // namespace cgmca::multi
