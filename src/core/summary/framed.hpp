// The QR form of a summary: Xc Xcᵀ = Pᵀ G P with a frame P.                                        docs/method.md (27)
//
// Samples unlike those that made the frame wait as rows until there are many of them; then all make a new frame.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/summary/frame.hpp"
#include "core/summary/gram.hpp"
#include "core/summary/rows.hpp"

namespace cgmca {

// Each domain in coordinates of its own: S_i S_iᵀ = Xc_i Xc_iᵀ and S_i X_ij S_jᵀ = Xc_i Xc_jᵀ.
struct SeparateRoots {
  std::vector<linalg::Array> S;
  std::vector<std::vector<linalg::Array>> links;  // X_ij for i < j
  // The features of each domain that vary, in an order in which S_iᵀ is upper triangular.
  std::vector<linalg::Places> orders;
};

struct FramedState {
  Count count;
  std::shared_ptr<const Frame> frame;  // P
  linalg::Array G;                     // upper triangle
  Vector measured;  // G's diagonal when κ at unit size was last measured; empty if never, or if the frame whitens

  // Z Zᵀ = Xc Xcᵀ of `count` samples; `products` as for make_frame.
  FramedState(const Deviations& Z, Count count, const Layout& layout, Scales scales,
              const linalg::Array& products = {});
  FramedState(Count count_, std::shared_ptr<const Frame> frame_, linalg::Array G_)
      : count(std::move(count_)), frame(std::move(frame_)), G(std::move(G_)) {}

  // Takes in samples, and tells which of them are unlike those that made the frame and have to wait. Nothing, and
  // nothing changed, if most are, or if they would spoil G: then all should make a new frame.
  std::optional<std::vector<Index>> add(const WeightedSamples& samples, const Vector& origin);
  // All samples make the frame, these too.
  void renew(const WeightedSamples& samples, const Vector& origin, const Layout& layout, Scales scales);
  // Z Zᵀ = Xc Xcᵀ of more samples: they enter the frame or, if they are unlike those that made it, all make a new one.
  void merge(const linalg::Array& Z, const Count& more, const Layout& layout, Scales scales);

  // This with the rows inside, whether they are like those that made the frame or not.
  FramedState with_all(const Rows& rows, const Vector& origin, const Layout& layout, Scales scales) const;
  // R with RᵀR = Xc Xcᵀ (p×p, zero below row d1 in the columns of domain 1).
  linalg::Array triangle(const Layout& layout) const;
  // The same sums by a triangle for each domain, S_i = (K_i P_i)ᵀ with K_iᵀK_i = G_ii, and X_ij = K_i⁻ᵀ G_ij K_j⁻¹, which
  // costs far less. Nothing where some G_ii is singular.
  std::optional<SeparateRoots> separate_roots(const Layout& layout) const;

 private:
  // With the samples inside; the squares of what their new mean took from G's diagonal; which of them have to wait.
  struct Entered;
  Entered enter(const WeightedSamples& samples, const Vector& origin) const;
  bool outgrown();  // notes when it has measured
  void make_anew(const linalg::Array& Z, const Count& more, const Layout& layout, Scales scales);
};

}  // namespace cgmca
