#include "frame.hpp"

#include <cgmca/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linalg/linalg.hpp"

namespace cgmca {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// Where each feature has at least this part of its size of its own no rounding passes for that.
constexpr double kClear = 1e-9;

// Samples are in the frame this many at a time.
constexpr Index kColumns = 1024;

// A sample is like those that made the frame while ‖y‖² <= this; typical is p/n of those. The error of solving for y is
// that of a change of P's columns by eps ‖y‖ of their lengths.
constexpr double kAlike = 8;

// A feature is determined by others where this part of its size or less is its own. Rounding is below, and most of what
// is not rounding above.
constexpr double kDetermined = 256 * kEpsilon;

// What varies by less, in all samples together, does not vary: its squares vanish.
constexpr double kNothing = 1e-290;

// The rows named, as columns.
Matrix transposed_rows(const MatrixView& Z, const std::vector<Index>& rows) {
  const auto a = static_cast<Index>(rows.size());
  Matrix result(Z.cols(), a);
  by_columns(a, Z.cols(), [&](Index first, Index count) {
    constexpr Index tile = 32;  // so that both matrices are read and written in whole cache lines
    for (Index j = first; j < first + count; j += tile) {
      const Index end = std::min(j + tile, first + count);
      for (Index k = 0; k < a; ++k) {
        for (Index column = j; column < end; ++column) result(column, k) = Z(rows[static_cast<std::size_t>(k)], column);
      }
    }
  });
  return result;
}

// Of the rows first … end - 1 those that vary.
std::vector<Index> varying_rows(const MatrixView& Z, Index first, Index end) {
  const Vector size = sum_over_columns(
      end - first, Z.cols(), [&](Index j, Vector& sum) { sum += Z.col(j).segment(first, end - first).cwiseAbs(); });
  std::vector<Index> rows;
  for (Index j = 0; j < size.size(); ++j) {
    if (size(j) > kNothing) rows.push_back(first + j);
  }
  return rows;
}

// 0 … p - 1 without those named.
std::vector<Index> others(const std::vector<Index>& named, Index p) {
  std::vector<bool> is_named(static_cast<std::size_t>(p));
  for (const Index j : named) is_named[static_cast<std::size_t>(j)] = true;
  std::vector<Index> result;
  for (Index j = 0; j < p; ++j) {
    if (!is_named[static_cast<std::size_t>(j)]) result.push_back(j);
  }
  return result;
}

// R of the rows named of Z, and their order: features that others determine come last, since the direction that
// rounding gave them must not serve features after them.
struct OrderedTriangle {
  std::vector<Index> order;
  Matrix R;
  Index independent;  // the others are determined by these
};
OrderedTriangle ordered_triangle(const MatrixView& Z, const std::vector<Index>& rows) {
  Matrix R = linalg::triangular_factor(transposed_rows(Z, rows));
  const Index a = R.cols();
  Index clear = 0;  // features that have more of their own than rounding could be
  while (clear < a && std::abs(R(clear, clear)) >= kClear * R.col(clear).norm()) ++clear;
  if (clear == a) return {rows, std::move(R), a};

  // Some may have been determined by nothing but a direction that rounding gave to one before, or others have passed
  // for independent by rounding. To the scale of unit columns, and with the one that has most of its own always next,
  // rounding comes last.
  const Vector size = R.colwise().norm();
  linalg::PivotedQr pivoted = linalg::pivoted_triangular_factor(R * size.cwiseInverse().asDiagonal());
  OrderedTriangle result{{}, std::move(pivoted.R), 0};
  while (result.independent < a && std::abs(result.R(result.independent, result.independent)) >= kDetermined) {
    ++result.independent;
  }
  result.R *= size(pivoted.order).asDiagonal();
  for (const Index j : pivoted.order) result.order.push_back(rows[static_cast<std::size_t>(j)]);
  return result;
}

// The frame's features of X - mean.
void gather(const Frame& frame, const MatrixView& X, const Vector& mean, Matrix& Y) {
  const Index a = frame.size();
  Y.resize(a, X.cols());
  by_columns(a, X.cols(), [&](Index first, Index count) {
    for (Index j = first; j < first + count; ++j) {
      for (Index k = 0; k < a; ++k) {
        const Index feature = frame.features[static_cast<std::size_t>(k)];
        Y(k, j) = X(feature, j) - mean(feature);
      }
    }
  });
}

}  // namespace

void Frame::enter(Matrix& X) const {
  P[0].solve_transposed(X.topRows(P[0].R().rows()));
  P[1].solve_transposed(X.bottomRows(P[1].R().rows()));
}

Matrix Frame::triangle(const Matrix& G) const {
  Matrix R = Matrix::Zero(size(), size());
  R.topLeftCorner(P[0].R().rows(), P[0].R().rows()) = P[0].R();
  R.bottomRightCorner(P[1].R().rows(), P[1].R().rows()) = P[1].R();
  return linalg::upper_times_upper(triangular_root(G), std::move(R));
}

Matrix Frame::whole() const {
  const Index a = size(), a1 = P[0].R().rows();
  Matrix result = Matrix::Zero(a, a);
  result.topLeftCorner(a1, a1) = P[0].R();
  result.bottomRightCorner(a - a1, a - a1) = P[1].R();
  return result;
}

