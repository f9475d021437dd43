// Parts of a spectrum, at a fraction of the cost of all of it.
#pragma once

#include <functional>
#include <optional>

#include "core/linalg/linalg.hpp"

namespace cgmca::linalg {

// All eigenvalues of symmetric A (upper triangle read), descending, and the vectors of the first wanted(values) of
// them, which costs a third where they are few. Nothing if these vectors do not converge or are not orthonormal to
// rounding.
using CountOf = std::function<Index(const Vector& values)>;
std::optional<SymmetricEigen> leading_eigen(const MatrixView& A, const CountOf& wanted);

// λ_max <= largest and λ_min >= smallest of symmetric A (upper triangle read), mostly within a sixth, proven by
// Cholesky factorizations of largest I - A and A - smallest I: a fraction of what the eigenvalues cost. λ_min is known
// to be at least `known`, which may be 0. Where largest > most · smallest they are estimates, but that λ_max > most ·
// λ_min is certain.
SpectrumBounds spectrum_bounds(const MatrixView& A, double known, double most);

}  // namespace cgmca::linalg
