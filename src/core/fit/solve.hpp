// Algorithm 1 from its second step on: from two whitened domains to the two maps (docs/method.md section 2).
#pragma once

#include <cgmca/covariance.hpp>
#include <string>
#include <vector>

#include "core/fit/factors.hpp"
#include "core/fit/prescribed.hpp"
#include "core/linalg/backend.hpp"

namespace cgmca {

// A_i = M_i T_i and what belongs to it, in the memory of the back end.
struct SolvedMap {
  PrescribedCovariance C;
  linalg::Array weights;   // T_iᵀ: d_i×c_i                                                                      (11)
  linalg::Array mixing;    // M_i: k×c_i                                                                         (12)
  linalg::Array loadings;  // P_i: d_i×q_i                                                                       (16)
  std::vector<linalg::Array> cross_loadings;  // of more than two domains: Cov(x_i, t_j), d_i×c_j, none for itself (40)
  bool only_scales = false;                   // M_i = diag(C.s)
};
struct Solution {
  std::vector<SolvedMap> maps;
  Vector singular_A, singular_B;                       // of two domains
  std::vector<std::vector<Matrix>> score_covariances;  // of more: R_ij, i < j                                    (40)
};

// B = Ū_B Σ_B V̄_Bᵀ, thin: at least as many vectors as the covariances ask for, all equally correlated ones included.
// It has all singular values; if few directions of a large B are needed, only theirs and the next. For a saturated fit
// B is known to be I.
struct CrossSvd {
  linalg::ArraySvd svd;
  std::string route;  // what ran
};
CrossSvd svd_of_cross_matrix(const Factors& factors, const Covariance& c1, const Covariance& c2);

// Throws CommonDimension, or Infeasible if C_i has a higher rank than domain i.
Solution solve(const Factors& factors, const linalg::ArraySvd& svd, const Covariance& c1, const Covariance& c2);

}  // namespace cgmca
