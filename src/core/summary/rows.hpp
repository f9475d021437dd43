// Samples that are not compressed, as they came: those of a summary that is still small, or that wait for more.
#pragma once

#include <cgmca/samples.hpp>
#include <vector>

#include "layout.hpp"

namespace cgmca {

class Rows {
 public:
  explicit Rows(const Layout& layout) : layout_(layout), samples_(layout.size(), 0) {}
  Rows(const Layout& layout, Matrix samples) : layout_(layout), count_(samples.cols()), samples_(std::move(samples)) {}

  Index count() const { return count_; }
  // Columns first … first + count - 1 of X; room grows by doubling, up to `most`.
  void append(const MatchedSamples& X, Index first, Index count, Index most);
  void keep(const std::vector<Index>& columns);  // these alone; ascending
  void clear();

  MatrixView all() const { return samples_.leftCols(count_); }  // p×count
  MatchedSamples by_domain() const;                             // views

 private:
  Layout layout_;
  Index count_ = 0;
  Matrix samples_;  // p×(at least count)
};

}  // namespace cgmca
