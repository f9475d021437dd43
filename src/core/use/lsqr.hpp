// LSQR (Paige and Saunders, 1982) for many right-hand sides at once, with the stopping rule of MATLAB's lsqr.
//
// Hand-written because the original results stopped where MATLAB's lsqr stops. Eigen's LeastSquaresConjugateGradient
// stops elsewhere, and it takes one right-hand side at a time, without matrix products.
#pragma once

#include <cgmca/lsqr.hpp>
#include <functional>

namespace cgmca {

// x ↦ A x and y ↦ Aᵀ y on many columns, for an A that need not exist as a matrix.   A: rows×columns
struct LinearOperator {
  Index rows, columns;
  std::function<Matrix(const MatrixView&)> apply, apply_transposed;

  static LinearOperator dense(const MatrixView& A);  // A must outlive the operator
  static LinearOperator product(const MatrixView& M,
                                const MatrixView& T);  // A = M T, multiplied out if that is cheaper
};

// Fills in MATLAB's default of min(rows, columns, 20) iterations. Throws InvalidInput for a negative tolerance or
// number of iterations.
LsqrOptions with_defaults(LsqrOptions options, Index rows, Index columns);

LsqrResult lsqr(const LinearOperator& A, const MatrixView& Y, const LsqrOptions& options);

}  // namespace cgmca
