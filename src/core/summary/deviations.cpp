#include "deviations.hpp"

namespace cgmca {

using linalg::Array;
using linalg::Places;

Array Deviations::tile(Index first, Index count, const Places* features) const {
  if (!X_.empty()) return on_->load(X_, first, count, origin_, mean_, features);
  const Array columns = Z_.columns(first, count);
  return features == nullptr ? columns : on_->gather_rows(columns, *features);
}

Array Deviations::transposed(const Places& features) const {
  if (!X_.empty()) return on_->load_transposed(X_, origin_, mean_, features);
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

}  // namespace cgmca
