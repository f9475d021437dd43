// The QR form of a summary: Xc Xcᵀ = Pᵀ G P with a frame P.                                        docs/method.md (27)
//
// Samples unlike those that made the frame wait as rows until there are many of them; then all make a new frame.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "frame.hpp"
#include "gram.hpp"
#include "rows.hpp"

namespace cgmca {

struct FramedState {
  Count count;
  std::shared_ptr<const Frame> frame;  // P
  linalg::Array G;                     // upper triangle

  // Z Zᵀ = Xc Xcᵀ of `count` samples; `products` as for make_frame.
  FramedState(const Deviations& Z, Count count, const Layout& layout, Scales scales,
              const linalg::Array& products = {});
  FramedState(Count count_, std::shared_ptr<const Frame> frame_, linalg::Array G_)
      : count(std::move(count_)), frame(std::move(frame_)), G(std::move(G_)) {}

  // Takes in the rows, leaving those that have to wait.
  void add(Rows& rows, const Vector& origin, const Layout& layout, Scales scales);
  // Z Zᵀ = Xc Xcᵀ of more samples: all together make a new frame.
  void merge(const linalg::Array& Z, const Count& more, const Layout& layout, Scales scales);

  // R with RᵀR = Xc Xcᵀ of all samples and rows (p×p, zero below row d1 in the columns of domain 1).
  linalg::Array triangle(const Rows& rows, const Vector& origin, const Layout& layout) const;
  // The columns of that for domain 1 come in the order of its features, so that its part is triangular.
  bool first_is_triangle(const Layout& layout) const;

 private:
  // With the rows inside, and which of them have to wait.
  std::pair<FramedState, std::vector<Index>> enter(const Rows& rows, const Vector& origin) const;
  linalg::Array triangle_with(const Rows& rows, const std::vector<Index>& waiting, const Vector& origin,
                              const Layout& layout) const;
  void renew(Rows& rows, const Vector& origin, const Layout& layout, Scales scales);
};

// The mean of the rows relative to an origin.
Count count_of(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin);

// The same, and the deviations from it.
struct CentredSamples {
  Count count;
  Deviations Xc;
};
CentredSamples centred(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin);
// Adds them to a sum, some at a time: while a remote back end multiplies these, the next ones travel.
void add_in_pieces(GramState& sum, const WeightedSamples& samples, const Vector& origin);
// The sum of `lanes` equal parts of the samples, each by one thread, `piece` samples at a time; then these in their order.
GramState summed_in_lanes(const linalg::Backend& on, const WeightedSamples& samples, const Vector& origin, Index lanes,
                          Index piece);

}  // namespace cgmca
