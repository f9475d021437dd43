// The fit of more than two domains: from whitened domains and prescribed covariances to the maps.
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/fit_options.hpp>
#include <cgmca/model.hpp>

#include "core/fit/solve.hpp"
#include "core/multi/match.hpp"

namespace cgmca::multi {

struct MatchedDomains {
  Solution solution;
  Matching matching;
  double scale;    // Σ_i deg_i tr C_i
  double min_gap;  // (39)
};

// One covariance a domain. Throws CommonDimension, Infeasible, or InvalidInput if a covariance is of two domains.
MatchedDomains match_domains(const Factors& factors, const std::vector<Covariance>& covariances, const Matrix& weights,
                             const MatchingOptions& options);

// The maps of a quick search, where many fits are compared: from the two starts that the data suggest, without a proof.
Solution match_quickly(const Factors& factors, const std::vector<Covariance>& covariances, const Matrix& weights);

// How good given maps A_i = M_i T_i are: the proof at the feasible point nearest to D_i = T_i L_i. Throws InvalidInput
// where the data have a lower rank than M_i.   M_i: k×c_i, T_i: c_i×d_i
OptimalityProof prove_maps(const Factors& factors, std::vector<Matrix> M, const std::vector<Matrix>& T,
                           const Matrix& weights);

// What is known of how good the maps are.
void state_proof(Certificate& certificate, const MatchedDomains& matched, double n);

}  // namespace cgmca::multi
