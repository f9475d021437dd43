// Whitening from a domain's samples, or from its covariance.
#pragma once

#include "core/fit/whitening.hpp"

namespace cgmca {

// What is asked of a domain's whitening.
struct WhiteningRequest {
  Domain domain;     // for messages
  Index samples;     // n: the rank is at most n - 1
  double tolerance;  // the rank counts s_j > tolerance · s_1, of features as they are or at unit size if that is more
  bool spectrum;     // whether the spectrum is needed; otherwise a triangle may do
  Vector mean;       // d: of the features, in whose rounding a feature may vary
};

// From S with S Sᵀ = Θ.
struct WhitenedSamples {
  WhitenedDomain domain;
  linalg::Array V;  // the samples whitened, one a row: W S = Vᵀ; empty where that is [I, 0]
  bool saturated =
      false;  // V holds the first n-1 columns of the reflection that takes the weights' roots to the last axis
};
// `weights`: where S are centred samples themselves, not pseudo-samples, those of its columns, so that Σ √w_j S_j = 0;
// else null. `order`: the features that vary, in an order in which Sᵀ is upper triangular; empty where there is none.
WhitenedSamples whiten_samples(const linalg::Array& S, const WhiteningRequest& request, const Vector* weights,
                               const linalg::Places& order);

// From Θ itself, summed in the Gram form. `known`: R with RᵀR = Θ, if it has been computed already.
WhitenedDomain whiten_gram(const linalg::Array& theta, const WhiteningRequest& request,
                           const linalg::ArrayTriangle& known);

}  // namespace cgmca
