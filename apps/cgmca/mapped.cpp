#include "mapped.hpp"

#include <algorithm>

#include "pairs.hpp"
#include "progress.hpp"
#include "signals.hpp"

namespace cgmca::cli {

Matrix map_samples(const Session& session, BlockReader& reader, Index features,
                   const std::function<Matrix(const Matrix&)>& map) {
  Progress progress(session, "samples mapped", reader.samples());
  Matrix result(features, reader.samples().value_or(0));
  Index done = 0;
  for (;;) {
    const Matrix X = reader.next(block_samples(std::max(features, reader.features())));
    if (X.cols() == 0) break;
    const Index needed = done + X.cols();
    if (result.cols() < needed) result.conservativeResize(Eigen::NoChange, std::max(needed, 2 * result.cols()));
    result.middleCols(done, X.cols()) = map(X);
    done = needed;
    progress.update(done);
    stop_if_interrupted();
  }
  result.conservativeResize(Eigen::NoChange, done);
  return result;
}

}  // namespace cgmca::cli
