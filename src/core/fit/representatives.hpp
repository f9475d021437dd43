// Samples whose mean and covariance are those that EM has estimated from incomplete ones.  docs/method.md section 13
#pragma once

#include <cgmca/incomplete.hpp>
#include <optional>
#include <vector>

namespace cgmca {

// The samples μ ± a l_j with the columns l_j of L, L Lᵀ = Θ, and a² = p (N-1)/N, each of weight N/(2p). Their mean is μ
// and their covariance Θ, so that a fit to them is the fit to EM's estimate.                                      (81)
struct Representatives {
  std::vector<Matrix> X;  // d_i×2p, one a domain
  Vector weights;
  std::vector<double> ridge;            // the ridge on the diagonal of Θ_i
  std::vector<Vector> unseen_variance;  // the variance that the ridge adds outside the span of the samples
  std::vector<Index> samples;           // the number of those that have domain i
  Index steps = 0;                      // of EM
  std::optional<double> samples_residual;
};

Representatives representatives_of(const IncompleteSummary& summary, const PerDomain<Ridge>& ridge);

}  // namespace cgmca
