// How much each sample counts: a weight of w is w copies of the sample.                      docs/method.md section 3
//
// With W = Σ w_j in place of n, the mean is Σ w_j x_j / W, and a sample of weight w_j is √w_j (x_j - mean) wherever Xc
// holds x_j - mean:  Xc Xcᵀ = Σ w_j (x_j - mean)(x_j - mean)ᵀ.
#pragma once

#include <cgmca/samples.hpp>
#include <cgmca/types.hpp>

#include "core/linalg/backend.hpp"

namespace cgmca {

struct WeightedSamples {
  MatchedSamples X;
  Vector weights;  // of each, above 0; empty if all are 1

  Index count() const { return X.front().cols(); }
  double total() const { return weights.size() == 0 ? static_cast<double>(count()) : weights.sum(); }  // W
  WeightedSamples columns(Index first, Index count) const;
};

// Checks that there is one weight for each of n samples, and that each is finite, not negative and not too large. Throws
// UnequalSamples or InvalidInput.
void check_weights(const VectorView& weights, Index n);

// The samples of a weight above 0; those that a remote back end holds are fetched if some are left out.
WeightedSamples weighted(const linalg::Backend& on, const MatchedSamples& X, const VectorView& weights);

Vector empty_if_ones(Vector weights);  // so that weights of 1 give the same bits as none

}  // namespace cgmca
