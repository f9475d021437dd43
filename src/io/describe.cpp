#include "io/describe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cgmca::io {

Index count_missing(BlockReader::Source& source) {
  constexpr Index numbers_at_once = 1 << 20;
  const Index block = std::max<Index>(1, numbers_at_once / std::max<Index>(1, source.features()));
  Index missing = 0;
  for (Matrix X = source.next(block); X.cols() > 0; X = source.next(block)) missing += X.array().isNaN().count();
  return missing;
}

std::vector<Index> shape_of(const Shape& shape) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  std::vector<Index> result;
  for (const std::uint64_t length : shape) result.push_back(static_cast<Index>(std::min(length, most)));
  return result;
}

bool is_matrix(const Shape& shape) {
  return !shape.empty() && std::find(shape.begin() + 1, shape.end(), std::uint64_t{0}) == shape.end();
}

}  // namespace cgmca::io
