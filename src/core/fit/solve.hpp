// Algorithm 1 from its second step on: from two whitened domains to the two maps (docs/method.md section 2).
#pragma once

#include <cgmca/covariance.hpp>
#include <string>
#include <vector>

#include "core/fit/prescribed.hpp"
#include "core/fit/whitened_data.hpp"
#include "core/linalg/backend.hpp"

namespace cgmca {

// A_i = M_i T_i and what belongs to it, in the memory of the back end.
struct SolvedMap {
  PrescribedCovariance C;
  linalg::Array Tt;  // T_iᵀ: d_i×c_i                                                                      (11)
  linalg::Array M;   // M_i: k×c_i                                                                         (12)
  linalg::Array P;   // P_i: d_i×q_i                                                                       (16)
  ByDomain<linalg::Array> cross_loadings;  // of more than two domains: Cov(x_i, t_j), d_i×c_j, none for itself (40)
  bool only_scales = false;                // M_i = diag(C.s)
};
struct Solution {
  ByDomain<SolvedMap> maps;
  Vector singular_A, singular_B;                 // of two domains
  ByDomain<ByDomain<Matrix>> score_covariances;  // of more: R_ij, i < j                                    (40)
};

// B = Ū_B Σ_B V̄_Bᵀ, thin. It has as many vectors as the covariances need, and those of equal singular values. It has all
// singular values, but if few directions of a large B are needed, only theirs and the next one. For a saturated fit B is
// known to be I.
struct CrossSvd {
  linalg::ArraySvd svd;
  std::string route;  // what ran
};
CrossSvd svd_of_cross_matrix(const WhitenedData& whitened, const Covariance& c1, const Covariance& c2);

// Throws CommonDimension, or Infeasible if C_i has a higher rank than domain i.
Solution solve(const WhitenedData& whitened, const linalg::ArraySvd& svd, const Covariance& c1, const Covariance& c2);

}  // namespace cgmca
