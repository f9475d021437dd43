// What the experiments draw random numbers for. Published figures depend on these values; the library's own purposes
// are other numbers (cgmca/random.hpp).
#pragma once

#include <cgmca/random.hpp>

namespace cgmca::experiments {

inline constexpr random_numbers::Purpose kSplit{1}, kNoise{2}, kDrawing{3};

}  // namespace cgmca::experiments
