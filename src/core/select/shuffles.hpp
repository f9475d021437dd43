// Pairs that have nothing to do with each other, made of pairs that may have.
#pragma once

#include <cgmca/random.hpp>
#include <cgmca/types.hpp>
#include <cstdint>
#include <vector>

namespace cgmca {

// The rows of Y in another order.
Matrix in_order(const Matrix& Y, const std::vector<std::uint32_t>& order);

// Y_i with the rows of all domains but the first shuffled, each domain independently.
std::vector<Matrix> shuffled(std::vector<Matrix> Y, random_numbers::Stream& random);

// Q_i Y_i, Y_i: r_i×p_i, with random frames of m dimensions.
std::vector<Matrix> rotated(std::vector<Matrix> Y, random_numbers::Stream& random, double m);

}  // namespace cgmca
