// The best point that local ascents from several starts find. `prove` says how good it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

#include "core/multi/ascent.hpp"
#include "core/multi/problem.hpp"

namespace cgmca::multi {

struct Progress {
  std::string stage;  // the start's kind, or "proof"
  Index start;        // its number; of a proof, how many there were before it
  Index sweep;        // sweeps of this ascent so far, or iterations of this proof
  double f;           // never falls within one ascent
};

struct SolverOptions {
  std::uint64_t seed = 0;
  Index random_starts = 3;                                       // besides the spectral start and the tree
  Index max_sweeps = 5000;                                       // of one ascent
  double max_seconds = std::numeric_limits<double>::infinity();  // no start but the first begins later
  bool reflections = true;                                  // search the sign and order patterns around the best point
  Index max_trials = 200;                                   // ascents of that search
  std::function<void(const Progress&)> progress = nullptr;  // one call at a time, from any thread
};

struct StartResult {
  std::string kind;  // spectral, tree, random, reflection, relaxation
  double f;
  Index sweeps;
  bool converged;
  double f_below_best;      // (f_best - f) / |f_best|
  double distance_to_best;  // see distance(): the same answer where it is below about 1e-6
};

struct MatchingSolution {
  Point D;
  double f;
  std::vector<StartResult> starts;
  Index sweeps;        // of all ascents together
  Index trials;        // ascents of the reflection search
  bool stopped_early;  // a limit on sweeps, seconds or trials was reached; starts that it left out are not listed
};

// All of it: starts, ascents, and the reflection search if asked for. The result depends on the seed, not on the number
// of threads (a limit in seconds excepted).
MatchingSolution maximize(const MatchingProblem& problem, const SolverOptions& options = {});

// The same in steps, for a caller that knows when the point is good enough. The limit in seconds counts from the
// constructor. The problem must outlive it.
class Solver {
 public:
  Solver(const MatchingProblem& problem, SolverOptions options);

  void ascend_from_starts();
  // True where they found a better point.
  bool ascend_from(const std::string& kind, Point start);
  bool search_reflections();

  const Point& best() const { return reached_[best_].ascent.D; }
  double f() const { return reached_[best_].ascent.f; }
  Index ascents() const { return std::ssize(reached_); }
  MatchingSolution solution() const;

 private:
  struct Reached {
    std::string kind;
    Ascent ascent;
  };
  AscentOptions reporting(const std::string& kind, Index number) const;
  bool add(Reached reached);
  bool late() const { return std::chrono::steady_clock::now() >= ascent_.deadline; }

  const MatchingProblem& problem_;
  SolverOptions options_;
  AscentOptions ascent_;
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();  // one call of progress at a time
  std::vector<Reached> reached_;
  std::size_t best_ = 0;
  Index trials_ = 0, trial_sweeps_ = 0;
  bool starts_cut_ = false, search_cut_ = false;
};

}  // namespace cgmca::multi
