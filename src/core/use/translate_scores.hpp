// The canonical scores of several domains together, and which domains a sample has.
#pragma once

#include <cgmca/model.hpp>
#include <map>
#include <vector>

namespace cgmca {

// K = Cov(t_J) of the scores of the domains J, one above the other, as the fit has it: I of a domain's own, R_jl
// between two. (40)
Matrix joint_covariance(const Model& model, const std::vector<Domain>& J);

// G = Cov(t_J) among the n matched samples: K but for ridges, by which Cov(t_j) = T Θ Tᵀ = (I - β T Tᵀ)/α.   (29) (42)
Matrix sample_covariance(const Model& model, const std::vector<Domain>& J);

// Θ_ff of the samples; the model keeps that of Θ̃ = α Θ + β I (24). A variance below 1e-9 β is lost in the rounding of
// that sum, and is NaN.
Vector sample_variance(const Model& model, Domain domain);

// Cov(x, t) among the samples; of a domain's own scores P = Θ̃ Tᵀ gives Θ Tᵀ = (P - β Tᵀ)/α.
Matrix sample_loadings(const Model& model, Domain features, Domain scores);

// K⁺ X. Eigenvalues count as zero if they are negative, which correlations above 1 cause, or no more than rounding of
// the largest.
Matrix divided_by(const Matrix& K, const Matrix& X);

// Throws InvalidInput if no domain is given or one is given twice, UnequalSamples, WrongDimension or MissingDomain.
void check_present(const Model& model, const std::vector<DomainSamples>& given);

// Samples by the domains they have. Throws NotFinite for infinity, InvalidInput where a sample has no domain.
std::map<std::vector<Domain>, std::vector<Index>> by_presence(const std::vector<DomainSamples>& given);

}  // namespace cgmca
