// Vectors z_j whose sum of z zᵀ is wanted: centred samples, read where they lie, or the columns of an array.
#pragma once

#include <cgmca/samples.hpp>

#include "core/linalg/backend.hpp"

namespace cgmca {

class Deviations {
 public:
  // z = (x - origin) - mean. The samples must outlive this. Few of them are loaded at once: they are read twice.
  Deviations(const linalg::Backend& on, MatchedSamples X, Vector origin, Vector mean)
      : on_(&on), X_(std::move(X)), origin_(std::move(origin)), mean_(std::move(mean)), count_(X_.front().cols()) {
    if (count_ > kTile) return;
    Z_ = on.load(X_, 0, count_, origin_, mean_);
    X_.clear();
  }
  explicit Deviations(linalg::Array Z) : on_(&Z.on()), Z_(std::move(Z)), count_(Z_.cols()) {}

  const linalg::Backend& on() const { return *on_; }
  Index count() const { return count_; }
  Index features() const { return X_.empty() ? Z_.rows() : origin_.size(); }

  // z of `count` vectors from `first` on; only the features named, if any are.
  linalg::Array tile(Index first, Index count, const linalg::Places* features = nullptr) const;
  linalg::Array transposed(const linalg::Places& features) const;  // all of them, one a row
  Vector absolute_sums() const;                                    // Σ_j |z_j|, feature by feature
  Vector squares() const;                                          // Σ_j z_j²

  // work(tile) over all of them, some at a time, so that they need little memory.
  template <class Work>
  void for_each_tile(const Work& work, const linalg::Places* features = nullptr) const {
    for (Index first = 0; first < count_; first += kTile) work(tile(first, std::min(kTile, count_ - first), features));
  }

 private:
  static constexpr Index kTile = 1024;

  const linalg::Backend* on_;
  MatchedSamples X_;
  Vector origin_, mean_;
  linalg::Array Z_;
  Index count_;
};

}  // namespace cgmca
