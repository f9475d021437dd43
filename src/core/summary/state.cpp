#include "core/summary/state.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/summary/scaled.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;

// A shorter block is joined to the next one.
constexpr Index kShortBlock = 1024;
// A remote back end is given at least this many samples directly; fewer wait on the host for more.
constexpr Index kLeastRemote = 1024;
// It compresses the first samples, and checks whether the Gram form is safe, after this many, or after twice the
// features of the largest domain if that is more: it pays there not to wait for 2p samples.
constexpr Index kRemoteBlock = 32768;

Vector sample(const linalg::Backend& on, const MatchedSamples& X, const Layout& layout, Index j) {
  Vector x(layout.size());
  for (Index i = 0; i < layout.domains(); ++i) {
    x.segment(layout.start(i), layout.features(i)) = on.fetched(X[static_cast<std::size_t>(i)], j, 1);
  }
  return x;
}

// Xc Xcᵀ (upper triangle); features that do not vary are left out if they are many.
Array gram_of_varying(const Deviations& Xc) {
  const Backend& on = Xc.on();
  const Vector spread = Xc.spread();
  linalg::Places varying;
  for (Index j = 0; j < spread.size(); ++j) {
    if (spread(j) > thresholds::kNoVariation) varying.push_back(j);
  }
  const Index p = spread.size(), a = static_cast<Index>(varying.size());
  if (a >= p - p / 16) return Xc.sums().G;
  const Array all = on.zeros(p, p);
  on.assign_at(all, varying, varying, Xc.sums(&varying).G);
  return all;
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

// Twice as many as features.
Index Summary::State::first_block() const {
  if (!on->remote()) return 2 * layout.size();
  Index largest = 0;
  for (Index i = 0; i < layout.domains(); ++i) largest = std::max(largest, layout.features(i));
  return std::min(2 * layout.size(), std::max(kRemoteBlock, 2 * largest));
}

Index Summary::State::most_rows() const {
  return nothing_compressed() ? first_block() : kBlock + kShortBlock + kMostUnlike;
}

Index Summary::State::room() const {
  if (nothing_compressed()) return first_block() - rows.count();
  const Index fresh = rows.count() - unlike, begin = samples() - fresh;
  Index block = on->remote() ? kBlock : kBlock - begin % kBlock;
  if (block < kShortBlock) block += kBlock;
  return std::max<Index>(0, block - fresh);
}

// How many of the next samples are compressed directly, without waiting as rows first.
Index Summary::State::direct(Index left) const {
  if (rows.count() > unlike) return 0;
  if (on->remote()) {
    if (framed() != nullptr) return 0;
    return left >= (nothing_compressed() ? first_block() : kLeastRemote) ? left : 0;
  }
  return left >= room() + (nothing_compressed() ? 1 : 0) ? room() : 0;
}

void Summary::State::add(const WeightedSamples& samples) {
  const Index n = samples.count();
  for (Index first = 0; first < n;) {
    if (room() == 0) compress_rows();
    Index count = direct(n - first);
    const bool directly = count > 0;
    if (!directly) count = std::min(n - first, room());
    choose_origin(samples, first, count);
    if (directly) {
      count = compress(samples.columns(first, count));
    } else {
      append_from(*on, rows, samples, first, count, most_rows());
    }
    first += count;
  }
  if (!nothing_compressed() && room() == 0) compress_rows();
}

void Summary::State::add_all(const WeightedSamples& samples) {
  const Index n = samples.count(), first = first_block();
  const bool together = origin.size() == 0 && !on->remote() && n > first && n <= 2 * first;
  if (!together) return add(samples);
  choose_origin(samples, 0, n);
  compress(samples);
}

// Sample by sample, also where several follow each other, so that all is rounded alike however they are cut.
void Summary::State::choose_origin(const WeightedSamples& samples, Index first, Index count) {
  const bool equal = samples.weights.size() == 0;
  if (equal) count = std::min<Index>(count, 1);  // the others weigh as much
  for (Index j = first; j < first + count; ++j) {
    const double weight = equal ? 1 : samples.weights(j);
    if (weight > thresholds::kHeavierOrigin * origin_weight) move_origin(sample(*on, samples.X, layout, j), weight);
  }
}

void Summary::State::move_origin(const Vector& to, double weight) {
  if (GramState* form = gram()) form->count.mean += origin - to;
  if (FramedState* form = framed()) form->count.mean += origin - to;
  origin = to;
  origin_weight = weight;
}

void Summary::State::compress_rows() {
  if (framed() == nullptr) {
    compress(rows.by_domain());
    return rows.clear();
  }
  const Index fresh = rows.count() - unlike;
  if (fresh == 0) return;
  const auto in_lanes = own_threads(fresh);
  const WeightedSamples added = rows.by_domain().columns(unlike, fresh);
  const auto waiting = framed()->add(added, origin);
  if (!waiting) return renew_frame();
  sketch.add(*on, added, *waiting);
  linalg::Places kept(static_cast<std::size_t>(unlike));
  std::iota(kept.begin(), kept.end(), Index{0});
  for (const Index j : *waiting) kept.push_back(unlike + j);
  rows.keep(kept);
  unlike = rows.count();
  if (unlike > kMostUnlike) renew_frame();
}

void Summary::State::renew_frame() {
  framed()->renew(rows.by_domain(), origin, layout, scales());
  sketch.add(*on, rows.by_domain());
  rows.clear();
  unlike = 0;
}

std::optional<OwnThreads> Summary::State::own_threads(Index count) const {
  using Own = std::optional<OwnThreads>;
  return lanes_for(*on, layout.size(), count) > 1 ? Own(std::in_place) : Own();
}

Index Summary::State::compress(const WeightedSamples& samples) {
  const auto in_lanes = own_threads(samples.count());
  if (nothing_compressed()) {
    const auto p = static_cast<double>(layout.size());
    const auto n = static_cast<double>(std::min(samples.count(), first_block()));
    on->require_room(p * (2.5 * p + n), fmt::format("a summary of {} features", p));
  }
  if (on->remote()) return compress_there(samples);
  if (framed() != nullptr) {
    add_to_frame(samples);
    return samples.count();
  }
  if (nothing_compressed()) {
    compress_first(samples);
  } else {
    add_to_gram(samples);
  }
  sketch.add(*on, samples);
  return samples.count();
}

void Summary::State::compress_first(const WeightedSamples& samples) {
  const Survey found = survey(samples, origin);
  const Count count{samples.count(), samples.total(), found.sum / samples.total()};
  const Deviations Xc(*on, samples, origin, count.mean, found.largest);
  // An estimate will do: G itself decides.
  const Vector squares = found.squares - count.weight * count.mean.cwiseAbs2();
  Array products;
  if (accumulate == Accumulate::gram ||
      (accumulate == Accumulate::automatic && GramSafety::diagonal_allows(squares, layout))) {
    GramState sum(count, gram_of_varying(Xc));
    products = sum.G;
    if (accumulate == Accumulate::gram || safety.measure(sum.G, layout)) {
      if (accumulate == Accumulate::automatic) sum.factors = safety.take_factors();
      compressed = std::move(sum);
      return;
    }
  }
  compressed = FramedState(Xc, count, layout, scales(), products);
}

void Summary::State::add_to_gram(const WeightedSamples& samples) {
  GramState* form = gram();
  GramState sum = form->with(samples, origin);
  if (accumulate == Accumulate::automatic) {
    const Vector added = on->diagonal(sum.G) - on->diagonal(form->G);
    if (!safety.carry(added, layout)) {
      if (!safety.measure(sum.G, layout)) {  // what was there before is still accurate
        const auto [count, Xc] = centred(*on, samples, origin);
        turn_to_framed();
        framed()->merge(Xc.tile(0, Xc.count()), count, layout, scales());
        return;
      }
      sum.factors = safety.take_factors();
    }
  }
  *form = std::move(sum);
}

void Summary::State::add_to_frame(const WeightedSamples& samples) {
  const auto waiting = framed()->add(samples, origin);
  if (!waiting) {
    append_from(*on, rows, samples, 0, samples.count(), most_rows());
    return renew_frame();
  }
  sketch.add(*on, samples, *waiting);
  for (const Index j : *waiting) append_from(*on, rows, samples, j, 1, most_rows());
  unlike = rows.count();
  if (unlike > kMostUnlike) renew_frame();
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
    sketch.add(*on, samples);
    return samples.count();
  }
  const Index count = std::min(samples.count(), first ? first_block() : kRemoteBlock);
  const auto [added, Xc] = centred(*on, samples.columns(0, count), origin);
  if (first) {
    compressed = FramedState(Xc, added, layout, scales());
  } else {  // what was there before is still accurate
    turn_to_framed();
    framed()->merge(Xc.tile(0, Xc.count()), added, layout, scales());
  }
  sketch.add(*on, samples.columns(0, count));
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
    form->frame = std::make_shared<const Frame>(std::move(frame));
    form->G = linalg::moved_to(target, form->G);
  }
  return moved;
}

std::string counted_samples(Index m, Index count) {
  const char* noun = m == 1 ? "sample" : m == 2 ? "matched pair" : "matched sample";
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace cgmca
