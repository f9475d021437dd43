#include "core/data/weights.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

// The same of each domain, by a function of its matrix.
template <class Part>
MatchedSamples of_each(const MatchedSamples& X, const Part& part) {
  MatchedSamples result;
  result.reserve(X.size());
  for (const SampleView& domain : X) {
    domain.visit([&](const auto& samples) { result.emplace_back(part(samples)); });
  }
  return result;
}

}  // namespace

WeightedSamples WeightedSamples::columns(Index first, Index count) const {
  return {of_each(X, [&](const auto& samples) { return samples.middleCols(first, count); }),
          weights.size() == 0 ? Vector() : empty_if_ones(weights.segment(first, count))};
}

void check_weights(const VectorView& weights, Index n) {
  if (weights.size() != n) {
    throw UnequalSamples(fmt::format("{} weight{} for {} sample{}; each needs one", weights.size(),
                                     weights.size() == 1 ? "" : "s", n, n == 1 ? "" : "s"));
  }
  for (Index j = 0; j < n; ++j) {
    const double w = weights(j);
    if (w >= 0 && w <= thresholds::kLargestWeight) continue;
    throw InvalidInput(
        fmt::format("weight {} (counted from 0) is {}; a weight counts how often its sample occurs, and is a number "
                    "from 0 to {:.0e}",
                    j, std::isnan(w) ? "NaN" : fmt::format("{}", w), thresholds::kLargestWeight));
  }
}

WeightedSamples weighted(const linalg::Backend& on, const MatchedSamples& X, const VectorView& weights) {
  std::vector<Index> kept;
  for (Index j = 0; j < weights.size(); ++j) {
    if (weights(j) > 0) kept.push_back(j);
  }
  if (std::ssize(kept) == weights.size()) return {X, empty_if_ones(weights)};
  MatchedSamples left;
  for (const SampleView& domain : X) {
    if (on.holds(domain)) {
      const Matrix fetched = on.fetched(domain, 0, domain.cols());
      left.emplace_back(fetched(Eigen::all, kept));
    } else {
      domain.visit([&](const auto& samples) { left.emplace_back(samples(Eigen::all, kept)); });
    }
  }
  return {std::move(left), empty_if_ones(weights(kept))};
}

Vector empty_if_ones(Vector weights) { return (weights.array() == 1).all() ? Vector() : weights; }

}  // namespace cgmca
