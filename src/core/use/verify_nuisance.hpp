// What a model with a nuisance attains on samples, the values of the nuisance included.
#pragma once

#include <cgmca/verify.hpp>

namespace cgmca {

// The nuisance is removed from the samples anew, and the model is held against what that leaves.
Verification verify_without_nuisance(const Model& model, const Summary& samples);

}  // namespace cgmca
