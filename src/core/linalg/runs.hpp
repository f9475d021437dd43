// Places that follow one another, so that what lies there is moved as a whole.
#pragma once

#include <cgmca/types.hpp>
#include <vector>

#include "backend.hpp"

namespace cgmca::linalg {

// Features from `feature` on that go to the places from `place` on.
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
