#include "core/multi/structure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca::multi {
namespace {

using thresholds::kCommute;
using thresholds::kEpsilon;

// A basis in which every C_i is diagonal, k×k, or nothing if there is none.
std::optional<Matrix> common_eigenvectors(const MatchingProblem& problem) {
  const Index k = problem.common_dimension();
  Matrix sum = Matrix::Zero(k, k);
  std::vector<Matrix> C;
  for (Index i = 0; i < problem.domains(); ++i) {
    C.push_back(linalg::ABt(problem.F(i), problem.F(i)));
    C.back() /= C.back().norm();
    // The factors are unequal, so that different directions hardly get equal sums by accident.
    sum += (1 + std::fmod(0.6180339887498949 * static_cast<double>(i + 1), 1.0)) * C.back();
  }
  const Matrix U = linalg::symmetric_eigen(sum).Q;
  for (const Matrix& C_i : C) {
    Matrix rotated = linalg::ABC(U.transpose(), C_i, U);
    rotated.diagonal().setZero();
    if (rotated.cwiseAbs().maxCoeff() > kCommute) return std::nullopt;
  }
  return U;
}

// Direction p of the common basis as domain i has it: length a_ip = ‖F_iᵀ u_p‖ (0 where C_i lacks it) and the unit
// vector E_ip, c_i×1.
struct Directions {
  Matrix length;                       // m×k
  std::vector<std::vector<Matrix>> E;  // [domain][p]; c_i×0 where the length is 0
};

Directions directions(const MatchingProblem& problem, const Matrix& U) {
  const Index m = problem.domains(), k = U.cols();
  Directions result{Matrix::Zero(m, k), std::vector<std::vector<Matrix>>(m)};
  for (Index i = 0; i < m; ++i) {
    const Index c = problem.covariance_rank(i);
    const Matrix FtU = linalg::AtB(problem.F(i), U);
    const Vector lengths = FtU.colwise().norm();
    std::vector<Index> order(k);
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index p, Index q) { return lengths(p) > lengths(q); });
    order.resize(c);  // C_i has rank c_i: the other directions are rounding
    Matrix V(c, c);
    for (Index s = 0; s < c; ++s) V.col(s) = FtU.col(order[s]) / lengths(order[s]);
    V = linalg::polar(V);
    result.E[i].assign(k, Matrix(c, 0));
    for (Index s = 0; s < c; ++s) {
      result.length(i, order[s]) = lengths(order[s]);
      result.E[i][order[s]] = V.col(s);
    }
  }
  return result;
}

// Sets of directions that have the same lengths in every domain.
std::vector<std::vector<Index>> equal_directions(const Matrix& length) {
  std::vector<std::vector<Index>> sets;
  for (Index p = 0; p < length.cols(); ++p) {
    if (length.col(p).maxCoeff() == 0) continue;
    const auto same = [&](const std::vector<Index>& set) {
      const double size = length.col(p).cwiseMax(length.col(set[0])).maxCoeff();
      return (length.col(p) - length.col(set[0])).cwiseAbs().maxCoeff() <= thresholds::kEqualInMatching * size;
    };
    const auto found = std::find_if(sets.begin(), sets.end(), same);
    found == sets.end() ? sets.push_back({p}) : found->push_back(p);
  }
  return sets;
}

// H_ij^t = mean over the copies of E_itaᵀ H_ij E_jta, and the largest effect on f of the remainder Δ of H_ij:
// |tr(D_iᵀ Δ D_j B_ji)| <= ‖Δ‖_F ‖B_ij‖_F.
void fill_H(const MatchingProblem& problem, Structure& structure) {
  const Index m = problem.domains();
  for (Channel& channel : structure.channels) channel.H.assign(m, std::vector<Matrix>(m));
  for (Index i = 0; i < m; ++i) {
    for (Index j = i + 1; j < m; ++j) {
      Matrix rest = problem.H(i, j);
      for (Channel& channel : structure.channels) {
        Matrix H = Matrix::Zero(channel.width(i), channel.width(j));
        const auto &E_i = channel.E[i], &E_j = channel.E[j];
        for (std::size_t a = 0; a < E_i.size(); ++a) H += E_i[a].transpose() * problem.H(i, j) * E_j[a];
        H /= static_cast<double>(channel.copies);
        for (std::size_t a = 0; a < E_i.size(); ++a) rest -= E_i[a] * H * E_j[a].transpose();
        channel.H[i][j] = std::move(H);
      }
      if (!problem.edge(i, j)) continue;
      const double rounding =
          8 * static_cast<double>(problem.common_dimension()) * kEpsilon * problem.F(i).norm() * problem.F(j).norm();
      structure.error += 2 * problem.weight(i, j) * (rest.norm() + rounding) * problem.B(i, j).norm();
    }
  }
}

}  // namespace

Structure general_structure(const MatchingProblem& problem) {
  Structure structure;
  Channel channel;
  for (Index i = 0; i < problem.domains(); ++i) {
    const Index c = problem.covariance_rank(i);
    channel.E.push_back({Matrix::Identity(c, c)});
  }
  structure.channels.push_back(std::move(channel));
  fill_H(problem, structure);
  return structure;
}

Structure find_structure(const MatchingProblem& problem) {
  const std::optional<Matrix> U = common_eigenvectors(problem);
  if (!U) return general_structure(problem);
  const Directions all = directions(problem, *U);
  Structure structure{Covariances::commuting, {}, 0};
  for (const std::vector<Index>& set : equal_directions(all.length)) {
    Channel channel{std::ssize(set), {}, {}};
    for (const auto& E_i : all.E) {
      channel.E.emplace_back();
      for (const Index p : set) channel.E.back().push_back(E_i[p]);
    }
    structure.channels.push_back(std::move(channel));
  }
  const bool full = all.length.minCoeff() > 0;
  if (structure.channels.size() == 1 && full) structure.kind = Covariances::identity;
  fill_H(problem, structure);
  return structure;
}

Index largest_size(const MatchingProblem& problem, const Structure& structure) {
  Index largest = 0;
  for (const Channel& channel : structure.channels) {
    Index size = 0;
    for (Index i = 0; i < problem.domains(); ++i) size += problem.rank(i) * channel.width(i);
    largest = std::max(largest, size);
  }
  return largest;
}

}  // namespace cgmca::multi
