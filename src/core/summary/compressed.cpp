#include "core/summary/compressed.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/summary/scaled.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Indices;

// Xc Xcᵀ (upper triangle). If many features do not vary, only the others are multiplied.
Array gram_of_varying(const Deviations& Xc) {
  const Backend& on = Xc.on();
  const Vector spread = Xc.spread();
  Indices varying;
  for (Index j = 0; j < spread.size(); ++j) {
    if (spread(j) > thresholds::kNoVariation) varying.push_back(j);
  }
  const Index p = spread.size(), a = std::ssize(varying);
  if (a >= p - p / 16) return Xc.sums().G;
  const Array all = on.zeros(p, p);
  on.assign_at(all, varying, varying, Xc.sums(&varying).G);
  return all;
}

// Scaled frames are for `automatic` on the processor. With `qr` the triangle comes from a Householder QR, and a remote
// back end makes triangles from products, which costs no more.
Scales scales_of(Accumulate accumulate, const Backend& on) {
  return accumulate == Accumulate::automatic && !on.remote() ? Scales::allowed : Scales::refused;
}

Compressed identity(FirstMoments count, Array G, const Layout& layout, Accumulate accumulate) {
  return {std::move(count), std::make_shared<const Frame>(identity_frame(layout)), std::move(G), accumulate,
          GramSafety(layout)};
}

}  // namespace

Compressed Compressed::in_new_frame(const Deviations& Z, FirstMoments count, const Layout& layout,
                                    Accumulate accumulate, const Array& products) {
  NewFrame made = make_frame(Z, layout, scales_of(accumulate, Z.on()), products);
  return {std::move(count), std::make_shared<const Frame>(std::move(made.frame)), std::move(made.G), accumulate,
          GramSafety(layout)};
}

Compressed Compressed::first(const Backend& on, const WeightedSamples& samples, const Vector& origin,
                             const Layout& layout, Accumulate accumulate) {
  if (on.remote()) {
    const auto [count, Xc] = centred(on, samples, origin);
    return in_new_frame(Xc, count, layout, accumulate);
  }
  const Survey found = survey(samples, origin);
  const FirstMoments count{samples.count(), samples.total(), found.sum / samples.total()};
  const Deviations Xc(on, samples, origin, count.mean, found.largest);
  // These sums of squares are an estimate. It suffices here, because G itself decides below.
  const Vector squares = found.squares - count.weight * count.mean.cwiseAbs2();
  Array products;
  if (accumulate == Accumulate::gram ||
      (accumulate == Accumulate::automatic && GramSafety::diagonal_allows(squares, layout))) {
    products = gram_of_varying(Xc);
    Compressed sum = identity(count, products, layout, accumulate);
    if (accumulate == Accumulate::gram || sum.safety.measure(products, layout)) return sum;
  }
  return in_new_frame(Xc, count, layout, accumulate, products);
}

std::optional<Compressed> Compressed::sum_on_device(const Backend& on, const WeightedSamples& samples,
                                                    const Vector& origin, const Layout& layout, Accumulate accumulate,
                                                    const Compressed* before) {
  if (accumulate == Accumulate::qr) return std::nullopt;
  constexpr Index most = 8192;  // while the back end multiplies these, the next ones travel
  Compressed sum =
      before == nullptr ? identity({}, on.zeros(layout.size(), layout.size()), layout, accumulate) : *before;
  if (before != nullptr) sum.G = on.copy(before->G);
  const Vector then = on.diagonal(sum.G);
  const Index n = samples.count();
  Array next = loaded(on, samples, 0, std::min(most, n), origin);
  for (Index first = 0; first < n; first += most) {
    const Index count = next.cols(), after = std::min(most, n - first - count);
    const bool weighted = samples.weights.size() > 0;
    const CentredSamples piece = centred_in_place(std::exchange(next, Array()),
                                                  weighted ? Vector(samples.weights.segment(first, count)) : Vector());
    on.add_gram(sum.G, on.upload(sum.count.step_to(piece.moments)));
    piece.Xc.sums_added_to(sum.G);
    sum.count.join(piece.moments);
    if (after > 0) next = loaded(on, samples, first + count, after, origin);
  }
  if (before == nullptr && accumulate == Accumulate::automatic) {
    const Vector squares = on.diagonal(sum.G);
    if (!GramSafety::diagonal_allows(squares, layout) || !sum.safety.measure(sum.G, layout)) return std::nullopt;
  } else if (sum.outgrown(then)) {
    return std::nullopt;
  }
  return sum;
}

