// From a summary to what Algorithm 1 works on: the thin SVD of each domain, regularized, and the cross matrix B.
#pragma once

#include <array>
#include <cgmca/fit.hpp>
#include <cgmca/summary.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linalg/linalg.hpp"

namespace cgmca {

// Θ = S Sᵀ = U diag(s²) Uᵀ of rank r; constant features have zero rows in U.                    docs/method.md (3)
// Whitened is Θ̃ = data·Θ + ridge·I, which in the directions U is diag(scale²).                                 (24)
//
// Where nothing asks for the spectrum and Θ is well conditioned, a triangle R with RᵀR = LᵀL or LLᵀ = Θ whitens as
// well, at a fraction of the cost. U, s and scale are then empty.
//   L = Rᵀ             as many samples as features or more
//   L = Q R            the same, where the features depend on each other
//   L = S V            fewer: V (n×(n-1)) is an orthonormal basis of the centred samples, RᵀR = LᵀL
struct Triangle {
  Matrix R;                     // r×r, upper triangular
  std::vector<Index> features;  // the rows of Rᵀ; those of constant features are zero
  Matrix Q;                     // where L = Q R: of the varying features, orthonormal columns
  const Matrix* S = nullptr;    // where L = S V: in FactorizedData
  Vector v;  // V E = E - 2 v vᵀE without the last entry: the reflection that takes (1, …, 1) to the last axis

  Matrix basis_times(const MatrixView& E) const;  // V E
};

struct DomainFactor {
  Matrix U;      // d×r
  Vector s;      // r
  Vector scale;  // r: (data·s² + ridge)^½, which is s itself where nothing is regularized
  std::optional<Triangle> triangle;
  Vector mean;               // d
  Vector variance;           // d: diagonal of Θ, of Θ̃ once regularized
  double trace = 0;          // tr Θ
  double concentration = 0;  // tr Θ² / (tr Θ)²; not known of a triangle
  double condition = 1;      // κ(L), before anything is regularized
  Index features = 0;        // d
  Regularized covariance;
  double tolerance = 0;  // s_j > tolerance · s_1 held

  Index rank() const { return triangle ? triangle->R.rows() : s.size(); }
  // With L = U diag(scale), or the triangle's: W = L⁺, W Θ̃ Wᵀ = I.   E: r×k                                        (4)
  Matrix white(const MatrixView& X) const;     // W X
  Matrix whitened(const MatrixView& E) const;  // Wᵀ E
  Matrix coloured(const MatrixView& E) const;  // L E = Θ̃ Wᵀ E
  Matrix shares(const MatrixView& E) const;    // Eᵀ LᵀL E / tr LᵀL: what each direction has of the variance
};

// The data themselves, for the proof: shared by all fits of one factorization.
struct FactorizedData {
  PairSummary::Moments moments;  // of the pairs; in the gram form Θ11 and Θ22 are of all samples
  std::array<Matrix, 2> pooled;  // S_i of all samples of domain i where some are extra (forms rows and qr), else empty
};

struct Factors {
  Index samples = 0;  // n matched pairs
  SummaryForm form = SummaryForm::rows;
  std::array<DomainFactor, 2> domains;
  Matrix B;  // W1 Θ12 W2ᵀ, r1×r2; V1ᵀ V2 where nothing is regularized and no samples are extra               (8)
  std::shared_ptr<const FactorizedData> data;
  std::string route;

  const DomainFactor& operator[](Domain domain) const { return domains[slot(domain)]; }
};

// Of the plain sample covariances, extra samples included. A domain whose entry in `spectrum` is false may get a
// triangle.
Factors factorize(const PairSummary& summary, const FitOptions& options, std::array<bool, 2> spectrum = {true, true});

// Keeps the max_rank leading directions of each domain and whitens with the regularized covariance instead. Throws
// InvalidInput. Once only: `factors` must be plain, and have their spectra.
void regularize(Factors& factors, const FitOptions& options);

}  // namespace cgmca
