#include "core/fit/whiten.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/fit/graded.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Indices;

// The features that vary. A constant one has exactly zero variance in every form of summary.
Varying varying(const Vector& variance, Domain domain) {
  Varying result{{}, variance.size()};
  result.places.reserve(variance.size());
  for (Index j = 0; j < variance.size(); ++j) {
    if (variance(j) > 0) result.places.push_back(j);
  }
  if (result.places.empty()) {
    throw NoVariance(
        fmt::format("domain {} has no variance: each of its {} features is constant over all samples, to 1e-160",
                    number(domain), variance.size()));
  }
  if (variance.maxCoeff() < thresholds::kSmallestVariance) {
    throw NoVariance(
        fmt::format("the variances of domain {}, at most {:.1e}, are too small for a double. Give this domain "
                    "in a smaller unit",
                    number(domain), variance.maxCoeff()));
  }
  return result;
}

// The features in descending order of size. Householder reflections then have errors relative to each feature's own size
// instead of the largest size. On images this whitens the smallest directions a hundred times more accurately.
Indices descending(Indices features, const Vector& variance) {
  std::stable_sort(features.begin(), features.end(), [&](Index i, Index j) { return variance(i) > variance(j); });
  return features;
}

Index rank_above(const Vector& values, double tolerance) {
  return std::count_if(values.begin(), values.end(), [&](double value) { return value > tolerance * values(0); });
}

WhitenedDomain by_spectrum(std::shared_ptr<const SpectrumWhitening> whitening, Vector variance, double tolerance,
                           std::string route) {
  WhitenedDomain domain;
  const Vector s = whitening->s;
  domain.whitening = std::move(whitening);
  domain.trace = s.squaredNorm();
  domain.condition = s(0) / s(s.size() - 1);
  domain.features = variance.size();
  domain.variance = std::move(variance);
  domain.tolerance = tolerance;
  domain.route = std::move(route);
  return domain;
}

WhitenedDomain by_spectrum(const Array& U, const Vector& s, Vector variance, double tolerance, std::string route) {
  return by_spectrum(std::make_shared<const SpectrumWhitening>(U, s, s), std::move(variance), tolerance,
                     std::move(route));
}

WhitenedDomain by_triangle(std::shared_ptr<const Whitening> whitening, double condition, const Vector& variance,
                           double tolerance, std::string route) {
  WhitenedDomain domain;
  domain.whitening = std::move(whitening);
  domain.trace = variance.sum();
  domain.condition = condition;
  domain.features = variance.size();
  domain.variance = variance;
  domain.tolerance = tolerance;
  domain.route = std::move(route);
  return domain;
}

// Whether a triangle R whitens as accurately as the spectrum. The error of the spectrum is eps κ(R). The errors of R's
// columns are relative to their sizes, so its error is eps κ at unit size. The rank must also be beyond doubt.
// `sizes`: those of the features, in the order of R's columns.
bool whitens(const Array& R, const Vector& sizes, double condition, double tolerance) {
  if (condition <= thresholds::kSafeTriangle) return true;
  const double at_unit_size = R.on().condition(linalg::scaled_columns(R.on().copy(R), sizes.cwiseInverse()));
  if (at_unit_size <= thresholds::kSafeTriangle) return at_unit_size * tolerance <= thresholds::kClearRank;
  return condition * tolerance <= thresholds::kClearRank && at_unit_size <= thresholds::kClearlySmaller * condition;
}

// S = (V R)ᵀ: more samples than features that vary.
std::optional<WhitenedSamples> by_tall_triangle(const Array& S, const Vector& variance, const Varying& features,
                                                const Vector& sizes, double tolerance) {
  const Backend& on = S.on();
  const linalg::ArrayQr qr = on.thin_qr(on.gather_transposed_rows(S, features.places));
  const double condition = on.condition(qr.R);
  if (!whitens(qr.R, sizes(features.places), condition, tolerance)) return std::nullopt;
  WhitenedSamples result;
  result.V = qr.Q;
  result.domain = by_triangle(std::make_shared<TriangleWhitening>(qr.R, Array(), features), condition, variance,
                              tolerance, "geqrf");
  return result;
}

