// Tests of the canonical correlations of two domains by their theory for normal data, from the correlations, the number
// of pairs and the ranks alone: any model will do.                                          docs/method.md section 6
//
// For k = 0, 1, …, s - 1 the hypothesis is that σ_{k+1}, …, σ_s are zero. With ranks p and q, n pairs, P = p - k,
// Q = q - k, N = n - k and S = min(P, Q):
//   Wilks                    Λ = Π_{j>k} (1 - σ_j²)
//   Pillai                   V = Σ_{j>k} σ_j²
//   Hotelling-Lawley         U = Σ_{j>k} σ_j² / (1 - σ_j²)
//   Roy                      θ = σ_{k+1}² / (1 - σ_{k+1}²)
//
// Example:
//   const Model model = fit(X1, X2, Covariance::identity(1), Covariance::identity(1));
//   for (const CorrelationTest& test : correlation_tests(model)) {
//     std::cout << test.first << ": p = " << test.wilks.p << "\n";
//   }
#pragma once

#include <cgmca/model.hpp>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// A statistic, and its approximation by an F distribution. p is NaN if the pairs are too few for the approximation.
struct FTest {
  double value = 0;         // Λ, V, U or θ
  double F = 0;             // compared with the distribution of F
  double df1 = 0, df2 = 0;  // its degrees of freedom
  double p = 1;             // the chance of such an F, or a larger one, if the hypothesis is true
};

// The hypothesis that the correlations from number `first` on are zero.
struct CorrelationTest {
  Index first = 1;         // k + 1
  double correlation = 0;  // σ_{k+1}
  FTest wilks;             // Rao's F: exact for S <= 2, or P or Q of at most 2
  FTest pillai;
  FTest hotelling;         // McKeon's F
  FTest roy;               // an upper bound of F, so p is a lower bound
  double chi_squared = 0;  // Bartlett and Lawley: -(n - k - (p+q+3)/2 + Σ_{j<=k} σ_j⁻²) log Λ
  double chi_df = 0;       // PQ
  double chi_p = 1;        // the chance of such a chi_squared, or a larger one
};

// The tests for k = 0, …, s - 1 of a plain fit of two domains. Throws InvalidInput, with the way to test it instead, if
// the theory does not hold: more than two domains, a ridge, max_rank, extra samples, too few samples for the ranks, or
// weights whose sum is not whole. A model keeps only the sum of the weights, so other weights are taken for counts.
std::vector<CorrelationTest> correlation_tests(const Model& model);

// The number of significant correlations by Rao's F: tests are made in turn until the first with p > level.
Index significant_correlations(const std::vector<CorrelationTest>& tests, double level = 0.05);

}  // namespace cgmca
#pragma GCC visibility pop
