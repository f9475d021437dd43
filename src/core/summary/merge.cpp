// Two summaries become one, whatever their forms and the order of their features.
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

using linalg::Array;

// Z with Z Zᵀ = Xc Xcᵀ of the compressed samples.
Array root_of(const Summary::State& state) {
  if (const GramState* gram = state.gram()) return gram->root();
  return state.on->transposed(state.framed()->triangle(state.layout));
}

// Xc Xcᵀ V of the compressed samples.
Matrix products_with(const Summary::State& state, const Matrix& V) {
  const linalg::Backend& on = *state.on;
  Matrix result(V.rows(), V.cols());
  if (const GramState* gram = state.gram()) {
    for (Index k = 0; k < V.cols(); ++k) result.col(k) = on.symmetric_times(gram->G, V.col(k));
    return result;
  }
  const Frame& frame = *state.framed()->frame;  // Pᵀ G P V
  const Matrix inside = V(frame.features, Eigen::all);
  Matrix product(inside.rows(), V.cols());
  const auto by_domain = [&](const auto& times) {
    Index start = 0;
    for (std::size_t i = 0; i < frame.P.size(); ++i) {
      const Index size = frame.size(i);
      if (size > 0) times(frame.P[i]->R(), start, size);
      start += size;
    }
  };
  by_domain([&](const Array& P, Index start, Index size) {
    product.middleRows(start, size) = on.download(on.upper_times(P, on.upload(inside.middleRows(start, size))));
  });
  for (Index k = 0; k < V.cols(); ++k) {
    product.col(k) = Vector(on.symmetric_times(state.framed()->G, Vector(product.col(k))));
  }
  by_domain([&](const Array& P, Index start, Index size) {
    product.middleRows(start, size) =
        Matrix(on.download(on.upper_transposed_times(P, on.upload(product.middleRows(start, size)))));
  });
  result.setZero();
  result(frame.features, Eigen::all) = product;
  return result;
}

// The roots of the diagonal of Xc Xcᵀ of the compressed samples; in a frame a bound, ‖P_f‖ √(max G_kk), will do.
Vector sizes_of(const Summary::State& state) {
  if (const GramState* gram = state.gram()) return state.on->diagonal(gram->G).cwiseMax(0).cwiseSqrt();
  const FramedState& framed = *state.framed();
  Vector sizes = Vector::Zero(state.layout.size());
  if (framed.frame->size() == 0) return sizes;
  const double largest = state.on->diagonal(framed.G).maxCoeff();
  sizes(framed.frame->features) =
      (largest * state.on->column_squared_norms(framed.frame->whole())).cwiseMax(0).cwiseSqrt();
  return sizes;
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

Summary::State Summary::State::reordered(const linalg::Places& places) const {
  State result = *this;
  if (origin.size() > 0) result.origin = origin(places);
  result.rows = Rows(layout, rows.all()(places, Eigen::all), rows.weights());
  result.sketch.reorder(places);
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
    unlike = that.unlike;
    origin = that.origin;
    origin_weight = that.origin_weight;
    compressed = that.compressed;
    safety = that.safety;
    sketch = that.sketch;
    if (gram() != nullptr) {
      const bool unproven = accumulate == Accumulate::automatic && that.accumulate == Accumulate::gram;
      if (accumulate == Accumulate::qr || (unproven && !safety.measure(gram()->G, layout))) turn_to_framed();
    }
    if (own.count() > 0) add(own.by_domain());
    return;
  }

  if (that.origin_weight > thresholds::kHeavierOrigin * origin_weight) move_origin(that.origin, that.origin_weight);
  sketch.merge(that.sketch, {[&](const Matrix& V) { return products_with(that, V); }, [&] { return sizes_of(that); }});
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

}  // namespace cgmca
