#include "core/multi/starts.hpp"

#include <algorithm>
#include <cgmca/random.hpp>
#include <utility>
#include <vector>

#include "core/linalg/linalg.hpp"

namespace cgmca::multi {
namespace {

constexpr random_numbers::Purpose kStarts{6};  // 4 and 5 are folds and pairing

Matrix normal_matrix(Index rows, Index columns, std::uint64_t seed, std::uint32_t item) {
  Matrix X(rows, columns);
  random_numbers::fill_normal(seed, kStarts, item, X.data(), X.size());
  return X;
}

// F̄: k×k
Matrix mean_factor(const MatchingProblem& problem) {
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(problem.summed_covariance());
  return eigen.Q * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
}

std::vector<Index> offsets(const MatchingProblem& problem) {
  std::vector<Index> first = {0};
  for (Index i = 0; i < problem.domains(); ++i) first.push_back(first.back() + problem.rank(i));
  return first;
}

// Q = [w_ij B_ij]: R×R with R = Σ r_i
Matrix all_blocks(const MatchingProblem& problem, const std::vector<Index>& first) {
  Matrix Q = Matrix::Zero(first.back(), first.back());
  for (Index i = 0; i < problem.domains(); ++i) {
    for (Index j = i + 1; j < problem.domains(); ++j) {
      if (!problem.edge(i, j)) continue;
      auto block = Q.block(first[i], first[j], problem.rank(i), problem.rank(j));
      block = problem.weight(i, j) * problem.B(i, j);
      Q.block(first[j], first[i], problem.rank(j), problem.rank(i)) = block.transpose();
    }
  }
  return Q;
}

// Q X without forming Q.   X: R×p
Matrix times_blocks(const MatchingProblem& problem, const std::vector<Index>& first, const Matrix& X) {
  Matrix Y = Matrix::Zero(X.rows(), X.cols());
  for (Index i = 0; i < problem.domains(); ++i) {
    for (Index j = i + 1; j < problem.domains(); ++j) {
      if (!problem.edge(i, j)) continue;
      const auto X_i = X.middleRows(first[i], problem.rank(i));
      const auto X_j = X.middleRows(first[j], problem.rank(j));
      Y.middleRows(first[i], problem.rank(i)) += problem.weight(i, j) * linalg::AB(problem.B(i, j), X_j);
      Y.middleRows(first[j], problem.rank(j)) += problem.weight(i, j) * linalg::AtB(problem.B(i, j), X_i);
    }
  }
  return Y;
}

// The leading `count` eigenvectors of Q.   R×count
Matrix leading_eigenvectors(const MatchingProblem& problem, Index count) {
  constexpr Index small = 1000, steps = 40;
  const std::vector<Index> first = offsets(problem);
  const Index size = first.back();
  if (size <= small) return linalg::symmetric_eigen(all_blocks(problem, first)).Q.leftCols(count);
  // Subspace iteration with room for negative eigenvalues of the same size, which a star has. A start need not be exact.
  Matrix X = linalg::thin_qr(normal_matrix(size, std::min(size, 2 * count + 10), 0, 0)).Q;
  for (Index step = 0; step < steps; ++step) X = linalg::thin_qr(times_blocks(problem, first, X)).Q;
  return linalg::AB(X, linalg::symmetric_eigen(linalg::AtB(X, times_blocks(problem, first, X))).Q.leftCols(count));
}

// Algorithm 1 for domains i < j: D_i = Ū_A Ū_Bᵀ, D_j = V̄_A V̄_Bᵀ with full SVDs of H_ij and B_ij.
void place_pair(const MatchingProblem& problem, Index i, Index j, Point& D) {
  const linalg::Svd A = linalg::full_svd(problem.H(i, j)), B = linalg::thin_svd(problem.B(i, j));
  const Index c_i = problem.covariance_rank(i), c_j = problem.covariance_rank(j), both = B.s.size();
  const Matrix U = linalg::complete_basis(B.U, std::max(c_i, both)),
               V = linalg::complete_basis(B.V, std::max(c_j, both));
  D[i] = linalg::ABt(A.U, U.leftCols(c_i));
  D[j] = linalg::ABt(A.V, V.leftCols(c_j));
}

std::pair<Index, Index> strongest_edge(const MatchingProblem& problem) {
  const Matrix bounds = problem.pairwise_bounds();
  std::pair<Index, Index> best = {-1, -1};
  for (Index i = 0; i < problem.domains(); ++i) {
    for (Index j = i + 1; j < problem.domains(); ++j) {
      if (problem.edge(i, j) && (best.first < 0 || bounds(i, j) > bounds(best.first, best.second))) best = {i, j};
    }
  }
  return best;
}

// The part of G_a from the domains placed so far; empty if none of them is a neighbour.
Matrix gradient_of_placed(const MatchingProblem& problem, Index a, const Point& D) {
  Matrix G;
  for (Index b = 0; b < problem.domains(); ++b) {
    if (D[b].size() == 0 || !problem.edge(a, b)) continue;
    if (G.size() == 0) G = Matrix::Zero(problem.covariance_rank(a), problem.rank(a));
    G += problem.pull(a, b, D[b]);
  }
  return G;
}

}  // namespace

Point spectral_start(const MatchingProblem& problem) {
  const std::vector<Index> first = offsets(problem);
  const Matrix F = mean_factor(problem);
  const Matrix E = leading_eigenvectors(problem, std::min(problem.common_dimension(), first.back()));
  Point D;
  for (Index i = 0; i < problem.domains(); ++i) {
    const Matrix E_i = E.middleRows(first[i], problem.rank(i));
    const Matrix FtF = linalg::AtB(problem.F(i), F.leftCols(E.cols()));
    D.push_back(linalg::polar(linalg::ABt(FtF, E_i)));
  }
  return D;
}

Point tree_start(const MatchingProblem& problem) {
  Point D(problem.domains());  // empty where a domain is not placed yet
  const auto [i, j] = strongest_edge(problem);
  place_pair(problem, i, j, D);
  for (Index placed = 2; placed < problem.domains(); ++placed) {
    double gain = -1;
    Index next = 0;
    Matrix step;
    for (Index a = 0; a < problem.domains(); ++a) {
      if (D[a].size() > 0) continue;
      const Matrix G = gradient_of_placed(problem, a, D);
      if (G.size() == 0) continue;
      const linalg::Svd svd = linalg::thin_svd(G);
      if (svd.s.sum() <= gain) continue;
      gain = svd.s.sum();
      next = a;
      step = linalg::ABt(svd.U, svd.V);
    }
    D[next] = step;
  }
  return D;
}

Point random_start(const MatchingProblem& problem, std::uint64_t seed, std::uint32_t number) {
  Point D;
  const auto m = static_cast<std::uint32_t>(problem.domains());
  for (Index i = 0; i < problem.domains(); ++i) {
    const std::uint32_t item = number * m + static_cast<std::uint32_t>(i);
    D.push_back(linalg::polar(normal_matrix(problem.covariance_rank(i), problem.rank(i), seed, item)));
  }
  return D;
}

}  // namespace cgmca::multi
