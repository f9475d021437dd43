#include "core/summary/moments.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;

Moments of_rows(const Summary::State& state, const Count& count, Moments result) {
  const WeightedSamples domains = state.rows.by_domain();
  const Vector roots = domains.weights.cwiseSqrt();
  for (Index i = 0; i < state.layout.domains(); ++i) {
    const Index start = state.layout.start(i), d = state.layout.features(i);
    result.S.push_back(state.on->load({domains.X[static_cast<std::size_t>(i)]}, 0, state.rows.count(),
                                      state.origin.segment(start, d), count.mean.segment(start, d)));
    if (roots.size() > 0) state.on->scale_columns(result.S.back(), roots);
  }
  result.row_weights = domains.weights;
  return result;
}

// Rᵀ, domain by domain; what is zero below R's diagonal is left out.
Moments of_frame(const Summary::State& state, Moments result) {
  const Array R =
      state.framed()->with_all(state.rows, state.origin, state.layout, state.scales()).triangle(state.layout);
  for (Index i = 0; i < state.layout.domains(); ++i) {
    const Index start = state.layout.start(i), d = state.layout.features(i);
    result.S.push_back(state.on->transposed(R.block(0, start, start + d, d)));
  }
  return result;
}

Moments of_separate_frames(const Summary::State& state, Moments result) {
  const FramedState all = state.framed()->with_all(state.rows, state.origin, state.layout, state.scales());
  auto roots = all.separate_roots(state.layout);
  if (!roots) return of_frame(state, std::move(result));
  result.S = std::move(roots->S);
  result.links = std::move(roots->links);
  result.orders = std::move(roots->orders);
  return result;
}

Moments of_gram(const Summary::State& state, Moments result) {
  if (state.rows.count() == 0) {
    result.theta = GramState(*state.gram()).theta();
    result.factors = state.gram()->factors;
  } else {
    GramState all = *state.gram();
    const Count added = count_of(*state.on, state.rows.by_domain(), state.origin);
    all.add(Deviations(*state.on, state.rows.by_domain(), state.origin, added.mean), added);
    result.theta = std::move(all).theta();
  }
  return result;
}

// Whether all domains have common coordinates, or each its own where that costs less.
enum class Coordinates { common, separate };

// Whether weights that sum to 1 or less, which have no covariance, are an error, or Xc Xcᵀ is left as it is.
enum class SmallWeights { refuse, allow };

double degrees_of_freedom(const Count& count, SmallWeights small) {
  // Weights that sum to 1 may sum to a little more by rounding.
  if (count.weight > 1 + thresholds::kSameWeight) return count.weight - 1;
  if (small == SmallWeights::allow) return 1;
  throw TooFewSamples(
      fmt::format("the weights sum to {:.6g}; a covariance needs more than 1, because a weight counts how often its "
                  "sample occurs. Give weights of another scale",
                  count.weight));
}

Moments moments_of(const Summary::State& state, SummaryForm form, SmallWeights small, Coordinates coordinates) {
  const Index n = state.samples();
  if (n < 2) {
    throw TooFewSamples(fmt::format("{}{}; a covariance needs at least 2", counted_samples(state.layout.domains(), n),
                                    state.weighted() ? " of a weight above 0" : ""));
  }
  const Count count = state.count();
  const double freedom = degrees_of_freedom(count, small);
  Moments result{n, count.weight, freedom, form, state.layout, state.origin + count.mean};
  if (form == SummaryForm::gram) return of_gram(state, std::move(result));
  if (form == SummaryForm::rows) {
    result = of_rows(state, count, std::move(result));
  } else if (coordinates == Coordinates::separate) {
    result = of_separate_frames(state, std::move(result));
  } else {
    result = of_frame(state, std::move(result));
  }
  for (const Array& S : result.S) state.on->scale(S, 1 / std::sqrt(freedom));
  return result;
}

// With all rows compressed, which may turn a Gram form that was chosen into the other.
Summary::State all_compressed(const Summary::State& state) {
  Summary::State all = state;
  if (all.rows.count() > 0) all.compress_rows();
  return all;
}

Moments moments_of(const Summary& summary, SmallWeights small, Coordinates coordinates = Coordinates::common) {
  const Summary::State& state = summary.state();
  const bool may_turn = state.gram() != nullptr && state.accumulate == Accumulate::automatic && state.rows.count() > 0;
  if (!may_turn) return moments_of(state, state.form(), small, coordinates);
  const Summary::State all = all_compressed(state);
  return moments_of(all, all.form(), small, coordinates);
}

}  // namespace

Array Moments::cross(std::size_t i, std::size_t j, const Array& Y_i, const Array& Y_j) const {
  if (links.empty()) {
    const Index shared = std::min(Y_i.cols(), Y_j.cols());
    return linalg::ABt(Y_i.left(shared), Y_j.left(shared));
  }
  return linalg::ABt(linalg::AB(Y_i, links[i][j]), Y_j);
}

Moments moments(const Summary& summary) { return moments_of(summary, SmallWeights::refuse); }

Moments separate_moments(const Summary& summary) {
  return moments_of(summary, SmallWeights::refuse, Coordinates::separate);
}

Moments factored_moments(const Summary& summary) {
  if (summary.form() != SummaryForm::gram) return moments_of(summary, SmallWeights::allow);
  Summary::State all = all_compressed(summary.state());
  if (all.gram() != nullptr) all.turn_to_framed();
  return moments_of(all, SummaryForm::qr, SmallWeights::allow, Coordinates::common);
}

std::vector<Matrix> roots_about(const std::vector<Vector>& points, const Summary& summary) {
  const Moments moments = factored_moments(summary);
  Index most = 0;
  for (const Array& S : moments.S) most = std::max(most, S.cols());
  std::vector<Matrix> H;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Matrix S = linalg::download(moments.S[i]);
    const Index start = moments.layout.start(static_cast<Index>(i)), d = S.rows();
    H.emplace_back(Matrix::Zero(d, most + 1));
    H[i].leftCols(S.cols()) = std::sqrt(moments.freedom) * S;
    H[i].col(most) = std::sqrt(moments.total_weight) * (moments.mean.segment(start, d) - points[i]);
  }
  return H;
}

}  // namespace cgmca
