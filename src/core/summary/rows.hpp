// Samples that are not compressed yet: those of a small summary, and those that wait until there are more.
#pragma once

#include <vector>

#include "core/data/weights.hpp"
#include "core/summary/layout.hpp"

namespace cgmca {

class Rows {
 public:
  explicit Rows(const Layout& layout) : layout_(layout), samples_(layout.size(), 0) {}
  Rows(const Layout& layout, Matrix samples, Vector weights)
      : layout_(layout), count_(samples.cols()), samples_(std::move(samples)), weights_(std::move(weights)) {}

  Index count() const { return count_; }
  // Columns first … first + count - 1; room grows by doubling, up to `most`.
  void append(const WeightedSamples& samples, Index first, Index count, Index most);
  void keep(const std::vector<Index>& columns);  // these alone; ascending
  void clear();

  MatrixView all() const { return samples_.leftCols(count_); }  // p×count
  const Vector& weights() const { return weights_; }            // empty if all are 1
  WeightedSamples by_domain() const;                            // views

 private:
  Layout layout_;
  Index count_ = 0;
  Matrix samples_;  // p×(at least count)
  Vector weights_;
};

// Appends samples from any memory: those that a remote back end holds are fetched.
void append_from(const linalg::Backend& on, Rows& rows, const WeightedSamples& samples, Index first, Index count,
                 Index most);

}  // namespace cgmca
