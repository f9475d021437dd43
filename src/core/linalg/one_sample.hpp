// Affine maps into the caller's memory: of one sample, and of many.
//
// Nothing is allocated once the thread has had as much. Everything is computed in doubles. For one sample no other thread
// is woken, as BLAS might.
#pragma once

#include <cgmca/types.hpp>
#include <utility>

namespace cgmca::linalg {

// Memory for `size` doubles that belongs to the calling thread; the next call with the same `which` (0 … 4) overwrites
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

// C = A B, in memory that is there.
void multiply_into(const MatrixView& A, const MatrixView& B, Eigen::Ref<Matrix> C);
// Whether A B is formed first in A B X, because that takes fewer operations for so many samples.
bool joined_first(const MatrixView& A, const MatrixView& B, Index samples);

constexpr Index kBlock = 4096;  // samples at a time, so that memory does not grow with their number

// Y = A B (X - x0 1ᵀ) + y0 1ᵀ, the bits of affine.   A: m×c, B: c×d, X: d×n, Y: m×n; an empty y0 is 0
void affine_block_into(const Matrix& A, const Matrix& B, const Vector& x0, const Vector& y0, const MatrixView& X,
                       Eigen::Ref<Matrix> Y);

// T = B (X - x0 1ᵀ) and G T, in the thread's memory.   B: c×d, G: c×c, X: d×n
std::pair<Eigen::Map<Matrix>, Eigen::Map<Matrix>> scores_and_product(const Matrix& B, const Vector& x0, const Matrix& G,
                                                                     const MatrixView& X);

}  // namespace cgmca::linalg
