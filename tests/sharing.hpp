// Pairs of known structure, for the tests of choosing and of chance.
#pragma once

#include "testing.hpp"

namespace cgmca::testing {

// Pairs that share `shared` causes and nothing else, in d features each.
inline Pairs sharing(Random& random, Index shared, Index d, Index n, double noise) {
  const Matrix causes = random.matrix(shared, n);
  return {random.orthonormal(d, shared) * causes + noise * random.matrix(d, n),
          random.orthonormal(d, shared) * causes + noise * random.matrix(d, n)};
}

}  // namespace cgmca::testing
