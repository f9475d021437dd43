// The frame of a summary in QR form: Xc Xcᵀ = Pᵀ G P.                                             docs/method.md (27)
//
// P is triangular within each domain and whitens the vectors it is made of, or nearly so. G = P⁻ᵀ Xc Xcᵀ P⁻¹ is
// therefore well conditioned, however ill-conditioned the data are, as long as later samples are like those vectors.
// Sums of y yᵀ then lose nothing that a QR factorization would keep, and cost matrix products only. When later samples
// are unlike them, and G grows, a new frame has to be made.
#pragma once

#include <cgmca/types.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "core/linalg/backend.hpp"
#include "core/summary/deviations.hpp"
#include "core/summary/layout.hpp"

namespace cgmca {

struct Frame {
  linalg::Places features;  // those that vary, domain by domain, in an order in which P is triangular
  linalg::Places constant;  // the others
  std::vector<std::shared_ptr<const linalg::ArraySolver>> P;  // one a domain
  std::vector<Index> diagonal;  // of each P the leading rows that are diagonal in a scaled frame; 0 in a triangle

  Index size() const { return static_cast<Index>(features.size()); }
  Index size(std::size_t domain) const { return P[domain]->R().rows(); }
  void enter(const linalg::Array& X) const;  // Y = P⁻ᵀ X in place of X: rows are the features in their order
  linalg::Array triangle(const linalg::Array& G) const;  // R = K P, KᵀK = G; columns are the features in their order
  linalg::Array whole() const;                           // P of all domains, block diagonal
  bool scaled() const;                                   // in some domain
  // Whether G (upper triangle) has grown too far from what it began as: then κ(G) may be large. A triangle's G begins
  // as I, and samples never lower its smallest eigenvalue, 1, so that the largest is a bound. Of a scaled frame κ is
  // measured in each domain; one domain may well be a function of the other.
  bool outgrown(const linalg::Array& G) const;
  // Nothing where that cannot be a frame of these domains.
  static std::optional<Frame> from_whole(const linalg::Backend& on, const Matrix& P, linalg::Places features,
                                         std::vector<Index> diagonal, const Layout& layout);
};

// The frame of vectors, and the upper triangle of G.
struct Framed {
  Frame frame;
  linalg::Array G;
};
// Whether features may be scaled only (scaled.hpp), which is cheaper; errors are then eps κ(G) with κ(G) up to 10⁴.
enum class Scales { allowed, refused };
// `products`, if not empty: the upper triangle of Z Zᵀ, which is then not computed again.
Framed make_frame(const Deviations& Z, const Layout& layout, Scales scales, const linalg::Array& products = {});

// Samples in the coordinates of the frame. Those like the samples it was made from are summed; the others are listed.
struct FramedSamples {
  linalg::Array G;            // what was there and Σ y yᵀ
  Vector sum;                 // Σ z of those alike, all features; weighted, Σ √w z
  Vector sum_in_frame;        // Σ y
  double weight = 0;          // of those alike
  std::vector<Index> unlike;  // ascending

  FramedSamples zero() const;
  void join(const FramedSamples& other);  // of later samples; all but `sum`, which is computed at the end
};
// Z are deviations of samples from the mean so far. A sample is unlike if a feature that never varied does not have
// exactly the mean.
FramedSamples enter_frame(const Frame& frame, const Deviations& Z, linalg::Array G);

// K upper triangular with KᵀK = G, of which the upper triangle is given. G may be singular (one domain a function of
// the other); then K = Λ^½ Qᵀ D, made triangular, of D⁻¹ G D⁻¹ = Q Λ Qᵀ with a diagonal of ones. A zero column of G
// stays one of K. Merged samples may make the diagonal of G span 10²⁷.
linalg::Array triangular_root(const linalg::Array& G);

}  // namespace cgmca
