// How many canonical correlations are real? (docs/method.md section 6)
#pragma once

#include <cgmca/fit.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

struct PermutationOptions {
  Index permutations = 1000;
  std::uint64_t seed = 1;
  double level = 0.05;
  std::optional<double> rank_tol;             // as that of a fit
  std::function<void(double done)> progress;  // after each batch of the present correlation; may throw to stop
};

struct PermutationTest {
  std::vector<double> p_values;  // of the correlations in turn, up to the first above the level, or all
  Index significant = 0;         // how many are at or below it
  Index permutations = 0;
  bool rotations = false;  // the rows were not kept, or had weights: random rotations instead of permutations, exact
                           // for normal data
};

// Pairs are dealt anew at random `permutations` times. The j-th correlation is compared with the largest one of the
// pairs so dealt, the j-1 directions before it taken out of both domains. Of two domains; extra samples play no part.
PermutationTest permutation_test(const Summary& summary, const Regularization& options = {},
                                 const PermutationOptions& test = {});
}  // namespace cgmca
#pragma GCC visibility pop