// The state with new samples. y are their deviations from the mean so far, in the frame. Then the sum about their own
// mean and the step of (17) are together Σ y yᵀ - (Σ y)(Σ y)ᵀ / n, where n counts all samples, by their weights.
struct Compressed::Entered {
  Compressed state;
  Vector taken;
  std::vector<Index> waiting;
};

Compressed::Entered Compressed::enter(const WeightedSamples& samples, const Vector& origin) const {
  const Backend& on = G.on();
  FrameSums sums = enter_frame(*frame, Deviations(on, samples, origin, count.mean), on.copy(G));
  Compressed now = *this;
  now.G = std::move(sums.G);
  now.count.samples += samples.count() - std::ssize(sums.outliers);
  now.count.weight += sums.outliers.empty() ? samples.total() : sums.weight;
  on.add_gram(now.G, on.upload(sums.sum_in_frame), -1 / now.count.weight);
  now.count.mean += sums.sum / now.count.weight;
  Vector taken = sums.sum_in_frame.cwiseAbs2() / now.count.weight;
  return {std::move(now), std::move(taken), std::move(sums.outliers)};
}

// With P = I the bounds of κ are updated while they prove enough, and measured again when they do not. In a scaled frame
// a measurement of κ at unit size costs as much as a few hundred samples. So it waits until the sum of squares of some
// feature has grown by a factor of g = 4. Because G only grows, λ_min at unit size has then fallen by a factor of at
// most g, and κ has risen by a factor of at most g p/λ_max.
bool Compressed::outgrown(const Vector& before) {
  constexpr double g = 4;
  const Vector squares = G.on().diagonal(G);
  if (frame->identity()) {
    return accumulate == Accumulate::automatic && !safety.carry(squares - before, frame->layout) &&
           !safety.measure(G, frame->layout);
  }
  if (measured.size() > 0 && (squares.array() <= g * measured.array()).all()) return false;
  if (frame->outgrown(G)) return true;
  if (frame->scaled()) measured = squares;
  return false;
}

std::optional<std::vector<Index>> Compressed::add(const WeightedSamples& samples, const Vector& origin) {
  const Backend& on = G.on();
  auto [entered, taken, waiting] = enter(samples, origin);
  const bool most_are_unlike = 2 * std::ssize(waiting) >= samples.count();
  bool cancels = (taken.array() > thresholds::kCancelled * on.diagonal(entered.G).array()).any();
  if (cancels && frame->identity()) {  // sums about the samples' own mean do not cancel
    const auto [more, Xc] = centred(on, samples, origin);
    entered = *this;
    entered.G = on.copy(G);
    Xc.sums_added_to(entered.G);
    entered.join(on.upload(count.step_to(more)), more);
    cancels = false;
  }
  if (most_are_unlike || cancels || entered.outgrown(on.diagonal(G))) return std::nullopt;
  *this = std::move(entered);
  return std::move(waiting);
}

void Compressed::renew(const WeightedSamples& samples, const Vector& origin) {
  const auto [more, Xc] = centred(G.on(), samples, origin);
  make_anew(Xc.tile(0, Xc.count()), more);
}

void Compressed::make_anew(const Array& Z, const FirstMoments& more) {
  const Backend& on = G.on();
  const Array both = linalg::beside(linalg::beside(square_root(), Z), on.upload(count.step_to(more)));
  FirstMoments all = count;
  all.join(more);
  *this = in_new_frame(Deviations(both), std::move(all), frame->layout, accumulate);
}

void Compressed::leave_identity() { *this = in_new_frame(Deviations(square_root()), count, frame->layout, accumulate); }

void Compressed::continue_by(Accumulate how) {
  const bool unproven = how == Accumulate::automatic && accumulate == Accumulate::gram;
  accumulate = how;
  if (!frame->identity()) return;
  if (how == Accumulate::qr || (unproven && !safety.measure(G, frame->layout))) leave_identity();
}

// G is changed in place, so no other state may share it.
void Compressed::join(const Array& Z, const FirstMoments& more) {
  G.on().add_gram(G, Z);
  count.join(more);
}

