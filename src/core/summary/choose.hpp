// Whether compressed samples may keep the frame P = I: while the data prove that it is safe.
//
// Proof. The errors of P = I are a small multiple of eps·κ(Θ_ii). κ(Θ_ii) is measured on the first 2p samples.
// After that, adding Xc Xcᵀ cannot lower λ_min and raises λ_max by at most the trace added. So the bounds are updated
// without measuring. When they no longer prove κ <= kSafeGramCondition, the sum is measured again. If that fails, the
// sum before the new samples, which was safe, makes a frame together with the new samples.
#pragma once

#include <vector>

#include "core/linalg/backend.hpp"
#include "core/summary/layout.hpp"

namespace cgmca {

using Spectrum = linalg::SpectrumBounds;  // of (n-1)·Θ_ii, one a domain

class GramSafety {
 public:
  explicit GramSafety(const Layout& layout) : bounds_(static_cast<std::size_t>(layout.domains())) {}
  explicit GramSafety(std::vector<Spectrum> bounds) : bounds_(std::move(bounds)) {}

  // max Θ_jj / min Θ_jj <= κ, so for most data with features that hardly vary the diagonal alone decides.
  static bool diagonal_allows(const Vector& diagonal, const Layout& layout);
  // Measures G (upper triangle), which has only grown since it was last measured. Returns whether P = I is safe.
  bool measure(const linalg::Array& G, const Layout& layout);
  // Updates the bounds for an added sum with this diagonal. Returns false, and changes nothing, if they would prove too
  // little.
  bool carry(const Vector& added_diagonal, const Layout& layout);

  // Updates the bounds for the sum with another G, measured likewise, and with s sᵀ: λ_max(A + B) <= λ_max(A) + λ_max(B)
  // and λ_min(A + B) >= λ_min(A) + λ_min(B). Returns false, and changes nothing, if that proves too little.
  bool join(const GramSafety& other, const Vector& s, const Layout& layout);

  const std::vector<Spectrum>& bounds() const { return bounds_; }

 private:
  std::vector<Spectrum> bounds_;
};

}  // namespace cgmca
