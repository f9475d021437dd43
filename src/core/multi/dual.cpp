#include "core/multi/dual.hpp"

#include <algorithm>
#include <cgmca/parallel.hpp>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca::multi {
namespace {

using thresholds::kEpsilon;

// A bound on how far the eigenvalues of symmetric A are below zero, which includes LAPACK's rounding p eps ‖A‖.
double largest_deficit(const Matrix& A) {
  const Vector values = linalg::symmetric_eigenvalues(A);
  if (values.size() == 0) return 0;
  const double norm = std::max(std::abs(values(0)), std::abs(values(values.size() - 1)));
  return std::max(0.0, real(A.rows()) * kEpsilon * norm - values(values.size() - 1));
}

}  // namespace

Dual::Dual(const MatchingProblem& problem, Structure structure) : problem_(problem), structure_(std::move(structure)) {
  for (Index t = 0; t < channels(); ++t) {
    std::vector<Index> first = {0};
    for (Index i = 0; i < problem.domains(); ++i) first.push_back(first.back() + problem.rank(i) * channel(t).width(i));
    offsets_.push_back(std::move(first));
  }
  for (Index t = 0; t < channels(); ++t) Q_.push_back(cross_blocks(t));
}

Index Dual::offset(Index t, Index i) const { return offsets_[t][i]; }

Matrix Dual::cross_blocks(Index t) const {
  const Channel& channel = this->channel(t);
  Matrix Q = Matrix::Zero(size(t), size(t));
  for (Index i = 0; i < problem_.domains(); ++i) {
    for (Index j = i + 1; j < problem_.domains(); ++j) {
      const Matrix& H = channel.H[i][j];
      if (!problem_.edge(i, j) || H.size() == 0) continue;
      const Matrix& B = problem_.B(i, j);
      auto block = Q.block(offset(t, i), offset(t, j), B.rows() * H.rows(), B.cols() * H.cols());
      for (Index a = 0; a < B.rows(); ++a) {
        for (Index b = 0; b < B.cols(); ++b) {
          block.block(a * H.rows(), b * H.cols(), H.rows(), H.cols()) = problem_.weight(i, j) * B(a, b) * H;
        }
      }
      Q.block(offset(t, j), offset(t, i), block.cols(), block.rows()) = block.transpose();
    }
  }
  return Q;
}

Matrix Dual::K(Index t, const DualPoint& y) const {
  Matrix K = -Q_[t];
  for (Index i = 0; i < problem_.domains(); ++i) {
    const Index c = channel(t).width(i), r = problem_.rank(i);
    const Matrix &lambda = y.lambda[t][i], &M = y.M[i];
    auto block = K.block(offset(t, i), offset(t, i), r * c, r * c);
    for (Index a = 0; a < r; ++a) {
      block.block(a * c, a * c, c, c) += lambda;
      for (Index b = 0; b < r; ++b) block.block(a * c, b * c, c, c).diagonal().array() += M(a, b);
    }
  }
  return K;
}

double Dual::value(const DualPoint& y) const {
  double sum = 0;
  for (const Matrix& M : y.M) sum += M.trace();
  for (Index t = 0; t < channels(); ++t) {
    for (const Matrix& lambda : y.lambda[t]) sum += real(channel(t).copies) * lambda.trace();
  }
  return sum;
}

double Dual::bound(const DualPoint& y) const {
  double terms = 0, magnitude = 0, result = value(y) + structure_.error;
  for (Index i = 0; i < problem_.domains(); ++i) {
    const Matrix& M = y.M[i];
    // -ε I ⪯ M:   tr(M DᵀD) <= tr M + ε (r - c)
    result += real(problem_.rank(i) - problem_.covariance_rank(i)) * largest_deficit(M);
    terms += real(M.rows());
    magnitude += M.diagonal().cwiseAbs().sum();
  }
  std::vector<double> deficit(channels());
  parallel_for(channels(), [&](Index t) { deficit[t] = largest_deficit(K(t, y)); });
  for (Index t = 0; t < channels(); ++t) {
    Index width = 0;
    for (Index i = 0; i < problem_.domains(); ++i) width += channel(t).width(i);
    result += real(channel(t).copies * width) * deficit[t];
    for (const Matrix& lambda : y.lambda[t]) {
      magnitude += real(channel(t).copies) * lambda.diagonal().cwiseAbs().sum();
    }
    terms += real(width);
  }
  return result + kEpsilon * terms * magnitude;
}

