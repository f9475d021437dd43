// What is the same for every back end.
#include "core/linalg/backend.hpp"

#include <algorithm>
#include <cmath>

#include "core/linalg/lapack.hpp"

namespace cgmca::linalg {

Array Backend::identity(Index m, Index n) const {
  const Array A = zeros(m, n);
  const Index size = std::min(m, n);
  if (size > 0) assign_diagonal(A.block(0, 0, size, size), Vector::Ones(size));
  return A;
}

void Backend::add_outer(const Array& A, const Vector& x, const Vector& y, double weight) const {
  if (!A.empty()) add_ABt(A, upload(weight * x), upload(y));
}

double Backend::squared_norm(const Array& A) const { return A.empty() ? 0 : column_squared_norms(A).sum(); }

Array moved_to(const Backend& on, const Array& A) { return &A.on() == &on ? A : on.upload(download(A)); }

Matrix affine(const Backend& on, const MatrixView& A, const MatrixView& B, const MatrixView& X, const Vector& x0,
              const Vector& y0) {
  if (!on.remote()) return affine(A, B, X, x0, y0);
  require(A.cols() == B.rows() && B.cols() == X.rows() && X.rows() == x0.size() && A.rows() == y0.size(),
          "an affine map with shapes that do not fit");
  constexpr Index columns = 8192;
  const Array left = on.upload(A), right = on.upload(B);
  const Vector none = Vector::Zero(x0.size());
  Matrix Y(A.rows(), X.cols());
  for (Index first = 0; first < X.cols(); first += columns) {
    const Index count = std::min(columns, X.cols() - first);
    const Array part = on.AB(left, on.AB(right, on.load({SampleView(X)}, first, count, x0, none)));
    on.add_outer(part, y0, Vector::Ones(count), 1);
    Y.middleCols(first, count) = on.download(part);
  }
  return Y;
}

bool condition_is_at_most(const Array& G, double limit) {
  constexpr int steps = 6;  // of power iteration, which may miss a factor of 2
  const Backend& on = G.on();
  if (G.empty()) return true;
  Vector x = Vector::LinSpaced(G.rows(), 1, 2).normalized();
  double largest = 0;
  for (int k = 0; k < steps; ++k) {
    x = on.symmetric_times(G, x);
    largest = x.norm();
    if (!(largest > 0) || !std::isfinite(largest)) return false;
    x /= largest;
  }
  const Array shifted = on.copy(G);
  on.add_diagonal(shifted, Vector::Constant(G.rows(), -largest / limit));
  return !on.cholesky(shifted).empty();
}

Array beside(const Array& A, const Array& B) {
  const Array both = A.on().zeros(A.rows(), A.cols() + B.cols());
  A.on().assign(both.left(A.cols()), A);
  A.on().assign(both.right(B.cols()), B);
  return both;
}

}  // namespace cgmca::linalg
