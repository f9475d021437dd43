#include "core/summary/first_moments.hpp"

#include <cmath>
#include <utility>

namespace cgmca {

using linalg::Array;
using linalg::Backend;

Vector FirstMoments::step_to(const FirstMoments& other) const {
  if (samples == 0 || other.samples == 0) return Vector::Zero(other.mean.size());
  const double na = weight, nb = other.weight;
  return std::sqrt(na * nb / (na + nb)) * (other.mean - mean);
}

void FirstMoments::join(const FirstMoments& other) {
  if (samples == 0) {
    *this = other;
    return;
  }
  const double before = weight;
  samples += other.samples;
  weight += other.weight;
  // The step starts from the mean of the heavier set, so that a light set far away does not round it.
  if (other.weight > before) {
    mean = other.mean + before / weight * (mean - other.mean);
  } else {
    mean += other.weight / weight * (other.mean - mean);
  }
}

FirstMoments first_moments(const Backend& on, const WeightedSamples& samples, const Vector& origin) {
  const double weight = samples.total();
  if (samples.weights.size() == 0) {
    return {samples.count(), weight, on.sum_of_deviations(samples.X, origin) / weight};
  }
  // Σ w (x - origin) = Σ √w z of deviations z = √w (x - origin)
  const Deviations Z(on, samples, origin, Vector::Zero(origin.size()));
  return {samples.count(), weight, Z.weighted_sum() / weight};
}

Array loaded(const Backend& on, const WeightedSamples& samples, Index first, Index count, const Vector& origin) {
  return on.load(samples.X, first, count, origin, Vector::Zero(origin.size()));
}

// z = √w ((x - origin) - mean) in place of Z.
CentredSamples centred_in_place(const Array& Z, const Vector& weights) {
  const Backend& on = Z.on();
  const Index n = Z.cols();
  const bool weighted = weights.size() > 0;
  const double total = weighted ? weights.sum() : static_cast<double>(n);
  const Vector sum = weighted ? Vector(on.download(on.AB(Z, on.upload(weights)))) : on.row_sums(Z);
  FirstMoments moments{n, total, sum / total};
  on.add_outer(Z, moments.mean, Vector::Ones(n), -1);
  if (weighted) on.scale_columns(Z, weights.cwiseSqrt());
  return {std::move(moments), Deviations(Z)};
}

CentredSamples centred(const Backend& on, const WeightedSamples& samples, const Vector& origin) {
  if (on.remote()) return centred_in_place(loaded(on, samples, 0, samples.count(), origin), samples.weights);
  FirstMoments moments = first_moments(on, samples, origin);
  Deviations Xc(on, samples, origin, moments.mean);
  return {std::move(moments), std::move(Xc)};
}

}  // namespace cgmca
