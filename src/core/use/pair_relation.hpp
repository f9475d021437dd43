// How the scores of a domain depend on those of its partners.
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/samples.hpp>
#include <vector>

namespace cgmca {

// Throws InvalidInput if a domain was whitened with a multiple of the identity alone.
void check_covariances_known(const Model& model);

// Samples of all domains without a known nuisance, whose values they have below their features; `own` holds what is new.
MatchedSamples without_nuisance(const Model& model, const MatchedSamples& X, std::vector<Matrix>& own);

// T_i (x_i - mean_i) of all domains. Throws WrongDimension, UnequalSamples or NotFinite.
ByDomain<Matrix> centred_scores(const Model& model, const MatchedSamples& X);

// t_J: the scores of all domains but one, one above the other.
Matrix scores_of_others(const ByDomain<Matrix>& scores, Domain domain);

// a = to_a t and b = to_b t_J have unit covariances and cross-covariance diag(s), descending, where s has as many
// entries as a and b have in common; further entries of a depend on nothing.
struct PairRelation {
  Matrix to_a, to_b;  // c×c; s.size()×Σ c_j
  Vector s;           // at most 1 - 1e-6, so that the densities exist
};
PairRelation relation_to_others(const Model& model, Domain domain);

// P(Σ s_j (V_j - U_j) > x) with independent χ² of one degree of freedom each, by Lugannani and Rice's saddlepoint: the
// distribution of the evidence against pairs that belong together.
double evidence_tail(double x, const Vector& s);

// p of the evidence against each pair, given the correlations s of its law (84): by that law, and such that of right
// pairs alone seldom any is on a list of this false discovery rate, also where tails are heavier than the law's.
struct EvidenceTails {
  Vector law, p;
};
EvidenceTails evidence_tails(const Vector& evidence, const Vector& s, double false_discovery_rate);

}  // namespace cgmca
