#include "core/summary/gram.hpp"

#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"

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
  const double before = weight;
  samples += other.samples;
  weight += other.weight;
  // The heavier one moves less: a light one that is far away must not round it.
  if (other.weight > before) {
    mean = other.mean + before / weight * (mean - other.mean);
  } else {
    mean += other.weight / weight * (other.mean - mean);
  }
}

Count count_of(const Backend& on, const WeightedSamples& samples, const Vector& origin) {
  const double weight = samples.total();
  if (samples.weights.size() == 0) {
    return {samples.count(), weight, on.sum_of_deviations(samples.X, origin) / weight};
  }
  // Σ w (x - origin) = Σ √w z of deviations z = √w (x - origin)
  const Deviations Z(on, samples, origin, Vector::Zero(origin.size()));
  return {samples.count(), weight, Z.weighted_sum() / weight};
}

namespace {

// z = √w ((x - origin) - mean) in place of Z = x - origin, so that samples travel once.
CentredSamples centred_there(const Array& Z, const Vector& weights) {
  const Backend& on = Z.on();
  const Index n = Z.cols();
  const bool weighted = weights.size() > 0;
  const double total = weighted ? weights.sum() : static_cast<double>(n);
  const Vector sum = weighted ? Vector(on.download(on.AB(Z, on.upload(weights)))) : on.row_sums(Z);
  Count count{n, total, sum / total};
  on.add_outer(Z, count.mean, Vector::Ones(n), -1);
  if (weighted) on.scale_columns(Z, weights.cwiseSqrt());
  return {std::move(count), Deviations(Z)};
}

Array loaded(const Backend& on, const WeightedSamples& samples, Index first, Index count, const Vector& origin) {
  return on.load(samples.X, first, count, origin, Vector::Zero(origin.size()));
}

}  // namespace

CentredSamples centred(const Backend& on, const WeightedSamples& samples, const Vector& origin) {
  if (on.remote()) return centred_there(loaded(on, samples, 0, samples.count(), origin), samples.weights);
  Count count = count_of(on, samples, origin);
  Deviations Xc(on, samples, origin, count.mean);
  return {std::move(count), std::move(Xc)};
}

void add_in_pieces(GramState& sum, const WeightedSamples& samples, const Vector& origin) {
  constexpr Index most = 8192;
  const Backend& on = sum.G.on();
  const Index n = samples.count();
  Array next = loaded(on, samples, 0, std::min(most, n), origin);
  for (Index first = 0; first < n; first += most) {
    const Index count = next.cols(), after = std::min(most, n - first - count);
    const bool weighted = samples.weights.size() > 0;
    const CentredSamples piece = centred_there(std::exchange(next, Array()),
                                               weighted ? Vector(samples.weights.segment(first, count)) : Vector());
    sum.add(piece.Xc, piece.count);
    if (after > 0) next = loaded(on, samples, first + count, after, origin);
  }
}

void GramState::add(const Deviations& Xc, const Count& added) {
  factors.clear();
  Xc.sums_added_to(G);
  if (count.samples > 0) G.on().add_gram(G, G.on().upload(count.step_to(added)));
  count.join(added);
}

// With z from the mean of n_a samples, (17) is Σ z zᵀ - (Σ z)(Σ z)ᵀ / n, n of all samples: one pass less than with the
// mean of the new ones. Where the mean moves far, this would cancel.
GramState GramState::with(const WeightedSamples& samples, const Vector& origin) const {
  const Backend& on = G.on();
  Deviations::Sums sums = Deviations(on, samples, origin, count.mean).sums_added_to(on.copy(G));
  Count now = count;
  now.samples += samples.count();
  now.weight += samples.total();
  now.mean += sums.sum / now.weight;
  const Vector step = sums.sum / std::sqrt(now.weight);
  on.add_gram(sums.G, on.upload(step), -1);
  const bool cancels = (step.array().square() > thresholds::kCancelled * on.diagonal(sums.G).array()).any();
  if (!cancels) return {std::move(now), std::move(sums.G)};
  GramState all = *this;
  const auto [more, Xc] = centred(on, samples, origin);
  all.add(Xc, more);
  return all;
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
