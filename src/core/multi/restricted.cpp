#include "core/multi/restricted.hpp"

#include <algorithm>

#include "core/linalg/linalg.hpp"

namespace cgmca::multi {
namespace {

std::vector<Matrix> spanned(const MatchingProblem& problem, const std::vector<Point>& visited) {
  std::vector<Matrix> Q;
  for (Index i = 0; i < problem.domains(); ++i) {
    const Index r = problem.rank(i), c = problem.covariance_rank(i);
    if (std::ssize(visited) * c >= r) {
      Q.push_back(Matrix::Identity(r, r));
      continue;
    }
    Matrix all(r, std::ssize(visited) * c);
    for (std::size_t v = 0; v < visited.size(); ++v) {
      all.middleCols(static_cast<Index>(v) * c, c) = visited[v][i].transpose();
    }
    Q.push_back(linalg::thin_qr(all).Q);
  }
  return Q;
}

MatchingProblem restricted(const MatchingProblem& whole, const std::vector<Matrix>& Q) {
  const std::size_t m = Q.size();
  std::vector<Matrix> F;
  std::vector<std::vector<Matrix>> B(m, std::vector<Matrix>(m));
  Matrix weights(m, m);
  for (Index i = 0; i < whole.domains(); ++i) {
    F.push_back(whole.F(i));
    for (Index j = 0; j < whole.domains(); ++j) {
      weights(i, j) = whole.weight(i, j);
      if (i < j && whole.edge(i, j)) B[i][j] = linalg::ABC(Q[i].transpose(), whole.B(i, j), Q[j]);
    }
  }
  return MatchingProblem(std::move(F), std::move(B), weights);
}

}  // namespace

Restricted::Restricted(const MatchingProblem& whole, const std::vector<Point>& visited)
    : Q_(spanned(whole, visited)), problem_(restricted(whole, Q_)) {}

Point Restricted::down(const Point& D) const {
  Point E;
  for (std::size_t i = 0; i < D.size(); ++i) E.push_back(linalg::AB(D[i], Q_[i]));
  return E;
}

Point Restricted::up(const Point& E) const {
  Point D;
  for (std::size_t i = 0; i < E.size(); ++i) D.push_back(linalg::ABt(E[i], Q_[i]));
  return D;
}

bool worth_restricting(const MatchingProblem& problem, Index points) {
  constexpr double small = 0.1, large = 1e5;  // part of the cost, entries of the B_ij: about 20 µs a sweep and less
  double whole = 0, part = 0;
  const auto size = [&](Index i) {
    return static_cast<double>(std::min(problem.rank(i), points * problem.covariance_rank(i)));
  };
  for (Index i = 0; i < problem.domains(); ++i) {
    for (Index j = i + 1; j < problem.domains(); ++j) {
      if (!problem.edge(i, j)) continue;
      whole += static_cast<double>(problem.rank(i)) * static_cast<double>(problem.rank(j));
      part += size(i) * size(j);
    }
  }
  return whole > large && part < small * whole;
}

}  // namespace cgmca::multi
