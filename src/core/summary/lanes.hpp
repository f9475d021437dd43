// Sums over samples in lanes. A lane is a thread with its share of the samples and its own sum.
//
// In a lane one core loads, checks and multiplies its samples. BLAS's own threads wait for each other in every call and
// spin for 0.1 s after it, which takes cores from the threads that make passes over the samples meanwhile.
#pragma once

#include <cgmca/parallel.hpp>

#include <algorithm>

#include "core/linalg/backend.hpp"

namespace cgmca {

// How many lanes n samples of p features take; with one, BLAS uses its own threads. More than four lanes would spend
// their time on joining p×p sums, unless these are small.
inline Index lanes_for(const linalg::Backend& on, Index p, Index n) {
  constexpr Index most = 4, few_features = 512, least_samples = 256, most_numbers = Index{1} << 25;
  const Index workers = worker_count();
  if (on.remote() || (workers > most && p > few_features)) return 1;
  return std::max<Index>(1, std::min({workers, most, n / least_samples, most_numbers / std::max<Index>(1, p * p)}));
}

// Calls work(lane, first, count) for the share of each lane.
template <class Work>
void in_lanes(Index lanes, Index n, const Work& work) {
  if (lanes == 1) return work(Index{0}, Index{0}, n);
  parallel_for(lanes, [&](Index k) { work(k, k * n / lanes, (k + 1) * n / lanes - k * n / lanes); });
}

}  // namespace cgmca
