// One answer among the many optimal ones (docs/method.md section 4).
//
// An SVD leaves open the sign of each pair of singular vectors and, where singular values are equal, the basis of the
// space they share. Both are settled here by rules stated in the coordinates of the data, so that the result does not
// depend on the order of the samples, the number of threads or the LAPACK in use.
#pragma once

#include <cgmca/types.hpp>
#include <functional>
#include <vector>

#include "core/linalg/backend.hpp"

namespace cgmca {

// Eᵀ H E for the columns E of a basis, where H orders directions by some merit.
using TieRule = std::function<linalg::Array(const linalg::Array& basis)>;

// Dᵀ diag(1 … 1/d) D, by which directions D (d×k) along earlier coordinates come first.
linalg::Array by_coordinate(const linalg::Array& directions);

// Within each run of singular values that differ by at most `tolerance` (absolute), rotates U and V together so that
// the sum of their first forms is diagonal and descending. Ties that remain are resolved by the second forms, and so
// on. Vectors of zero singular values, and those that complete a basis, are not paired: U and V are rotated separately.
void break_ties(linalg::ArraySvd& svd, double tolerance, const std::vector<TieRule>& left,
                const std::vector<TieRule>& right);

// The same for any number of bases that turn together, given the descending merits of their columns. bases[i] is
// changed in place and has the rules forms[i]; all have as many columns and as many rules.
void break_ties(const std::vector<linalg::Array>& bases, const Vector& merits, double tolerance,
                const std::vector<std::vector<TieRule>>& forms);

// The number of pairs (u_j, v_j) whose singular value is above `tolerance`. Later vectors are not paired.
Index paired(const Vector& s, double tolerance);

}  // namespace cgmca
