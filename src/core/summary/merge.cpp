// Two summaries become one, whatever their forms and the order of their features.
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

// The place of each of our features among theirs, by name; empty if all are in the same places.
linalg::Indices places_in(const std::vector<DomainInfo>& ours, const std::vector<DomainInfo>& theirs,
                          const Layout& layout) {
  linalg::Indices places;
  bool moved = false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Index start = layout.start(static_cast<Index>(i));
    joined(domain_at(i), ours[i], theirs[i]);  // throws if they are not the same
    const auto order = order_of(ours[i].feature_names, theirs[i].feature_names);
    moved = moved || !order.empty();
    for (Index f = 0; f < ours[i].features; ++f) {
      places.push_back(start + (order.empty() ? f : order[f]));
    }
  }
  return moved ? places : linalg::Indices{};
}

}  // namespace

Summary::State Summary::State::reordered(const linalg::Indices& places) const {
  State result = *this;
  if (origin.size() > 0) result.origin = origin(places);
  result.rows = Rows(layout, rows.all()(places, Eigen::all), rows.weights());
  result.sketch.reorder(places);
  if (compressed) result.compressed = compressed->reordered(places);
  return result;
}

void Summary::State::merge(const State& that) {
  if (that.on != on) return merge(that.moved_to(*on));
  if (const linalg::Indices places = places_in(info, that.info, layout); !places.empty()) {
    State other = that.reordered(places);
    for (std::size_t i = 0; i < info.size(); ++i) {
      if (!info[i].feature_names.empty() && !other.info[i].feature_names.empty()) {
        other.info[i].feature_names = info[i].feature_names;
      }
    }
    return merge(other);
  }
  for (std::size_t i = 0; i < info.size(); ++i) info[i] = joined(domain_at(i), info[i], that.info[i]);
  if (that.origin.size() == 0) return;  // no samples
  if (that.nothing_compressed()) return add(that.rows.by_domain());

  if (nothing_compressed()) {
    // Only the other one is compressed: continue it with our rows.
    const Rows own = std::exchange(rows, that.rows);
    outliers = that.outliers;
    origin = that.origin;
    origin_weight = that.origin_weight;
    compressed = that.compressed;
    compressed->continue_by(accumulate);
    sketch = that.sketch;
    if (own.count() > 0) add(own.by_domain());
    return;
  }

  if (that.origin_weight > thresholds::kHeavierOrigin * origin_weight) move_origin(that.origin, that.origin_weight);
  sketch.merge(that.sketch,
               {[&](const Matrix& V) { return that.compressed->times(V); }, [&] { return that.compressed->sizes(); }});
  compressed->merge(*that.compressed, that.origin - origin);
  if (that.rows.count() > 0) add(that.rows.by_domain());
}

}  // namespace cgmca
