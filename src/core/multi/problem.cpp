#include "core/multi/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/model/graph.hpp"

namespace cgmca::multi {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw InvalidInput("matching problem: " + what);
}

}  // namespace

MatchingProblem::MatchingProblem(std::vector<Matrix> F, std::vector<std::vector<Matrix>> B, const MatrixView& weights)
    : F_(std::move(F)), B_(std::move(B)), weights_(checked_weights(weights, std::ssize(F_))) {
  check_shapes();
  H_.resize(F_.size());
  for (Index i = 0; i < domains(); ++i) {
    const linalg::Svd svd = linalg::thin_svd(this->F(i));
    const double smallest = svd.s(svd.s.size() - 1);
    require(smallest > std::numeric_limits<double>::epsilon() * static_cast<double>(common_dimension()) * svd.s(0),
            fmt::format("the covariance factor of domain {} has not full column rank", i + 1));
    lift_.push_back(linalg::ABt(svd.U, svd.V));
    for (Index j = 0; j < domains(); ++j) H_[i].push_back(linalg::AtB(this->F(i), this->F(j)));
  }
}

void MatchingProblem::check_shapes() {
  const Index m = domains(), k = common_dimension();
  require(std::ssize(B_) == m, fmt::format("{} rows of B for {} domains", B_.size(), m));
  ranks_.assign(F_.size(), 0);
  for (Index i = 0; i < m; ++i) {
    require(std::ssize(B_[i]) == m, fmt::format("row {} of B is not of {} domains", i + 1, m));
    require(F(i).rows() == k && F(i).cols() >= 1 && F(i).cols() <= k && F(i).allFinite(),
            fmt::format("the covariance factor of domain {} is {}×{}; it must be {}×c with 1 <= c <= {}, and finite",
                        i + 1, F(i).rows(), F(i).cols(), k, k));
  }
  for (Index i = 0; i < m; ++i) {
    for (Index j = i + 1; j < m; ++j) {
      if (!edge(i, j)) continue;
      for (const auto& [domain, size] : {std::pair(i, B(i, j).rows()), std::pair(j, B(i, j).cols())}) {
        if (ranks_[domain] == 0) ranks_[domain] = size;
        require(size == rank(domain), fmt::format("B({}, {}) is {}×{}, but domain {} has rank {}", i + 1, j + 1,
                                                  B(i, j).rows(), B(i, j).cols(), domain + 1, rank(domain)));
      }
      require(B(i, j).allFinite(), fmt::format("B({}, {}) has NaN or infinity", i + 1, j + 1));
    }
  }
  for (Index i = 0; i < m; ++i) {
    require(covariance_rank(i) <= rank(i), fmt::format("the covariance of domain {} has rank {}, its data rank {}",
                                                       i + 1, covariance_rank(i), rank(i)));
  }
}

Matrix MatchingProblem::DB(const Matrix& D_i, Index i, Index j) const {
  return i < j ? linalg::AB(D_i, B(i, j)) : linalg::ABt(D_i, B(j, i));
}

Matrix MatchingProblem::pull(Index i, Index j, const Matrix& D_j) const {
  return weight(i, j) * linalg::AB(H(i, j), DB(D_j, j, i));
}

Matrix MatchingProblem::gradient(Index i, const Point& D) const {
  Matrix G = Matrix::Zero(covariance_rank(i), rank(i));
  for (Index j = 0; j < domains(); ++j) {
    if (edge(i, j)) G += pull(i, j, D[j]);
  }
  return G;
}

double MatchingProblem::value(const Point& D) const {
  double half = 0;
  for (Index i = 0; i < domains(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (edge(i, j)) half += pull(i, j, D[j]).cwiseProduct(D[i]).sum();
    }
  }
  return 2 * half;
}

Matrix MatchingProblem::summed_covariance() const {
  Matrix C = Matrix::Zero(common_dimension(), common_dimension());
  for (Index i = 0; i < domains(); ++i) C += weights_.row(i).sum() * linalg::ABt(F(i), F(i));
  return C;
}

double MatchingProblem::scale() const { return summed_covariance().trace(); }

Matrix MatchingProblem::shared_covariance(const Point& D) const {
  const Index k = common_dimension();
  Matrix Z = Matrix::Zero(k, k);
  for (Index i = 0; i < domains(); ++i) {
    for (Index j = i + 1; j < domains(); ++j) {
      if (!edge(i, j)) continue;
      const Matrix R = linalg::ABt(DB(D[i], i, j), D[j]);
      Z += weight(i, j) * linalg::ABC(lift(i), R, lift(j).transpose());
    }
  }
  return Z + Z.transpose();
}

Matrix MatchingProblem::pairwise_bounds() const {
  std::vector<std::pair<Index, Index>> edges;
  for (Index i = 0; i < domains(); ++i) {
    for (Index j = i + 1; j < domains(); ++j) {
      if (edge(i, j)) edges.emplace_back(i, j);
    }
  }
  Matrix bounds = Matrix::Zero(domains(), domains());
  parallel_for(std::ssize(edges), [&](Index e) {
    const auto [i, j] = edges[e];
    const Vector h = linalg::singular_values(H(i, j)), b = linalg::singular_values(B(i, j));
    const Index both = std::min(h.size(), b.size());
    bounds(i, j) = 2 * weight(i, j) * h.head(both).dot(b.head(both));
  });
  return bounds;
}

void MatchingProblem::check_feasible(const Point& D) const {
  require(std::ssize(D) == domains(), fmt::format("a point of {} domains", D.size()));
  for (Index i = 0; i < domains(); ++i) {
    const Matrix& D_i = D[i];
    const Index c = covariance_rank(i);
    require(D_i.rows() == c && D_i.cols() == rank(i),
            fmt::format("D_{} is {}×{}, not {}×{}", i + 1, D_i.rows(), D_i.cols(), c, rank(i)));
    const double error = (linalg::ABt(D_i, D_i) - Matrix::Identity(c, c)).cwiseAbs().maxCoeff();
    require(error <= thresholds::kOrthonormal,
            fmt::format("the rows of D_{} are orthonormal to {:.1e} only", i + 1, error));
  }
}

double distance(const MatchingProblem& problem, const Point& D, const Point& E) {
  double apart = 0, size = 0;
  std::vector<Matrix> DEt;
  for (std::size_t i = 0; i < D.size(); ++i) DEt.push_back(linalg::ABt(D[i], E[i]));
  for (Index i = 0; i < problem.domains(); ++i) {
    for (Index j = i + 1; j < problem.domains(); ++j) {
      // ‖X - Y‖² = 2 ‖H‖² - 2 tr(XᵀY),   tr(XᵀY) = ⟨H (D_j E_jᵀ), (D_i E_iᵀ) H⟩
      const Matrix& H = problem.H(i, j);
      const Matrix right = linalg::AB(H, DEt[j]);
      const Matrix left = linalg::AB(DEt[i], H);
      apart += problem.weight(i, j) * (H.squaredNorm() - left.cwiseProduct(right).sum());
      size += problem.weight(i, j) * H.squaredNorm();
    }
  }
  return size > 0 ? std::sqrt(std::max(0.0, apart / size)) : 0;
}

}  // namespace cgmca::multi
