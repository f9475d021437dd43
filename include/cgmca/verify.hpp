// What a model attains on given pairs, from its maps and those pairs alone: nothing of its certificate is used.
//
// With z_ij = A_i (x_ij - mean_i) and C_i = M_i M_iᵀ, a model fitted to the pairs has
//   cov(z_i) = C_i,   mean(z_i) = 0,   1/n Σ_j ‖z_1j - z_2j‖² = certificate.objective
#pragma once

#include <array>
#include <cgmca/model.hpp>
#include <cgmca/types.hpp>

namespace cgmca {

struct Attained {
  Index samples = 0;
  std::array<double, 2> constraint_residuals{};  // ‖cov(z_i) - C_i‖_F / ‖C_i‖_F
  std::array<double, 2> mean_residuals{};        // ‖mean(z_i)‖ / (tr C_i)^½
  double objective = 0;                          // 1/n Σ_j ‖z_1j - z_2j‖²
  double covariance_trace = 0;                   // (n-1)/n (tr C_1 + tr C_2): the objective's scale
};

// In one pass over blocks of pairs, in memory that does not grow with their number.
class Verifier {
 public:
  explicit Verifier(Model model);                        // throws MissingDomain
  void add(const MatrixView& X1, const MatrixView& X2);  // d1×n, d2×n; throws WrongDimension or UnequalSamples
  Attained attained() const;                             // throws TooFewSamples

 private:
  Model model_;
  Index samples_ = 0;
  std::array<Vector, 2> sum_;   // Σ_j z_ij
  std::array<Matrix, 2> gram_;  // Σ_j z_ij z_ijᵀ, upper triangle
  double squared_distance_ = 0;
};

Attained verify(const Model& model, const MatrixView& X1, const MatrixView& X2);

}  // namespace cgmca