Matrix Dual::stacked(Index t, const Point& D) const {
  Matrix X(size(t), channel(t).copies);
  for (Index i = 0; i < problem_.domains(); ++i) {
    const auto& E = channel(t).E[i];
    for (Index a = 0; a < X.cols(); ++a) {
      const Matrix part = linalg::AtB(E[a], D[i]);
      X.col(a).segment(offset(t, i), part.size()) = part.reshaped();
    }
  }
  return X;
}

Point Dual::unstacked(const std::vector<Matrix>& X) const {
  Point D;
  for (Index i = 0; i < problem_.domains(); ++i) {
    Matrix sum = Matrix::Zero(problem_.covariance_rank(i), problem_.rank(i));
    for (Index t = 0; t < channels(); ++t) {
      const auto& E = channel(t).E[i];
      const Index c = channel(t).width(i), r = problem_.rank(i);
      if (c == 0) continue;
      for (Index a = 0; a < channel(t).copies; ++a) {
        const Matrix part = X[t].col(a).segment(offset(t, i), c * r).reshaped(c, r);
        sum += linalg::AB(E[a], part);
      }
    }
    D.push_back(linalg::polar(sum));
  }
  return D;
}

TouchingPoints::TouchingPoints(const Dual& dual, const Point& D) : dual_(dual), D_(D) {
  for (Index i = 0; i < dual.problem().domains(); ++i) {
    const Matrix GDt = linalg::ABt(dual.problem().gradient(i, D), D[i]);
    Gamma_.push_back((GDt + GDt.transpose()) / 2);
  }
}

DualPoint TouchingPoints::guess() const {
  const MatchingProblem& problem = dual_.problem();
  std::vector<Matrix> N;
  for (Index i = 0; i < problem.domains(); ++i) {
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(Gamma_[i]);
    const Index c = eigen.values.size();
    Matrix HHt = Matrix::Zero(c, c);
    for (Index j = 0; j < problem.domains(); ++j) {
      if (problem.edge(i, j)) HHt += problem.weight(i, j) * linalg::ABt(problem.H(i, j), problem.H(i, j));
    }
    const Vector h = linalg::ABC(eigen.Q.transpose(), HHt, eigen.Q).diagonal().cwiseMax(0).cwiseSqrt();
    const Vector rho = (h.array() > 0).select(eigen.values.cwiseQuotient(h), 0);
    std::vector<Index> order(c);
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index p, Index q) { return rho(p) > rho(q); });
    Vector n = Vector::Zero(c);
    for (std::size_t s = order.size() - 1; s-- > 0;) {
      const Index p = order[s], q = order[s + 1];
      n(p) = n(q) + (h(p) + h(q)) / 2 * (rho(p) - rho(q));
    }
    N.push_back(eigen.Q * n.asDiagonal() * eigen.Q.transpose());
  }
  return from(N);
}

DualPoint TouchingPoints::nearest(const DualPoint& y) const {
  std::vector<Matrix> N;
  for (std::size_t i = 0; i < D_.size(); ++i) N.push_back(linalg::ABC(D_[i], y.M[i], D_[i].transpose()));
  return from(N);
}

// Λ_i must consist of the channels' Λ_it. The rest of Γ_i - N_i is added to N_i, which a multiple of I makes positive
// semidefinite again.
DualPoint TouchingPoints::from(const std::vector<Matrix>& N) const {
  const auto channels = dual_.channels();
  DualPoint y{std::vector<std::vector<Matrix>>(channels), {}};
  for (Index i = 0; i < dual_.problem().domains(); ++i) {
    const Matrix wanted = Gamma_[i] - N[i];
    Matrix N_i = Gamma_[i];
    for (Index t = 0; t < channels; ++t) {
      const Channel& channel = dual_.channel(static_cast<Index>(t));
      const auto& E = channel.E[i];
      Matrix lambda = Matrix::Zero(channel.width(i), channel.width(i));
      for (const Matrix& E_a : E) lambda += linalg::ABC(E_a.transpose(), wanted, E_a);
      lambda /= real(channel.copies);
      for (const Matrix& E_a : E) N_i -= linalg::ABC(E_a, lambda, E_a.transpose());
      y.lambda[t].push_back((lambda + lambda.transpose()) / 2);
    }
    N_i = (N_i + N_i.transpose()).eval() / 2;
    const Vector values = linalg::symmetric_eigenvalues(N_i);
    const double lift = std::max(0.0, -values(values.size() - 1));
    N_i.diagonal().array() += lift;
    for (Index t = 0; t < channels; ++t) y.lambda[t].back().diagonal().array() -= lift;
    const Matrix M = linalg::ABC(D_[i].transpose(), N_i, D_[i]);
    y.M.push_back((M + M.transpose()) / 2);
  }
  return y;
}

}  // namespace cgmca::multi
