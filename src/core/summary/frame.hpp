// The frame P of compressed samples: Xc Xcᵀ = Pᵀ G P.                                             docs/method.md (27)
//
// P = I costs least. It is taken while the data prove that it is safe (choose.hpp), or where it was asked for.
// Otherwise P is triangular within each domain and whitens the vectors it is made of, or nearly so. G = P⁻ᵀ Xc Xcᵀ P⁻¹
// is therefore well conditioned, however ill-conditioned the data are, as long as later samples are similar to those
// vectors. Sums of y yᵀ are then as accurate as a QR factorization, and cost matrix products only. When later samples
// differ, and G grows, a new frame has to be made.
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
  Layout layout;             // of all features
  Layout parts;              // where each domain's features are among those of the frame
  linalg::Indices features;  // of the frame, domain by domain, in an order in which P is triangular
  linalg::Indices constant;  // the others, which never varied
  std::vector<std::shared_ptr<const linalg::ArraySolver>> P{};  // one a domain; none if P = I
  std::vector<Index> diagonal{};  // of each P the leading rows that are diagonal in a scaled frame; 0 in a triangle

  Index size() const { return parts.size(); }
  bool identity() const { return P.empty(); }  // P = I, of all features
  bool scaled() const;                         // in some domain
  const linalg::Array& triangle(Index domain) const { return P[domain]->R(); }
  linalg::Array block(const linalg::Array& G, Index i, Index j) const;  // G_ij
  linalg::Indices features_of(Index domain) const;                      // counted within the domain
  void enter(const linalg::Array& X) const;  // Y = P⁻ᵀ X in place of X: rows are the features in their order
  linalg::Array times(Index domain, const linalg::Array& E) const;             // P_i E, rows of E as the features are
  linalg::Array transposed_times(Index domain, const linalg::Array& E) const;  // P_iᵀ E
  linalg::Array whole(const linalg::Backend& on) const;                        // P of all domains, block diagonal
  // Whether κ(G) may have become too large (upper triangle of G). With a triangle G begins as I, and samples never lower
  // its smallest eigenvalue, so the largest one bounds κ(G). With a scaled frame κ is measured, in each domain alone
  // because one domain may be a function of another.
  bool outgrown(const linalg::Array& G) const;
  // Returns nothing if P cannot be a frame of these domains.
  static std::optional<Frame> from_whole(const linalg::Backend& on, const Matrix& P, linalg::Indices features,
                                         std::vector<Index> diagonal, const Layout& layout);
};
Frame identity_frame(const Layout& layout);

// The frame of vectors, and the upper triangle of G.
struct NewFrame {
  Frame frame;
  linalg::Array G;
};
// Whether the cheaper scaled frame may be used (scaled.hpp). Its errors are eps κ(G) with κ(G) up to 10⁴.
enum class Scales { allowed, refused };
// `products`: the upper triangle of Z Zᵀ if it is known already, else empty.
NewFrame make_frame(const Deviations& Z, const Layout& layout, Scales scales, const linalg::Array& products = {});

// Sums of samples in the coordinates of the frame. Outliers, which do not fit into it, are not summed but listed.
struct FrameSums {
  linalg::Array G;              // what was there and Σ y yᵀ
  Vector sum;                   // Σ z of those alike, all features; weighted, Σ √w z
  Vector sum_in_frame;          // Σ y
  double weight = 0;            // of those alike
  std::vector<Index> outliers;  // ascending

  FrameSums zero() const;
  void join(const FrameSums& other);  // of later samples; all but `sum`, which is computed at the end
};
// Z are deviations of samples from the mean so far. A sample is also an outlier if a feature that never varied differs
// from its mean.
FrameSums enter_frame(const Frame& frame, const Deviations& Z, linalg::Array G);

// K (r×a, upper trapezoidal) with KᵀK = G(order, order), of which the upper triangle is given: its Cholesky factor, or,
// if G is singular, a pivoted one of the features at unit size, because rounding in G is relative to its diagonal, which
// may span 10²⁷. The direction that rounding gives a dependent feature is left out. It would be of the size √eps.
// `proven`: κ of G at unit size is known to be small, so that a Cholesky factor that exists is accurate.
struct SquareRoot {
  linalg::Array K;
  linalg::Indices order;  // empty: as in G

  linalg::Array in_order() const;  // K with its columns as in G
};
SquareRoot square_root(const linalg::Array& G, Index samples, bool proven);

}  // namespace cgmca
