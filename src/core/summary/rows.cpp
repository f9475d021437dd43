#include "core/summary/rows.hpp"

#include <cgmca/parallel.hpp>

#include <algorithm>

namespace cgmca {
namespace {

// If more memory than this is reserved, it is freed when the rows are removed.
constexpr Index kKeptRoom = 4096;

}  // namespace

void Rows::append(const WeightedSamples& samples, Index first, Index count, Index most) {
  const Index needed = count_ + count;
  if (samples_.cols() < needed) {
    samples_.conservativeResize(Eigen::NoChange, std::max(needed, std::min(most, 2 * samples_.cols())));
  }
  parallel_for_columns(layout_.size(), count, [&](Index from, Index some) {
    for (Index i = 0; i < layout_.domains(); ++i) {
      samples.X[i].visit([&](const auto& domain) {
        samples_.block(layout_.start(i), count_ + from, layout_.features(i), some) =
            domain.middleCols(first + from, some).template cast<double>();
      });
    }
  });
  const Vector weights = samples.weights.size() == 0 ? Vector() : empty_if_ones(samples.weights.segment(first, count));
  if (weights_.size() > 0 || weights.size() > 0) {
    Vector all = Vector::Ones(needed);
    if (weights_.size() > 0) all.head(count_) = weights_;
    if (weights.size() > 0) all.tail(count) = weights;
    weights_ = std::move(all);
  }
  count_ = needed;
}

void Rows::keep(const std::vector<Index>& columns) {
  if (weights_.size() > 0) weights_ = empty_if_ones(weights_(columns));
  count_ = 0;
  for (const Index j : columns) {
    if (j != count_) samples_.col(count_) = samples_.col(j);
    ++count_;
  }
  if (samples_.cols() > kKeptRoom) samples_ = Matrix(samples_.leftCols(count_));
}

void Rows::clear() { keep({}); }

WeightedSamples Rows::by_domain() const {
  WeightedSamples views{{}, weights_};
  views.X.reserve(layout_.domains());
  for (Index i = 0; i < layout_.domains(); ++i) {
    if (count_ == 0) {  // there may be no memory to point into
      views.X.emplace_back(MatrixView(Eigen::Map<const Matrix>(nullptr, layout_.features(i), 0)));
    } else {
      views.X.emplace_back(samples_.block(layout_.start(i), 0, layout_.features(i), count_));
    }
  }
  return views;
}

void append_from(const linalg::Backend& on, Rows& rows, const WeightedSamples& samples, Index first, Index count,
                 Index most) {
  std::vector<Matrix> fetched;
  fetched.reserve(samples.X.size());
  WeightedSamples here = samples;
  for (SampleView& X : here.X) {
    if (!on.holds(X)) continue;
    fetched.push_back(on.fetched(X, first, count));
    X = SampleView(fetched.back());
  }
  if (fetched.empty()) return rows.append(samples, first, count, most);
  for (std::size_t i = 0; i < here.X.size(); ++i) {  // all from 0 on now
    if (on.holds(samples.X[i])) continue;
    samples.X[i].visit([&](const auto& X) { here.X[i] = SampleView(X.middleCols(first, count)); });
  }
  if (samples.weights.size() > 0) here.weights = samples.weights.segment(first, count);
  rows.append(here, 0, count, most);
}

}  // namespace cgmca
