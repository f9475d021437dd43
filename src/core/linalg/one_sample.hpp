// Affine maps of one sample into the caller's memory.
//
// Nothing is allocated once the thread has had samples as large, and no other thread is woken, as BLAS might. Everything
// is computed in doubles.
#pragma once

#include <cgmca/types.hpp>

namespace cgmca::linalg {

// Memory for `size` doubles that belongs to the calling thread; the next call with the same `which` (0, 1, 2) overwrites
// it.
Eigen::Map<Vector> scratch(std::size_t which, Index size);

// B (x - x0), in scratch 0.   B: c×d, x: d
template <class Scalar>
Eigen::Map<Vector> product_with(const Matrix& B, const Vector& x0, const Scalar* x) {
  Eigen::Map<Vector> centred = scratch(1, x0.size()), product = scratch(0, B.rows());
  centred = Eigen::Map<const Eigen::Vector<Scalar, Eigen::Dynamic>>(x, x0.size()).template cast<double>() - x0;
  product.noalias() = B * centred;
  return product;
}

// y = A B (x - x0) + y0.   A: m×c, B: c×d, x: d, y: m; an empty y0 is 0
template <class Scalar>
void affine_into(const Matrix& A, const Matrix& B, const Vector& x0, const Vector& y0, const Scalar* x, Scalar* y) {
  const Eigen::Map<Vector> inner = product_with(B, x0, x);
  Eigen::Map<Vector> sum = scratch(1, A.rows());
  if (y0.size() > 0) {
    sum = y0;
  } else {
    sum.setZero();
  }
  sum.noalias() += A * inner;
  Eigen::Map<Eigen::Vector<Scalar, Eigen::Dynamic>>(y, A.rows()) = sum.template cast<Scalar>();
}

}  // namespace cgmca::linalg
