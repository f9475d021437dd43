// The proof that a fit's maps are the ones asked for, computed from the finished maps.
#pragma once

#include "factor.hpp"
#include "solve.hpp"

namespace cgmca {

void certify(Solution& solution, const Factors& factors);

}  // namespace cgmca
