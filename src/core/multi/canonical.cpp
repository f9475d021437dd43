#include "canonical.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "blocks.hpp"
#include "core/align.hpp"
#include "core/prescribed.hpp"
#include "core/thresholds.hpp"

namespace cgmca::multi {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::Array;
using linalg::AtB;
using linalg::Backend;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The rows of D_i that belong to a block.
struct Rows {
  Index first, count;
};

class Canonical {
 public:
  Canonical(const MatchingProblem& problem, const Factors& factors, const Matrix& basis)
      : problem_(problem), factors_(factors), basis_(basis), blocks_(common_blocks(problem, basis)) {}

  CanonicalForm form(const Point& D) {
    change_basis(D);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].turns && blocks_[b].U.cols() > 1) turn(b);
    }
    map_to_features();
    for (std::size_t b = 0; b < blocks_.size(); ++b) sign(b);
    return std::move(form_);
  }

 private:
  Index domains() const { return problem_.domains(); }
  auto rows_of(Index i, std::size_t b) {
    const Rows& rows = rows_[at(i)][b];
    return form_.D[at(i)].middleRows(rows.first, rows.count);
  }

  // M_i = [U_b F_ib] and D_i ← M_i⁺ F_i D_i, so that M_i D_i is what F_i D_i was.
  void change_basis(const Point& D) {
    for (Index i = 0; i < domains(); ++i) {
      const Index c = problem_.covariance_rank(i);
      Matrix M(basis_.rows(), c), O(c, c);
      rows_.emplace_back();
      Index first = 0;
      for (const CommonBlock& block : blocks_) {
        const Matrix& F = block.F[at(i)];
        const Index count = F.cols();
        const Matrix UF = AB(block.U, F);
        const Vector squares = F.colwise().squaredNorm();
        M.middleCols(first, count) = AB(basis_, UF);
        O.middleRows(first, count) = squares.cwiseInverse().asDiagonal() * AtB(UF, problem_.F(i));
        rows_.back().push_back({first, count});
        first += count;
      }
      form_.M.push_back(std::move(M));
      form_.D.push_back(linalg::polar(AB(O, D[at(i)])));
    }
  }

  // Where any rotation would do: the directions that match best come first, λ = eigenvalues of the covariance that the
  // domains share, Σ_{i<j} w_ij (R_ij + R_ijᵀ) within the block.                                                  (39)
  void turn(std::size_t b) {
    const Index s = blocks_[b].U.cols();
    Matrix shared = Matrix::Zero(s, s);
    const auto present = [&](Index i) { return rows_[at(i)][b].count == s; };
    for (Index i = 0; i < domains(); ++i) {
      for (Index j = i + 1; j < domains(); ++j) {
        if (!problem_.edge(i, j) || !present(i) || !present(j)) continue;
        const Matrix R = ABt(problem_.DB(rows_of(i, b), i, j), rows_of(j, b));
        shared += problem_.weight(i, j) * (R + R.transpose());
      }
    }
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(shared);
    for (Index j = 0; j + 1 < s; ++j) {
      const double most = std::max(eigen.values(0), thresholds::kEpsilon);
      form_.min_gap = std::min(form_.min_gap, (eigen.values(j) - eigen.values(j + 1)) / most);
    }
    std::vector<Index> turning;
    std::vector<Array> bases;
    std::vector<std::vector<Form>> rules;
    for (Index i = 0; i < domains(); ++i) {
      if (!present(i)) continue;
      turning.push_back(i);
      const Whitening& whitening = *factors_.domains[at(i)].whitening;
      bases.push_back(on().upload(AtB(rows_of(i, b), eigen.Q)));
      rules.push_back({[&whitening](const Array& basis) { return whitening.shares(basis); },
                       [&whitening](const Array& basis) { return by_coordinate(whitening.coloured(basis)); }});
    }
    double weights = 0;
    for (Index i = 0; i < domains(); ++i) {
      for (Index j = 0; j < domains(); ++j) weights += problem_.weight(i, j);
    }
    const double tolerance = weights * std::max(tie_tolerance(factors_), thresholds::kTieInMatching);
    break_ties(bases, eigen.values, tolerance, rules);
    for (std::size_t t = 0; t < turning.size(); ++t) {
      rows_of(turning[t], b) = linalg::download(bases[t]).transpose();
    }
  }

  void map_to_features() {
    for (Index i = 0; i < domains(); ++i) {
      const Whitening& whitening = *factors_.domains[at(i)].whitening;
      const Array E = on().upload(form_.D[at(i)].transpose());
      form_.weights.push_back(whitening.whitened(E));
      form_.loadings.push_back(whitening.coloured(E));
      // corr(x_f, t_j), free of units
      Matrix correlations = linalg::download(on().copy(form_.loadings.back()));
      const Vector& variance = factors_.domains[at(i)].variance;
      for (Index f = 0; f < variance.size(); ++f) {
        correlations.row(f) *= variance(f) > 0 ? 1 / std::sqrt(variance(f)) : 0;
      }
      correlations_.push_back(std::move(correlations));
    }
  }

  // The largest correlation of a feature of any domain with a direction of the block is positive; the first of those
  // equal to rounding. A block that turns has directions to be signed one by one, another has one sign.
  void sign(std::size_t b) {
    const Index s = blocks_[b].U.cols(), signs = blocks_[b].turns ? s : 1;
    for (Index p = 0; p < signs; ++p) {
      std::vector<std::pair<Index, Rows>> columns;  // of each domain that has them
      double most = 0;
      for (Index i = 0; i < domains(); ++i) {
        const Rows& rows = rows_[at(i)][b];
        if (rows.count == 0) continue;
        columns.push_back({i, blocks_[b].turns ? Rows{rows.first + p, 1} : rows});
        most = std::max(most, part(columns.back()).cwiseAbs().maxCoeff());
      }
      if (negative_first(columns, (1 - thresholds::kEqualEntry) * most)) {
        for (const auto& [i, rows] : columns) flip(i, rows);
      }
    }
  }
  Eigen::Block<Matrix, Eigen::Dynamic, Eigen::Dynamic, true> part(const std::pair<Index, Rows>& of) {
    return correlations_[at(of.first)].middleCols(of.second.first, of.second.count);
  }
  bool negative_first(const std::vector<std::pair<Index, Rows>>& columns, double least) {
    for (const auto& of : columns) {
      for (const double value : part(of).reshaped()) {
        if (std::abs(value) >= least) return value < 0;
      }
    }
    return false;
  }
  void flip(Index i, const Rows& rows) {
    form_.D[at(i)].middleRows(rows.first, rows.count) *= -1;
    on().scale(form_.weights[at(i)].columns(rows.first, rows.count), -1);
    on().scale(form_.loadings[at(i)].columns(rows.first, rows.count), -1);
  }

  const Backend& on() const { return factors_.B().on(); }

  const MatchingProblem& problem_;
  const Factors& factors_;
  const Matrix& basis_;
  std::vector<CommonBlock> blocks_;
  std::vector<std::vector<Rows>> rows_;  // [domain][block]
  std::vector<Matrix> correlations_;     // [domain]: d_i×c_i
  CanonicalForm form_;
};

}  // namespace

CanonicalForm canonical_form(const MatchingProblem& problem, const Point& D, const Factors& factors,
                             const Matrix& basis) {
  return Canonical(problem, factors, basis).form(D);
}

}  // namespace cgmca::multi
