// Digits drawn here, for where no data set can be had: ten classes of strokes whose points, slant, size, place and
// thickness vary at random. They show the method at work; they are no benchmark.
#pragma once

#include <cstdint>

#include "experiments/dataset.hpp"

namespace cgmca::experiments {

// per_class images of 28×28 of each digit, class after class.
Dataset draw_digits(std::uint32_t per_class, std::uint64_t seed);

}  // namespace cgmca::experiments
