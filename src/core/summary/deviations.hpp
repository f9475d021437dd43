// Vectors z_j for sums of z zᵀ: centred and weighted samples, which are read from the caller's memory, or the columns of
// an array.
#pragma once

#include <algorithm>
#include <vector>

#include "core/data/weights.hpp"
#include "core/linalg/backend.hpp"
#include "core/summary/lanes.hpp"

namespace cgmca {

// Sums over samples of each feature, relative to an origin, from one pass.
struct Survey {
  Vector sum, squares;  // Σ w (x - origin), Σ w (x - origin)²
  Vector largest;       // max |x - origin|: exactly 0 where all samples are like the origin
};
Survey survey(const WeightedSamples& samples, const Vector& origin);  // not of samples on a remote back end

// A sum of matrices to which several lanes add.
struct ArraySum {
  linalg::Array A;
  ArraySum zero() const { return {A.on().zeros(A.rows(), A.cols())}; }
  void join(const ArraySum& other) { A.on().add(A, other.A); }
};

class Deviations {
 public:
  // z = √w ((x - origin) - mean). The samples must outlive this object. They are loaded a few at a time, whenever they
  // are needed.
  Deviations(const linalg::Backend& on, WeightedSamples samples, Vector origin, Vector mean);
  explicit Deviations(linalg::Array Z) : on_(&Z.on()), Z_(std::move(Z)), count_(Z_.cols()) {}
  // The same for samples that begin with the origin and have a known spread.
  Deviations(const linalg::Backend& on, WeightedSamples samples, Vector origin, Vector mean, Vector spread)
      : Deviations(on, std::move(samples), std::move(origin), std::move(mean)) {
    spread_ = std::move(spread);
  }

  const linalg::Backend& on() const { return *on_; }
  Index count() const { return count_; }
  Index features() const { return X_.empty() ? Z_.rows() : origin_.size(); }

  // z of `count` vectors from `first` on; only the features named, if any are.
  linalg::Array tile(Index first, Index count, const linalg::Indices* features = nullptr) const;
  linalg::Array transposed(const linalg::Indices& features) const;  // all of them, one a row
  Vector spread() const;  // of each feature; at most thresholds::kNoVariation if it does not vary
  // Σ √w y of a tile Y that begins there, in any coordinates; may change it
  Vector sqrt_weighted_sums(const linalg::Array& Y, Index first) const;
  // Σ w of `count` vectors from `first` on, without those whose columns in the tile are listed in `except`.
  double weight(Index first, Index count, const linalg::Indices& except) const;

  struct Sums {
    linalg::Array G;  // Σ z zᵀ, upper triangle
    Vector sum;       // Σ √w z

    Sums zero() const { return {G.on().zeros(G.rows(), G.cols()), Vector::Zero(sum.size())}; }
    void join(const Sums& other);
  };
  Sums sums(const linalg::Indices* features = nullptr) const;
  Sums sums_added_to(linalg::Array G, const linalg::Indices* features = nullptr) const;  // G is changed
  Vector weighted_sum() const;                                                           // Σ √w z alone

  // Calls add(sum, tile, first) for tiles of the vectors, and returns the sum. Tiles are small, to save memory; `first` is
  // the number of a tile's first vector. Each lane has its own sum: start.zero() makes it, start.join(other) adds it to
  // `start`. Sums are size×size.
  template <class Sum, class Add>
  Sum summed(Sum start, Index size, const Add& add, const linalg::Indices* features = nullptr) const {
    const Index lanes = lanes_for(*on_, size, count_);
    std::vector<Sum> others;
    for (Index k = 1; k < lanes; ++k) others.push_back(start.zero());
    in_lanes(lanes, count_, [&](Index lane, Index begin, Index count) {
      Sum& sum = lane == 0 ? start : others[lane - 1];
      const Index end = begin + count;
      for (Index first = begin; first < end; first += width()) {
        add(sum, tile(first, std::min(width(), end - first), features), first);
      }
    });
    for (const Sum& other : others) start.join(other);
    return start;
  }

 private:
  // The width of a tile: enough vectors for fast products, and few enough to stay in a core's cache if they have few
  // features.
  Index width() const { return on_->remote() ? 8192 : 384; }

  const linalg::Backend* on_;
  MatchedSamples X_;
  Vector sqrt_weights_, origin_, mean_, spread_;
  linalg::Array Z_;
  Index count_;
};

}  // namespace cgmca
