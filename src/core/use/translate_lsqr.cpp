#include "core/use/translate_lsqr.hpp"

#include <cgmca/parallel.hpp>

#include <algorithm>
#include <utility>

#include "core/linalg/linalg.hpp"
#include "core/use/lsqr.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::Array;

// LSQR on A x = z + A mean with A = M T. (19)
//
// Its iterates do not depend on the orthonormal bases in which A is written. With A = P Bᵀ Qᵀ, B upper bidiagonal, they
// are x = Q x̃, where x̃ are those for the system Bᵀ x̃ = Pᵀ y: for many samples P and Q cost less than the products with
// A that they save. What of y no x can reach, y - P Pᵀ y, is kept as one more equation 0 = ‖y - P Pᵀ y‖, since the
// stopping rule looks at the whole residual.
struct BidiagonalSystem {
  Array P, Q;              // k×c, d×c
  Vector diagonal, above;  // of B: c, c - 1

  // Bᵀ and the equation for the part of y that no x can reach.
  LinearOperator reduced() const {
    const Index c = diagonal.size();
    return {c + 1, c,
            [this, c](const MatrixView& X) {
              Matrix result = Matrix::Zero(c + 1, X.cols());
              result.topRows(c) = diagonal.asDiagonal() * X;
              result.middleRows(1, c - 1) += above.asDiagonal() * X.topRows(c - 1);
              return result;
            },
            [this, c](const MatrixView& U) -> Matrix {
              Matrix result = diagonal.asDiagonal() * U.topRows(c);
              result.topRows(c - 1) += above.asDiagonal() * U.middleRows(1, c - 1);
              return result;
            }};
  }
};

// M = Q_M R, (R T)ᵀ = Q B P'ᵀ, P = Q_M P': c rows instead of k, without the columns of T that are zero.
BidiagonalSystem reduce(const linalg::Backend& on, const DomainMap& map) {
  linalg::Indices used;
  for (Index j = 0; j < map.features(); ++j) {
    if (map.weights.col(j).any()) used.push_back(j);
  }
  if (on.remote()) {  // by the SVD, which is such a form too
    const linalg::ArrayQr qr = on.thin_qr(on.upload(map.mixing));
    linalg::ArraySvd svd = on.thin_svd(on.AB(qr.R, on.upload(map.weights(Eigen::all, used))));
    const Index c = svd.s.size();
    return {on.AB(qr.Q, svd.U), on.scatter_rows(svd.V, used, map.features()), std::move(svd.s), Vector::Zero(c - 1)};
  }
  // The cheaper of two computations, because there may be few samples for a large map.
  linalg::Qr qr = linalg::thin_qr(map.mixing);
  Matrix product = linalg::upper_times(qr.R, map.weights(Eigen::all, used));
  qr.R.resize(0, 0);
  Matrix tall = product.transpose();
  product.resize(0, 0);
  linalg::Bidiagonal form = linalg::bidiagonal(std::move(tall));
  constexpr Index rows = 64;
  for (Index first = 0; first < qr.Q.rows(); first += rows) {
    auto some = qr.Q.middleRows(first, std::min(rows, qr.Q.rows() - first));
    some = linalg::AB(some, form.V).eval();
  }
  form.V.resize(0, 0);
  const Array P = on.upload(std::move(qr.Q)), U = on.upload(std::move(form.U));
  return {P, on.scatter_rows(U, used, map.features()), std::move(form.diagonal), std::move(form.above)};
}

}  // namespace

Matrix by_lsqr(const linalg::Backend& on, const DomainMap& map, Index n, const Points& points,
               const LsqrOptions& options) {
  const Index k = map.mixing.rows(), d = map.features(), c = map.scores();
  const LsqrOptions settled = with_defaults(options, k, d);
  const Vector shift = AB(map.mixing, AB(map.weights, map.mean));
  if (n * settled.iterations < 4 * c) {  // P and Q cost about as much as 4 c products with A and Aᵀ
    return lsqr(LinearOperator::product(map.mixing, map.weights), points(Index{0}, n).colwise() + shift, settled).X;
  }
  Matrix X(d, n);  // first: what reduce() gives back then serves what follows
  const BidiagonalSystem system = reduce(on, map);
  const LinearOperator reduced = system.reduced();
  const auto solve = [&](Index first, Index count) {
    const Matrix Y = points(first, count).colwise() + shift;
    const Array reached = on.AtB(system.P, on.upload(Y));
    const Matrix back = on.download(on.AB(system.P, reached));
    Matrix rotated(c + 1, count);
    rotated.topRows(c) = on.download(reached);
    rotated.row(c) = (Y - back).colwise().norm();
    X.middleCols(first, count) = on.download(on.AB(system.Q, on.upload(lsqr(reduced, rotated, settled).X)));
  };
  if (on.remote()) {
    constexpr Index columns = 4096;
    for (Index first = 0; first < n; first += columns) solve(first, std::min(columns, n - first));
  } else {
    constexpr Index columns = 32;  // at a time: bounds memory, and stays within the cache
    parallel_for((n + columns - 1) / columns,
                 [&](Index part) { solve(part * columns, std::min(columns, n - part * columns)); });
  }
  return X;
}

}  // namespace cgmca
