// Whitening of one domain: L with L Lᵀ = Θ̃, the covariance that the constraint holds for, and W = L⁺, so that
// W Θ̃ Wᵀ = I.                                                                                  docs/method.md (4) (24)
//
// The maps do not depend on the choice of L, because another L only rotates U_B and the maps undo that. The spectrum
// shows the rank, gives `data` covariances and can be regularized. If none of that is needed, a triangle is cheaper.
#pragma once

#include <cgmca/regularization.hpp>
#include <memory>
#include <string>

#include "core/linalg/backend.hpp"

namespace cgmca {

class Whitening {
 public:
  using Array = linalg::Array;

  explicit Whitening(double trace) : trace_(trace) {}
  virtual ~Whitening() = default;
  virtual Index rank() const = 0;                    // r
  virtual Array white(const Array& X) const = 0;     // W X
  virtual Array whitened(const Array& E) const = 0;  // Wᵀ E      E: r×k
  virtual Array coloured(const Array& E) const = 0;  // L E = Θ̃ Wᵀ E
  // Eᵀ LᵀL E / tr LᵀL: the share of the variance in each direction. It is computed from L E, or with fewer operations
  // from H E with HᵀH = LᵀL.
  virtual Array shares(const Array& E) const { return share_of(coloured(E)); }

 protected:
  Array share_of(const Array& HE) const;

 private:
  double trace_;  // of LᵀL
};

// L = U diag(scale), Θ = U diag(s²) Uᵀ.   U: d×r with orthonormal columns, zero rows for constant features
//
// U has errors of eps. This is too much for W if features of one domain differ in size by 10¹⁰, because the entry of U for
// a large feature in a direction of small s is of the order s / size. Then U is stored in two more versions (graded.hpp):
// `inward` with errors of eps s / size for W = diag(1/scale) inwardᵀ, and `outward` with errors of eps size / s for L. With a
// ridge these errors are too large where features are small, and U has each entry to eps or less.
class SpectrumWhitening final : public Whitening {
 public:
  SpectrumWhitening(const Array& U_, Vector s_, Vector scale_)
      : SpectrumWhitening(U_, std::move(s_), std::move(scale_), U_, U_) {}
  SpectrumWhitening(Array U_, const Vector& s_, Array inward_, Array outward_)
      : SpectrumWhitening(std::move(U_), s_, s_, std::move(inward_), std::move(outward_)) {}

  // The leading `rank` directions of Θ̃ = data Θ + ridge I.
  std::shared_ptr<const SpectrumWhitening> regularized(Index rank, double data, double ridge) const;

  Index rank() const override { return s.size(); }
  Array white(const Array& X) const override;
  Array whitened(const Array& E) const override;
  Array coloured(const Array& E) const override;
  Array shares(const Array& E) const override;

  const Array U;
  const Vector s;      // r
  const Vector scale;  // r: (data·s² + ridge)^½, which is s where nothing is regularized
  const Array inward, outward;

 private:
  SpectrumWhitening(Array U_, Vector s_, Vector scale_, Array inward_, Array outward_)
      : Whitening(scale_.squaredNorm()),
        U(std::move(U_)),
        s(std::move(s_)),
        scale(std::move(scale_)),
        inward(std::move(inward_)),
        outward(std::move(outward_)) {}
};

// The places of the features that vary among all features.
struct Varying {
  linalg::Indices places;
  Index features;
};

// L = [R, R C]ᵀ for the features that vary. The first r are independent, and the others are their combinations C.
// N = [-C; I] is orthogonal to every sample, so that W = R⁻ᵀ [I, 0] (I - Q Qᵀ) with an orthonormal basis Q of N.   (47)
// With sizes D, N is that of the features at unit size, N = [-D_1 C D_2⁻¹; I], and W = R⁻ᵀ D_1 [I, 0] (I - Q Qᵀ) D⁻¹.
//   R: r×r upper triangular, C: r×e, or empty: then L = Rᵀ and W = R⁻ᵀ
class TriangleWhitening final : public Whitening {
 public:
  // `varying` names the r features first. sizes: r + e, in the same order, or empty: 1
  TriangleWhitening(Array R, Array C, Varying varying, Vector sizes = {});

  Index rank() const override { return R_.rows(); }
  Array white(const Array& X) const override;
  Array whitened(const Array& E) const override;
  Array coloured(const Array& E) const override;

 private:
  Array R_, C_, Q_;
  Varying varying_;
  Vector sizes_;
};

// L = S V for fewer samples than features: V (n×(n-1)) is an orthonormal basis of the centred samples, RᵀR = LᵀL.
//   V E = [E; 0] - 2 v (v without its last entry)ᵀ E
// I - 2 v vᵀ is the reflection that takes (1, …, 1)/√n or, with weights, (√w_1, …, √w_n)/√Σw, to the last axis.
class WideWhitening final : public Whitening {
 public:
  WideWhitening(Array S, const Array& R, Vector v)
      : Whitening(R.on().squared_norm(R)), S_(std::move(S)), R_(R), v_(std::move(v)) {}

  Index rank() const override { return R_.rows(); }
  Array white(const Array& X) const override;
  Array whitened(const Array& E) const override;
  Array coloured(const Array& E) const override;
  Array shares(const Array& E) const override;
  Array basis_times(const Array& E) const;  // V E

 private:
  Array S_, R_;
  Vector v_;
};

// A whitened domain, and the numbers of it that later stages need.
struct WhitenedDomain {
  std::shared_ptr<const Whitening> whitening;
  Index features = 0;       // d, the unit of ridges, also where tuning works in fewer coordinates
  Vector mean;              // d, of the features as they are
  Vector scale;             // D: d, the divisors of the features before whitening; empty: 1
  double total_weight = 0;  // of its samples, extra ones included
  Vector variance;          // d: diagonal of Θ, of Θ̃ once regularized
  double trace = 0;         // tr Θ
  double condition = 1;     // κ(L), before anything is regularized
  double tolerance = 0;     // s_j > tolerance · s_1 held
  Regularized covariance;   // Θ̃
  std::string route;        // the routines that whitened it

  Index rank() const { return whitening->rank(); }
  const SpectrumWhitening* spectrum() const { return dynamic_cast<const SpectrumWhitening*>(whitening.get()); }
};

}  // namespace cgmca
