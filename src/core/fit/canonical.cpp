#include "core/fit/canonical.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/thresholds.hpp"
#include "core/fit/align.hpp"
#include "core/fit/prescribed.hpp"
#include "core/multi/blocks.hpp"

namespace cgmca::multi {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::Array;
using linalg::AtB;
using linalg::Backend;

// The rows of D_i that belong to a block.
struct Rows {
  Index first, count;
};

class Canonical {
 public:
  Canonical(const MatchingProblem& problem, const WhitenedData& whitened, const Matrix& basis)
      : problem_(problem), whitened_(whitened), basis_(basis), blocks_(common_blocks(problem, basis)) {}

  CanonicalForm form(const Point& D) {
    change_basis(D);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (blocks_[b].turns && blocks_[b].U.cols() > 1) turn(b);
    }
    correlate_with_features();
    for (std::size_t b = 0; b < blocks_.size(); ++b) sign(b);
    for (Index i = 0; i < domains(); ++i) complete(i);
    map_to_features();
    return std::move(form_);
  }

 private:
  Index domains() const { return problem_.domains(); }
  auto rows_of(Index i, std::size_t b) {
    const Rows& rows = rows_[i][b];
    return form_.D[i].middleRows(rows.first, rows.count);
  }

  // D_i without the directions that no neighbour determines. If G_i = U S Vᵀ has rank q < c_i, every D_i = U_q V_qᵀ + U_0 X
  // is equally good, where X has orthonormal rows orthogonal to V_q. U_0 X is left out here; `complete` chooses it later.
  Matrix determined(Index i, const Point& D) const {
    const linalg::Svd G = linalg::thin_svd(problem_.gradient(i, D));
    double largest = 0;  // that G_i could be
    for (Index j = 0; j < domains(); ++j) {
      if (j != i && problem_.edge(i, j)) largest += problem_.weight(i, j) * problem_.H(i, j).norm();
    }
    const Index q = (G.s.array() > thresholds::kTieInMatching * largest).count();
    return q == G.s.size() ? D[i] : ABt(G.U.leftCols(q), G.V.leftCols(q));
  }

  // M_i = [U_b F_ib] and D_i ← M_i⁺ F_i D_i, so that M_i D_i is what F_i D_i was.
  void change_basis(const Point& D) {
    for (Index i = 0; i < domains(); ++i) {
      const Index c = problem_.covariance_rank(i);
      Matrix M(basis_.rows(), c), O(c, c);
      rows_.emplace_back();
      Index first = 0;
      for (const CommonBlock& block : blocks_) {
        const Matrix& F = block.F[i];
        const Index count = F.cols();
        const Matrix UF = AB(block.U, F);
        const Vector squares = F.colwise().squaredNorm();
        M.middleCols(first, count) = AB(basis_, UF);
        O.middleRows(first, count) = squares.cwiseInverse().asDiagonal() * AtB(UF, problem_.F(i));
        rows_.back().push_back({first, count});
        first += count;
      }
      form_.M.push_back(std::move(M));
      form_.D.push_back(AB(O, determined(i, D)));
    }
  }

  // In a block that may be rotated freely, the directions that match best come first, by the eigenvalues λ of the
  // covariance that the domains share, Σ_{i<j} w_ij (R_ij + R_ijᵀ) within the block.                              (39)
  void turn(std::size_t b) {
    const Index s = blocks_[b].U.cols();
    Matrix shared = Matrix::Zero(s, s);
    const auto present = [&](Index i) { return rows_[i][b].count == s; };
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
    std::vector<std::vector<TieRule>> rules;
    for (Index i = 0; i < domains(); ++i) {
      if (!present(i)) continue;
      turning.push_back(i);
      bases.push_back(on().upload(AtB(rows_of(i, b), eigen.Q)));
      rules.push_back(rules_of(i));
    }
    double weights = 0;
    for (Index i = 0; i < domains(); ++i) {
      for (Index j = 0; j < domains(); ++j) weights += problem_.weight(i, j);
    }
    const double tolerance = weights * std::max(tie_tolerance(whitened_), thresholds::kTieInMatching);
    break_ties(bases, eigen.values, tolerance, rules);
    for (std::size_t t = 0; t < turning.size(); ++t) {
      rows_of(turning[t], b) = linalg::download(bases[t]).transpose();
    }
  }

  // corr(x_f, t_j), free of units
  Matrix correlations_with_features(Index i, const Array& E) const {
    Matrix correlations = linalg::download(whitening(i).coloured(E));
    const Vector& variance = whitened_.domains[i].variance;
    for (Index f = 0; f < variance.size(); ++f) {
      correlations.row(f) *= variance(f) > 0 ? 1 / std::sqrt(variance(f)) : 0;
    }
    return correlations;
  }
  void correlate_with_features() {
    for (Index i = 0; i < domains(); ++i) {
      correlations_.push_back(correlations_with_features(i, on().upload(form_.D[i].transpose())));
    }
  }

