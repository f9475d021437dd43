// Passes over matrices in several threads. Tiles of samples: where they lie, and how features get into them.
#pragma once

#include <cgmca/parallel.hpp>
#include <cgmca/types.hpp>
#include <memory>
#include <vector>

#include "core/linalg/backend.hpp"

namespace cgmca::linalg {

// Calls change(columns, first, count) for the columns of A from `first` on.
template <class Matrices, class Change>
void change(Matrices A, const Change& change) {
  parallel_for_columns(A.rows(), A.cols(),
                       [&](Index first, Index count) { change(A.middleCols(first, count), first, count); });
}

// An m×n matrix of what fill(columns, first, count) puts into it: the thread that first touches new memory clears it.
template <class Fill>
Matrix filled(Index m, Index n, const Fill& fill) {
  Matrix result(m, n);
  change(Eigen::Ref<Matrix>(result), fill);
  return result;
}

// Room for so many numbers: that of this thread's largest tile if it is free again, because the system clears new
// memory first, which takes time.
inline std::shared_ptr<Matrix> tile_memory(Index numbers) {
  constexpr Index most = Index{1} << 22;  // a thread keeps 32 MB at most
  thread_local std::shared_ptr<Matrix> largest;
  if (largest && largest.use_count() == 1 && numbers <= largest->size()) return largest;
  auto memory = std::make_shared<Matrix>(numbers, 1);
  if (numbers <= most && (!largest || numbers > largest->size())) largest = memory;
  return memory;
}

// Indices that follow one another are filled as a whole: features from `feature` on go to those from
// `place` on.
struct Run {
  Index place, feature, length;
};
inline std::vector<Run> runs_of(const Indices& features, Index first, Index end) {
  std::vector<Run> runs;
  for (Index place = first; place < end; ++place) {
    const Index feature = features[place];
    if (!runs.empty() && runs.back().feature + runs.back().length == feature) {
      ++runs.back().length;
    } else {
      runs.push_back({place, feature, 1});
    }
  }
  return runs;
}

}  // namespace cgmca::linalg
