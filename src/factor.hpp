// From a summary to what Algorithm 1 works on: the thin SVD of each domain and the cross matrix B.
#pragma once

#include <array>
#include <cgmca/fit.hpp>
#include <cgmca/summary.hpp>
#include <string>

namespace cgmca {

// S = U diag(s) Vᵀ, rank r; constant features have zero rows in U.   U: d×r, s: r docs/method.md
// (3)
struct DomainFactor {
  Matrix U;
  Vector s;
  double tolerance;  // s_j > tolerance · s_1 held

  Index rank() const { return s.size(); }
  Matrix whitening() const { return U * s.cwiseInverse().asDiagonal(); }  // Wᵀ = U Σ⁻¹: W Θ Wᵀ = I   (4)
  Matrix colouring() const { return U * s.asDiagonal(); }                 // U Σ: Θ = (UΣ)(UΣ)ᵀ
};

struct Factors {
  std::array<DomainFactor, 2> domains;
  Matrix B;  // V1ᵀ V2, r1×r2 (8)
  PairSummary::Moments moments;
  std::string route;

  const DomainFactor& operator[](Domain domain) const { return domains[slot(domain)]; }
};

Factors factorize(const PairSummary& summary, const FitOptions& options);

}  // namespace cgmca
