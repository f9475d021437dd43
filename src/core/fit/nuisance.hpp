// What a nuisance explains of the other domains, and what it leaves.                       docs/method.md section 14
#pragma once

#include <cgmca/fit_options.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <optional>
#include <vector>

#include "core/data/weights.hpp"

namespace cgmca {

bool has_nuisance(const Summary& summary);      // whether its last domain is one
Index matched_domains(const Summary& summary);  // those beside the nuisance

// Samples that have the means of those summed up, and their covariance given the nuisance: of as many degrees of freedom
// as that leaves. A fit to them is the fit without the nuisance.                                             (91) (92)
struct WithoutNuisance {
  Nuisance nuisance;
  ByDomain<Matrix> X;  // d_i×N, one a domain. If the maps shall be blind, only what lies outside the range of Γ_i
  Vector weights;      // empty: 1 each
  ByDomain<Matrix> E;  // for blind maps: E_i E_jᵀ is the whole Θ_ij given the nuisance
  ByDomain<Vector> variance;     // likewise: Θ_ff of each feature, the part that the nuisance explains included
  Vector spread;                 // standard deviations of the nuisance's values
  ByDomain<Matrix> range;        // likewise: an orthonormal basis of the range of Γ_i
  std::vector<DomainInfo> info;  // of the domains, without the nuisance
  double total_weight = 0;       // n
  Index samples = 0;             // summed up
  std::optional<double> samples_residual;  // of the summary, the nuisance included

  Summary summary() const;  // of X
};
// Throws InvalidInput or TooFewSamples.
WithoutNuisance without_nuisance(const Summary& summary, const DataOptions& options);
// The same of samples, the last domain being the nuisance. X_i are then nearly the samples themselves, and exchangeable
// if their parts without the nuisance are.
WithoutNuisance without_nuisance(const WeightedSamples& samples);

// Of blind maps: what the variances of x_i have beyond those of X_i; and Cov(x_i, t_j), given t_j of E_j.
Vector added_variance(const WithoutNuisance& without, std::size_t i);
Matrix cross_covariance(const WithoutNuisance& without, std::size_t i, const Matrix& scores);

// Makes the model of such samples one of the samples that were summed up.                                  (93) (94)
void add_nuisance(Model& model, const WithoutNuisance& without);

}  // namespace cgmca
