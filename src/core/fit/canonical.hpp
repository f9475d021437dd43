// One answer among the many optimal ones of more than two domains (docs/method.md section 8).
//
// Turning the common space by an orthogonal Q with Q C_i Qᵀ = C_i for every i takes optimal maps to optimal maps. Such
// a Q is chosen here by rules stated in the coordinates of the data, which treat all domains alike.
#pragma once

#include <vector>

#include "core/fit/whitened_data.hpp"
#include "core/multi/problem.hpp"

namespace cgmca::multi {

// Maps A_i = M_i D_i W_i in that form.
struct CanonicalForm {
  std::vector<Matrix> M;          // k×c_i, M_i M_iᵀ = C_i
  Point D;                        // c_i×r_i
  std::vector<linalg::Array> Tt;  // T_iᵀ = W_iᵀ D_iᵀ: d_i×c_i
  std::vector<linalg::Array> P;   // P_i = L_i D_iᵀ: d_i×c_i
  double min_gap = 1;             // of the merits λ that order directions free to turn                      (39)
};

// `basis` (k×k') has orthonormal columns: the problem's common space is a part of the whole one.
CanonicalForm canonical_form(const MatchingProblem& problem, const Point& D, const WhitenedData& whitened,
                             const Matrix& basis);

}  // namespace cgmca::multi
