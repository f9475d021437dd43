// Vectors z_j whose sum of z zᵀ is wanted: centred samples, read where they lie and weighted, or the columns of an
// array.
#pragma once

#include <algorithm>

#include "core/linalg/backend.hpp"
#include "weights.hpp"

namespace cgmca {

class Deviations {
 public:
  // z = √w ((x - origin) - mean). The samples must outlive this. Few of them are loaded at once: they are read twice.
  Deviations(const linalg::Backend& on, WeightedSamples samples, Vector origin, Vector mean);
  explicit Deviations(linalg::Array Z) : on_(&Z.on()), Z_(std::move(Z)), count_(Z_.cols()) {}

  const linalg::Backend& on() const { return *on_; }
  Index count() const { return count_; }
  Index features() const { return X_.empty() ? Z_.rows() : origin_.size(); }

  // z of `count` vectors from `first` on; only the features named, if any are.
  linalg::Array tile(Index first, Index count, const linalg::Places* features = nullptr) const;
  linalg::Array transposed(const linalg::Places& features) const;  // all of them, one a row
  Vector absolute_sums() const;                                    // Σ_j |z_j|, feature by feature
  Vector squares() const;                                          // Σ_j z_j²
  Vector weighted_sum() const;                                     // Σ_j √w_j z_j
  const Vector& roots() const { return roots_; }                   // √w_j; empty where all are 1

  // work(tile) over all of them, some at a time, so that they need little memory.
  template <class Work>
  void for_each_tile(const Work& work, const linalg::Places* features = nullptr) const {
    for (Index first = 0; first < count_; first += width()) {
      work(tile(first, std::min(width(), count_ - first), features));
    }
  }

 private:
  // Of a tile: as many as features, so that adding it to a Gram matrix moves as much of the one as of the other, and a
  // tile of few features stays in a core's own cache.
  Index width() const { return on_->remote() ? 8192 : std::clamp<Index>(features(), 256, 1024); }

  const linalg::Backend* on_;
  MatchedSamples X_;
  Vector roots_, origin_, mean_;
  linalg::Array Z_;
  Index count_;
};

}  // namespace cgmca
