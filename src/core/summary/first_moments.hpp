// Number, weight and mean of samples, relative to an origin, and the deviations from the mean.      docs/method.md (17)
//
// Two sets of samples a and b, of means m_a and m_b, have together
//   Xc Xcᵀ = Xc_a Xc_aᵀ + Xc_b Xc_bᵀ + s sᵀ,   s = √(n_a n_b / n) (m_b - m_a)
// where n is the sum of the weights: the number of samples if each counts once.
#pragma once

#include <cgmca/types.hpp>

#include "core/linalg/backend.hpp"
#include "core/summary/deviations.hpp"

namespace cgmca {

struct FirstMoments {
  Index samples = 0;
  double weight = 0;  // Σ w, the n of the formulas; the number of samples if each counts once
  Vector mean;

  Vector step_to(const FirstMoments& other) const;  // s
  void join(const FirstMoments& other);
};

FirstMoments first_moments(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin);

// The same, and the deviations from the mean.
struct CentredSamples {
  FirstMoments moments;
  Deviations Xc;
};
CentredSamples centred(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin);

// The same for Z = x - origin, which is changed in place. A remote back end then receives each sample only once.
CentredSamples centred_in_place(const linalg::Array& Z, const Vector& weights);

// x - origin of `count` samples from `first` on.
linalg::Array loaded(const linalg::Backend& on, const WeightedSamples& samples, Index first, Index count,
                     const Vector& origin);

}  // namespace cgmca
