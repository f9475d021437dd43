#include "gram.hpp"

#include <cmath>
#include <utility>

#include "core/thresholds.hpp"

namespace cgmca {

using linalg::Array;
using linalg::Backend;

Vector Count::step_to(const Count& other) const {
  if (samples == 0 || other.samples == 0) return Vector::Zero(other.mean.size());
  const double na = weight, nb = other.weight;
  return std::sqrt(na * nb / (na + nb)) * (other.mean - mean);
}

void Count::join(const Count& other) {
  if (samples == 0) {
    *this = other;
    return;
  }
  samples += other.samples;
  weight += other.weight;
  mean += other.weight / weight * (other.mean - mean);
}

void GramState::add(const Deviations& Xc, const Count& added) {
  factors.clear();
  Xc.sums_added_to(G);
  if (count.samples > 0) G.on().add_gram(G, G.on().upload(count.step_to(added)));
  count.join(added);
}

// With z from the mean of n_a samples, (17) is Σ z zᵀ - (Σ z)(Σ z)ᵀ / n, n of all samples.
GramState GramState::with(const Deviations& Z, const WeightedSamples& samples) const {
  const Backend& on = G.on();
  Deviations::Sums sums = Z.sums_added_to(on.copy(G));
  Count now = count;
  now.samples += samples.count();
  now.weight += samples.total();
  now.mean += sums.sum / now.weight;
  on.add_gram(sums.G, on.upload(sums.sum), -1 / now.weight);
  return {std::move(now), std::move(sums.G)};
}

Vector GramState::merge(const GramState& other, const Vector& shift) {
  factors.clear();
  const Count theirs{other.count.samples, other.count.weight, other.count.mean + shift};
  Vector step = count.step_to(theirs);
  G.on().add(G, other.G);
  G.on().add_gram(G, G.on().upload(step));
  count.join(theirs);
  return step;
}

Array GramState::theta() && {
  G.on().scale(G, 1 / (count.weight - 1));
  G.on().assign_lower_from_upper(G);
  return std::move(G);
}

Array GramState::root() const {
  const Backend& on = G.on();
  const Vector size = on.diagonal(G).cwiseSqrt(), scale = (size.array() > 0).select(size, 1.0);
  const Array unit = on.copy(G);
  on.scale_rows(unit, scale.cwiseInverse());
  on.scale_columns(unit, scale.cwiseInverse());
  const Array K = on.pivoted_cholesky(unit, thresholds::gram_rounding(G.rows(), count.samples));
  on.scale_columns(K, scale);
  return on.transposed(K);
}

}  // namespace cgmca
