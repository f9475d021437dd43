// What a model attains on given matched samples, computed from its maps and those samples alone. Of its certificate
// only what was asked for is used: the graph and the regularized covariances. All else that the model holds is compared
// with what the samples say (Verification::claims).
//
// With z_ij = A_i (x_ij - mean_i) and C_i = M_i M_iᵀ, a model fitted to the pairs has
//   cov(z_i) = C_i,   mean(z_i) = 0,   1/n Σ_s Σ_{i<j} w_ij ‖z_is - z_js‖² = certificate.objective
// cov and mean are of all samples of a domain, extra ones included. For a regularized covariance data·Θ + ridge·I,
// which is read from the model as the claim to be checked, data·cov(z_i) + ridge·A_i A_iᵀ takes the place of cov(z_i),
// and the objective is (n-1)/n times its traces less twice that of the cross-covariance. docs/method.md (26)
//
// Maps may have the right covariances and still not be the best ones: the best possible objective is computed anew from
// the pairs, (14), for the prescribed covariances M_i M_iᵀ and within the ranks r_i that the model was fitted with. For
// more than two domains a bound on it, (38), is computed anew at the given maps, with the name of its proof. A model with
// held-out errors takes as many fits more as it was calibrated with.
//
// Pairs may have weights, as for Summary::add: each pair counts as often as its weight says, and n is the sum of the
// weights.
//
// Example:
//   Verifier verifier(model);
//   for (Index first = 0; first + 100 <= n; first += 100) {
//     verifier.add({X1.middleCols(first, 100), X2.middleCols(first, 100)});
//   }
//   const Verification found = verifier.verification();
//   if (found.certified) std::cout << "the best maps, " << found.shortfall() << " of the scale above the bound\n";
//
// Threads: several verifications may run at once, also of one model and one summary.
#pragma once

#include <algorithm>
#include <cgmca/folds.hpp>
#include <cgmca/incomplete.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/types.hpp>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Something that a model says of itself, and how far it is from what was computed anew.
struct Claim {
  std::string what;       // "loadings 2", "bound": with the numbers of the domains, from 1
  double difference = 0;  // relative to its scale; infinite for a number that must agree exactly and does not
};

// The result of verifying a model on given samples.
struct Verification {
  Index samples = 0;                      // matched ones, of a weight above 0
  double total_weight = 0;                // n: the sum of their weights
  ByDomain<Index> all_samples;            // of each domain, extra ones included
  ByDomain<double> constraint_residuals;  // ‖cov(z_i) - C_i‖_F / ‖C_i‖_F
  ByDomain<double> mean_residuals;        // ‖mean(z_i)‖ / (tr C_i)^½
  double objective = 0;                   // 1/n Σ_s Σ_{i<j} w_ij ‖z_is - z_js‖²
  double covariance_trace = 0;            // (n-1)/n Σ_i deg_i tr C_i: the objective's scale
  double best_objective = 0;              // no maps with these covariances can go below it on these samples
  bool certified = false;                 // the maps are the best, to rounding: gap is at most 1e-8
  double gap = 0;                         // (f_bound - f) / |f|, as that of Certificate; 0 if that is rounding
  std::string proof;                      // what best_objective rests on, as that of Certificate

  // Everything else that the model holds and the samples can tell: the prescribed covariances, means, variances,
  // loadings, correlations, ranks, bound, gap. Held-out errors are measured again on the same folds; if these cannot be
  // repeated, because they were merged, the errors may differ threefold. Names, the route and the history of the search
  // are protected by the file's checksum alone.
  std::vector<Claim> claims;

  // The claim that is farthest from the truth.
  const Claim& worst_claim() const {
    return *std::max_element(claims.begin(), claims.end(),
                             [](const Claim& a, const Claim& b) { return a.difference < b.difference; });
  }
  // The distance of the maps from the best ones, at most, as a part of the objective's scale.
  double shortfall() const { return (objective - best_objective) / covariance_trace; }
};

// Verifies a model in one pass over blocks of matched samples, in memory that does not grow with their number.
class Verifier {
 public:
  // Verifies the domains of this model's fit, without those that were added to it. Throws MissingDomain.
  explicit Verifier(Model model);
  // Adds matched samples, d_i×n of each domain. Throws WrongDimension, UnequalSamples or NotFinite.
  void add(const MatchedSamples& X);
  // The same with n weights. Throws as Summary::add does.
  void add(const MatchedSamples& X, const VectorView& weights);
  // Adds samples of one domain without partners, d×n. Throws as add does.
  void add_extra(Domain domain, const MatrixView& X);
  // The result for the samples added so far. Throws TooFewSamples.
  Verification verification() const;

 private:
  struct Mapped {  // the samples of one domain, mapped
    Index samples = 0;
    double weight = 0;   // of all samples, 1 for each extra one
    Matrix range;        // k×c: orthonormal basis of the range of C, so that nothing is k×k
    Vector sum;          // Σ z over all samples
    Vector matched_sum;  // over the matched ones
    Matrix gram;         // Σ z zᵀ over all samples in that basis, upper triangle
  };
  Matrix add_domain(Domain domain, const MatrixView& X, const Vector& weights);
  void check(const MatchedSamples& X) const;
  void add_mapped(const MatchedSamples& X, const Vector& weights);  // no weights: 1 each
  double cross_trace() const;
  void bound_objective(Verification& result) const;

  // The claims of held-out errors; differences are divided by `noise`.
  void check_held_out(Verification& result, double noise) const;

  Model model_;
  Summary matched_;
  std::optional<Folds> folds_;  // as the model was calibrated
  ByDomain<Summary> extra_;     // of one domain each
  Index samples_ = 0;
  ByDomain<Mapped> mapped_;
  Matrix products_;  // Σ_s z_is · z_js, i < j
  double squared_distance_ = 0;
};

// Verifies a model on data in memory.   X_i: d_i×n. Throws as Verifier does.
Verification verify(const Model& model, const MatchedSamples& X);

// The same of incomplete samples: on the mean and covariance estimated from them with the model's ridges.
Verification verify(const Model& model, const IncompleteSummary& summary);

}  // namespace cgmca
#pragma GCC visibility pop
