#include "core/linalg/one_sample.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/linalg/linalg.hpp"

namespace cgmca::linalg {
namespace {

Eigen::Map<Matrix> scratch_matrix(std::size_t which, Index rows, Index columns) {
  return {scratch(which, rows * columns).data(), rows, columns};
}

// X - x0 1ᵀ, in scratch 0.
Eigen::Map<Matrix> centred(const MatrixView& X, const Vector& x0) {
  Eigen::Map<Matrix> result = scratch_matrix(0, X.rows(), X.cols());
  result = X.colwise() - x0;
  return result;
}

}  // namespace

Eigen::Map<Vector> scratch(std::size_t which, Index size) {
  thread_local std::array<std::vector<double>, 5> memory;
  std::vector<double>& own = memory[which];
  if (own.size() < static_cast<std::size_t>(size)) own.resize(size);
  return {own.data(), size};
}

void affine_block_into(const Matrix& A, const Matrix& B, const Vector& x0, const Vector& y0, const MatrixView& X,
                       Eigen::Ref<Matrix> Y) {
  const bool as_one = joined_first(A, B, X.cols());
  Eigen::Map<Matrix> both = scratch_matrix(3, as_one ? A.rows() : 0, as_one ? B.cols() : 0);
  if (as_one) multiply_into(A, B, both);
  for (Index first = 0; first < X.cols(); first += kBlock) {
    const Index count = std::min(kBlock, X.cols() - first);
    const Eigen::Map<Matrix> x = centred(X.middleCols(first, count), x0);
    if (as_one) {
      multiply_into(both, x, Y.middleCols(first, count));
    } else {
      Eigen::Map<Matrix> inner = scratch_matrix(1, B.rows(), count);
      multiply_into(B, x, inner);
      multiply_into(A, inner, Y.middleCols(first, count));
    }
    if (y0.size() > 0) Y.middleCols(first, count).colwise() += y0;
  }
}

std::pair<Eigen::Map<Matrix>, Eigen::Map<Matrix>> scores_and_product(const Matrix& B, const Vector& x0, const Matrix& G,
                                                                     const MatrixView& X) {
  Eigen::Map<Matrix> t = scratch_matrix(1, B.rows(), X.cols()), Gt = scratch_matrix(2, B.rows(), X.cols());
  multiply_into(B, centred(X, x0), t);
  multiply_into(G, t, Gt);
  return {t, Gt};
}

}  // namespace cgmca::linalg
