// The covariances prescribed for the domains of a fit. Those given by a rule are computed from the data.
#pragma once

#include <cgmca/covariance.hpp>
#include <string>
#include <vector>

#include "core/fit/factors.hpp"
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

// Canonical correlations this close are equal, and this small zero, to rounding. Those of a Gram summary err by
// eps·κ(Θ_i).
double tie_tolerance(const Factors& factors);

Index smallest_rank(const Factors& factors);  // min r_i

// C of domain `of`; `correlations` are those found, descending.                                                   (5)
PrescribedCovariance resolve(const Covariance& covariance, Domain of, const Factors& factors,
                             const Vector& correlations);
// Whether it is made from the spectrum of its domain.
bool uses_spectrum(const Covariance& covariance);
Index rank_of(const Covariance& covariance, const Factors& factors);

// The same of covariances whose rank is known before any work or memory is spent on them. Throws Infeasible.
void check_feasible(const std::vector<Covariance>& covariances, const Factors& factors);
// c_i <= r_i for all, and one k. Throws Infeasible or CommonDimension.                                             (6)
void check_feasible(const std::vector<PrescribedCovariance>& C, const Factors& factors);

}  // namespace cgmca
