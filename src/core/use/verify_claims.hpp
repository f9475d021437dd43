// Everything that a model holds beside its maps, compared with the samples.
#pragma once

#include <cgmca/verify.hpp>
#include <vector>

#include "core/fit/whitened_data.hpp"

namespace cgmca {

// The differences of a model's claims from what follows from its maps A_i = M_i T_i and the data. `plain`: the whitened
// samples; `whitened`: the same, regularized and truncated as the model says; `found`: what the maps attain.
std::vector<Claim> compare_claims(const Model& model, const WhitenedData& plain, const WhitenedData& whitened,
                                  const Verification& found);

// How much more than the tolerance claims may differ because of rounding: 1, or more where samples are ill-conditioned.
double claim_noise(const Model& model, const WhitenedData& plain);

}  // namespace cgmca
