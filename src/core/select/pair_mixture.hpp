// A mixture of right and wrong pairs, calibrated by pairs that were shuffled on purpose.          docs/method.md section 12
#pragma once

#include <cgmca/types.hpp>
#include <cstdint>
#include <vector>

namespace cgmca {

// The samples of two domains in coordinates of their span: r_i×n, centred.
struct PairCoordinates {
  Matrix X1, X2;
  Index d1, d2;  // features, the unit of ridges

  Index count() const { return X1.cols(); }
};
// Throws UnequalSamples, TooFewSamples, NotFinite or NoVariance.
PairCoordinates pair_coordinates(const MatrixView& X1, const MatrixView& X2);

// log p(x_1, x_2) - log p(x_1) - log p(x_2) of normal samples with regularized covariances:                      (74)
//   -½ ( ‖K⁻ᵀ(y_2 - Bᵀy_1)‖² - ‖y_2‖² + log |I - BᵀB| ),   KᵀK = I - BᵀB,   y_i = W_i (x_i - μ_i)
class PairRatio {
 public:
  // Of weighted sums over samples: Σ w, Σ w x and Σ w x xᵀ of both domains, one above the other.
  struct Sums {
    double weight = 0;
    Vector first;
    Matrix second;
  };
  PairRatio(const Sums& sums, const PairCoordinates& pairs, double ridge);

  // u_j and v_j, so that the log ratio of sample i of domain 1 and j of domain 2 is
  // ½ (‖y_2j‖² - ‖u_j - v_i‖² - log |I - BᵀB|).
  struct Parts {
    Matrix u, v;  // r_2×n
    Vector own;   // ½ (‖y_2j‖² - log |I - BᵀB|)
    double of(Index i, Index j) const { return own(j) - 0.5 * (u.col(j) - v.col(i)).squaredNorm(); }
  };
  Parts parts(const MatrixView& X1, const MatrixView& X2) const;

 private:
  Vector mean1_, mean2_;
  Matrix R1_, R2_, B_, K_;
  double log_determinant_ = 0;
};

PairRatio::Sums sums_of(const PairCoordinates& pairs, const Vector& weights);

// The log ratios of all pairs, each by a fit to the other folds, and of shuffled pairs within the folds.
struct HeldOutRatios {
  Vector pairs, shuffled;
};
class PairFolds {
 public:
  PairFolds(const PairCoordinates& pairs, std::uint64_t seed);
  HeldOutRatios ratios(const Vector& weights, double ridge) const;

 private:
  struct Fold {
    std::vector<Index> members;
    std::vector<std::vector<std::uint32_t>> shuffles;
  };
  const PairCoordinates& pairs_;
  std::vector<Fold> folds_;
};

// w_j = π e_j/(π e_j + 1 - π), e_j = e^(a + b ℓ_j), with a such that the mean of e over shuffled pairs is 1.        (75)
struct PairMixture {
  Vector probability;
  double right = 1, power = 1;
};
PairMixture mixture_of(const HeldOutRatios& ratios);

}  // namespace cgmca
