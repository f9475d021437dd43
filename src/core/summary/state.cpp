#include "state.hpp"

#include <cgmca/error.hpp>
#include <cgmca/threads.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "scaled.hpp"

namespace cgmca {
namespace {

using linalg::Array;

// Samples are compressed this many at a time once there is something to append them to: enough for matrix products to
// be fast, few enough to keep memory small.
constexpr Index kBlock = 4096;
// With at most kFewFeatures, BLAS gains little by threads. Then a block is divided into kLanes parts that are added to
// Gram matrices of their own side by side, kPiece samples at a time, which fit into a core's own cache.
constexpr Index kFewFeatures = 512, kLanes = 4, kPiece = 512;
static_assert(kBlock % (kLanes * kPiece) == 0);
// A remote back end is given at least this many samples directly; fewer wait on the host for more.
constexpr Index kLeastRemote = 1024;
// It compresses the first samples, and checks whether the Gram form is safe, after this many, or after twice the
// features of the largest domain if that is more: it pays there not to wait for 2p samples.
constexpr Index kRemoteBlock = 32768;

Vector first_sample(const linalg::Backend& on, const MatchedSamples& X, const Layout& layout) {
  Vector first(layout.size());
  for (Index i = 0; i < layout.domains(); ++i) {
    first.segment(layout.start(i), layout.features(i)) = on.fetched(X[static_cast<std::size_t>(i)], 0, 1);
  }
  return first;
}

// Z with Z Zᵀ = Xc Xcᵀ of the compressed samples.
Array root_of(const Summary::State& state) {
  if (const GramState* gram = state.gram()) return gram->root();
  return state.on->transposed(state.framed()->triangle(state.layout));
}

// Where each of our features is among theirs, by name; empty where all are in the same places.
linalg::Places places_in(const std::vector<DomainInfo>& ours, const std::vector<DomainInfo>& theirs,
                         const Layout& layout) {
  linalg::Places places;
  bool moved = false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Index start = layout.start(static_cast<Index>(i));
    joined(static_cast<Domain>(i + 1), ours[i], theirs[i]);  // throws where they are not the same
    const auto order = order_of(ours[i].feature_names, theirs[i].feature_names);
    moved = moved || !order.empty();
    for (Index f = 0; f < ours[i].features; ++f) {
      places.push_back(start + (order.empty() ? f : order[static_cast<std::size_t>(f)]));
    }
  }
  return moved ? places : linalg::Places{};
}

}  // namespace

std::vector<Index> features_of(const std::vector<DomainInfo>& domains) {
  std::vector<Index> features;
  for (const DomainInfo& domain : domains) features.push_back(domain.features);
  return features;
}

Summary::State::State(std::vector<DomainInfo> info_, Accumulate accumulate_, const linalg::Backend& on_)
    : info(std::move(info_)),
      accumulate(accumulate_),
      on(&on_),
      layout(features_of(info)),
      rows(layout),
      safety(layout) {}

SummaryForm Summary::State::form() const {
  if (nothing_compressed()) return SummaryForm::rows;
  return gram() != nullptr ? SummaryForm::gram : SummaryForm::qr;
}

Index Summary::State::samples() const {
  const Index inside = gram() != nullptr ? gram()->count.samples : framed() != nullptr ? framed()->count.samples : 0;
  return inside + rows.count();
}

double Summary::State::total_weight() const { return compressed_count().weight + rows.by_domain().total(); }

bool Summary::State::weighted() const {
  const Count inside = compressed_count();
  return rows.weights().size() > 0 || inside.weight != static_cast<double>(inside.samples);
}

Count Summary::State::compressed_count() const {
  if (const GramState* form = gram()) return form->count;
  if (const FramedState* form = framed()) return form->count;
  return {};
}

Count Summary::State::count() const {
  Count all = compressed_count();
  if (rows.count() > 0) all.join(count_of(*on, rows.by_domain(), origin));
  if (all.samples == 0) throw TooFewSamples("a summary without samples has no mean; add samples first");
  return all;
}

// Twice as many as features at first, then a block at a time.
Index Summary::State::capacity() const {
  if (!nothing_compressed()) return kBlock;
  if (!on->remote()) return 2 * layout.size();
  Index largest = 0;
  for (Index i = 0; i < layout.domains(); ++i) largest = std::max(largest, layout.features(i));
  return std::min(2 * layout.size(), std::max(kRemoteBlock, 2 * largest));
}

// How many of the next samples are compressed directly, without waiting as rows first.
Index Summary::State::direct(Index left) const {
  if (framed() != nullptr || rows.count() > 0) return 0;
  if (!on->remote()) return left >= capacity() + (nothing_compressed() ? 1 : 0) ? capacity() : 0;
  return left >= (nothing_compressed() ? capacity() : kLeastRemote) ? left : 0;
}

