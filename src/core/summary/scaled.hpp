// A frame for features that are nearly independent once each has unit size: P = [D C; 0 T].        docs/method.md (27')
//
// A feature is strong if the others explain at most a part of it, and weak if they explain it nearly or wholly. D holds
// the sizes of the strong features. The few weak ones are regressions on the strong ones (C) and a small triangle (T).
// Samples enter the frame by a scaling and a narrow product. A whole triangle would take as long as the Gram matrix.
#pragma once

#include <memory>
#include <optional>

#include "core/linalg/backend.hpp"
#include "core/summary/deviations.hpp"

namespace cgmca {

// A triangular factor P of a domain's features, and their order in it. Features that others determine come last, because
// their direction is rounding and must not be used to explain other features.
struct OrderedTriangle {
  linalg::Indices order;
  linalg::Array P;
  Index independent;     // the others are determined by these
  Index diagonal = 0;    // the first rows of P in which these features have nothing beside the diagonal
  linalg::Array gram{};  // G of these, upper triangle; empty if there are none
};

// The triangle of the given features from their Gram matrix: a scaled one if G is then well conditioned and most of P is
// diagonal, otherwise the Cholesky factor. Returns nothing if neither is safe because features depend on each other.
// `products`: the upper triangle of Z Zᵀ of all features, or empty.
std::optional<OrderedTriangle> triangle_by_products(const Deviations& Z, const linalg::Indices& features,
                                                    const linalg::Array& products);

// Solves with P = [D C; 0 T], of which D has `diagonal` rows.
std::shared_ptr<const linalg::ArraySolver> frame_solver(const linalg::Array& P, Index diagonal);

}  // namespace cgmca
