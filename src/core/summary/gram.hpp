// The Gram form of a summary: G = Xc Xcᵀ, summed.                                                  docs/method.md (17)
//
// Two sets of samples a and b, of means m_a and m_b, have together
//   Xc Xcᵀ = Xc_a Xc_aᵀ + Xc_b Xc_bᵀ + s sᵀ,   s = √(n_a n_b / n) (m_b - m_a)
// where n is the sum of the weights: the number of samples where each counts once.
#pragma once

#include <cgmca/types.hpp>

#include "core/linalg/backend.hpp"
#include "core/summary/deviations.hpp"

namespace cgmca {

// How many samples, their weight and their mean relative to the summary's origin. Sets of samples join by (17).
struct Count {
  Index samples = 0;
  double weight = 0;  // Σ w, the n of the formulas; the number of samples where each counts once
  Vector mean;

  Vector step_to(const Count& other) const;  // s
  void join(const Count& other);
};

// The mean of samples relative to an origin.
Count count_of(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin);

// The same, and the deviations from it.
struct CentredSamples {
  Count count;
  Deviations Xc;
};
CentredSamples centred(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin);

struct GramState {
  Count count;
  linalg::Array G;  // p×p, upper triangle
  // R with RᵀR = G_ii for the block of each domain in the present G, as far as they are known. Copying and adding drop
  // them.
  std::vector<linalg::ArrayTriangle> factors;

  GramState(const linalg::Backend& on, Index p) : G(on.zeros(p, p)) {}
  GramState(Count count_, linalg::Array G_) : count(std::move(count_)), G(std::move(G_)) {}
  GramState(const GramState& other) : count(other.count), G(other.G.on().copy(other.G)) {}
  GramState& operator=(const GramState& other) { return *this = GramState(other); }
  GramState(GramState&&) noexcept = default;
  GramState& operator=(GramState&&) noexcept = default;
  ~GramState() = default;

  void add(const Deviations& Xc, const Count& added);                          // Xc are deviations from added.mean
  GramState with(const WeightedSamples& samples, const Vector& origin) const;  // this with more samples
  Vector merge(const GramState& other, const Vector& shift);  // shift: its origin minus ours; returns s
  linalg::Array theta() &&;                                   // G/(n-1), both triangles, in place of G
  // Z (p×r) with Z Zᵀ = G, by pivoted Cholesky of the features at unit variance. What a dependent feature has beyond
  // the others in G is rounding of the size eps; its square root would be mistaken for a direction.
  linalg::Array root() const;
};

// Adds samples to a sum, some at a time: while a remote back end multiplies these, the next ones travel.
void add_in_pieces(GramState& sum, const WeightedSamples& samples, const Vector& origin);

}  // namespace cgmca
