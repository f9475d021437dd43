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

// There is one covariance for each domain. Throws CommonDimension or Infeasible, and InvalidInput for a covariance that
// only two domains can have.
MatchedDomains match_domains(const WhitenedData& whitened, const std::vector<Covariance>& covariances,
                             const Matrix& edge_weights, const MatchingOptions& options);

// A quick search for comparing many fits: only from the two starts that the data suggest, and without a proof.
Solution match_quickly(const WhitenedData& whitened, const std::vector<Covariance>& covariances,
                       const Matrix& edge_weights);

// A bound on how good the maps A_i = M_i T_i are: the proof at the feasible point nearest to D_i = T_i L_i. Throws
// InvalidInput if the data have a lower rank than M_i.   M_i: k×c_i, T_i: c_i×d_i
OptimalityProof prove_maps(const WhitenedData& whitened, std::vector<Matrix> M, const std::vector<Matrix>& T,
                           const Matrix& edge_weights);

// Writes the proof into the certificate.
void state_proof(Certificate& certificate, const MatchedDomains& matched, double n);

}  // namespace cgmca::multi
