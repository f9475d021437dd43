// What a model holds beside its maps, compared with what the samples say.
#pragma once

#include <cgmca/verify.hpp>
#include <vector>

#include "core/fit/whitened_data.hpp"

namespace cgmca {

// The differences of a model's claims from what follows from its maps A_i = M_i T_i and the data. `plain`: the factors of
// the samples; `whitened`: regularized as the model says, within its ranks; `found`: what the maps attain.
std::vector<Claim> compare_claims(const Model& model, const WhitenedData& plain, const WhitenedData& whitened,
                                  const Verification& found);

}  // namespace cgmca