void Compressed::merge(const Compressed& other, const Vector& shift) {
  const Backend& on = G.on();
  FirstMoments theirs = other.count;
  theirs.mean += shift;
  const Vector step = count.step_to(theirs);
  if (frame->identity() && other.frame->identity()) {
    Compressed sum = *this;
    sum.G = on.copy(G);
    on.add(sum.G, other.G);
    sum.join(on.upload(step), theirs);
    const bool known = accumulate != Accumulate::automatic || (other.accumulate == Accumulate::automatic &&
                                                               sum.safety.join(other.safety, step, frame->layout));
    if (known || sum.safety.measure(sum.G, frame->layout)) {
      *this = std::move(sum);
      return;
    }
  }
  if (frame->identity()) leave_identity();
  const Array Z = other.square_root(), all = linalg::beside(Z, on.upload(step));
  const bool news = !frame->constant.empty() &&
                    on.column_largest(on.gather_rows(all, frame->constant)).maxCoeff() > thresholds::kNoVariation;
  const bool refused = frame->scaled() && scales_of(accumulate, on) == Scales::refused;
  if (!news && !refused) {
    const Array Y = on.gather_rows(all, frame->features), sum = on.copy(G);
    frame->enter(Y);
    on.add_gram(sum, Y);
    if (!frame->outgrown(sum)) {
      G = sum;
      count.join(theirs);
      return;
    }
  }
  make_anew(Z, theirs);
}

Compressed Compressed::with_all(const Rows& rows, const Vector& origin) const {
  Compressed all = *this;
  if (rows.count() == 0) return all;
  const auto waiting = all.add(rows.by_domain(), origin);
  if (!waiting) {
    all.renew(rows.by_domain(), origin);
  } else if (!waiting->empty()) {
    Rows outliers = rows;
    outliers.keep(*waiting);
    all.renew(outliers.by_domain(), origin);
  }
  return all;
}

Compressed Compressed::reordered(const Indices& places) const {
  const Backend& on = G.on();
  Compressed result = *this;
  result.count.mean = Vector(count.mean(places));
  if (frame->identity()) {
    const Matrix all = on.download(on.copy(G)).selfadjointView<Eigen::Upper>();
    result.G = on.upload(all(places, places).triangularView<Eigen::Upper>());
    return result;
  }
  Indices now(places.size());
  for (std::size_t f = 0; f < places.size(); ++f) now[places[f]] = static_cast<Index>(f);
  Frame named = *frame;
  for (auto* features : {&named.features, &named.constant}) {
    for (Index& feature : *features) feature = now[feature];
  }
  result.frame = std::make_shared<const Frame>(std::move(named));
  return result;
}

Compressed Compressed::moved_to(const Backend& target) const {
  Compressed result = *this;
  Frame there = *frame;
  for (std::size_t i = 0; i < there.P.size(); ++i) {
    there.P[i] = frame_solver(linalg::moved_to(target, frame->P[i]->R()), there.diagonal[i]);
  }
  result.frame = std::make_shared<const Frame>(std::move(there));
  result.G = linalg::moved_to(target, G);
  return result;
}

Matrix Compressed::times(const Matrix& V) const {
  const Backend& on = G.on();
  const auto by_domain = [&](const Matrix& E, const auto& product) {
    Matrix result(E.rows(), E.cols());
    for (Index i = 0; i < frame->parts.domains(); ++i) {
      const Index start = frame->parts.start(i), size = frame->parts.features(i);
      if (size == 0) continue;
      result.middleRows(start, size) = on.download(product(i, on.upload(E.middleRows(start, size))));
    }
    return result;
  };
  Matrix inside =
      by_domain(V(frame->features, Eigen::all), [&](Index i, const Array& E) -> Array { return frame->times(i, E); });
  for (Index k = 0; k < V.cols(); ++k) inside.col(k) = Vector(on.symmetric_times(G, Vector(inside.col(k))));
  Matrix result = Matrix::Zero(V.rows(), V.cols());
  result(frame->features, Eigen::all) =
      by_domain(inside, [&](Index i, const Array& E) -> Array { return frame->transposed_times(i, E); });
  return result;
}

Vector Compressed::sizes() const {
  const Backend& on = G.on();
  if (frame->identity()) return on.diagonal(G).cwiseMax(0).cwiseSqrt();
  Vector sizes = Vector::Zero(frame->layout.size());
  if (frame->size() == 0) return sizes;
  const double largest = on.diagonal(G).maxCoeff();
  sizes(frame->features) = (largest * on.column_squared_norms(frame->whole(on))).cwiseMax(0).cwiseSqrt();
  return sizes;
}

}  // namespace cgmca
