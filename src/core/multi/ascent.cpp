#include "core/multi/ascent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/multi/restricted.hpp"

namespace cgmca::multi {
namespace {

// One sweep in place. Returns f at its end. D_i need not have orthonormal rows before its step, because f is linear in
// D_i and the step replaces it.
double sweep(const MatchingProblem& problem, Point& D) {
  double half = 0;
  for (Index i = 0; i < problem.domains(); ++i) {
    Matrix& D_i = D[i];
    Matrix before = Matrix::Zero(D_i.rows(), D_i.cols()), after = before;  // G_i by domains already stepped, and others
    for (Index j = 0; j < problem.domains(); ++j) {
      if (problem.edge(i, j)) (j < i ? before : after) += problem.pull(i, j, D[j]);
    }
    const Matrix G = before + after;
    const double size = G.norm();
    D_i = linalg::polar(size > 0 ? Matrix(G + thresholds::kProximal * size * D_i) : D_i);
    half += before.cwiseProduct(D_i).sum();
  }
  return 2 * half;
}

double largest_step(const Point& D, const Point& E) {
  double step = 0;
  for (std::size_t i = 0; i < D.size(); ++i) step = std::max(step, (D[i] - E[i]).cwiseAbs().maxCoeff());
  return step;
}

class Climber {
 public:
  Climber(const MatchingProblem& problem, Point start, const AscentOptions& options)
      : problem_(problem), options_(options), D_(std::move(start)), before_(D_), f_(problem.value(D_)) {
    // A multiple of the identity has no directions to turn to.
    const linalg::SymmetricEigen mean = linalg::symmetric_eigen(problem.summed_covariance());
    if (mean.values(0) - mean.values(mean.values.size() - 1) > thresholds::kEqualInMatching * mean.values(0))
      axes_ = mean.Q;
  }

  Ascent climb() {
    constexpr Index every = 5;
    bool converged = false;
    Index sweeps = 0;
    while (!converged && sweeps < options_.max_sweeps && std::chrono::steady_clock::now() < options_.deadline) {
      ++sweeps;
      converged = step();
      if (!converged && sweeps % every == 0 && axes_.size() > 0) rotate();
      if (options_.report) options_.report(sweeps, f_);
    }
    return {std::move(D_), f_, sweeps, converged};
  }

 private:
  // One sweep, extrapolated if that does not lower f. Returns true when it gains nothing more.
  bool step() {
    if (momentum_ > 0) {
      const double beta = momentum_ / (momentum_ + 3);
      Point E = D_;
      for (std::size_t i = 0; i < E.size(); ++i) E[i] += beta * (D_[i] - before_[i]);
      const double f = sweep(problem_, E);
      if (f >= f_) return take(std::move(E), f);
    }
    momentum_ = 0;
    Point E = D_;
    const double f = sweep(problem_, E);
    if (f < f_) return true;  // a plain sweep lowers f by rounding only
    return take(std::move(E), f);
  }

  bool take(Point E, double f) {
    const bool small = f - f_ <= options_.f_tolerance * std::abs(f) && largest_step(D_, E) < options_.step_tolerance;
    before_ = std::exchange(D_, std::move(E));
    f_ = f;
    ++momentum_;
    return small;
  }

  // R turns the eigenvectors of the scores' covariance onto those of the mean C, in the same order. This is the best
  // common rotation where all C are equal. Signs are those nearest to no rotation.
  void rotate() {
    const Matrix E = linalg::symmetric_eigen(problem_.shared_covariance(D_)).Q;
    Matrix signed_axes = axes_;
    for (Index p = 0; p < E.cols(); ++p) {
      if (axes_.col(p).dot(E.col(p)) < 0) signed_axes.col(p) *= -1;
    }
    Point turned_D = turned(problem_, D_, linalg::ABt(signed_axes, E));
    const double f = problem_.value(turned_D);
    if (f <= f_ + thresholds::kEqualInMatching * std::abs(f_)) return;
    D_ = std::move(turned_D);
    before_ = D_;
    f_ = f;
    momentum_ = 0;
  }

  const MatchingProblem& problem_;
  const AscentOptions& options_;
  Point D_, before_;  // this iterate and the one before it
  double f_;
  double momentum_ = 0;  // sweeps since the last restart
  Matrix axes_;          // eigenvectors of the mean covariance; empty where it has none
};

// D, the point before it, and the points after each of several sweeps: the subspace that LOBPCG uses.
constexpr Index kSweepsOfWhole = 3, kPointsVisited = kSweepsOfWhole + 2;

// The same ascent for large ranks. It alternates a few sweeps of the whole problem with sweeps restricted to the subspace
// that these span, until they converge. It ends when a sweep of the whole problem gains nothing.
class SubspaceClimber {
 public:
  SubspaceClimber(const MatchingProblem& problem, Point start, const AscentOptions& options)
      : problem_(problem), options_(options), D_(std::move(start)), before_(D_), f_(problem.value(D_)) {}