void Summary::State::add(const WeightedSamples& samples) {
  const Index n = samples.count();
  if (n > 0 && origin.size() == 0) origin = first_sample(*on, samples.X, layout);
  for (Index first = 0; first < n;) {
    if (rows.count() == capacity()) compress_rows();
    Index count = direct(n - first);
    if (count > 0) {
      count = compress(samples.columns(first, count));
    } else {
      count = std::min(n - first, capacity() - rows.count());
      append_from(*on, rows, samples, first, count, capacity());
    }
    first += count;
  }
}

void Summary::State::add_all(const WeightedSamples& samples) {
  const Index n = samples.count();
  const bool together = origin.size() == 0 && !on->remote() && n > capacity() && n <= 2 * capacity();
  if (!together) return add(samples);
  origin = first_sample(*on, samples.X, layout);
  compress(samples);
}

void Summary::State::compress_rows() {
  if (FramedState* form = framed()) return form->add(rows, origin, layout, scales());
  compress(rows.by_domain());
  rows.clear();
}

Index Summary::State::compress(const WeightedSamples& samples) {
  if (nothing_compressed()) {
    const auto p = static_cast<double>(layout.size());
    const auto n = static_cast<double>(std::min(samples.count(), capacity()));
    on->require_room(p * (2.5 * p + n), fmt::format("a summary of {} features", p));
  }
  if (on->remote()) return compress_there(samples);
  if (compress_in_lanes(samples)) return samples.count();
  const auto [added, Xc] = centred(*on, samples, origin);
  if (accumulate == Accumulate::gram) {
    if (nothing_compressed()) compressed = GramState(*on, layout.size());
    gram()->add(Xc, added);
  } else if (GramState* form = gram()) {
    const Vector step = form->count.step_to(added);
    if (safety.carry(Xc.squares() + step.cwiseAbs2(), layout)) {
      form->add(Xc, added);
    } else {
      GramState sum = *form;
      sum.add(Xc, added);
      if (safety.measure(sum.G, layout)) {
        *form = std::move(sum);
        form->factors = safety.take_factors();
      } else {  // what was there before is still accurate
        turn_to_framed();
        framed()->merge(Xc.tile(0, Xc.count()), added, layout, scales());
      }
    }
  } else {
    Array products;
    if (accumulate == Accumulate::automatic && GramSafety::diagonal_allows(Xc.squares(), layout)) {
      GramState sum(*on, layout.size());
      sum.add(Xc, added);
      products = sum.G;
      if (safety.measure(sum.G, layout)) {
        sum.factors = safety.take_factors();
        compressed = std::move(sum);
      }
    }
    if (nothing_compressed()) compressed = FramedState(Xc, added, layout, scales(), products);
  }
  return samples.count();
}

// Returns false, and adds nothing, if lanes gain nothing or the diagonal does not prove that the Gram form stays safe.
bool Summary::State::compress_in_lanes(const WeightedSamples& samples) {
  if (gram() == nullptr || layout.size() > kFewFeatures || samples.count() != kBlock) return false;
  const GramState sum = summed_in_lanes(*on, samples, origin, kLanes, kPiece);
  const Vector added = on->diagonal(sum.G) + gram()->count.step_to(sum.count).cwiseAbs2();
  if (accumulate == Accumulate::automatic && !safety.carry(added, layout)) return false;
  const SerialBlas serial;
  gram()->merge(sum, Vector::Zero(layout.size()));
  return true;
}

// The same where samples should travel once: the sum is made first, and its diagonal tells what was added.
Index Summary::State::compress_there(const WeightedSamples& samples) {
  GramState sum = gram() != nullptr ? *gram() : GramState(*on, layout.size());
  const bool first = nothing_compressed();
  bool safe = accumulate == Accumulate::gram;
  if (accumulate != Accumulate::qr) {
    const Vector before = on->diagonal(sum.G);
    add_in_pieces(sum, samples, origin);
    const Vector added = on->diagonal(sum.G) - before;
    if (accumulate == Accumulate::automatic) {
      safe = first ? GramSafety::diagonal_allows(added, layout) && safety.measure(sum.G, layout)
                   : safety.carry(added, layout) || safety.measure(sum.G, layout);
      if (safe) sum.factors = safety.take_factors();
    }
  }
  if (safe) {
    compressed = std::move(sum);
    return samples.count();
  }
  const Index count = std::min(samples.count(), first ? capacity() : kRemoteBlock);
  const auto [added, Xc] = centred(*on, samples.columns(0, count), origin);
  if (first) {
    compressed = FramedState(Xc, added, layout, scales());
  } else {  // what was there before is still accurate
    turn_to_framed();
    framed()->merge(Xc.tile(0, Xc.count()), added, layout, scales());
  }
  return count;
}

