// Tiles of samples: where they lie in memory, and how features get into them.
#pragma once

#include <cgmca/types.hpp>
#include <memory>
#include <vector>

#include "backend.hpp"

namespace cgmca::linalg {

// That of this thread's last tile if it is free again and fits: the system clears new memory first, which takes time.
inline std::shared_ptr<Matrix> tile_memory(Index rows, Index columns) {
  thread_local std::shared_ptr<Matrix> last;
  if (last && last.use_count() == 1 && last->rows() == rows && last->cols() == columns) return last;
  auto memory = std::make_shared<Matrix>(rows, columns);
  if (rows * columns <= Index{1} << 20) last = memory;  // a thread keeps 8 MB at most
  return memory;
}

// Places that follow one another are filled as a whole: features from `feature` on go to those from
// `place` on.
struct Run {
  Index place, feature, length;
};
inline std::vector<Run> runs_of(const Places& features, Index first, Index end) {
  std::vector<Run> runs;
  for (Index place = first; place < end; ++place) {
    const Index feature = features[static_cast<std::size_t>(place)];
    if (!runs.empty() && runs.back().feature + runs.back().length == feature) {
      ++runs.back().length;
    } else {
      runs.push_back({place, feature, 1});
    }
  }
  return runs;
}

}  // namespace cgmca::linalg
