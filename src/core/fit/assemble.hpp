// A model from the maps that were solved for.
#pragma once

#include <cgmca/model.hpp>

#include "core/fit/solve.hpp"

namespace cgmca {

// Everything but the certificate, of which singular_A and singular_B are filled in.
Model assemble(const Solution& solution, const WhitenedData& whitened);

}  // namespace cgmca
