// The leading part of a symmetric eigenproblem.
#pragma once

#include "core/linalg/linalg.hpp"

namespace cgmca::linalg {

// Only the `count` largest eigenvalues and their vectors, which costs a third where they are few.
SymmetricEigen symmetric_eigen_largest(const MatrixView& A, Index count);

}  // namespace cgmca::linalg