// The number of independent features, which come before those that they determine; 0 if there is any doubt.
// R: r×a upper trapezoidal
Index independent_of(const Array& R, double tolerance) {
  const Vector size = R.on().column_squared_norms(R).cwiseSqrt();
  const Vector own = R.on().diagonal(R.left(R.rows())).cwiseAbs();
  Index r = 0;
  while (r < own.size() && own(r) >= thresholds::kClearlyIndependent * size(r)) ++r;
  const double most = std::min(thresholds::kClearlyDetermined, tolerance);
  const Index left = own.size() - r;
  return (own.tail(left).array() <= most * size.segment(r, left).array()).all() ? r : 0;
}

// Sᵀ is upper trapezoidal in the order given, in which features that others determine come last.
std::optional<WhitenedSamples> by_own_triangle(const Array& S, const Vector& variance, const Varying& ordered,
                                               const Vector& sizes, double tolerance) {
  const Backend& on = S.on();
  const Array all = on.gather_transposed_rows(S, ordered.places);
  const Index a = all.cols(), r = independent_of(all, tolerance);
  if (r == 0) return std::nullopt;
  const Array R = r == a ? all : on.copy(all.block(0, 0, r, r));
  const Array C = r == a ? Array() : on.solve_upper(R, on.copy(all.block(0, r, r, a - r)));
  const Vector own = sizes(ordered.places), D = are_apart(own) ? own : Vector::Ones(a);
  // σ_1(L) <= σ_1(R) √(1 + ‖C‖²), and the basis of N errs by eps ‖C‖, C at the sizes D.
  const auto larger = [&](const Array& combinations) { return std::sqrt(1 + on.squared_norm(combinations)); };
  const auto at_size = [&] {
    const Array unit = on.copy(C);
    on.scale_rows(unit, D.head(r));
    on.scale_columns(unit, D.tail(a - r).cwiseInverse());
    return unit;
  };
  if (r < a && !(larger(at_size()) <= thresholds::kSafeTriangle)) return std::nullopt;
  const double condition = (r == a ? 1 : larger(C)) * on.condition(R);
  if (!whitens(R, own.head(r), condition, tolerance)) return std::nullopt;
  WhitenedSamples result;
  result.domain =
      by_triangle(std::make_shared<TriangleWhitening>(R, C, ordered, D), condition, variance, tolerance, "triangle");
  return result;
}

// Fewer samples than features: S is centred, so that S P = [L, 0] with the reflection P = I - 2vvᵀ that takes (1, …,
// 1)/√n, or the roots of the weights, to the last axis. LᵀL is the leading block of P SᵀS P, and R its Cholesky factor:
// that squares κ(L), which must be small.
std::optional<WhitenedSamples> by_wide_triangle(const Array& S, const Vector& variance, const Vector& weights,
                                                double tolerance) {
  const Backend& on = S.on();
  const Index n = S.cols();
  Vector v = Vector::Constant(n, 1 / std::sqrt(static_cast<double>(n)));
  if (weights.size() > 0) v = weights.cwiseSqrt().normalized();
  v(n - 1) -= 1;
  v.normalize();
  const Array K = on.zeros(n, n);
  on.add_gram_of_columns(K, S);
  const Vector Kv = on.symmetric_times(K, v), w = 2 * (Kv - v.dot(Kv) * v);
  on.add_outer(K, v, w, -1);  // P K P = K - v wᵀ - w vᵀ, w = 2 (Kv - (vᵀKv) v)
  on.add_outer(K, w, v, -1);
  const Array R = on.cholesky(K.block(0, 0, n - 1, n - 1));
  if (R.empty()) return std::nullopt;
  const double condition = on.condition(R);
  if (!(condition <= thresholds::kSafeSquaredTriangle)) return std::nullopt;
  const auto whitening = std::make_shared<WideWhitening>(S, R, v);
  WhitenedSamples result;
  result.V = whitening->basis_times(on.identity(n - 1, n - 1));
  result.saturated = true;
  result.domain = by_triangle(whitening, condition, variance, tolerance, "potrf");
  return result;
}

std::optional<WhitenedSamples> by_any_triangle(const Array& S, const Vector& variance, const Varying& features,
                                               const Vector& sizes, const WhiteningRequest& request,
                                               const Vector* weights, const Indices& order) {
  if (!order.empty()) return by_own_triangle(S, variance, {order, features.features}, sizes, request.tolerance);
  if (S.cols() > std::ssize(features.places)) {
    return by_tall_triangle(S, variance, features, sizes, request.tolerance);
  }
  if (weights != nullptr && S.cols() > 2) return by_wide_triangle(S, variance, *weights, request.tolerance);
  return std::nullopt;
}

