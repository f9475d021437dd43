#include "core/multi/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca::multi {
namespace {

using linalg::AB;
using linalg::ABC;
using linalg::AtB;

std::vector<Matrix> covariances_of(const MatchingProblem& problem) {
  std::vector<Matrix> C;
  for (Index i = 0; i < problem.domains(); ++i) C.push_back(linalg::ABt(problem.F(i), problem.F(i)));
  return C;
}

// Eigenvectors of a sum of all C_i with unequal factors. Each lies within one block, unless two sums happen to be equal.
Matrix basis_within_blocks(const std::vector<Matrix>& C) {
  Matrix sum = Matrix::Zero(C[0].rows(), C[0].cols());
  for (std::size_t i = 0; i < C.size(); ++i) {
    sum += (1 + std::fmod(0.6180339887498949 * static_cast<double>(i + 1), 1.0)) / C[i].norm() * C[i];
  }
  return linalg::symmetric_eigen(sum).Q;
}

// The sets of vectors that are mixed by at least one C_i.
std::vector<std::vector<Index>> mixed_vectors(const std::vector<Matrix>& C, const Matrix& U) {
  Matrix mixed = Matrix::Zero(U.cols(), U.cols());
  for (const Matrix& C_i : C) mixed = mixed.cwiseMax(ABC(U.transpose(), C_i, U).cwiseAbs() / C_i.norm());
  std::vector<std::vector<Index>> sets;
  std::vector<bool> taken(U.cols(), false);
  for (Index first = 0; first < U.cols(); ++first) {
    if (taken[first]) continue;
    taken[first] = true;
    std::vector<Index> set = {first};
    for (std::size_t next = 0; next < set.size(); ++next) {
      for (Index q = 0; q < U.cols(); ++q) {
        if (taken[q] || !(mixed(set[next], q) > thresholds::kCommute)) continue;
        taken[q] = true;
        set.push_back(q);
      }
    }
    std::sort(set.begin(), set.end());
    sets.push_back(std::move(set));
  }
  return sets;
}

// Joins single vectors along which every domain has the same variance.
void join_equal(std::vector<std::vector<Index>>& sets, const Matrix& length) {
  std::vector<std::vector<Index>> joined;
  for (std::vector<Index>& set : sets) {
    const Index p = set.front();
    const auto same = [&](const std::vector<Index>& before) {
      if (length.col(p).maxCoeff() == 0) return false;
      for (const Index q : before) {
        const double size = length.col(p).cwiseMax(length.col(q)).maxCoeff();
        if ((length.col(p) - length.col(q)).cwiseAbs().maxCoeff() > thresholds::kEqualInMatching * size) return false;
      }
      return true;
    };
    const auto found = std::find_if(joined.begin(), joined.end(), same);
    found == joined.end() ? joined.push_back(std::move(set)) : found->push_back(p);
  }
  sets = std::move(joined);
}

Vector signs_of_columns(const Matrix& A) {
  Vector signs(A.cols());
  for (Index j = 0; j < A.cols(); ++j) {
    Index row = 0;
    const double most = A.col(j).cwiseAbs().maxCoeff();
    while (std::abs(A(row, j)) < (1 - thresholds::kEqualEntry) * most) ++row;
    signs(j) = A(row, j) < 0 ? -1 : 1;
  }
  return signs;
}

// The basis of a block that turns: along earlier coordinates first.
Matrix along_coordinates(const Matrix& U, const Matrix& basis) {
  const Matrix whole = AB(basis, U);
  const Vector order = Vector::LinSpaced(whole.rows(), 1, 1 / static_cast<double>(whole.rows()));
  const Matrix turned = AB(U, linalg::symmetric_eigen(AtB(whole, order.asDiagonal() * whole)).Q);
  return turned * signs_of_columns(AB(basis, turned)).asDiagonal();
}

// F of domain i in every block: of all eigenvalues of Uᵀ C_i U the c_i largest, the others being rounding.
void factorize_domain(std::vector<CommonBlock>& blocks, const Matrix& C, Index rank, const Matrix& basis) {
  struct Direction {
    double variance;
    std::size_t block;
    Vector column;
  };
  std::vector<Direction> all;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const CommonBlock& block = blocks[b];
    const Matrix part = ABC(block.U.transpose(), C, block.U);
    const Index s = part.rows();
    if (block.turns) {
      const double variance = part.trace() / static_cast<double>(s);
      for (Index p = 0; p < s; ++p)
        all.push_back({variance, b, std::sqrt(std::max(0.0, variance)) * Vector::Unit(s, p)});
      continue;
    }
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(part);
    const Vector signs = signs_of_columns(AB(basis, AB(block.U, eigen.Q)));
    for (Index p = 0; p < s; ++p) {
      const double variance = eigen.values(p);
      all.push_back({variance, b, signs(p) * std::sqrt(std::max(0.0, variance)) * eigen.Q.col(p)});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.variance > b.variance; });
  all.resize(rank);
  for (CommonBlock& block : blocks) block.F.emplace_back(block.U.cols(), 0);
  for (const Direction& direction : all) {
    Matrix& F = blocks[direction.block].F.back();
    F.conservativeResize(Eigen::NoChange, F.cols() + 1);
    F.rightCols(1) = direction.column;
  }
}

