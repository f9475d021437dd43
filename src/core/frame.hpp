// The frame of a summary in QR form: Xc Xcᵀ = Pᵀ G P.                                             docs/method.md (27)
//
// P is triangular within each domain and whitens the vectors it is made of, so that G = P⁻ᵀ Xc Xcᵀ P⁻¹ is well
// conditioned, as long as later samples are like those, however ill-conditioned the data are. Sums of y yᵀ then lose
// nothing that a QR factorization would keep, and cost matrix products only. Where they are not alike, and G grows, a
// frame is to be made anew.
#pragma once

#include <array>
#include <cgmca/types.hpp>
#include <optional>
#include <vector>

#include "linalg/linalg.hpp"

namespace cgmca {

struct Frame {
  std::vector<Index> features;                // those that vary, domain by domain, in an order in which P is triangular
  std::vector<Index> constant;                // the others
  std::array<linalg::TriangularSolver, 2> P;  // one a domain

  Index size() const { return static_cast<Index>(features.size()); }
  void enter(Matrix& X) const;             // Y = P⁻ᵀ X in place of X, whose rows are the features in their order
  Matrix triangle(const Matrix& G) const;  // upper triangular R = K P, KᵀK = G; columns are the features in their order

  Matrix whole() const;  // P of both domains, block diagonal
  // Of d1 features of domain 1 and p in all; nothing where that cannot be a frame.
  static std::optional<Frame> from_whole(const Matrix& P, std::vector<Index> features, Index d1, Index p);
};

// The frame of vectors Z, of which the first d1 rows are domain 1's, and the upper triangle of G.
struct Framed {
  Frame frame;
  Matrix G;
};
Framed make_frame(const MatrixView& Z, Index d1);

// Samples as they are in the frame: those alike, summed; the others are unlike the ones that made it.
struct FramedSamples {
  Matrix G;                   // what was there and Σ y yᵀ
  Vector sum;                 // Σ y
  std::vector<Index> unlike;  // ascending
};
// X: all features × samples; y are those of X - mean. A feature that never varied must have exactly the mean, or is
// new.
FramedSamples enter_frame(const Frame& frame, const MatrixView& X, const Vector& mean, Matrix G);

// Whether G, of which the upper triangle is given, has grown too far from the I it began as. Samples never lower its
// smallest eigenvalue, 1, so that the largest is a bound of κ(G).
bool outgrown(const Matrix& G);

// K upper triangular with KᵀK = G, of which the upper triangle is given. G may be singular (one domain a function of
// the other); then K = Λ^½ Qᵀ of G = Q Λ Qᵀ, made triangular. A zero column of G stays one of K.
Matrix triangular_root(Matrix G);

}  // namespace cgmca
