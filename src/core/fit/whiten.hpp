// Whitening from a domain's root S.
#pragma once

#include "core/fit/whitening.hpp"

namespace cgmca {

// What the whitening of a domain has to achieve.
struct WhiteningRequest {
  Domain domain;     // for messages
  Index samples;     // n: the rank is at most n - 1
  double tolerance;  // the rank counts s_j > tolerance · s_1, of features as they are or at unit size if that is more
  bool spectrum;     // whether the spectrum is needed; otherwise a triangle suffices if it is as accurate
  Vector mean;       // d: of the features; one that varies only by the rounding of its mean does not count
};

// From S with S Sᵀ = Θ.
struct WhitenedSamples {
  WhitenedDomain domain;
  linalg::Array V;  // the samples whitened, one a row: W S = Vᵀ; empty if that is [I, 0]
  bool saturated =
      false;  // V holds the first n-1 columns of the reflection that takes the weights' roots to the last axis
};
// `weights`: the weights of the columns of S if these are centred samples, Σ √w_j S_j = 0; null for another root.
// `order`: the features that vary, in an order in which Sᵀ is upper trapezoidal; empty if there is no such order.
WhitenedSamples whiten(const linalg::Array& S, const WhiteningRequest& request, const Vector* weights,
                       const linalg::Indices& order);

}  // namespace cgmca
