// A frame for features that are nearly independent once each has unit size: P = [D C; 0 T].        docs/method.md (27')
//
// D holds the sizes of the strong features, which the others explain at most in part. The few weak features, which the
// others explain nearly or wholly, are regressions on the strong ones (C) and a small triangle (T). Samples enter the
// frame by a scaling and a narrow product. A whole triangle would take as long as the Gram matrix.
#pragma once

#include <memory>
#include <optional>

#include "core/linalg/backend.hpp"
#include "core/summary/deviations.hpp"

namespace cgmca {

// A triangular factor P of the features of a domain, and their order in it: those that others determine come last,
// because the direction that rounding gave them must not be used to explain features after them.
struct OrderedTriangle {
  linalg::Indices order;
  linalg::Array P;
  Index independent;     // the others are determined by these
  Index diagonal = 0;    // the first rows of P in which these features have nothing beside the diagonal
  linalg::Array gram{};  // G of these, upper triangle; empty if there are none
};

// The triangle of the features named, from their Gram matrix: scaled if that makes G well conditioned and most of P
// diagonal, otherwise the Cholesky factor. Nothing if that is not safe, because features depend on each other.
// `products`: the upper triangle of Z Zᵀ of all features, or empty.
std::optional<OrderedTriangle> triangle_by_products(const Deviations& Z, const linalg::Indices& features,
                                                    const linalg::Array& products);

// Solves with P = [D C; 0 T], of which D has `diagonal` rows.
std::shared_ptr<const linalg::ArraySolver> frame_solver(const linalg::Array& P, Index diagonal);

}  // namespace cgmca
