// Algorithm 1 from its second step on: from the factors of the data to the two maps (docs/method.md section 2).
#pragma once

#include <array>
#include <cgmca/covariance.hpp>
#include <cgmca/model.hpp>

#include "factor.hpp"
#include "linalg.hpp"

namespace cgmca {

struct Solution {
  Model model;                          // its certificate is not filled in but for singular_A and singular_B
  std::array<Covariance::Factor, 2> C;  // what was prescribed
};

// B = Ū_B Σ_B V̄_Bᵀ, thin. Of a saturated fit B may be known to be I.
linalg::Svd svd_of_cross_matrix(const Factors& factors);

// `svd` is the thin SVD of factors.B, which serves any number of covariances.
// Throws CommonDimension, or Infeasible where C_i has a higher rank than domain i.
Solution solve(const Factors& factors, const linalg::Svd& svd, const Covariance& c1, const Covariance& c2);

}  // namespace cgmca