std::optional<Frame> Frame::from_whole(const Matrix& P, std::vector<Index> features, Index d1, Index p) {
  const auto a = static_cast<Index>(features.size());
  const auto second = std::find_if(features.begin(), features.end(), [d1](Index j) { return j >= d1; });
  const bool sorted = std::all_of(second, features.end(), [d1](Index j) { return j >= d1; });
  const bool inside = std::all_of(features.begin(), features.end(), [p](Index j) { return j >= 0 && j < p; });
  if (!sorted || !inside || !P.allFinite() || (P.diagonal().array() == 0).any()) return std::nullopt;
  Frame frame;
  const Index a1 = second - features.begin();
  frame.P = {linalg::TriangularSolver(P.topLeftCorner(a1, a1).triangularView<Eigen::Upper>()),
             linalg::TriangularSolver(P.bottomRightCorner(a - a1, a - a1).triangularView<Eigen::Upper>())};
  frame.constant = others(features, p);
  if (static_cast<Index>(frame.constant.size()) != p - a) return std::nullopt;  // a feature is named twice
  frame.features = std::move(features);
  return frame;
}

Framed make_frame(const MatrixView& Z, Index d1) {
  const Index p = Z.rows(), n = Z.cols();
  Framed result;
  Frame& frame = result.frame;
  std::array<OrderedTriangle, 2> triangles;
  for_both(std::max(d1, p - d1), [&](Index i) {
    triangles[static_cast<std::size_t>(i)] = ordered_triangle(Z, varying_rows(Z, i == 0 ? 0 : d1, i == 0 ? d1 : p));
  });
  std::vector<double> one_more;
  for (const auto i : {0U, 1U}) {
    auto& [order, P, independent] = triangles[i];
    // What is left of a determined feature is rounding, too little to divide by. G is kept from being singular as if
    // one more sample had 4 eps of the feature's size.
    for (Index j = 0; j < P.rows(); ++j) {
      one_more.push_back(j < independent ? 0 : std::pow(4 * kEpsilon / kDetermined, 2));
      if (j < independent) continue;
      const double size = P.col(j).head(j + 1).norm();
      P.row(j).setZero();
      P(j, j) = kDetermined * size;
    }
    frame.features.insert(frame.features.end(), order.begin(), order.end());
    frame.P[i] = linalg::TriangularSolver(std::move(P));
  }
  frame.constant = others(frame.features, p);

  result.G = Vector::Map(one_more.data(), frame.size()).asDiagonal();
  Matrix Y;
  for (Index first = 0; first < n; first += kColumns) {
    gather(frame, Z.middleCols(first, std::min(kColumns, n - first)), Vector::Zero(p), Y);
    frame.enter(Y);
    linalg::add_gram(result.G, Y);
  }
  return result;
}

FramedSamples enter_frame(const Frame& frame, const MatrixView& X, const Vector& mean, Matrix G) {
  const Index a = frame.size(), m = X.cols();
  std::vector<char> unlike(static_cast<std::size_t>(m));
  FramedSamples result{std::move(G), Vector::Zero(a), {}};
  Matrix Y;
  for (Index first = 0; first < m; first += kColumns) {
    const Index count = std::min(kColumns, m - first);
    gather(frame, X.middleCols(first, count), mean, Y);
    frame.enter(Y);
    by_columns(a, count, [&](Index from, Index some) {
      for (Index j = from; j < from + some; ++j) {
        const bool has_new = std::any_of(frame.constant.begin(), frame.constant.end(), [&](Index feature) {
          return std::abs(X(feature, first + j) - mean(feature)) > kNothing;
        });
        if (!has_new && Y.col(j).squaredNorm() <= kAlike) continue;  // nor where it is not finite
        Y.col(j).setZero();
        unlike[static_cast<std::size_t>(first + j)] = 1;
      }
    });
    linalg::add_gram(result.G, Y);
    result.sum += Y.rowwise().sum();
  }
  for (Index j = 0; j < m; ++j) {
    if (unlike[static_cast<std::size_t>(j)] != 0) result.unlike.push_back(j);
  }
  return result;
}

bool outgrown(const Matrix& G) {
  constexpr double most = 64;
  constexpr int steps = 6;  // of power iteration, which may miss a factor of 2
  if (G.size() == 0) return false;
  const auto whole = G.selfadjointView<Eigen::Upper>();
  Index axis = 0;
  G.diagonal().maxCoeff(&axis);
  Vector x = Vector::Unit(G.rows(), axis);
  double gain = 0;
  for (int k = 0; k < steps && !(gain > most); ++k) {
    x = whole * x;
    gain = x.norm();
    x /= gain;
  }
  return !(gain <= most);
}

Matrix triangular_root(Matrix G) {
  std::vector<Index> zero;
  for (Index j = 0; j < G.rows(); ++j) {
    if (G(j, j) == 0) zero.push_back(j);
  }
  for (const Index j : zero) G(j, j) = 1;
  Matrix K = linalg::cholesky(G);
  if (K.size() > 0) {
    for (const Index j : zero) K(j, j) = 0;
    return K;
  }
  for (const Index j : zero) G(j, j) = 0;
  auto [values, Q] = linalg::symmetric_eigen(G);
  for (const Index j : zero) Q.row(j).setZero();
  return linalg::triangular_factor(values.cwiseMax(0).cwiseSqrt().asDiagonal() * Q.transpose());
}

}  // namespace cgmca
