// The parts of the common space that every prescribed covariance maps into itself.
#pragma once

#include <vector>

#include "core/multi/problem.hpp"

namespace cgmca::multi {

struct CommonBlock {
  Matrix U;    // k×s, orthonormal columns
  bool turns;  // every C_i is a multiple of I here, so that any rotation leaves them all as they are; else only a sign
  std::vector<Matrix> F;  // [domain]: s×c_ib of orthogonal columns, F Fᵀ = Uᵀ C_i U; a_i I where the block turns
};

// They make up the whole space. Those of the largest mean variance come first, of equal ones those along earlier
// coordinates. `basis` has the coordinates of the whole common space as rows.
std::vector<CommonBlock> common_blocks(const MatchingProblem& problem, const Matrix& basis);

}  // namespace cgmca::multi
