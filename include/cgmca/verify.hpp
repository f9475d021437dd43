// What a model attains on given pairs, from its maps and those pairs alone: nothing of its certificate is used.
//
// With z_ij = A_i (x_ij - mean_i) and C_i = M_i M_iᵀ, a model fitted to the pairs has
//   cov(z_i) = C_i,   mean(z_i) = 0,   1/n Σ_j ‖z_1j - z_2j‖² = certificate.objective
// cov and mean are of all samples of a domain, extra ones included. For a regularized covariance data·Θ + ridge·I,
// which is read from the model as the claim to be checked, data·cov(z_i) + ridge·A_i A_iᵀ takes the place of cov(z_i),
// and the objective is (n-1)/n times its traces less twice that of the cross-covariance. docs/method.md (26)
//
// Maps may have the right covariances and still not be the best ones: the best possible objective is computed anew from
// the pairs, (14), for the prescribed covariances M_i M_iᵀ and within the ranks r_i that the model was fitted with.
//
// Pairs may have weights, as those of Summary::add: then n is the sum of the weights, and each pair counts as often.
//
// Threads: verifications may run side by side, of one model and one summary too.
#pragma once

#include <array>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>
#include <cgmca/types.hpp>

#pragma GCC visibility push(default)
namespace cgmca {

struct Attained {
  Index samples = 0;                             // pairs, of a weight above 0
  double total_weight = 0;                       // n: the sum of their weights
  std::array<Index, 2> all_samples{};            // of each domain, extra ones included
  std::array<double, 2> constraint_residuals{};  // ‖cov(z_i) - C_i‖_F / ‖C_i‖_F
  std::array<double, 2> mean_residuals{};        // ‖mean(z_i)‖ / (tr C_i)^½
  double objective = 0;                          // 1/n Σ_j ‖z_1j - z_2j‖²
  double covariance_trace = 0;                   // (n-1)/n (tr C_1 + tr C_2): the objective's scale
  double best_objective = 0;                     // no maps with these covariances can go below it on these pairs

  // How far the maps fall short of the best ones, as a part of the objective's scale.
  double shortfall() const { return (objective - best_objective) / covariance_trace; }
};

// In one pass over blocks of pairs, in memory that does not grow with their number.
class Verifier {
 public:
  explicit Verifier(Model model);  // throws MissingDomain
  // d1×n, d2×n; throws WrongDimension, UnequalSamples or NotFinite, with weights as Summary::add.
  void add(const MatrixView& X1, const MatrixView& X2);
  void add(const MatrixView& X1, const MatrixView& X2, const VectorView& weights);
  void add_extra(Domain domain, const MatrixView& X);  // samples without partner; throws as add
  Attained attained() const;                           // throws TooFewSamples

 private:
  Model model_;
  Matrix add_domain(Domain domain, const MatrixView& X, const Vector& weights);
  void add_mapped(const MatrixView& X1, const MatrixView& X2, const Vector& weights);  // no weights: 1 each
  void check(const MatrixView& X1, const MatrixView& X2) const;
  double best_objective(double covariance_trace) const;

  Summary pairs_;
  std::array<Summary, 2> extra_;  // of one domain each

  Index samples_ = 0;
  std::array<Index, 2> all_samples_{};
  std::array<double, 2> all_weights_{};  // with those of the extra samples, 1 each
  std::array<Matrix, 2> range_;          // k×c_i: orthonormal basis of the range of C_i, so that nothing is k×k
  std::array<Vector, 2> sum_;            // Σ_j z_ij over all samples
  std::array<Vector, 2> pair_sum_;       // over the pairs
  std::array<Matrix, 2> gram_;           // Σ_j z_ij z_ijᵀ over all samples in that basis, upper triangle
  double product_ = 0;                   // Σ_j z_1j · z_2j
  double squared_distance_ = 0;
};

Attained verify(const Model& model, const MatrixView& X1, const MatrixView& X2);

}  // namespace cgmca
#pragma GCC visibility pop
