// What a known nuisance adds to a translation.                                           docs/method.md section 14
#pragma once

#include <cgmca/translate.hpp>

namespace cgmca {

// The translation of samples with the values of a known nuisance below the others: [L, Γ_to] [R, -R Γ; 0, I]. Its error
// has a part of the effects, (z - z̄)ᵀ Θ_zz⁺ (z - z̄)/(n-1).                                                    (93) (94)
void add_nuisance(Translation& result, const Model& model, Domain to);

}  // namespace cgmca
