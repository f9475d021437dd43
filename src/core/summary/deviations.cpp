#include "core/summary/deviations.hpp"

namespace cgmca {

using linalg::Array;
using linalg::Indices;

Deviations::Deviations(const linalg::Backend& on, WeightedSamples samples, Vector origin, Vector mean)
    : on_(&on),
      X_(std::move(samples.X)),
      sqrt_weights_(samples.weights.cwiseSqrt()),
      origin_(std::move(origin)),
      mean_(std::move(mean)),
      count_(X_.front().cols()) {
  if (count_ > width()) return;
  Z_ = tile(0, count_);
  X_.clear();
}

Array Deviations::tile(Index first, Index count, const Indices* features) const {
  if (!X_.empty()) {
    const Array Z = on_->load(X_, first, count, origin_, mean_, features);
    if (sqrt_weights_.size() > 0) on_->scale_columns(Z, sqrt_weights_.segment(first, count));
    return Z;
  }
  const Array columns = Z_.columns(first, count);
  return features == nullptr ? columns : on_->gather_rows(columns, *features);
}

Array Deviations::transposed(const Indices& features) const {
  if (!X_.empty()) {
    const Array Z = on_->load_transposed(X_, origin_, mean_, features);
    if (sqrt_weights_.size() > 0) on_->scale_rows(Z, sqrt_weights_);
    return Z;
  }
  return on_->gather_transposed_rows(Z_, features);
}

Vector Deviations::spread() const {
  if (spread_.size() > 0) return spread_;
  Vector sum = Vector::Zero(features());
  for (Index first = 0; first < count_; first += width()) {
    sum += on_->row_absolute_sums(tile(first, std::min(width(), count_ - first)));
  }
  return sum;
}

Vector Deviations::sqrt_weighted_sums(const Array& Z, Index first) const {
  if (sqrt_weights_.size() == 0) return on_->row_sums(Z);
  const Array own = X_.empty() ? on_->copy(Z) : Z;
  return on_->row_sums(linalg::scaled_columns(own, sqrt_weights_.segment(first, Z.cols())));
}

double Deviations::weight(Index first, Index count, const Indices& except) const {
  Vector weights =
      sqrt_weights_.size() == 0 ? Vector(Vector::Ones(count)) : Vector(sqrt_weights_.segment(first, count).cwiseAbs2());
  weights(except).setZero();
  return weights.sum();
}

Vector Deviations::weighted_sum() const {
  Vector sum = Vector::Zero(features());
  for (Index first = 0; first < count_; first += width()) {
    sum += sqrt_weighted_sums(tile(first, std::min(width(), count_ - first)), first);
  }
  return sum;
}

Deviations::Sums Deviations::sums(const Indices* features) const {
  const Index p = features == nullptr ? this->features() : std::ssize(*features);
  return sums_added_to(on_->zeros(p, p), features);
}

Deviations::Sums Deviations::sums_added_to(Array G, const Indices* features) const {
  const Index p = G.rows();
  return summed(
      Sums{std::move(G), Vector::Zero(p)}, p,
      [&](Sums& sums, const Array& Z, Index first) {
        on_->add_gram(sums.G, Z);
        sums.sum += sqrt_weighted_sums(Z, first);
      },
      features);
}

void Deviations::Sums::join(const Sums& other) {
  G.on().add(G, other.G);
  sum += other.sum;
}

Survey survey(const WeightedSamples& samples, const Vector& origin) {
  const Index p = origin.size(), n = samples.count();
  std::vector<Survey> parts((n + kRange - 1) / kRange);
  parallel_for_columns(p, n, [&](Index first, Index count) {
    Survey& part = parts[first / kRange];
    part = {Vector::Zero(p), Vector::Zero(p), Vector::Zero(p)};
    Index start = 0;
    for (const SampleView& domain : samples.X) {
      domain.visit([&](const auto& X) {
        const Index d = X.rows();
        Vector z(d);
        for (Index j = first; j < first + count; ++j) {
          const double w = samples.weights.size() == 0 ? 1 : samples.weights(j);
          z = X.col(j).template cast<double>() - origin.segment(start, d);
          part.sum.segment(start, d) += w * z;
          part.squares.segment(start, d) += w * z.cwiseAbs2();
          part.largest.segment(start, d) = part.largest.segment(start, d).cwiseMax(z.cwiseAbs());
        }
      });
      start += domain.rows();
    }
  });
  Survey all = std::move(parts.front());
  for (std::size_t k = 1; k < parts.size(); ++k) {
    all.sum += parts[k].sum;
    all.squares += parts[k].squares;
    all.largest = all.largest.cwiseMax(parts[k].largest);
  }
  return all;
}

}  // namespace cgmca
