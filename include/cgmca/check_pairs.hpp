// Which pairs are wrong: swapped, mismatched, or displaced by some rows (docs/method.md section 12).
//
// Each pair is judged by how much likelier its two samples are together than apart, given a fit to the other pairs. Pairs
// that are shuffled on purpose say what a wrong pair looks like, so nothing is assumed of its distribution.
//
// Example:
//   const PairCheck check = check_pairs(X1, X2);
//   for (const SuspectPair& suspect : check.suspects) std::cout << "pair " << suspect.pair << " is probably wrong\n";
//   Summary summary({d1, d2});
//   summary.add({X1, X2}, check.probability);  // a robust fit: wrong pairs count little
//   const Model model = fit(summary, C, C);
#pragma once

#include <cgmca/types.hpp>
#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Options of the check.
struct PairCheckOptions {
  double level = 0.05;     // the false discovery rate of the pairs that are confirmed
  std::uint64_t seed = 1;  // of the folds and the shuffled pairs
};

// A pair that is probably wrong.
struct SuspectPair {
  Index pair;          // its number, from 0
  double probability;  // that it is right
  Index partner = -1;  // the sample of domain 2 that the pair's sample of domain 1 belongs to, if one stands out
  double partner_probability = 0;  // that it does, among all samples of domain 2
};

// Sample j of domain 1 belongs to sample j + by of domain 2, for j from `first` to `last`.
struct Displacement {
  Index first, last, by;
};

// The result of the check.
struct PairCheck {
  Vector probability;                 // n: that pair j is right
  Vector log_ratio;                   // n: log p(x_1, x_2)/(p(x_1) p(x_2)) by the fit to other pairs          (74)
  Vector p_values;                    // n: the share of shuffled pairs that are at least as likely
  std::vector<Index> confirmed;       // pairs that are right, at the false discovery rate
  std::vector<SuspectPair> suspects;  // the most suspicious first
  std::vector<Displacement> displacements;  // runs of rows whose partner is some rows away
  double right = 1;                         // the share of pairs that are right, as estimated
  double ridge = 0;                         // with which pairs were judged
  bool informative = true;                  // false: no pair can be judged, see remarks
  std::vector<std::string> remarks;         // sentences for people: displaced rows, a sorted file
};

// Checks n >= 20 pairs.   X1: d1×n, X2: d2×n. If the domains say too little of each other to tell right pairs from wrong
// ones, but rows are displaced or the samples of one domain are sorted, the result says so and judges no pair; otherwise
// that is InvalidInput. Throws TooFewSamples, UnequalSamples, NotFinite, NoVariance too.
PairCheck check_pairs(const MatrixView& X1, const MatrixView& X2, const PairCheckOptions& options = {});

}  // namespace cgmca
#pragma GCC visibility pop
