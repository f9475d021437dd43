// Model: two affine maps into one common space, with the proof that they are the ones asked for.
//
// Threads: several may apply, read and save one model at once; who changes or loads it must be alone.
#pragma once

#include <array>
#include <cgmca/domain.hpp>
#include <cgmca/regularization.hpp>
#include <cgmca/types.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

class TensorReader;
class TensorWriter;

// One domain's map g(x) = A (x - mean), kept in the factors A = M T from which everything else
// follows.
struct DomainMap {
  Vector mean;            // d
  Matrix weights;         // T: c×d   canonical scores t = T (x - mean) of identity covariance
                          // docs/method.md (11)
  Matrix mixing;          // M: k×c   their place in the common space, z = M t; M Mᵀ = C             (12)
  Matrix loadings;        // P: d×q   covariance of the features with the first q canonical scores   (16)
  Vector variance;        // d        of each feature
  Vector held_out_error;  // d   s of (30): the error of translations to this domain, cross-fitted; empty where not
  std::string name;       // of the domain; empty where nobody gave one
  std::vector<std::string> feature_names;  // d, or none

  Index features() const { return mean.size(); }
  Index scores() const { return weights.rows(); }
  Matrix matrix() const;               // A = M T, k×d                                                      (13)
  Vector offset() const;               // b = -A mean: g(x) = A x + b
  Vector covariance_spectrum() const;  // the c nonzero eigenvalues of C = M Mᵀ, descending

  void check_features(Domain domain, const MatrixView& X) const;  // throws WrongDimension
};

// What the fit attained, beside what no fit can surpass. Residuals and the distance of objective
// from bound must be at rounding level; they are computed from the finished maps.
struct Certificate {
  std::array<double, 2> constraint_residuals{};  // ‖A_i Θ̃_i A_iᵀ - C_i‖_F / ‖C_i‖_F                  (15)
  std::array<Regularized, 2> constrained;        // Θ̃_i, the covariance of domain i meant by it       (24)
  double objective = 0;                          // (n-1)/n ‖A1 S1 - A2 S2‖_F²; regularized            (1) (26)
  double bound = 0;                              // (n-1)/n (tr C1 + tr C2 - 2 Σ σ_j(A) σ_j(B))        (14)
  double covariance_trace = 0;                   // (n-1)/n (tr C1 + tr C2): the scale of both
  Vector singular_A;                             // σ(A) of the prescribed covariances                 (7)
  Vector singular_B;                             // σ(B): the canonical correlations                   (8)
                                                 // (of a Gram summary the unused ones to eps/σ)
  std::array<Index, 2> ranks{};                  // r_i of the data
  std::array<Index, 2> covariance_ranks{};       // c_i of the prescribed covariances
  double min_gap = 0;                            // min (σ_j - σ_{j+1})/σ_1 over the canonical correlations used
  std::array<double, 2> tolerances{};            // rank rule: σ_j(S_i) > tolerance · σ_1(S_i)
  std::string route;  // what ran: summary form, how each domain was whitened, how B, as "qr: gesdd, geqrf; B gesdd"
};

// What the fit was asked for, so that another can be made like it.
struct FitSettings {
  // "identity", "data1", "correlation", …; "matrix" for one given by its entries, of which the maps hold C = M Mᵀ
  std::array<std::string, 2> covariance{"matrix", "matrix"};
  std::array<Index, 2> components{};  // the number after the name, as 4 of identity:4; 0 where there is none
  std::array<Index, 2> max_rank{};    // 0: no limit
  std::array<Ridge, 2> ridge{};
  std::optional<double> rank_tol;
};

struct Model {
  FitSettings settings;
  Index samples = 0;                                // matched samples of a weight above 0
  double total_weight = 0;                          // n: the sum of their weights, samples where there were none
  Index common_dimension = 0;                       // k
  std::array<std::string, 2> covariances;           // what was prescribed, in words
  std::array<std::optional<DomainMap>, 2> domains;  // either may be absent, see only()
  Index calibration_folds = 0;                      // of held_out_error; 0: not calibrated
  Certificate certificate;

  const DomainMap& domain(Domain domain) const;  // throws MissingDomain

  // In words, what the user should know before trusting the model: a saturated fit, correlations above 1.
  std::vector<std::string> warnings() const;

  Model only(Domain domain) const;  // without the other domain's map, for shipping one side alone

  // One safetensors file, written atomically. load throws FormatError or IoError.
  void save(const std::string& path) const;
  static Model load(const std::string& path);
  // The same bytes without a file, to send or to embed.
  std::string to_bytes() const;
  static Model from_bytes(std::string_view bytes);

 private:
  TensorWriter pack() const;
  static Model unpack(const TensorReader& file);
};

// Z = A (X - mean 1ᵀ).   X: d×n, Z: k×n. Throws WrongDimension.
Matrix apply(const Model& model, Domain domain, const MatrixView& X);

}  // namespace cgmca
#pragma GCC visibility pop
