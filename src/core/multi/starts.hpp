// Points to ascend from.
#pragma once

#include <cstdint>

#include "core/multi/problem.hpp"

namespace cgmca::multi {

// The leading eigenvectors of [w_ij B_ij], cut into blocks E_i:  D_i = polar(F_iᵀ F̄ E_iᵀ), F̄ F̄ᵀ = Σ_i deg_i C_i.
Point spectral_start(const MatchingProblem& problem);

// The pair of domains that can add most to f by Algorithm 1; then each further one by a polar step against those
// placed.
Point tree_start(const MatchingProblem& problem);

// D_i = polar of normal numbers, which is uniform.
Point random_start(const MatchingProblem& problem, std::uint64_t seed, std::uint32_t number);

}  // namespace cgmca::multi
