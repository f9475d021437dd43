#include "core/summary/moments.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

using linalg::Array;

// √w_j (x_j - mean) of the rows of each domain.
std::vector<Array> centred_rows(const Summary::State& state, const FirstMoments& count) {
  std::vector<Array> S;
  const WeightedSamples domains = state.rows.by_domain();
  const Vector roots = domains.weights.cwiseSqrt();
  for (Index i = 0; i < state.layout.domains(); ++i) {
    const Index start = state.layout.start(i), d = state.layout.features(i);
    S.push_back(state.on->load({domains.X[i]}, 0, state.rows.count(), state.origin.segment(start, d),
                               count.mean.segment(start, d)));
    if (roots.size() > 0) state.on->scale_columns(S.back(), roots);
  }
  return S;
}

double degrees_of_freedom(const FirstMoments& count, SmallWeights small) {
  // Weights that sum to 1 may sum to a little more by rounding.
  if (count.weight > 1 + thresholds::kSameWeight) return count.weight - 1;
  if (small == SmallWeights::allow) return 1;
  throw TooFewSamples(
      fmt::format("the weights sum to {:.6g}; a covariance needs more than 1, because a weight counts how often its "
                  "sample occurs. Give weights of another scale",
                  count.weight));
}

void require_two(const Summary::State& state) {
  const Index n = state.samples();
  if (n >= 2) return;
  throw TooFewSamples(fmt::format("{}{}; a covariance needs at least 2", counted_samples(state.layout.domains(), n),
                                  state.weighted() ? " of a weight above 0" : ""));
}

// Z_i with Z_i Z_jᵀ = Xc_i Xc_jᵀ; all have as many columns.
std::vector<Array> common_roots(const Summary::State& state, const FirstMoments& count) {
  const std::optional<Compressed> all = state.all_compressed();
  if (!all) return centred_rows(state, count);
  const Array Z = all->square_root();
  std::vector<Array> S;
  for (Index i = 0; i < state.layout.domains(); ++i) {
    S.push_back(Z.block(state.layout.start(i), 0, state.layout.features(i), Z.cols()));
  }
  return S;
}

}  // namespace

Array Moments::theta(std::size_t i, std::size_t j) const {
  if (i == j || !compressed) return linalg::ABt(S[i], S[j]);
  return linalg::ABt(linalg::AB(S[i], X[i][j]), S[j]);
}

Moments moments(const Summary& summary, SmallWeights small) {
  const Summary::State& state = summary.state();
  require_two(state);
  const FirstMoments count = state.count();
  const double freedom = degrees_of_freedom(count, small);
  Moments result{.samples = state.samples(),
                 .total_weight = count.weight,
                 .freedom = freedom,
                 .form = state.form(),
                 .layout = state.layout,
                 .mean = state.origin + count.mean,
                 .compressed = nullptr};
  if (std::optional<Compressed> all = state.all_compressed()) {
    Roots roots = all->roots();
    result.form = all->frame->identity() ? SummaryForm::gram : SummaryForm::qr;
    result.S = std::move(roots.S);
    result.X = std::move(roots.X);
    result.orders = std::move(roots.orders);
    result.compressed = std::make_shared<const Compressed>(*std::move(all));
  } else {
    result.S = centred_rows(state, count);
    result.row_weights = state.rows.weights();
  }
  for (const Array& S : result.S) state.on->scale(S, 1 / std::sqrt(freedom));
  return result;
}

ByDomain<Matrix> roots_about(const ByDomain<Vector>& points, const Summary& summary) {
  if (summary.samples() == 1) {  // which has no covariance
    std::vector<Matrix> one;
    for (std::size_t i = 0; i < points.size(); ++i) {
      one.emplace_back(std::sqrt(summary.total_weight()) * (summary.mean(domain_at(i)) - points[i]));
    }
    return one;
  }
  const Summary::State& state = summary.state();
  require_two(state);
  const FirstMoments count = state.count();
  const std::vector<Array> S = common_roots(state, count);
  const Vector mean = state.origin + count.mean;
  ByDomain<Matrix> H;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Index start = state.layout.start(static_cast<Index>(i)), d = S[i].rows(), columns = S[i].cols();
    H.emplace_back(d, columns + 1);
    H[i].leftCols(columns) = linalg::download(state.on->copy(S[i]));
    H[i].col(columns) = std::sqrt(count.weight) * (mean.segment(start, d) - points[i]);
  }
  return H;
}

}  // namespace cgmca
