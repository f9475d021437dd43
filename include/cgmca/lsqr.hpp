// LSQR on many right-hand sides at once (docs/method.md section 5).
//
// Example:
//   const LsqrResult result = lsqr(model.domain(Domain::one).matrix(), apply(model, Domain::two, X2));
//   std::cout << result.iterations[0] << " steps for the first sample\n";
#pragma once

#include <cgmca/types.hpp>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// When LSQR stops; the defaults are those of MATLAB's lsqr.
struct LsqrOptions {
  // The tolerance of MATLAB's two rules, on the residual and on that of the normal equations. At least eps is used.
  double tolerance = 1e-6;
  Index iterations = 0;  // at most; 0: min(k, d, 20)
};
// The result for each right-hand side.
struct LsqrResult {
  Matrix X;                       // d×n: the last iterate for each right-hand side
  std::vector<Index> iterations;  // n: steps done for each
  std::vector<bool> converged;    // n: whether the tolerance was reached
};
// Minimizes ‖A x_j - y_j‖ for all columns y_j of Y at once; each stops by itself.   A: k×d, Y: k×n, X: d×n. Throws
// WrongDimension, or InvalidInput for a negative tolerance or number of steps.
LsqrResult lsqr(const MatrixView& A, const MatrixView& Y, const LsqrOptions& options = {});

}  // namespace cgmca
#pragma GCC visibility pop
