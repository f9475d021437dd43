// Samples that stand for what EM has found of incomplete ones.                             docs/method.md section 13
#pragma once

#include <cgmca/incomplete.hpp>
#include <optional>
#include <vector>

namespace cgmca {

// Samples of the mean and covariance that EM has found: μ ± a l_j for the columns l_j of L with L Lᵀ = Θ, a² = p (N-1)/N,
// of the weight N/(2p) each. A fit to them is the fit to the estimate.                                            (81)
struct Representatives {
  std::vector<Matrix> X;  // d_i×2p, one a domain
  Vector weights;
  std::vector<double> ridge;            // what Θ_i has of it on its diagonal
  std::vector<Vector> unseen_variance;  // what that adds to the variances of features outside the span of the samples
  std::vector<Index> samples;           // that have domain i
  Index steps = 0;                      // of EM
  std::optional<double> samples_residual;
};

Representatives representatives_of(const IncompleteSummary& summary, const PerDomain<Ridge>& ridge);

}  // namespace cgmca
