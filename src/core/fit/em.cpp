#include "core/fit/em.hpp"

#include <cgmca/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;

// The iteration ends with a step that changes no entry by more than this, in units of the features' sizes.
constexpr double kSettled = 1e-9;
constexpr Index kMostSteps = 2000;
// The number of earlier steps that Anderson's combination uses.
constexpr std::size_t kMemory = 5;

struct Point {
  Matrix covariance;
  Vector mean;
};

struct Step {
  Point next;
  double criterion;  // of the point it was made from
};

std::vector<Index> others(const std::vector<Index>& seen, Index p) {
  std::vector<Index> rest;
  auto next = seen.begin();
  for (Index f = 0; f < p; ++f) {
    if (next != seen.end() && *next == f) {
      ++next;
    } else {
      rest.push_back(f);
    }
  }
  return rest;
}

double log_determinant(const Matrix& R) { return 2 * R.diagonal().array().log().sum(); }

// tr(Θ⁻¹ S) with Θ = RᵀR
double trace_of_quotient(const Matrix& R, const Matrix& S) {
  const Matrix half = linalg::solve_upper_transposed(R, S);
  return linalg::solve_upper_transposed(R, half.transpose()).trace();
}

// One step from `at`. Returns nothing if a covariance is not positive definite.                             (78)-(80)
std::optional<Step> step_from(const EmProblem& problem, const Point& at) {
  const Index p = at.mean.size();
  const Matrix whole = linalg::cholesky(at.covariance);
  if (whole.size() == 0) return std::nullopt;
  const Matrix B = problem.penalty.asDiagonal();
  double criterion = trace_of_quotient(whole, B) - log_determinant(whole);
  Matrix sum = B;
  Vector total = Vector::Zero(p);
  std::vector<Vector> filled;
  for (const SeenMoments& pattern : problem.patterns) {
    const std::vector<Index>& o = pattern.seen;
    const std::vector<Index> q = others(o, p);
    const Matrix R = linalg::cholesky(at.covariance(o, o));
    if (R.size() == 0) return std::nullopt;
    const Vector apart = pattern.mean - at.mean(o);
    const double n = pattern.weight;
    criterion += n * log_determinant(R) + trace_of_quotient(R, pattern.products) +
                 n * linalg::solve_upper_transposed(R, apart).squaredNorm();
    Vector fill(p);
    fill(o) = pattern.mean;
    sum(o, o) += pattern.products;
    if (!q.empty()) {
      // The regression of missing features on the seen ones, Θ_qo Θ_oo⁻¹.
      const Matrix half = linalg::solve_upper_transposed(R, at.covariance(o, q));
      const Matrix regression = linalg::solve_upper(R, half).transpose();
      fill(q) = at.mean(q) + regression * apart;
      const Matrix cross = AB(regression, pattern.products);
      sum(q, o) += cross;
      sum(o, q) += cross.transpose();
      sum(q, q) += ABt(cross, regression) + n * (at.covariance(q, q) - linalg::AtB(half, half));
    }
    total += n * fill;
    filled.push_back(std::move(fill));
  }
  Step result{{{}, total / problem.weight}, criterion};
  for (std::size_t s = 0; s < filled.size(); ++s) {
    const Vector apart = filled[s] - result.next.mean;
    sum += problem.patterns[s].weight * apart * apart.transpose();
  }
  result.next.covariance = 0.5 / (problem.weight - 1) * (sum + sum.transpose());
  return result;
}

// Points as vectors in units of the features' sizes.
class Units {
 public:
  explicit Units(const Matrix& start) : size_(start.diagonal().cwiseMax(0).cwiseSqrt()) {}
  Vector pack(const Point& point) const {
    const Index p = size_.size();
    Vector result(p * (p + 1) / 2 + p);
    Index next = 0;
    for (Index j = 0; j < p; ++j) {
      result.segment(next, j + 1) = point.covariance.col(j).head(j + 1).cwiseQuotient(size_.head(j + 1)) / size_(j);
      next += j + 1;
    }
    result.tail(p) = point.mean.cwiseQuotient(size_);
    return result;
  }
  Point unpack(const Vector& values) const {
    const Index p = size_.size();
    Point result{Matrix(p, p), values.tail(p).cwiseProduct(size_)};
    Index next = 0;
    for (Index j = 0; j < p; ++j) {
      result.covariance.col(j).head(j + 1) = values.segment(next, j + 1).cwiseProduct(size_.head(j + 1)) * size_(j);
      next += j + 1;
    }
    result.covariance.triangularView<Eigen::StrictlyLower>() = result.covariance.transpose();
    return result;
  }

 private:
  Vector size_;
};

// Anderson's combination of the last points x and their changes f, all packed.
class Anderson {
 public:
  void add(Vector x, Vector f) {
    x_.push_back(std::move(x));
    f_.push_back(std::move(f));
    if (x_.size() > kMemory + 1) {
      x_.erase(x_.begin());
      f_.erase(f_.begin());
    }
  }
  void forget() {
    x_.clear();
    f_.clear();
  }
  std::optional<Vector> combined() const {
    const auto k = std::ssize(x_) - 1;
    if (k < 1) return std::nullopt;
    Matrix dF(f_.back().size(), k), dX(f_.back().size(), k);
    for (Index j = 0; j < k; ++j) {
      const auto at = static_cast<std::size_t>(j);
      dF.col(j) = f_[at + 1] - f_[at];
      dX.col(j) = x_[at + 1] - x_[at];
    }
    const Matrix G = linalg::AtB(dF, dF);
    const auto [values, Q] = linalg::symmetric_eigen(G);
    const Vector inverse = (values.array() > 1e-14 * values(0))
                               .select(values.array().max(std::numeric_limits<double>::min()).inverse(), 0);
    const Vector gamma = Q * (inverse.asDiagonal() * (Q.transpose() * (dF.transpose() * f_.back())));
    return x_.back() + f_.back() - (dX + dF) * gamma;
  }

 private:
  std::vector<Vector> x_, f_;
};

[[noreturn]] void refuse_singular() {
  throw InvalidInput(
      "the covariance of features that were seen together is singular, so missing ones cannot be estimated from them. "
      "Give a ridge (0.1 to 1 serve most data), or leave out features that others determine");
}

}  // namespace

EmResult expectation_maximization(const EmProblem& problem) {
  const Units units(problem.start);
  Point at{problem.start, problem.start_mean};
  auto step = step_from(problem, at);
  if (!step) refuse_singular();
  Anderson history;
  EmResult result;
  for (;;) {
    ++result.steps;
    const Vector x = units.pack(at), f = units.pack(step->next) - x;
    result.change = f.cwiseAbs().maxCoeff();
    if (result.change < kSettled || result.steps >= kMostSteps) break;
    history.add(x, f);
    // The combination is taken if it is positive definite and does not raise the criterion. Otherwise the plain step is
    // taken, which never raises it.
    std::optional<Step> faster;
    Point there;
    if (const auto combined = history.combined()) {
      there = units.unpack(*combined);
      faster = step_from(problem, there);
      if (faster && !(faster->criterion <= step->criterion)) faster.reset();
      if (!faster) history.forget();
    }
    if (faster) {
      at = std::move(there);
      step = std::move(faster);
      continue;
    }
    at = step->next;
    step = step_from(problem, at);
    if (!step) refuse_singular();
  }
  result.covariance = std::move(step->next.covariance);
  result.mean = std::move(step->next.mean);
  result.criterion = step->criterion;
  return result;
}

}  // namespace cgmca
