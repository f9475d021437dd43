#include "core/multi/proof.hpp"

#include <algorithm>
#include <cgmca/threads.hpp>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/multi/admm.hpp"
#include "core/multi/dual.hpp"

namespace cgmca::multi {
namespace {

using Clock = std::chrono::steady_clock;
using thresholds::kEpsilon;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Bound quick_test(Covariances kind) {
  switch (kind) {
    case Covariances::identity:
      return Bound::identity;
    case Covariances::commuting:
      return Bound::commuting;
    case Covariances::general:
      return Bound::dense;
  }
  return Bound::dense;
}

class Prover {
 public:
  Prover(const MatchingProblem& problem, const Point& D, const ProofOptions& options)
      : problem_(problem), D_(D), options_(options) {
    proof_.f = problem.value(D);
    proof_.bound = std::numeric_limits<double>::infinity();
  }

  // Keeps a bound if it is the lowest so far. A bound below f by rounding is f.
  void offer(double bound, Bound how) {
    if (!(bound < proof_.bound)) return;
    proof_.bound = std::max(bound, proof_.f);
    proof_.how = how;
    proof_.certified = proof_.bound - proof_.f <= std::max(options_.tolerance * std::abs(proof_.f), rounding());
  }

  void pairwise(Bound how) {
    const Matrix bounds = problem_.pairwise_bounds();
    double terms = 0;
    for (Index i = 0; i < problem_.domains(); ++i) terms += static_cast<double>(problem_.rank(i));
    offer(bounds.sum() * (1 + 4 * terms * kEpsilon), how);
  }

  void by_duality() {
    Structure structure = find_structure(problem_);
    const Index size = largest_size(problem_, structure);
    if (size > options_.max_size) return;
    proof_.size = size;
    const Bound how = quick_test(structure.kind);
    const Dual dual(problem_, std::move(structure));
    const TouchingPoints touching(dual, D_);
    const DualPoint start = touching.guess();
    offer(dual.bound(start), how);
    if (!proof_.certified) by_admm(dual, touching, start);
  }

  OptimalityProof finish() {
    const double rest = problem_.scale() - proof_.f, missing = proof_.bound - proof_.f;
    proof_.gap = missing <= rounding() ? 0 : missing / std::abs(proof_.f);
    proof_.gap_of_scale = missing / problem_.scale();
    proof_.gap_of_objective = rest > 0 ? missing / rest : std::numeric_limits<double>::infinity();
    return std::move(proof_);
  }

  bool certified() const { return proof_.certified; }

 private:
  // f may be 0 if domains have nothing in common.
  double rounding() const { return thresholds::kObjectiveRounding * problem_.scale(); }

  // Bounds from every tenth iterate, and from the point nearest to it that touches f. The latter proves optimality exactly,
  // while the iterates only come close.
  void by_admm(const Dual& dual, const TouchingPoints& touching, const DualPoint& start) {
    constexpr Index every = 10, patience = 250;
    constexpr double progress = 0.02;  // of the gap, in `patience` iterations
    const Clock::time_point began = Clock::now();
    const Index most = admm_iterations(dual);
    if (most < std::max(every, options_.min_iterations)) return;
    Admm admm(dual, start, D_, penalty());
    double gap_before = std::numeric_limits<double>::infinity();
    for (Index k = 1; k <= most && seconds_since(began) < options_.max_seconds; ++k) {
      admm.step();
      proof_.iterations = k;
      if (options_.report) options_.report(k, proof_.f);
      if (k % every != 0) continue;
      offer(dual.bound(touching.nearest(admm.point())), Bound::admm);
      if (!proof_.certified) offer(dual.bound(admm.point()), Bound::admm);
      if (proof_.certified) return;
      if (k % patience != 0) continue;
      const double gap = proof_.bound - proof_.f;
      if (gap > (1 - progress) * gap_before) break;
      gap_before = gap;
    }
    if (proof_.iterations > 0) proof_.relaxed = admm.relaxed();
  }

  Index admm_iterations(const Dual& dual) const {
    double work = 0;
    for (Index t = 0; t < dual.channels(); ++t) work += std::pow(static_cast<double>(dual.size(t)), 3);
    const double affordable = std::min(options_.max_work / work, static_cast<double>(options_.max_iterations));
    return static_cast<Index>(affordable);
  }

  // K is of the size of f per row of the D_i, and X of the size of 1.
  double penalty() const {
    double rows = 0;
    for (Index i = 0; i < problem_.domains(); ++i) rows += static_cast<double>(problem_.covariance_rank(i));
    return 6 * rows / std::max(std::abs(proof_.f), kEpsilon * problem_.scale());
  }

  const MatchingProblem& problem_;
  const Point& D_;
  const ProofOptions& options_;
  OptimalityProof proof_;
};

}  // namespace

const char* name(Bound bound) {
  switch (bound) {
    case Bound::closed_form:
      return "closed form";
    case Bound::identity:
      return "identity";
    case Bound::commuting:
      return "commuting";
    case Bound::dense:
      return "dense";
    case Bound::admm:
      return "ADMM";
    case Bound::pairwise:
      return "pairwise only";
  }
  return "?";
}

OptimalityProof prove(const MatchingProblem& problem, const Point& D, const ProofOptions& options) {
  problem.check_feasible(D);
  const Clock::time_point began = Clock::now();
  const SerialBlas serial;  // threads would change the rounding
  Prover prover(problem, D, options);
  if (problem.domains() == 2) {
    prover.pairwise(Bound::closed_form);
  } else {
    prover.by_duality();
    if (!prover.certified()) prover.pairwise(Bound::pairwise);
  }
  OptimalityProof proof = prover.finish();
  proof.seconds = seconds_since(began);
  return proof;
}

}  // namespace cgmca::multi
