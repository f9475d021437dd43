// The covariances prescribed for the domains of a fit. Those given by a rule are computed from the data.
#pragma once

#include <cgmca/covariance.hpp>
#include <string>
#include <vector>

#include "core/fit/whitened_data.hpp"
#include "core/linalg/backend.hpp"

namespace cgmca {

// C = U diag(s²) Uᵀ, k×k of rank c.
struct PrescribedCovariance {
  linalg::Array U;  // k×c
  Vector s;
  std::string description;
  bool along_axes = false;  // U = I
};

inline constexpr bool kAlongAxes = true;

// Canonical correlations that differ by at most this are equal to rounding, and those up to this are zero. Correlations
// from a Gram summary have errors of eps·κ(Θ_i).
double tie_tolerance(const WhitenedData& whitened);

Index smallest_rank(const WhitenedData& whitened);  // min r_i

// C of domain `of`. `correlations`: the canonical correlations, descending.                                       (5)
PrescribedCovariance resolve(const Covariance& covariance, Domain of, const WhitenedData& whitened,
                             const Vector& correlations);
// Whether this covariance is computed from the spectrum of a domain.
bool uses_spectrum(const Covariance& covariance);
Index rank_of(const Covariance& covariance, const WhitenedData& whitened);

// Checks the covariances whose rank is known in advance, before time or memory is spent. Throws Infeasible.
void check_feasible(const std::vector<Covariance>& covariances, const WhitenedData& whitened);
// Checks that c_i <= r_i for all i and that k is the same. Throws Infeasible or CommonDimension.                  (6)
void check_feasible(const ByDomain<PrescribedCovariance>& C, const WhitenedData& whitened);

}  // namespace cgmca
