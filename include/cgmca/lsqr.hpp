// LSQR on many right-hand sides at once (docs/method.md section 5).
#pragma once

#include <cgmca/types.hpp>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// LSQR as MATLAB's lsqr runs and stops it.
struct LsqrOptions {
  double tolerance = 1e-6;
  Index iterations = 0;  // at most; 0: min(k, d, 20)
};
struct LsqrResult {
  Matrix X;                       // the last iterate for each right-hand side
  std::vector<Index> iterations;  // done for each
  std::vector<bool> converged;
};
// min ‖A x_j - y_j‖ for all columns y_j of Y at once, each stopping on its own.   A: k×d, Y: k×n,
// X: d×n
LsqrResult lsqr(const MatrixView& A, const MatrixView& Y, const LsqrOptions& options = {});

}  // namespace cgmca
#pragma GCC visibility pop
