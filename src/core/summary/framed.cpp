#include "core/summary/framed.hpp"

#include <cgmca/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Places;

// All features, domain by domain: first those of the frame in its order, then the constant ones.
Places features_in_order(const Frame& frame, const Layout& layout) {
  Places order;
  std::size_t varying = 0, constant = 0;
  for (Index i = 0; i < layout.domains(); ++i) {
    for (; varying < frame.features.size() && frame.features[varying] < layout.start(i + 1); ++varying) {
      order.push_back(frame.features[varying]);
    }
    for (; constant < frame.constant.size() && frame.constant[constant] < layout.start(i + 1); ++constant) {
      order.push_back(frame.constant[constant]);
    }
  }
  return order;
}

}  // namespace

FramedState::FramedState(const Deviations& Z, Count count_, const Layout& layout, Scales scales, const Array& products)
    : count(std::move(count_)) {
  Framed framed = make_frame(Z, layout, scales, products);
  frame = std::make_shared<const Frame>(std::move(framed.frame));
  G = std::move(framed.G);
}

// Of deviations from the mean so far, Σ (y - ȳ)(y - ȳ)ᵀ and (17) together are Σ y yᵀ - (Σ y)(Σ y)ᵀ / n with n of all
// samples. A weight counts in each of them.
struct FramedState::Entered {
  FramedState state;
  Vector taken;
  std::vector<Index> waiting;
};

FramedState::Entered FramedState::enter(const WeightedSamples& samples, const Vector& origin) const {
  const Backend& on = G.on();
  FramedSamples framed = enter_frame(*frame, Deviations(on, samples, origin, count.mean), on.copy(G));
  FramedState now(count, frame, std::move(framed.G));
  now.measured = measured;
  now.count.samples += samples.count() - static_cast<Index>(framed.unlike.size());
  now.count.weight += framed.weight;
  on.add_gram(now.G, on.upload(framed.sum_in_frame), -1 / now.count.weight);
  now.count.mean += framed.sum / now.count.weight;
  Vector taken = framed.sum_in_frame.cwiseAbs2() / now.count.weight;
  return {std::move(now), std::move(taken), std::move(framed.unlike)};
}

// Measuring κ at unit size costs as much as a few hundred samples, so it waits until a feature's sum of squares has grown
// g = 4 times. G grows only, so that λ_min at unit size has fallen g times at most, and κ risen g p/λ_max times.
bool FramedState::outgrown() {
  constexpr double g = 4;
  const Vector squares = G.on().diagonal(G);
  if (measured.size() > 0 && (squares.array() <= g * measured.array()).all()) return false;
  if (frame->outgrown(G)) return true;
  if (frame->scaled()) measured = squares;
  return false;
}

std::optional<std::vector<Index>> FramedState::add(const WeightedSamples& samples, const Vector& origin) {
  auto [entered, taken, waiting] = enter(samples, origin);
  const bool most_are_unlike = 2 * static_cast<Index>(waiting.size()) >= samples.count();
  const bool cancels = (taken.array() > thresholds::kCancelled * G.on().diagonal(entered.G).array()).any();
  if (most_are_unlike || cancels || entered.outgrown()) return std::nullopt;
  *this = std::move(entered);
  return std::move(waiting);
}

void FramedState::renew(const WeightedSamples& samples, const Vector& origin, const Layout& layout, Scales scales) {
  const auto [more, Xc] = centred(G.on(), samples, origin);
  make_anew(Xc.tile(0, Xc.count()), more, layout, scales);
}

void FramedState::make_anew(const Array& Z, const Count& more, const Layout& layout, Scales scales) {
  const Backend& on = G.on();
  const Array both = linalg::beside(linalg::beside(on.transposed(triangle(layout)), Z), on.upload(count.step_to(more)));
  Count all = count;
  all.join(more);
  *this = FramedState(Deviations(both), std::move(all), layout, scales);
}

void FramedState::merge(const Array& Z, const Count& more, const Layout& layout, Scales scales) {
  const Backend& on = G.on();
  const Array all = linalg::beside(Z, on.upload(count.step_to(more)));
  const bool news = !frame->constant.empty() &&
                    on.column_largest(on.gather_rows(all, frame->constant)).maxCoeff() > thresholds::kNoVariation;
  const bool refused = scales == Scales::refused && frame->scaled();
  if (!news && !refused) {
    const Array Y = on.gather_rows(all, frame->features), sum = on.copy(G);
    frame->enter(Y);
    on.add_gram(sum, Y);
    if (!frame->outgrown(sum)) {
      G = sum;
      count.join(more);
      return;
    }
  }
  make_anew(Z, more, layout, scales);
}

FramedState FramedState::with_all(const Rows& rows, const Vector& origin, const Layout& layout, Scales scales) const {
  FramedState all = *this;
  if (rows.count() == 0) return all;
  const auto waiting = all.add(rows.by_domain(), origin);
  if (!waiting) {
    all.renew(rows.by_domain(), origin, layout, scales);
  } else if (!waiting->empty()) {
    Rows unlike = rows;
    unlike.keep(*waiting);
    all.renew(unlike.by_domain(), origin, layout, scales);
  }
  return all;
}

Array FramedState::triangle(const Layout& layout) const {
  const Backend& on = G.on();
  const Index p = layout.size();
  const Places order = features_in_order(*frame, layout);
  Places places, all(static_cast<std::size_t>(p));  // of the frame's features within that order; 0 … p - 1
  std::iota(all.begin(), all.end(), Index{0});
  if (frame->features == all) return frame->triangle(G);
  Index start = 0;
  for (Index i = 0; i < layout.domains(); ++i) {
    for (Index k = 0; k < frame->size(static_cast<std::size_t>(i)); ++k) places.push_back(start + k);
    start += layout.features(i);
  }
  const Array R = on.zeros(p, p), result = on.zeros(p, p);
  on.assign_at(R, places, places, frame->triangle(G));
  on.assign_at(result, all, order, R);
  return result;
}

std::optional<SeparateRoots> FramedState::separate_roots(const Layout& layout) const {
  const Backend& on = G.on();
  const auto m = frame->P.size();
  std::vector<Index> starts = {0};
  for (std::size_t i = 0; i < m; ++i) starts.push_back(starts[i] + frame->size(i));
  const auto block = [&](std::size_t i, std::size_t j) {
    return G.block(starts[i], starts[j], frame->size(i), frame->size(j));
  };
  SeparateRoots roots{std::vector<Array>(m), std::vector(m, std::vector<Array>(m)), std::vector<Places>(m)};
  std::vector<Array> K(m);
  for_each_domain(static_cast<Index>(m), layout.size() / static_cast<Index>(m), [&](Index place) {
    const auto i = static_cast<std::size_t>(place);
    K[i] = frame->size(i) > 0 ? on.cholesky(block(i, i)) : Array();
    if (K[i].empty()) return;
    for (Index k = starts[i]; k < starts[i + 1]; ++k) {
      roots.orders[i].push_back(frame->features[static_cast<std::size_t>(k)] - layout.start(place));
    }
    const Array R = on.upper_times_upper(K[i], frame->P[i]->R());
    roots.S[i] = on.scatter_rows(on.transposed(R), roots.orders[i], layout.features(place));
  });
  if (std::any_of(K.begin(), K.end(), [](const Array& one) { return one.empty(); })) return std::nullopt;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i + 1; j < m; ++j) {
      const Array left = on.solve_upper_transposed(K[i], block(i, j));
      roots.links[i][j] = on.transposed(on.solve_upper_transposed(K[j], on.transposed(left)));
    }
  }
  return roots;
}

}  // namespace cgmca