// The spectrum computed at unit size of the features, if that shows more directions than the rank r of the raw spectrum
// `s`, or if raw units make the spectrum inaccurate. The rows of S are the given features.
std::optional<WhitenedSamples> by_graded_spectrum(const Array& S, const Vector& variance, const Varying& features,
                                                  const Vector& all_sizes, const WhiteningRequest& request,
                                                  const Vector& s, Index r) {
  const Backend& on = S.on();
  const Vector sizes = all_sizes(features.places);
  const Index most = std::min(s.size(), request.samples - 1);
  const double condition = s(0) / s(r - 1);
  const bool inaccurate = r == S.rows() && condition > thresholds::kSafeSpectrum;
  const bool dependent = r < S.rows() && S.rows() < request.samples && are_apart(sizes);  // not for want of samples
  if (!(r < most || inaccurate || dependent) || !differ_much(sizes)) return std::nullopt;
  on.scale_rows(S, sizes.cwiseInverse());
  const Vector values = linalg::singular_values(on.download(on.copy(S)));  // vectors cost five times as much
  const Index rank = std::min(rank_above(values, request.tolerance), most);
  const bool better = dependent || (inaccurate && values(0) <= thresholds::kClearlySmaller * condition * values(r - 1));
  if (rank < r || (rank == r && !better)) return std::nullopt;
  const linalg::ArraySvd unit = on.thin_svd(S);
  GradedSpectrum graded = graded_spectrum(unit.U.left(rank), unit.s.head(rank), unit.V.left(rank), sizes, features);
  WhitenedSamples result;
  result.domain = by_spectrum(std::move(graded.whitening), variance, request.tolerance, "gesvj at unit size");
  result.V = std::move(graded.V);
  return result;
}

// The spectrum of a well-conditioned S from S Sᵀ = U diag(s²) Uᵀ, which costs a fraction of an SVD on a remote back
// end.
std::optional<WhitenedSamples> by_square(const Array& S, const Vector& variance, const Varying& ordered,
                                         double tolerance) {
  const Backend& on = S.on();
  const Index a = std::ssize(ordered.places);
  if (!on.remote() || a == 0 || S.cols() != a) return std::nullopt;
  const double condition = on.condition(on.gather_transposed_rows(S, ordered.places));
  if (!(condition * condition <= thresholds::kSafeGramCondition && condition * tolerance <= thresholds::kClearRank)) {
    return std::nullopt;
  }
  const Array varied = on.gather_rows(S, ordered.places), G = on.zeros(a, a);
  on.add_gram(G, varied);
  const linalg::ArrayEigen eigen = on.symmetric_eigen(G);
  const Vector s = eigen.values.cwiseSqrt();
  WhitenedSamples result;
  result.V = linalg::scaled_columns(linalg::AtB(varied, eigen.Q), s.cwiseInverse());
  result.domain =
      by_spectrum(on.scatter_rows(eigen.Q, ordered.places, ordered.features), s, variance, tolerance, "syevd");
  return result;
}

}  // namespace

WhitenedSamples whiten(const Array& S, const WhiteningRequest& request, const Vector* weights, const Indices& order) {
  const Backend& on = S.on();
  const Vector variance = on.row_squared_norms(S);
  const Varying features = varying(variance, request.domain);
  const Vector sizes = unit_sizes(variance, request.mean);
  if (!request.spectrum) {
    if (auto result = by_any_triangle(S, variance, features, sizes, request, weights, order)) return std::move(*result);
  }
  if (auto result = by_square(S, variance, {order, S.rows()}, request.tolerance)) return std::move(*result);
  // S = U Σ Vᵀ without its zero rows. n samples have rank n - 1 at most; centring leaves rounding beyond it.      (3)
  const linalg::Indices order_of_size = descending(features.places, variance);
  const Array sorted = on.gather_rows(S, order_of_size);
  const linalg::ArraySvd svd = on.thin_svd(sorted);
  const Index r = std::min(rank_above(svd.s, request.tolerance), request.samples - 1);
  if (auto graded = by_graded_spectrum(sorted, variance, {order_of_size, S.rows()}, sizes, request, svd.s, r)) {
    return std::move(*graded);
  }
  return {by_spectrum(on.scatter_rows(svd.U.left(r), order_of_size, S.rows()), svd.s.head(r), variance,
                      request.tolerance, linalg::described(svd.routine)),
          svd.V.left(r)};
}

}  // namespace cgmca