void Summary::State::turn_to_framed() {
  compressed = FramedState(Deviations(gram()->root()), gram()->count, layout, scales());
}

// Who asks for a QR gets its accuracy; and a remote back end makes triangles by products.
Scales Summary::State::scales() const {
  return accumulate == Accumulate::automatic && !on->remote() ? Scales::allowed : Scales::refused;
}

Summary::State Summary::State::moved_to(const linalg::Backend& target) const {
  State moved = *this;
  moved.on = &target;
  if (GramState* form = moved.gram()) *form = GramState(form->count, linalg::moved_to(target, form->G));
  if (FramedState* form = moved.framed()) {
    Frame frame = *form->frame;
    for (std::size_t i = 0; i < frame.P.size(); ++i) {
      frame.P[i] = frame_solver(linalg::moved_to(target, frame.P[i]->R()), frame.diagonal[i]);
    }
    *form =
        FramedState(form->count, std::make_shared<const Frame>(std::move(frame)), linalg::moved_to(target, form->G));
  }
  return moved;
}

Summary::State Summary::State::reordered(const linalg::Places& places) const {
  State result = *this;
  if (origin.size() > 0) result.origin = origin(places);
  result.rows = Rows(layout, rows.all()(places, Eigen::all), rows.weights());
  if (GramState* form = result.gram()) {
    form->count.mean = Vector(form->count.mean(places));
    const Matrix G = on->download(on->copy(form->G)).selfadjointView<Eigen::Upper>();
    *form = GramState(form->count, on->upload(G(places, places).triangularView<Eigen::Upper>()));
  }
  if (FramedState* form = result.framed()) {
    linalg::Places now(places.size());
    for (std::size_t f = 0; f < places.size(); ++f) now[static_cast<std::size_t>(places[f])] = static_cast<Index>(f);
    Frame frame = *form->frame;
    for (auto* features : {&frame.features, &frame.constant}) {
      for (Index& feature : *features) feature = now[static_cast<std::size_t>(feature)];
    }
    form->count.mean = Vector(form->count.mean(places));
    form->frame = std::make_shared<const Frame>(std::move(frame));
  }
  return result;
}

void Summary::State::merge(const State& that) {
  if (that.on != on) return merge(that.moved_to(*on));
  if (const linalg::Places places = places_in(info, that.info, layout); !places.empty()) {
    State other = that.reordered(places);
    for (std::size_t i = 0; i < info.size(); ++i) {
      if (!info[i].feature_names.empty() && !other.info[i].feature_names.empty()) {
        other.info[i].feature_names = info[i].feature_names;
      }
    }
    return merge(other);
  }
  for (std::size_t i = 0; i < info.size(); ++i) info[i] = joined(static_cast<Domain>(i + 1), info[i], that.info[i]);
  if (that.origin.size() == 0) return;  // no samples
  if (that.nothing_compressed()) return add(that.rows.by_domain());

  if (nothing_compressed()) {
    // Only the other one is compressed: continue it with our rows.
    const Rows own = std::exchange(rows, that.rows);
    origin = that.origin;
    compressed = that.compressed;
    safety = that.safety;
    if (gram() != nullptr) {
      const bool unproven = accumulate == Accumulate::automatic && that.accumulate == Accumulate::gram;
      if (accumulate == Accumulate::qr || (unproven && !safety.measure(gram()->G, layout))) turn_to_framed();
    }
    if (own.count() > 0) add(own.by_domain());
    return;
  }

  const Vector shift = that.origin - origin;
  bool summed = false;
  if (gram() != nullptr && that.gram() != nullptr) {
    GramState sum = *gram();
    const Vector step = sum.merge(*that.gram(), shift);
    const bool known = accumulate != Accumulate::automatic ||
                       (that.accumulate == Accumulate::automatic && safety.join(that.safety, step, layout));
    summed = known || safety.measure(sum.G, layout);
    if (!known && summed) sum.factors = safety.take_factors();
    if (summed) *gram() = std::move(sum);
  }
  if (!summed) {
    if (gram() != nullptr) turn_to_framed();
    Count theirs = that.compressed_count();
    theirs.mean += shift;
    framed()->merge(root_of(that), theirs, layout, scales());
  }
  if (that.rows.count() > 0) add(that.rows.by_domain());
}

std::string counted_samples(Index m, Index count) {
  const char* noun = m == 1 ? "sample" : m == 2 ? "matched pair" : "matched sample";
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace cgmca
