// The spectrum of a domain whose features have very different sizes, because of their units: Θ = D Θ_u D with the sizes D
// and Θ_u of features at unit size.
//
// An SVD errs by eps of its largest value, so that in raw units it loses every direction 10¹⁶ smaller, though the samples
// determine it. At unit size nothing is lost: rounding in the samples is relative to each feature's size. So the rank is
// that at unit size, S = D U Σ Vᵀ, and the raw spectrum of L = D U Σ follows from one-sided Jacobi rotations, whose errors
// are relative to each singular value. If features are dependent, W is the pseudo-inverse at unit size.
#pragma once

#include <memory>

#include "core/fit/whitening.hpp"

namespace cgmca {

// Sizes by which features are divided before ranks are counted: √variance. A feature that varies only by the rounding of
// its mean is divided by the largest size instead.
Vector unit_sizes(const Vector& variance, const Vector& mean);

// Whether sizes differ so much that raw units may hide directions that unit size shows.
bool differ_much(const Vector& sizes);
// Whether they differ so much that dependent features have a pseudo-inverse at unit size only.
bool are_apart(const Vector& sizes);

struct GradedSpectrum {
  std::shared_ptr<const SpectrumWhitening> whitening;
  linalg::Array V;  // n×r: W S = Vᵀ
};
// The spectrum of S = diag(sizes) U diag(s) Vᵀ, whose rows are the given features.   U: a×r, V: n×r, or empty
GradedSpectrum graded_spectrum(const linalg::Array& U, const Vector& s, const linalg::Array& V, const Vector& sizes,
                               const Varying& features);

}  // namespace cgmca
