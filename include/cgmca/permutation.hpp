// How many canonical correlations, or common directions of more than two domains, are real? (docs/method.md sections 6
// and 8)
//
// Example:
//   Summary summary({d1, d2});
//   summary.add(X1.leftCols(20), X2.leftCols(20));
//   const PermutationTest test = permutation_test(summary, {}, {.permutations = 100});
//   std::cout << test.significant << " correlations are not chance\n";
#pragma once

#include <cgmca/fit.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// How the test is run.
struct PermutationOptions {
  Index permutations = 1000;
  std::uint64_t seed = 1;
  double level = 0.05;
  std::optional<double> rank_tol;             // as that of a fit
  std::function<void(double done)> progress;  // after each batch of the present correlation; may throw to stop
  Graph graph = "full";                       // of more than two domains, as that of a fit
};

// What the test found.
struct PermutationTest {
  std::vector<double> p_values;  // of the correlations, or directions, in turn, up to the first above the level, or all
  Index significant = 0;         // how many are at or below it
  Index permutations = 0;
  Index domains = 2;
  bool rotations = false;  // the rows were not kept, or had weights: random rotations instead of permutations, exact
                           // for normal data
};

// Tests the correlations one after another. Pairs are dealt anew at random `permutations` times. The j-th correlation
// is compared with the largest one of the pairs so dealt, after the j-1 directions before it were taken out of both
// domains. Extra samples play no part. Throws TooFewSamples, NoVariance, InvalidInput.
//
// For m > 2 domains all but the first are dealt anew, each independently. The j-th direction is the best of what the
// j-1 before it leave, d_i of unit length in every domain, found by a quick search; its f = Σ_{i≠l} w_il d_iᵀ B_il d_l
// is compared with that of the samples so dealt, searched for in the same way. Of two domains f is twice the
// correlation.
PermutationTest permutation_test(const Summary& summary, const Regularization& options = {},
                                 const PermutationOptions& test = {});
}  // namespace cgmca
#pragma GCC visibility pop