// By the mean variance of all domains together, descending; where that is equal, by the mean place of the coordinates.
void order_blocks(std::vector<CommonBlock>& blocks, const std::vector<Matrix>& C, const Matrix& basis) {
  struct Place {
    double variance, coordinate;
    std::size_t block;
  };
  std::vector<Place> places;
  const Vector numbers = Vector::LinSpaced(basis.rows(), 0, static_cast<double>(basis.rows() - 1));
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Matrix& U = blocks[b].U;
    const auto size = static_cast<double>(U.cols());
    double variance = 0;
    for (const Matrix& C_i : C) variance += AB(C_i, U).cwiseProduct(U).sum() / size;
    places.push_back({variance, numbers.dot(AB(basis, U).rowwise().squaredNorm()) / size, b});
  }
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.variance > b.variance; });
  const double equal = thresholds::kEqualMerit * places.front().variance;
  for (auto first = places.begin(); first != places.end();) {
    auto last = std::next(first);
    while (last != places.end() && std::prev(last)->variance - last->variance <= equal) ++last;
    std::stable_sort(first, last, [](const auto& a, const auto& b) { return a.coordinate < b.coordinate; });
    first = last;
  }
  std::vector<CommonBlock> ordered;
  for (const Place& place : places) ordered.push_back(std::move(blocks[place.block]));
  blocks = std::move(ordered);
}

}  // namespace

std::vector<CommonBlock> common_blocks(const MatchingProblem& problem, const Matrix& basis) {
  const std::vector<Matrix> C = covariances_of(problem);
  const Matrix U = basis_within_blocks(C);
  Matrix length(problem.domains(), U.cols());
  for (Index i = 0; i < problem.domains(); ++i) length.row(i) = AtB(problem.F(i), U).colwise().norm();
  std::vector<std::vector<Index>> single, several;
  for (auto& set : mixed_vectors(C, U)) (set.size() == 1 ? single : several).push_back(std::move(set));
  join_equal(single, length);
  std::vector<CommonBlock> blocks;
  for (const auto& set : single) blocks.push_back({along_coordinates(U(Eigen::all, set), basis), true, {}});
  for (const auto& set : several) blocks.push_back({U(Eigen::all, set), false, {}});
  order_blocks(blocks, C, basis);
  for (Index i = 0; i < problem.domains(); ++i) {
    factorize_domain(blocks, C[i], problem.covariance_rank(i), basis);
  }
  return blocks;
}

}  // namespace cgmca::multi
