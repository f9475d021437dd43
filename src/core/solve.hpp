// Algorithm 1 from its second step on: from the factors of the data to the two maps (docs/method.md section 2).
#pragma once

#include <array>
#include <cgmca/covariance.hpp>
#include <cgmca/model.hpp>

#include "factor.hpp"
#include "linalg/linalg.hpp"

namespace cgmca {

struct Solution {
  Model model;                          // its certificate is not filled in but for singular_A and singular_B
  std::array<Covariance::Factor, 2> C;  // what was prescribed
};

// B = Ū_B Σ_B V̄_Bᵀ, thin: all singular values, and at least as many vectors as the covariances ask for. Of a saturated
// fit B may be known to be I.
linalg::Svd svd_of_cross_matrix(const Factors& factors, const Covariance& c1, const Covariance& c2);

// Throws CommonDimension, or Infeasible where C_i has a higher rank than domain i.
Solution solve(const Factors& factors, const linalg::Svd& svd, const Covariance& c1, const Covariance& c2);

}  // namespace cgmca
