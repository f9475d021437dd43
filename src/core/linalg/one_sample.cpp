#include "core/linalg/one_sample.hpp"

#include <array>
#include <vector>

namespace cgmca::linalg {

Eigen::Map<Vector> scratch(std::size_t which, Index size) {
  thread_local std::array<std::vector<double>, 3> memory;
  std::vector<double>& own = memory[which];
  if (own.size() < static_cast<std::size_t>(size)) own.resize(static_cast<std::size_t>(size));
  return {own.data(), size};
}

}  // namespace cgmca::linalg
