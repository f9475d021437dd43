#include "core/summary/state.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

// A shorter block is joined to the next one.
constexpr Index kShortBlock = 1024;
// A remote back end is given at least this many samples directly; fewer wait on the host for more.
constexpr Index kLeastRemote = 1024;
// A remote back end compresses the first samples, and checks whether P = I is safe, after this many samples, or after
// twice the features of the largest domain if that is more. It need not wait for 2p samples.
constexpr Index kRemoteBlock = 32768;

Vector sample(const linalg::Backend& on, const MatchedSamples& X, const Layout& layout, Index j) {
  Vector x(layout.size());
  for (Index i = 0; i < layout.domains(); ++i) {
    x.segment(layout.start(i), layout.features(i)) = on.fetched(X[i], j, 1);
  }
  return x;
}

}  // namespace

std::vector<Index> features_of(const std::vector<DomainInfo>& domains) {
  std::vector<Index> features;
  for (const DomainInfo& domain : domains) features.push_back(domain.features);
  return features;
}

Summary::State::State(std::vector<DomainInfo> info_, Accumulate accumulate_, const linalg::Backend& on_)
    : info(std::move(info_)), accumulate(accumulate_), on(&on_), layout(features_of(info)), rows(layout) {}

SummaryForm Summary::State::form() const {
  if (nothing_compressed()) return SummaryForm::rows;
  return gram_form() ? SummaryForm::gram : SummaryForm::qr;
}

Index Summary::State::samples() const { return compressed_count().samples + rows.count(); }

double Summary::State::total_weight() const { return compressed_count().weight + rows.by_domain().total(); }

bool Summary::State::weighted() const {
  const FirstMoments inside = compressed_count();
  return rows.weights().size() > 0 || inside.weight != static_cast<double>(inside.samples);
}

FirstMoments Summary::State::compressed_count() const { return compressed ? compressed->count : FirstMoments{}; }

FirstMoments Summary::State::count() const {
  FirstMoments all = compressed_count();
  if (rows.count() > 0) all.join(first_moments(*on, rows.by_domain(), origin));
  if (all.samples == 0) throw TooFewSamples("a summary without samples has no mean; add samples first");
  return all;
}

bool Summary::State::together() const {
  const Index p = layout.size();
  return !on->remote() && nothing_compressed() && expected > 2 * p && expected <= 4 * p;
}

std::optional<Compressed> Summary::State::all_compressed() const {
  if (compressed) return compressed->with_all(rows, origin);
  if (rows.count() <= 2 * layout.size()) return std::nullopt;
  return Compressed::first(*on, rows.by_domain(), origin, layout, accumulate);  // fewer have come than were expected
}

// Twice as many as features.
Index Summary::State::first_block() const {
  if (!on->remote()) return together() ? expected : 2 * layout.size();
  Index largest = 0;
  for (Index i = 0; i < layout.domains(); ++i) largest = std::max(largest, layout.features(i));
  return std::min(2 * layout.size(), std::max(kRemoteBlock, 2 * largest));
}

Index Summary::State::most_rows() const {
  return nothing_compressed() ? first_block() : kBlock + kShortBlock + kMostOutliers;
}

Index Summary::State::room() const {
  if (nothing_compressed()) return std::max<Index>(0, first_block() - rows.count());
  const Index fresh = rows.count() - outliers, begin = samples() - fresh;
  Index block = on->remote() ? kBlock : kBlock - begin % kBlock;
  if (block < kShortBlock) block += kBlock;
  return std::max<Index>(0, block - fresh);
}

Index Summary::State::direct(Index left) const {
  if (rows.count() > outliers) return 0;
  if (on->remote()) {
    if (qr_form()) return 0;
    return left >= (nothing_compressed() ? first_block() : kLeastRemote) ? left : 0;
  }
  return left >= room() + (nothing_compressed() && !together() ? 1 : 0) ? room() : 0;
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
  if ((!nothing_compressed() || together()) && room() == 0) compress_rows();
}

