// Algorithm 1 from its second step on: from two whitened domains to the two maps (docs/method.md section 2).
#pragma once

#include <array>
#include <cgmca/covariance.hpp>
#include <string>

#include "linalg/backend.hpp"
#include "whitening/factors.hpp"

namespace cgmca {

// C = U diag(s²) Uᵀ, k×k of rank c: what is prescribed, looked up in the data where it is left to them.
struct PrescribedCovariance {
  linalg::Array U;  // k×c
  Vector s;
  std::string description;
};

// A_i = M_i T_i and what belongs to it, where the factors are kept.
struct SolvedMap {
  PrescribedCovariance C;
  linalg::Array weights;   // T_iᵀ: d_i×c_i                                                                      (11)
  linalg::Array mixing;    // M_i: k×c_i                                                                         (12)
  linalg::Array loadings;  // P_i: d_i×q_i                                                                       (16)
};
struct Solution {
  std::array<SolvedMap, 2> maps;
  Vector singular_A, singular_B;
};

// B = Ū_B Σ_B V̄_Bᵀ, thin: all singular values, and at least as many vectors as the covariances ask for. Of a saturated
// fit B is known to be I.
struct CrossSvd {
  linalg::ArraySvd svd;
  std::string route;  // what ran
};
CrossSvd svd_of_cross_matrix(const Factors& factors, const Covariance& c1, const Covariance& c2);

// Throws CommonDimension, or Infeasible where C_i has a higher rank than domain i.
Solution solve(const Factors& factors, const linalg::ArraySvd& svd, const Covariance& c1, const Covariance& c2);

}  // namespace cgmca
