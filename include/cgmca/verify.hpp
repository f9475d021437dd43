// What a model attains on given matched samples, from its maps and those samples alone: nothing of its certificate is
// used but what was asked for, the graph and the regularized covariances.
//
// With z_ij = A_i (x_ij - mean_i) and C_i = M_i M_iᵀ, a model fitted to the pairs has
//   cov(z_i) = C_i,   mean(z_i) = 0,   1/n Σ_s Σ_{i<j} w_ij ‖z_is - z_js‖² = certificate.objective
// cov and mean are of all samples of a domain, extra ones included. For a regularized covariance data·Θ + ridge·I,
// which is read from the model as the claim to be checked, data·cov(z_i) + ridge·A_i A_iᵀ takes the place of cov(z_i),
// and the objective is (n-1)/n times its traces less twice that of the cross-covariance. docs/method.md (26)
//
// Maps may have the right covariances and still not be the best ones: the best possible objective is computed anew from
// the pairs, (14), for the prescribed covariances M_i M_iᵀ and within the ranks r_i that the model was fitted with. Of
// more than two domains it is a bound on it, (38), found anew at the maps given, with how it was proved.
//
// Pairs may have weights, as those of Summary::add: then n is the sum of the weights, and each pair counts as often.
//
// Example:
//   Verifier verifier(model);
//   for (Index first = 0; first + 100 <= n; first += 100) {
//     verifier.add(X1.middleCols(first, 100), X2.middleCols(first, 100));
//   }
//   const Attained found = verifier.attained();
//   if (found.certified) std::cout << "the best maps, " << found.shortfall() << " of the scale above the bound\n";
//
// Threads: several verifications may run at once, also of one model and one summary.
#pragma once

#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/types.hpp>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// What a model attains on given samples.
struct Attained {
  Index samples = 0;                         // matched ones, of a weight above 0
  double total_weight = 0;                   // n: the sum of their weights
  std::vector<Index> all_samples;            // of each domain, extra ones included
  std::vector<double> constraint_residuals;  // ‖cov(z_i) - C_i‖_F / ‖C_i‖_F
  std::vector<double> mean_residuals;        // ‖mean(z_i)‖ / (tr C_i)^½
  double objective = 0;                      // 1/n Σ_s Σ_{i<j} w_ij ‖z_is - z_js‖²
  double covariance_trace = 0;               // (n-1)/n Σ_i deg_i tr C_i: the objective's scale
  double best_objective = 0;                 // no maps with these covariances can go below it on these samples
  bool certified = false;                    // the maps are the best, to rounding: gap is at most 1e-8
  double gap = 0;                            // (f_bound - f) / |f|, as that of Certificate
  std::string proof;                         // what best_objective rests on, as that of Certificate

  // How far the maps may fall short of the best ones, as a part of the objective's scale.
  double shortfall() const { return (objective - best_objective) / covariance_trace; }
};

// Verifies a model in one pass over blocks of matched samples, in memory that does not grow with their number.
class Verifier {
 public:
  explicit Verifier(Model model);  // throws MissingDomain
  // d_i×n of each domain; throws WrongDimension, UnequalSamples or NotFinite, with weights as Summary::add.
  void add(const std::vector<MatrixView>& X);
  void add(const std::vector<MatrixView>& X, const VectorView& weights);
  void add(const MatrixView& X1, const MatrixView& X2) { add(std::vector<MatrixView>{X1, X2}); }
  void add(const MatrixView& X1, const MatrixView& X2, const VectorView& weights) {
    add(std::vector<MatrixView>{X1, X2}, weights);
  }
  void add_extra(Domain domain, const MatrixView& X);  // samples without partner; throws as add
  Attained attained() const;                           // throws TooFewSamples

 private:
  struct Mapped {  // the samples of one domain, mapped
    Index samples = 0;
    double weight = 0;   // of all samples, 1 for each extra one
    Matrix range;        // k×c: orthonormal basis of the range of C, so that nothing is k×k
    Vector sum;          // Σ z over all samples
    Vector matched_sum;  // over the matched ones
    Matrix gram;         // Σ z zᵀ over all samples in that basis, upper triangle
  };
  Matrix add_domain(std::size_t i, const MatrixView& X, const Vector& weights);
  MatchedSamples checked(const std::vector<MatrixView>& X) const;
  void add_mapped(const std::vector<MatrixView>& X, const Vector& weights);  // no weights: 1 each
  double cross_trace() const;
  void bound_objective(Attained& result) const;

  Model model_;
  Summary matched_;
  std::vector<Summary> extra_;  // of one domain each
  Index samples_ = 0;
  std::vector<Mapped> mapped_;
  Matrix products_;  // Σ_s z_is · z_js, i < j
  double squared_distance_ = 0;
};

// The same for data at hand.   X_i: d_i×n. Throws as Verifier does.
Attained verify(const Model& model, const std::vector<MatrixView>& X);
Attained verify(const Model& model, const MatrixView& X1, const MatrixView& X2);

}  // namespace cgmca
#pragma GCC visibility pop
