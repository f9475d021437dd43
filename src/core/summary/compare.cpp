#include "core/summary/compare.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/thresholds.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

using linalg::Array;

// Θ U of the covariances as they will be used: S_i Σ_j X_ij S_jᵀ U_j.
Matrix times_theta(const Moments& moments, const Matrix& U) {
  const linalg::Backend& on = moments.on();
  const auto m = static_cast<std::size_t>(moments.layout.domains());
  const auto rows_of = [&](auto& A, std::size_t i) {
    const auto place = static_cast<Index>(i);
    return A.middleRows(moments.layout.start(place), moments.layout.features(place));
  };
  std::vector<Array> V;  // S_jᵀ U_j
  for (std::size_t j = 0; j < m; ++j) V.push_back(on.AtB(moments.S[j], on.upload(rows_of(U, j))));
  Matrix result(U.rows(), U.cols());
  for (std::size_t i = 0; i < m; ++i) {
    const Array W = on.copy(V[i]);
    for (std::size_t j = 0; j < m; ++j) {
      if (j == i) continue;
      on.add(W, !moments.compressed ? V[j] : i < j ? on.AB(moments.X[i][j], V[j]) : on.AtB(moments.X[j][i], V[j]));
    }
    rows_of(result, i) = on.download(on.AB(moments.S[i], W));
  }
  return result;
}

// σ_f = √Θ_ff
Vector deviations_of(const Moments& moments) {
  Vector result(moments.layout.size());
  for (Index i = 0; i < moments.layout.domains(); ++i) {
    result.segment(moments.layout.start(i), moments.layout.features(i)) =
        moments.on().row_squared_norms(moments.S[i]).cwiseSqrt();
  }
  return result;
}

// a/b. If b is 0, the result is 0 for a = 0 and infinite otherwise.
double ratio(double a, double b) { return a == 0 ? 0 : a / b; }

}  // namespace

std::optional<double> distance_from_samples(const Summary& summary, const Moments& moments) {
  const Summary::State& state = summary.state();
  Sketch sketch = state.sketch;
  if (!sketch.known) return std::nullopt;
  if (state.rows.count() > 0) sketch.add(*state.on, state.rows.by_domain());
  const Matrix difference = times_theta(moments, sketch.U) - sketch.Y / moments.freedom;
  const Vector sigma = deviations_of(moments), mean = sketch.origin + sketch.count.mean;
  // Rounding before a merge was relative to the sizes that features had at that time.
  const double noise = thresholds::kSketchNoise * sketch.noise / std::sqrt(moments.freedom);
  double largest = 0;
  Index worst = 0;
  for (Index f = 0; f < sigma.size(); ++f) {
    double distance = 0;
    for (Index k = 0; k < Sketch::kColumns; ++k) {
      const double scale = sketch.U.col(k).cwiseProduct(sigma).norm() + noise;
      // A fit refuses smaller features, because their squares underflow.
      const bool tiny = sigma(f) * sigma(f) < thresholds::kSmallestVariance &&
                        std::abs(difference(f, k)) < std::sqrt(thresholds::kSmallestVariance) * (scale + 1);
      if (!tiny) distance = std::max(distance, ratio(std::abs(difference(f, k)), sigma(f) * scale));
      if (!std::isfinite(difference(f, k))) distance = std::numeric_limits<double>::infinity();
    }
    const double shift = std::abs(moments.mean(f) - mean(f)) - thresholds::kMeanRounding * std::abs(mean(f));
    if (shift > std::sqrt(thresholds::kSmallestVariance)) distance = std::max(distance, ratio(shift, sigma(f)));
    if (!std::isfinite(moments.mean(f))) distance = std::numeric_limits<double>::infinity();
    if (distance > largest) {
      largest = distance;
      worst = f;
    }
  }
  if (largest <= thresholds::kLikeTheSketch) return largest;
  const Index domain = moments.layout.domain_of(worst);
  throw CertificateMismatch(
      fmt::format("the covariances that the fit computed are not those of the samples: they differ by {:.1e} from a "
                  "sketch that was summed beside them, most in feature {} (counted from 0) of {}; rounding is below "
                  "{:.0e}. The summary was damaged, or BLAS, LAPACK or the memory of a machine computed wrongly. Make "
                  "the summary again",
                  largest, worst - moments.layout.start(domain), describe(domain_at(domain), state.info[domain]),
                  thresholds::kLikeTheSketch));
}

}  // namespace cgmca
