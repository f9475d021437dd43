// Compressed samples as later stages and merges see them.                                           docs/method.md (48)
#include <cgmca/parallel.hpp>

#include "core/summary/compressed.hpp"

namespace cgmca {

using linalg::Array;
using linalg::Backend;
using linalg::Indices;

// R_i = K_i P_i with K_iᵀK_i = G_ii, S_i = R_iᵀ and X_ij = K_i⁻ᵀ G_ij K_j⁻¹. If G_ii is singular, only the pivots of K_i
// are read, because the other features are their combinations.
Roots Compressed::roots() const {
  const Backend& on = G.on();
  const Layout& layout = frame->layout;
  const auto m = static_cast<std::size_t>(layout.domains());
  Roots roots{ByDomain<Array>(m), ByDomain<ByDomain<Array>>(m, ByDomain<Array>(m)), ByDomain<Indices>(m)};
  std::vector<SquareRoot> K(m);
  const bool proven = !frame->identity() || accumulate == Accumulate::automatic;
  for_each_domain(layout.domains(), layout.size() / layout.domains(), [&](Index i) {
    const auto place = static_cast<std::size_t>(i);
    if (frame->parts.features(i) == 0) return;
    K[place] = cgmca::square_root(frame->block(G, i, i), count.samples, proven);
    const auto& [Ki, order] = K[place];
    Array R = Ki;
    Indices features = frame->features_of(i);
    roots.orders[place] = features;
    if (!frame->identity()) {
      R = order.empty() ? on.upper_times_upper(Ki, frame->triangle(i)) : on.AB(K[place].in_order(), frame->triangle(i));
      if (!order.empty()) roots.orders[place].clear();
    } else if (!order.empty()) {
      features = roots.orders[place] = order;
    }
    roots.S[place] = on.scatter_rows(on.transposed(R), features, layout.features(i));
  });
  for (std::size_t i = 0; i < m; ++i) {
    if (roots.S[i].empty()) roots.S[i] = on.zeros(layout.features(static_cast<Index>(i)), 1);
  }
  const auto pivots = [&](std::size_t i) {
    Indices all = K[i].order;
    all.resize(K[i].K.rows());
    return all;
  };
  const auto coupling = [&](std::size_t i, std::size_t j) -> Array {
    if (K[i].K.empty() || K[j].K.empty()) return on.zeros(roots.S[i].cols(), roots.S[j].cols());
    Array block = frame->block(G, static_cast<Index>(i), static_cast<Index>(j));
    if (!K[i].order.empty()) block = on.gather_rows(block, pivots(i));
    block = on.solve_upper_transposed(K[i].K.left(K[i].K.rows()), block);
    block = K[j].order.empty() ? on.transposed(block) : on.gather_rows(on.transposed(block), pivots(j));
    return on.transposed(on.solve_upper_transposed(K[j].K.left(K[j].K.rows()), block));
  };
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i + 1; j < m; ++j) roots.X[i][j] = coupling(i, j);
  }
  return roots;
}

Array Compressed::square_root() const {
  const Backend& on = G.on();
  const bool proven = !frame->identity();  // one domain may be a function of the other
  const SquareRoot K = cgmca::square_root(G, count.samples, proven);
  if (frame->identity())
    return K.order.empty() ? on.transposed(K.K) : on.scatter_rows(on.transposed(K.K), K.order, G.rows());
  const Array P = frame->whole(on);
  const Array R = K.order.empty() ? on.upper_times_upper(K.K, P) : on.AB(K.in_order(), P);
  return on.scatter_rows(on.transposed(R), frame->features, frame->layout.size());
}

}  // namespace cgmca
