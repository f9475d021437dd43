// Tests how many canonical correlations, or common directions of more than two domains, are more than chance
// (docs/method.md sections 6 and 8).
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
  Index permutations = 1000;                  // at least 1
  std::uint64_t seed = 1;                     // of the permutations
  double level = 0.05;                        // of significance, between 0 and 1
  std::optional<double> rank_tol;             // as that of a fit
  std::function<void(double done)> progress;  // told the part done of the present correlation; may throw to stop
  Graph graph = "full";                       // for more than two domains, as that of a fit
};

// What the test found.
struct PermutationTest {
  std::vector<double> p_values;  // of the correlations or directions in turn, up to the first above the level, if any
  Index significant = 0;         // how many are at or below the level
  Index permutations = 0;        // how many were made
  Index domains = 2;             // m
  bool rotations = false;        // random rotations took the place of permutations, because the rows were not kept or
                                 // had weights; this is exact for normal data
};

// Tests the correlations one after another. Partners are shuffled at random `permutations` times. The j-th correlation
// is compared with the largest correlation of the shuffled pairs, after the j-1 directions before it were removed from
// both domains. Extra samples play no part. Throws TooFewSamples, NoVariance, InvalidInput.
//
// For m > 2 domains the samples of all but the first are shuffled, each domain independently. The j-th direction is the
// best of what the j-1 before it leave: d_i of unit length in every domain, found by a quick search. Its
// f = Σ_{i≠l} w_il d_iᵀ B_il d_l is compared with that of the shuffled samples, found by the same search. For two
// domains f is twice the correlation.
PermutationTest permutation_test(const Summary& summary, const Regularization& options = {},
                                 const PermutationOptions& test = {});
}  // namespace cgmca
#pragma GCC visibility pop