  // Signs are such that the largest correlation of any domain's feature with a direction is positive. In a block that may
  // be rotated each direction has its own sign; another block has one sign for all.
  void sign(std::size_t b) {
    const Index s = blocks_[b].U.cols(), signs = blocks_[b].turns ? s : 1;
    for (Index p = 0; p < signs; ++p) {
      std::vector<std::pair<Index, Rows>> columns;  // of each domain that has them
      for (Index i = 0; i < domains(); ++i) {
        const Rows& rows = rows_[i][b];
        if (rows.count > 0) columns.push_back({i, blocks_[b].turns ? Rows{rows.first + p, 1} : rows});
      }
      if (negative(columns)) {
        for (const auto& [i, rows] : columns) form_.D[i].middleRows(rows.first, rows.count) *= -1;
      }
    }
  }
  // If correlations of both signs are equally large, to rounding, the sum of all cubes shall be positive; if that is 0 too,
  // the first of the largest correlations. This happens for domains of one feature, which correlate by exactly 1 or -1.
  bool negative(const std::vector<std::pair<Index, Rows>>& columns) const {
    std::vector<double> values;
    for (const auto& [i, rows] : columns) {
      for (const double value : correlations_[i].middleCols(rows.first, rows.count).reshaped()) {
        values.push_back(value);
      }
    }
    double most = 0, cubes = 0, size = 0;
    for (const double value : values) {
      most = std::max(most, std::abs(value));
      cubes += value * value * value;
      size += std::abs(value * value * value);
    }
    const auto is_largest = [least = (1 - thresholds::kEqualEntry) * most](double value) {
      return std::abs(value) >= least;
    };
    const auto first = std::find_if(values.begin(), values.end(), is_largest);
    const bool alike =
        std::all_of(first, values.end(), [&](double value) { return !is_largest(value) || value * *first >= 0; });
    return (alike || std::abs(cubes) <= thresholds::kEqualEntry * size ? *first : cubes) < 0;
  }

  // D_i ← D_i + U_0 X for directions that were not determined. X are the remaining directions of domain i that explain most
  // of its variance, in that order along the remaining axes of the common space. Their largest entries are positive.
  void complete(Index i) {
    Matrix& D = form_.D[i];
    const linalg::Svd svd = linalg::full_svd(D);
    const Index known = (svd.s.array() > 0.5).count(), missing = D.rows() - known;  // they are 1 or 0
    if (missing > 0) {
      const Array left = on().upload(svd.U.rightCols(missing)), M = on().upload(form_.M[i]);
      break_ties({left}, Vector::Zero(missing), 0,
                 {{[&M](const Array& basis) { return by_coordinate(linalg::AB(M, basis)); }}});
      const Array rest = on().upload(svd.V.rightCols(D.cols() - known));
      break_ties({rest}, Vector::Zero(rest.cols()), 0, {rules_of(i)});
      const Array chosen = rest.left(missing);
      const Vector signs = on().signs_of_columns(linalg::AB(M, left))
                               .cwiseProduct(on().signs_of_columns(on().upload(correlations_with_features(i, chosen))));
      D += ABt(linalg::download(left) * signs.asDiagonal(), linalg::download(chosen));
    }
    D = linalg::polar(D);
  }

  void map_to_features() {
    for (Index i = 0; i < domains(); ++i) {
      const Array E = on().upload(form_.D[i].transpose());
      form_.Tt.push_back(whitening(i).whitened(E));
      form_.P.push_back(whitening(i).coloured(E));
    }
  }

  const Whitening& whitening(Index i) const { return *whitened_.domains[i].whitening; }
  // Among equal directions, those that explain most of the domain's variance come first, then those along earlier features.
  std::vector<TieRule> rules_of(Index i) const {
    return {[&of = whitening(i)](const Array& basis) { return of.shares(basis); },
            [&of = whitening(i)](const Array& basis) { return by_coordinate(of.coloured(basis)); }};
  }
  const Backend& on() const { return whitened_.B().on(); }

  const MatchingProblem& problem_;
  const WhitenedData& whitened_;
  const Matrix& basis_;
  std::vector<CommonBlock> blocks_;
  std::vector<std::vector<Rows>> rows_;  // [domain][block]
  std::vector<Matrix> correlations_;     // [domain]: d_i×c_i
  CanonicalForm form_;
};

}  // namespace

CanonicalForm canonical_form(const MatchingProblem& problem, const Point& D, const WhitenedData& whitened,
                             const Matrix& basis) {
  return Canonical(problem, whitened, basis).form(D);
}

}  // namespace cgmca::multi
