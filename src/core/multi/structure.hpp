// How the matrices H_ij split when all covariances share their eigenvectors.
//
// Channel t stands for μ_t copies of one small set of matrices H_ij^t (c_it×c_jt):
//   H_ij = Σ_t Σ_a E_ita H_ij^t E_jtaᵀ,   a = 1 … μ_t,   E_ita: c_i×c_it, all columns of a domain orthonormal
// Identity covariances are one channel with c_it = 1 and μ = k; commuting ones have a channel with c_it = 1 (or 0,
// where C_i lacks the direction) for each set of equal directions; all others have one channel with c_it = c_i, E = I
// and μ = 1.
#pragma once

#include "core/multi/problem.hpp"

namespace cgmca::multi {

enum class Covariances { identity, commuting, general };

struct Channel {
  Index copies = 1;                                      // μ_t
  std::vector<std::vector<Matrix>> E;                    // [domain][copy]: c_i×c_it
  std::vector<std::vector<Matrix>> H;                    // [i][j], i < j: c_it×c_jt
  Index width(Index i) const { return E[i][0].cols(); }  // c_it
};

struct Structure {
  Covariances kind = Covariances::general;
  std::vector<Channel> channels;
  // The channels describe H to rounding only: no feasible D has a larger |f(D) - f of the channels(D)|.
  double error = 0;
};

Structure find_structure(const MatchingProblem& problem);
Structure general_structure(const MatchingProblem& problem);  // valid for all

// max_t Σ_i r_i c_it, the size of the largest matrix a proof needs.
Index largest_size(const MatchingProblem& problem, const Structure& structure);

}  // namespace cgmca::multi