// Samples are looked at one by one, so that the result is rounded alike however they are cut into blocks.
void Summary::State::choose_origin(const WeightedSamples& samples, Index first, Index count) {
  const bool equal = samples.weights.size() == 0;
  if (equal) count = std::min<Index>(count, 1);  // the others weigh as much
  for (Index j = first; j < first + count; ++j) {
    const double weight = equal ? 1 : samples.weights(j);
    if (weight > thresholds::kHeavierOrigin * origin_weight) move_origin(sample(*on, samples.X, layout, j), weight);
  }
}

void Summary::State::move_origin(const Vector& to, double weight) {
  if (compressed) compressed->count.mean += origin - to;
  origin = to;
  origin_weight = weight;
}

void Summary::State::compress_rows() {
  if (!compressed || (on->remote() && gram_form())) {
    compress(rows.by_domain());
    return rows.clear();
  }
  const Index fresh = rows.count() - outliers;
  if (fresh == 0) return;
  const auto in_lanes = own_threads(fresh);
  const WeightedSamples added = rows.by_domain().columns(outliers, fresh);
  const auto waiting = compressed->add(added, origin);
  if (!waiting) return renew_frame();
  sketch.add(*on, added, *waiting);
  linalg::Indices kept(outliers);
  std::iota(kept.begin(), kept.end(), Index{0});
  for (const Index j : *waiting) kept.push_back(outliers + j);
  rows.keep(kept);
  outliers = rows.count();
  if (outliers > kMostOutliers) renew_frame();
}

void Summary::State::renew_frame() {
  compressed->renew(rows.by_domain(), origin);
  sketch.add(*on, rows.by_domain());
  rows.clear();
  outliers = 0;
}

std::optional<BlasThreadScope> Summary::State::own_threads(Index count) const {
  using Own = std::optional<BlasThreadScope>;
  return lanes_for(*on, layout.size(), count) > 1 ? Own(std::in_place) : Own();
}

Index Summary::State::compress(const WeightedSamples& samples) {
  const auto in_lanes = own_threads(samples.count());
  if (nothing_compressed()) {
    const auto p = static_cast<double>(layout.size());
    const auto n = static_cast<double>(std::min(samples.count(), first_block()));
    on->require_room(p * (2.5 * p + n), fmt::format("a summary of {} features", p));
  }
  if (on->remote()) return compress_on_device(samples);
  if (compressed) {
    add_to_compressed(samples);
  } else {
    compressed = Compressed::first(*on, samples, origin, layout, accumulate);
    sketch.add(*on, samples);
  }
  return samples.count();
}

void Summary::State::add_to_compressed(const WeightedSamples& samples) {
  const auto waiting = compressed->add(samples, origin);
  if (!waiting) {
    append_from(*on, rows, samples, 0, samples.count(), most_rows());
    return renew_frame();
  }
  sketch.add(*on, samples, *waiting);
  for (const Index j : *waiting) append_from(*on, rows, samples, j, 1, most_rows());
  outliers = rows.count();
  if (outliers > kMostOutliers) renew_frame();
}

// With P = I samples travel to a remote back end once.
Index Summary::State::compress_on_device(const WeightedSamples& samples) {
  if (auto sum =
          Compressed::sum_on_device(*on, samples, origin, layout, accumulate, compressed ? &*compressed : nullptr)) {
    compressed = std::move(sum);
    sketch.add(*on, samples);
    return samples.count();
  }
  const WeightedSamples some = samples.columns(0, std::min(samples.count(), compressed ? kRemoteBlock : first_block()));
  if (compressed) {
    compressed->renew(some, origin);
  } else {
    compressed = Compressed::first(*on, some, origin, layout, accumulate);
  }
  sketch.add(*on, some);
  return some.count();
}

Summary::State Summary::State::moved_to(const linalg::Backend& target) const {
  State moved = *this;
  moved.on = &target;
  if (compressed) moved.compressed = compressed->moved_to(target);
  return moved;
}

std::string counted_samples(Index m, Index count) {
  const char* noun = m == 1 ? "sample" : m == 2 ? "matched pair" : "matched sample";
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace cgmca
