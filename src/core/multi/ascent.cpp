#include "ascent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/linalg/linalg.hpp"
#include "core/thresholds.hpp"

namespace cgmca::multi {
namespace {

// One sweep in place; returns f of the point it ends at. Entry i needs no orthonormal rows before its turn, because f
// is linear in D_i and the step replaces it.
double sweep(const MatchingProblem& problem, Point& D) {
  double half = 0;
  for (Index i = 0; i < problem.domains(); ++i) {
    Matrix& D_i = D[static_cast<std::size_t>(i)];
    Matrix before = Matrix::Zero(D_i.rows(), D_i.cols()), after = before;  // G_i by domains already stepped, and others
    for (Index j = 0; j < problem.domains(); ++j) {
      if (problem.edge(i, j)) (j < i ? before : after) += problem.pull(i, j, D[static_cast<std::size_t>(j)]);
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
  // One sweep, extrapolated if that does not lower f. True when nothing more is gained.
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

}  // namespace

Ascent ascend(const MatchingProblem& problem, Point start, const AscentOptions& options) {
  return Climber(problem, std::move(start), options).climb();
}

// Extrapolated by Nesterov's weights, from the start again where a step turns back.
Point settled(const MatchingProblem& problem, Point D, Index max_sweeps) {
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

Point turned(const MatchingProblem& problem, const Point& D, const MatrixView& R) {
  Point result;
  for (Index i = 0; i < problem.domains(); ++i) {
    const Matrix& J = problem.lift(i);
    const Matrix turn = linalg::ABC(J.transpose(), R, J);
    result.push_back(linalg::polar(linalg::AB(turn, D[static_cast<std::size_t>(i)])));
  }
  return result;
}

}  // namespace cgmca::multi