  Ascent climb() {
    while (!converged_ && may_go_on()) {
      std::vector<Point> visited = {before_, D_};
      before_ = D_;
      for (Index s = 0; s < kSweepsOfWhole && !converged_ && may_go_on(); ++s) {
        step();
        visited.push_back(D_);
      }
      if (!converged_ && may_go_on()) climb_within(visited);
    }
    return {std::move(D_), f_, sweeps_, converged_};
  }

 private:
  bool may_go_on() const {
    return sweeps_ < options_.max_sweeps && std::chrono::steady_clock::now() < options_.deadline;
  }

  void step() {
    Point E = D_;
    const double f = sweep(problem_, E);
    ++sweeps_;
    converged_ =
        f < f_ || (f - f_ <= options_.f_tolerance * std::abs(f) && largest_step(D_, E) < options_.step_tolerance);
    if (f >= f_) take(std::move(E), f);
    report(sweeps_, f_);
  }

  void climb_within(const std::vector<Point>& visited) {
    constexpr Index enough = 300;  // what is outside of the subspace has changed by then
    const Restricted within(problem_, visited);
    AscentOptions options = options_;
    options.max_sweeps = std::min(enough, options_.max_sweeps - sweeps_);
    options.report = [this, done = sweeps_](Index sweeps, double f) { report(done + sweeps, f); };
    const Ascent ascent = Climber(within.problem(), within.down(D_), options).climb();
    sweeps_ += ascent.sweeps;
    Point E = within.up(ascent.D);
    const double f = problem_.value(E);
    if (f > f_) take(std::move(E), f);
  }

  void take(Point E, double f) {
    D_ = std::move(E);
    f_ = f;
  }

  // f of the restricted problem is rounded differently. The difference must not count as a fall of f.
  void report(Index sweeps, double f) {
    shown_ = std::max(shown_, f);
    if (options_.report) options_.report(sweeps, shown_);
  }

  const MatchingProblem& problem_;
  const AscentOptions& options_;
  Point D_, before_;
  double f_, shown_ = -std::numeric_limits<double>::infinity();
  Index sweeps_ = 0;
  bool converged_ = false;
};

// Extrapolates by Nesterov's weights, which start again after a step that turns back.
Point settled_by_sweeps(const MatchingProblem& problem, Point D, Index max_sweeps) {
  Point before = D;
  double momentum = 0;
  for (Index sweeps = 0; sweeps < max_sweeps; ++sweeps) {
    Point E = D;
    for (std::size_t i = 0; i < E.size(); ++i) E[i] += momentum / (momentum + 3) * (D[i] - before[i]);
    sweep(problem, E);
    double along = 0;
    for (std::size_t i = 0; i < E.size(); ++i) along += (E[i] - D[i]).cwiseProduct(D[i] - before[i]).sum();
    momentum = along < 0 ? 0 : momentum + 1;
    before = std::exchange(D, std::move(E));
    if (largest_step(D, before) < thresholds::kSettled) break;
  }
  return D;
}

}  // namespace

Ascent ascend(const MatchingProblem& problem, Point start, const AscentOptions& options) {
  if (worth_restricting(problem, kPointsVisited)) return SubspaceClimber(problem, std::move(start), options).climb();
  return Climber(problem, std::move(start), options).climb();
}

Point settled(const MatchingProblem& problem, Point D, Index max_sweeps) {
  if (!worth_restricting(problem, kPointsVisited)) return settled_by_sweeps(problem, std::move(D), max_sweeps);
  constexpr Index rounds = 100;
  Point before = D;
  for (Index round = 0; round < rounds; ++round) {
    std::vector<Point> visited = {std::exchange(before, D), D};
    for (Index s = 0; s < kSweepsOfWhole; ++s) {
      sweep(problem, D);
      if (largest_step(D, visited.back()) < thresholds::kSettled) return D;
      visited.push_back(D);
    }
    const Restricted within(problem, visited);
    D = within.up(settled_by_sweeps(within.problem(), within.down(D), max_sweeps));
  }
  return D;
}

Point turned(const MatchingProblem& problem, const Point& D, const MatrixView& R) {
  Point result;
  for (Index i = 0; i < problem.domains(); ++i) {
    const Matrix& J = problem.lift(i);
    const Matrix turn = linalg::ABC(J.transpose(), R, J);
    result.push_back(linalg::polar(linalg::AB(turn, D[i])));
  }
  return result;
}

}  // namespace cgmca::multi
