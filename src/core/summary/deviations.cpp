#include "deviations.hpp"

namespace cgmca {

using linalg::Array;
using linalg::Places;

Deviations::Deviations(const linalg::Backend& on, WeightedSamples samples, Vector origin, Vector mean)
    : on_(&on),
      X_(std::move(samples.X)),
      roots_(samples.weights.cwiseSqrt()),
      origin_(std::move(origin)),
      mean_(std::move(mean)),
      count_(X_.front().cols()) {
  if (count_ > width()) return;
  Z_ = tile(0, count_);
  X_.clear();
}

Array Deviations::tile(Index first, Index count, const Places* features) const {
  if (!X_.empty()) {
    const Array Z = on_->load(X_, first, count, origin_, mean_, features);
    if (roots_.size() > 0) on_->scale_columns(Z, roots_.segment(first, count));
    return Z;
  }
  const Array columns = Z_.columns(first, count);
  return features == nullptr ? columns : on_->gather_rows(columns, *features);
}

Array Deviations::transposed(const Places& features) const {
  if (!X_.empty()) {
    const Array Z = on_->load_transposed(X_, origin_, mean_, features);
    if (roots_.size() > 0) on_->scale_rows(Z, roots_);
    return Z;
  }
  return on_->gather_transposed_rows(Z_, features);
}

Vector Deviations::absolute_sums() const {
  Vector sum = Vector::Zero(features());
  for_each_tile([&](const Array& Z) { sum += on_->row_absolute_sums(Z); });
  return sum;
}

Vector Deviations::squares() const {
  Vector sum = Vector::Zero(features());
  for_each_tile([&](const Array& Z) { sum += on_->row_squared_norms(Z); });
  return sum;
}

Vector Deviations::weighted_sum() const {
  Vector sum = Vector::Zero(features());
  for (Index first = 0; first < count_; first += width()) {
    const Index count = std::min(width(), count_ - first);
    sum += on_->row_sums(linalg::scaled_columns(on_->copy(tile(first, count)), roots_.segment(first, count)));
  }
  return sum;
}

}  // namespace cgmca
