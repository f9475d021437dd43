// EM on the summaries of patterns of presence.                                             docs/method.md section 13
#pragma once

#include <cgmca/types.hpp>
#include <vector>

namespace cgmca {

// Samples that have the features `seen`: n, mean and centred cross-products.
struct SeenMoments {
  std::vector<Index> seen;  // ascending
  double weight;
  Vector mean;
  Matrix products;
};

struct EmProblem {
  std::vector<SeenMoments> patterns;
  Matrix start;  // Θ, block-diagonal
  Vector start_mean;
  Vector penalty;  // the diagonal of B: β_i (n_i - 1) of the features of domain i
  double weight;   // N
};

struct EmResult {
  Matrix covariance;
  Vector mean;
  Index steps = 0;
  double change = 0, criterion = 0;
};

// The penalized likelihood never falls. Throws InvalidInput where a covariance of seen features is singular.
EmResult expectation_maximization(const EmProblem& problem);

}  // namespace cgmca
