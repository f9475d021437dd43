// A few leading singular triplets of a large matrix, proven to be the leading ones.
#pragma once

#include <optional>

#include "core/linalg/backend.hpp"

namespace cgmca::linalg {

// At least `wanted` + 1 leading triplets of B, and all that are within 16·`tie` of the last of them; U, s and V have as
// many columns and entries. As accurate as those of an SVD: ‖B v - σ u‖ and ‖Bᵀ u - σ v‖ are rounding errors of σ_1.
// Returns nothing if that takes more than a third of B's dimensions, if the values do not end with a gap, or if it cannot
// be proven that none was missed.
//
// Block Lanczos bidiagonalization (Golub and Kahan) with both bases kept orthonormal: B V = Q R, Bᵀ Q = V Rᵀ + what the
// next block of V is made of. The proof: with θ between σ_w and what follows it, θ² I + V Σ² Vᵀ - BᵀB has a Cholesky
// factor, so BᵀB is below a matrix of which all but w eigenvalues are θ², and w values of B at most exceed θ.
std::optional<ArraySvd> leading_triplets(const Array& B, Index wanted, double tie);

}  // namespace cgmca::linalg
