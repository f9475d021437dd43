#include "framed.hpp"

#include <cgmca/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Places;

// Samples unlike those that made the frame wait until there are more of them than this.
constexpr Index kMostUnlike = 1024;

std::vector<Index> all_of(const Rows& rows) {
  std::vector<Index> all(static_cast<std::size_t>(rows.count()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

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

Count count_of(const Backend& on, const WeightedSamples& samples, const Vector& origin) {
  const double weight = samples.total();
  if (samples.weights.size() == 0) {
    return {samples.count(), weight, on.sum_of_deviations(samples.X, origin) / weight};
  }
  // Σ w (x - origin) = Σ √w z of deviations z = √w (x - origin)
  const Deviations Z(on, samples, origin, Vector::Zero(origin.size()));
  return {samples.count(), weight, Z.weighted_sum() / weight};
}

namespace {

// z = √w ((x - origin) - mean) in place of Z = x - origin, so that samples travel once.
CentredSamples centred_there(const Array& Z, const Vector& weights) {
  const Backend& on = Z.on();
  const Index n = Z.cols();
  const bool weighted = weights.size() > 0;
  const double total = weighted ? weights.sum() : static_cast<double>(n);
  const Vector sum = weighted ? Vector(on.download(on.AB(Z, on.upload(weights)))) : on.row_sums(Z);
  Count count{n, total, sum / total};
  on.add_outer(Z, count.mean, Vector::Ones(n), -1);
  if (weighted) on.scale_columns(Z, weights.cwiseSqrt());
  return {std::move(count), Deviations(Z)};
}

Array loaded(const Backend& on, const WeightedSamples& samples, Index first, Index count, const Vector& origin) {
  return on.load(samples.X, first, count, origin, Vector::Zero(origin.size()));
}

}  // namespace

CentredSamples centred(const Backend& on, const WeightedSamples& samples, const Vector& origin) {
  if (on.remote()) return centred_there(loaded(on, samples, 0, samples.count(), origin), samples.weights);
  Count count = count_of(on, samples, origin);
  Deviations Xc(on, samples, origin, count.mean);
  return {std::move(count), std::move(Xc)};
}

void add_in_pieces(GramState& sum, const WeightedSamples& samples, const Vector& origin) {
  constexpr Index most = 8192;
  const Backend& on = sum.G.on();
  const Index n = samples.count();
  Array next = loaded(on, samples, 0, std::min(most, n), origin);
  for (Index first = 0; first < n; first += most) {
    const Index count = next.cols(), after = std::min(most, n - first - count);
    const bool weighted = samples.weights.size() > 0;
    const CentredSamples piece = centred_there(std::exchange(next, Array()),
                                               weighted ? Vector(samples.weights.segment(first, count)) : Vector());
    sum.add(piece.Xc, piece.count);
    if (after > 0) next = loaded(on, samples, first + count, after, origin);
  }
}

GramState summed_in_lanes(const Backend& on, const WeightedSamples& samples, const Vector& origin, Index lanes,
                          Index piece) {
  const Index p = origin.size(), each = samples.count() / lanes;
  std::vector<GramState> sums;
  for (Index k = 0; k < lanes; ++k) sums.emplace_back(on, p);
  side_by_side(lanes, [&](Index k) {
    for (Index first = k * each; first < (k + 1) * each; first += piece) {
      const CentredSamples some = centred(on, samples.columns(first, piece), origin);
      sums[static_cast<std::size_t>(k)].add(some.Xc, some.count);
    }
  });
  const SerialBlas serial;
  for (std::size_t k = 1; k < sums.size(); ++k) sums.front().merge(sums[k], Vector::Zero(p));
  return std::move(sums.front());
}

FramedState::FramedState(const Deviations& Z, Count count_, const Layout& layout, Scales scales, const Array& products)
    : count(std::move(count_)) {
  Framed framed = make_frame(Z, layout, scales, products);
  frame = std::make_shared<const Frame>(std::move(framed.frame));
  G = std::move(framed.G);
}

// Of deviations from the mean so far, Σ (y - ȳ)(y - ȳ)ᵀ and (17) together are Σ y yᵀ - (Σ y)(Σ y)ᵀ / n with n of all
// samples. A weight counts in each of them.
std::pair<FramedState, std::vector<Index>> FramedState::enter(const Rows& rows, const Vector& origin) const {
  const Backend& on = G.on();
  FramedSamples framed = enter_frame(*frame, Deviations(on, rows.by_domain(), origin, count.mean), on.copy(G));
  Count now = count;
  now.samples += rows.count() - static_cast<Index>(framed.unlike.size());
  now.weight += framed.weight;
  on.add_gram(framed.G, on.upload(framed.sum_in_frame), -1 / now.weight);
  now.mean += framed.sum / now.weight;
  return {FramedState(std::move(now), frame, std::move(framed.G)), std::move(framed.unlike)};
}

void FramedState::add(Rows& rows, const Vector& origin, const Layout& layout, Scales scales) {
  auto [entered, waiting] = enter(rows, origin);
  const bool most_are_unlike = 2 * static_cast<Index>(waiting.size()) >= rows.count();
  if (most_are_unlike || frame->outgrown(entered.G)) return renew(rows, origin, layout, scales);
  *this = std::move(entered);
  rows.keep(waiting);
  if (rows.count() > kMostUnlike) renew(rows, origin, layout, scales);
}

// All samples, waiting ones too, make the frame.
void FramedState::renew(Rows& rows, const Vector& origin, const Layout& layout, Scales scales) {
  const Array R = triangle_with(rows, all_of(rows), origin, layout);
  Count all = count;
  if (rows.count() > 0) all.join(count_of(G.on(), rows.by_domain(), origin));
  *this = FramedState(Deviations(G.on().transposed(R)), std::move(all), layout, scales);
  rows.clear();
}

void FramedState::merge(const Array& Z, const Count& more, const Layout& layout, Scales scales) {
  const Backend& on = G.on();
  const Array R = triangle_with(Rows(layout), {}, Vector::Zero(layout.size()), layout);
  const Array both = linalg::beside(linalg::beside(on.transposed(R), Z), on.upload(count.step_to(more)));
  Count all = count;
  all.join(more);
  *this = FramedState(Deviations(both), std::move(all), layout, scales);
}

Array FramedState::triangle(const Rows& rows, const Vector& origin, const Layout& layout) const {
  if (2 * rows.count() >= layout.size()) {  // otherwise Householder's QR is cheaper than another K P
    const auto [entered, waiting] = enter(rows, origin);
    if (!frame->outgrown(entered.G)) return entered.triangle_with(rows, waiting, origin, layout);
  }
  return triangle_with(rows, all_of(rows), origin, layout);
}

// K P with KᵀK = G, then the waiting samples by Householder's QR. These need an intercept, a feature that is always 1:
// what follows it in R is what a regression on it leaves, centred.
Array FramedState::triangle_with(const Rows& rows, const std::vector<Index>& waiting, const Vector& origin,
                                 const Layout& layout) const {
  const Backend& on = G.on();
  const Index p = layout.size(), m = static_cast<Index>(waiting.size());
  const Places order = features_in_order(*frame, layout);
  Places places;  // of the frame's features within that order, after the intercept
  Index start = 0;
  for (Index i = 0; i < layout.domains(); ++i) {
    for (Index k = 0; k < frame->size(static_cast<std::size_t>(i)); ++k) places.push_back(1 + start + k);
    start += layout.features(i);
  }
  Places all(static_cast<std::size_t>(p));
  std::iota(all.begin(), all.end(), Index{0});
  if (m == 0 && frame->features == all) return frame->triangle(G);  // all vary, and are in their own order
  const Array R = on.zeros(p + 1, p + 1);
  on.assign_at(R, places, places, frame->triangle(G));
  if (m > 0) {
    on.assign_diagonal(R.block(0, 0, 1, 1), Vector::Constant(1, std::sqrt(count.weight)));
    const Matrix waiting_samples = rows.all()(Eigen::all, waiting);
    MatchedSamples views;
    for (Index i = 0; i < layout.domains(); ++i) {
      views.emplace_back(waiting_samples.middleRows(layout.start(i), layout.features(i)));
    }
    const Array appended = on.upload(Matrix::Ones(m, p + 1));
    on.assign(appended.right(p), on.load_transposed(views, origin, count.mean, order));
    if (rows.weights().size() > 0) on.scale_rows(appended, rows.weights()(waiting).cwiseSqrt());
    on.assign_appended(R, appended);
  }
  const Array result = on.zeros(p, p);
  on.assign_at(result, all, order, R.block(1, 1, p, p));
  return result;
}

bool FramedState::first_is_triangle(const Layout& layout) const {
  const auto first = frame->features.begin();
  return frame->size(0) == layout.features(0) && std::is_sorted(first, first + layout.features(0));
}

}  // namespace cgmca
