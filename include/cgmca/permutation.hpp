// Tests how many canonical correlations, or common directions of more than two domains, are more than chance
// (docs/method.md sections 6 and 8).
//
// Example:
//   const PermutationTest test = permutation_test({X1, X2}, {}, {.permutations = 100});
//   std::cout << test.significant << " correlations are not chance\n";
//   for (const std::string& remark : test.remarks) std::cout << "note: " << remark << "\n";
#pragma once

#include <cgmca/fit.hpp>
#include <cgmca/samples.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Options of the test.
struct PermutationOptions {
  Index permutations = 1000;                  // at least 1
  std::uint64_t seed = 1;                     // of the permutations
  double level = 0.05;                        // of significance, between 0 and 1
  std::optional<double> rank_tol;             // as that of a fit
  std::function<void(double done)> progress;  // told the part done of the present correlation; may throw to stop
  Graph graph = "full";                       // for more than two domains, as that of a fit
  bool scale = false;                         // as that of a fit
  bool nuisance = false;                      // whether the last of the samples given are values of a nuisance
};

// The result of the test.
struct PermutationTest {
  std::vector<double> p_values;  // of all correlations or directions in turn; they never fall
  Index significant = 0;         // how many are at or below the level
  Index permutations = 0;        // how many were made for each; fewer beyond the first that is not significant
  Index domains = 2;             // m
  // Random rotations took the place of permutations, because the samples were not at hand or had weights that are not
  // whole numbers. This is exact for normal data, and wrong for data of heavy tails.
  bool rotations = false;
  std::vector<std::string> remarks;  // sentences for people: if the p values assume normal data
};

// Tests the correlations one after another. Partners are shuffled at random `permutations` times, and the j-th
// correlation is compared with the largest one of the shuffled pairs. The directions before it and their scores are
// left out first, of the pairs and of the shuffled ones. The test of the first is exact for every distribution of the
// samples. For more than two domains the samples of all but the first are shuffled, each domain independently. The
// j-th direction is then the best of what the j-1 before it leave: d_i of unit length in every domain, found by a quick
// search. Its f = Σ_{i≠l} w_il d_iᵀ B_il d_l is compared with that of the shuffled samples, found by the same search.
// X_i: d_i×n. Throws as Summary::add does, and TooFewSamples, NoVariance, InvalidInput.
PermutationTest permutation_test(const MatchedSamples& X, const Regularization& options = {},
                                 const PermutationOptions& test = {});
// The same with n weights. Those that are whole numbers are copies of a sample: the copies are shuffled. Samples of
// other weights, unless all are equal, have no permutation that keeps their covariances: they are rotated, see
// PermutationTest::rotations.
PermutationTest permutation_test(const MatchedSamples& X, const VectorView& weights, const Regularization& options = {},
                                 const PermutationOptions& test = {});
// The same of a summary, by permutations if it still holds the samples (SummaryForm::rows), else by rotations. Extra
// samples play no part.
PermutationTest permutation_test(const Summary& summary, const Regularization& options = {},
                                 const PermutationOptions& test = {});
}  // namespace cgmca
#pragma GCC visibility pop
