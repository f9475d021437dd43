#include "factor.hpp"

#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "linalg/linalg.hpp"

namespace cgmca {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

// A triangle serves as well as the spectrum while κ(L) is at most this: it is of full rank beyond doubt, and the error
// of whitening with it, a small multiple of eps·κ(L), stays near 1e-12.
constexpr double kSafeTriangle = 1e4;
// The same for a triangle from LᵀL, with an error of eps·κ(L)².
constexpr double kSafeGram = 100;
// The same for one from a pivoted Cholesky factor, which has shown the rank: the SVD in its place would err as much.
constexpr double kSafePivoted = 1e5;
// A user's own tolerance above this may cut directions of a well-conditioned covariance: that takes the spectrum.
constexpr double kLargestTolerance = 1e-6;

// Products of smaller variances would lose digits to underflow.
constexpr double kSmallestVariance = 1e-280;

// The features that vary. A constant one has exactly zero variance in every form of summary.
std::vector<Index> varying(const Vector& variance, Domain domain) {
  std::vector<Index> features;
  for (Index j = 0; j < variance.size(); ++j) {
    if (variance(j) > 0) features.push_back(j);
  }
  if (features.empty()) {
    throw NoVariance(
        fmt::format("domain {} has no variance: each of its {} features is constant over all samples, to 1e-160",
                    number(domain), variance.size()));
  }
  if (variance.maxCoeff() < kSmallestVariance) {
    throw NoVariance(
        fmt::format("the variances of domain {}, at most {:.1e}, are too small for a double. Give this domain "
                    "in a smaller unit",
                    number(domain), variance.maxCoeff()));
  }
  return features;
}

// Rows back in the places of the features they belong to, zero elsewhere.
Matrix scatter_rows(const MatrixView& rows, const std::vector<Index>& places, Index d) {
  if (static_cast<Index>(places.size()) == d) return rows;
  Matrix all = Matrix::Zero(d, rows.cols());
  all(places, Eigen::all) = rows;
  return all;
}

Index rank_above(const Vector& descending, double tolerance) {
  return std::count_if(descending.begin(), descending.end(),
                       [&](double value) { return value > tolerance * descending(0); });
}

DomainFactor make_factor(Matrix U, Vector s, Vector variance, double tolerance) {
  DomainFactor factor;
  factor.trace = s.squaredNorm();
  factor.concentration = (s / s.norm()).array().pow(4).sum();
  factor.features = variance.size();
  factor.condition = s(0) / s(s.size() - 1);
  factor.scale = s;
  factor.U = std::move(U);
  factor.s = std::move(s);
  factor.variance = std::move(variance);
  factor.tolerance = tolerance;
  return factor;
}

// Thin SVD of S without its zero rows.
struct SampleFactor {
  DomainFactor factor;
  Matrix V;
  linalg::SvdRoutine routine;
};

// n samples have rank n - 1 at most; centring leaves rounding beyond it.
SampleFactor factor_samples(const Matrix& S, Index samples, Domain domain, double tolerance) {
  const Vector variance = S.rowwise().squaredNorm();
  const std::vector<Index> features = varying(variance, domain);
  const bool all = static_cast<Index>(features.size()) == S.rows();
  linalg::Svd svd = all ? linalg::thin_svd(S) : linalg::thin_svd(S(features, Eigen::all));
  const Index r = std::min(rank_above(svd.s, tolerance), samples - 1);
  return {make_factor(scatter_rows(svd.U.leftCols(r), features, S.rows()), svd.s.head(r), variance, tolerance),
          svd.V.leftCols(r), svd.routine};
}

// The triangle of a domain and its whitened samples V, WᵀS = Vᵀ; none where Θ is not well conditioned.
struct TriangleFactor {
  DomainFactor factor;
  Matrix V;
  bool saturated = false;  // V holds the first n-1 columns of the reflection that takes (1, …, 1) to the last axis
};

std::optional<TriangleFactor> triangle_of(const Vector& variance, std::vector<Index> features, Matrix R,
                                          double tolerance, double safe = kSafeTriangle) {
  const double condition = linalg::condition(R);
  if (!(condition <= safe)) return std::nullopt;  // nor where it is not finite
  TriangleFactor result;
  result.factor.condition = condition;
  result.factor.trace = variance.sum();
  result.factor.features = variance.size();
  result.factor.variance = variance;
  result.factor.tolerance = tolerance;
  result.factor.triangle = Triangle{std::move(R), std::move(features), {}, nullptr, {}};
  return result;
}

// S = (V R)ᵀ. `upper`: Sᵀ is R already.
std::optional<TriangleFactor> triangulate_tall(const Matrix& S, const Vector& variance, std::vector<Index> features,
                                               bool upper, double tolerance) {
  if (upper) {
    auto result = triangle_of(variance, std::move(features), S.transpose(), tolerance);
    if (result) result->V = Matrix::Identity(S.cols(), S.cols());
    return result;
  }
  linalg::Qr qr = linalg::thin_qr(S(features, Eigen::all).transpose());
  auto result = triangle_of(variance, std::move(features), std::move(qr.R), tolerance);
  if (result) result->V = std::move(qr.Q);
  return result;
}

// Fewer samples than features: S is centred, so that S P = [L, 0] with the reflection P = I - 2vvᵀ that takes (1, …,
// 1)/√n to the last axis. LᵀL is the leading block of P SᵀS P, and R its Cholesky factor: that squares κ(L), which must
// be small.
std::optional<TriangleFactor> triangulate_wide(const Matrix& S, const Vector& variance, std::vector<Index> features,
                                               double tolerance) {
  const Index n = S.cols();
  Vector v = Vector::Constant(n, 1 / std::sqrt(static_cast<double>(n)));
  v(n - 1) -= 1;
  v.normalize();
  Matrix K = Matrix::Zero(n, n);
  linalg::add_gram_of_columns(K, S);
  K.triangularView<Eigen::StrictlyLower>() = K.transpose();
  const Vector Kv = linalg::AB(K, v), w = 2 * (Kv - v.dot(Kv) * v);
  K -= v * w.transpose() + w * v.transpose();  // P K P = K - v wᵀ - w vᵀ, w = 2 (Kv - (vᵀKv) v)
  Matrix R = linalg::cholesky(K.topLeftCorner(n - 1, n - 1));
  if (R.size() == 0) return std::nullopt;
  auto result = triangle_of(variance, std::move(features), std::move(R), tolerance, kSafeGram);
  if (!result) return result;
  Triangle& triangle = *result->factor.triangle;
  triangle.S = &S;
  triangle.v = v;
  result->V = triangle.basis_times(Matrix::Identity(n - 1, n - 1));
  result->saturated = true;
  return result;
}

std::optional<TriangleFactor> triangulate(const Matrix& S, Domain domain, bool centred, double tolerance) {
  const Vector variance = S.rowwise().squaredNorm();
  std::vector<Index> features = varying(variance, domain);
  const auto a = static_cast<Index>(features.size());
  if (S.cols() > a) return triangulate_tall(S, variance, std::move(features), false, tolerance);
  // Domain 1's part of the summary's R may be triangular already.
  if (S.rows() == S.cols() && S.isLowerTriangular(0)) {
    return triangulate_tall(S, variance, std::move(features), true, tolerance);
  }
  if (centred && S.cols() > 2) return triangulate_wide(S, variance, std::move(features), tolerance);
  return std::nullopt;
}

// The same from Θ = KᵀK, K (r×a) by pivoted Cholesky: with errors of eps κ(K), where an eigendecomposition of Θ itself
// has eps κ(K)². What Θ lost when it was summed is lost: its entries carry errors of eps, so the rank cannot be told
// below the root of that. Either K = V Σ Uᵀ, or Kᵀ = Q R.
DomainFactor factor_gram(const MatrixView& theta, Index samples, Domain domain, double tolerance, bool spectrum) {
  const bool triangle = !spectrum && tolerance < kLargestTolerance;
  const std::vector<Index> features = varying(theta.diagonal(), domain);
  const Matrix varied = theta(features, features);
  if (triangle) {
    Matrix R = linalg::cholesky(varied);
    auto full = R.size() > 0 ? triangle_of(theta.diagonal(), features, std::move(R), tolerance) : std::nullopt;
    if (full) return std::move(full->factor);
  }
  const double rounding = linalg::gram_rounding(theta.rows(), samples);
  const Matrix K = linalg::pivoted_cholesky(varied, rounding);
  if (triangle && K.row(0).norm() <= kSafePivoted * K.bottomRows(1).norm()) {  // σ_1 >= the one, σ_r <= the other
    linalg::Qr qr = linalg::thin_qr(K.transpose());
    auto deficient = triangle_of(theta.diagonal(), features, std::move(qr.R), tolerance, kSafePivoted);
    if (deficient) {
      deficient->factor.triangle->Q = std::move(qr.Q);
      return std::move(deficient->factor);
    }
  }
  const linalg::Svd svd = linalg::thin_svd(K);
  const double cut = std::max(tolerance, std::sqrt(rounding));
  const Index r = rank_above(svd.s, cut);
  return make_factor(scatter_rows(svd.V.leftCols(r), features, theta.rows()), svd.s.head(r), theta.diagonal(), cut);
}

// All samples of a domain, n matched and m extra ones, N in all: their mean, and S with S Sᵀ = Θ.               (17)
//   (N-1) Θ = (n-1) Θ_matched + E Eᵀ + s sᵀ,   s = sqrt(n m / N) (mean_extra - mean_matched)
struct Pooled {
  Vector mean;
  double matched;  // sqrt((n-1)/(N-1)): the weight of S_matched within S
  Matrix extra;    // [E, s] / sqrt(N-1)
};

Pooled pool(Index matched, const Vector& mean, const SampleSummary& extra) {
  const double n = static_cast<double>(matched), m = static_cast<double>(extra.samples()), N = n + m;
  const Vector step = extra.mean() - mean;
  const Matrix E = extra.centred();
  Pooled pooled{mean + m / N * step, std::sqrt((n - 1) / (N - 1)), Matrix(mean.size(), E.cols() + 1)};
  pooled.extra.leftCols(E.cols()) = E;
  pooled.extra.rightCols(1) = std::sqrt(n * m / N) * step;
  pooled.extra /= std::sqrt(N - 1);
  return pooled;
}

const SampleSummary* extra_of(const FitOptions& options, Domain domain, Index features) {
  const SampleSummary* extra = options.extra[slot(domain)];
  if (extra == nullptr || extra->samples() == 0) return nullptr;
  if (extra->dimension() != features) {
    throw WrongDimension(fmt::format("domain {} has {} features, its extra samples have {}", number(domain), features,
                                     extra->dimension()));
  }
  return extra;
}

}  // namespace

Matrix Triangle::basis_times(const MatrixView& E) const {
  const Index r = E.rows();
  Matrix result(r + 1, E.cols());
  result.topRows(r) = E;
  result.row(r).setZero();
  result.noalias() -= 2 * v * linalg::AtB(v.head(r), E);
  return result;
}

Matrix DomainFactor::white(const MatrixView& X) const {
  if (!triangle) return scale.cwiseInverse().asDiagonal() * linalg::AtB(U, X);
  if (triangle->S != nullptr) return linalg::AtB(whitened(Matrix::Identity(rank(), rank())), X);
  const Matrix varied = X(triangle->features, Eigen::all);
  if (triangle->Q.size() > 0) return linalg::solve_upper(triangle->R, linalg::AtB(triangle->Q, varied));
  return linalg::solve_upper_transposed(triangle->R, varied);
}

Matrix DomainFactor::whitened(const MatrixView& E) const {
  if (!triangle) return linalg::AB(U, scale.cwiseInverse().asDiagonal() * E);
  const Matrix& R = triangle->R;
  if (triangle->S != nullptr) {  // L⁺ᵀ = L (LᵀL)⁻¹
    return linalg::AB(*triangle->S,
                      triangle->basis_times(linalg::solve_upper(R, linalg::solve_upper_transposed(R, E))));
  }
  if (triangle->Q.size() > 0) {
    return scatter_rows(linalg::AB(triangle->Q, linalg::solve_upper_transposed(R, E)), triangle->features, features);
  }
  return scatter_rows(linalg::solve_upper(R, E), triangle->features, features);
}

Matrix DomainFactor::coloured(const MatrixView& E) const {
  if (!triangle) return linalg::AB(U, scale.asDiagonal() * E);
  if (triangle->S != nullptr) return linalg::AB(*triangle->S, triangle->basis_times(E));
  if (triangle->Q.size() > 0) {
    return scatter_rows(linalg::AB(triangle->Q, linalg::upper_times(triangle->R, E)), triangle->features, features);
  }
  return scatter_rows(linalg::upper_transposed_times(triangle->R, E), triangle->features, features);
}

Matrix DomainFactor::shares(const MatrixView& E) const {
  Matrix half;
  if (!triangle) {
    half = (scale / scale.norm()).asDiagonal() * E;
  } else {
    const Matrix& R = triangle->R;
    const bool upper = triangle->S != nullptr || triangle->Q.size() > 0;
    half = upper ? linalg::upper_times(R, E) : linalg::upper_transposed_times(R, E);
    half /= R.norm();
  }
  return linalg::AtB(half, half);
}

Factors factorize(const PairSummary& summary, const FitOptions& options, std::array<bool, 2> spectrum) {
  Factors factors;
  factors.samples = summary.samples();
  const auto data = std::make_shared<FactorizedData>();
  factors.data = data;
  data->moments = summary.moments();
  PairSummary::Moments& moments = data->moments;
  factors.form = moments.form;
  const bool gram = moments.form == SummaryForm::gram;
  std::array<Vector, 2> means;
  std::array<Index, 2> samples{};
  std::array<double, 2> tolerance{};
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    const Index d = summary.dimension(domain), start = domain == Domain::one ? 0 : summary.dimension(Domain::one);
    means[i] = summary.mean(domain);
    samples[i] = summary.samples();
    if (const SampleSummary* extra = extra_of(options, domain, d)) {
      const Pooled all = pool(summary.samples(), means[i], *extra);
      if (gram) {
        auto theta = moments.theta.block(start, start, d, d);
        theta *= all.matched * all.matched;
        theta += linalg::ABt(all.extra, all.extra);
      } else {
        data->pooled[i] = linalg::beside(all.matched * (domain == Domain::one ? moments.S1 : moments.S2), all.extra);
      }
      means[i] = all.mean;
      samples[i] += extra->samples();
    }
    tolerance[i] = options.rank_tol.value_or(static_cast<double>(std::max(d, samples[i])) * kEpsilon);
  }
  if (gram) {
    const Index d1 = summary.dimension(Domain::one), d2 = summary.dimension(Domain::two);
    const Matrix& theta = moments.theta;
    for_both(std::max(d1, d2), [&](Index which) {
      const auto i = static_cast<std::size_t>(which);
      factors.domains[i] =
          which == 0 ? factor_gram(theta.topLeftCorner(d1, d1), samples[0], Domain::one, tolerance[0], spectrum[0])
                     : factor_gram(theta.bottomRightCorner(d2, d2), samples[1], Domain::two, tolerance[1], spectrum[1]);
    });
    // B = W1 Θ12 W2ᵀ = (W2 (W1 Θ12)ᵀ)ᵀ                                                         (8)
    const Matrix W1_theta12 = factors.domains[0].white(theta.topRightCorner(d1, d2));
    factors.B = factors.domains[1].white(W1_theta12.transpose()).transpose();
    const auto how = [](const DomainFactor& factor) {
      return !factor.triangle ? 2U : factor.triangle->Q.size() > 0 ? 1U : 0U;
    };
    constexpr std::array routes = {"gram potrf", "gram pstrf geqrf", "gram pstrf gesdd"};
    factors.route = routes.at(std::max(how(factors.domains[0]), how(factors.domains[1])));
  } else {
    std::array<Matrix, 2> scores;  // V_i: the pairs whitened
    std::array<bool, 2> saturated{};
    std::array<std::optional<linalg::SvdRoutine>, 2> routines;
    const auto factor_domain = [&](Index which) {
      const Domain domain = kDomains[static_cast<std::size_t>(which)];
      const auto i = slot(domain);
      const Matrix& S = domain == Domain::one ? moments.S1 : moments.S2;
      const bool extra = data->pooled[i].size() > 0;
      if (!spectrum[i] && !extra && tolerance[i] < kLargestTolerance) {
        auto triangular = triangulate(S, domain, moments.form == SummaryForm::rows, tolerance[i]);
        if (triangular) {
          factors.domains[i] = std::move(triangular->factor);
          scores[i] = std::move(triangular->V);
          saturated[i] = triangular->saturated;
          return;
        }
      }
      SampleFactor sample = factor_samples(extra ? data->pooled[i] : S, samples[i], domain, tolerance[i]);
      factors.domains[i] = std::move(sample.factor);
      scores[i] = extra ? linalg::AtB(S, factors.domains[i].U * factors.domains[i].s.cwiseInverse().asDiagonal())
                        : std::move(sample.V);
      routines[i] = sample.routine;
    };
    for_both(std::max({moments.S1.rows(), moments.S2.rows(), moments.S2.cols()}), factor_domain);
    const std::optional<linalg::SvdRoutine> routine = std::max(routines[0], routines[1]);
    // B = V1ᵀ V2; rows that V1 lacks are zero                                     (8)
    if (saturated[0] && saturated[1]) {
      factors.B = Matrix::Identity(scores[0].cols(), scores[1].cols());  // V1 = V2
    } else {
      factors.B = linalg::AtB(scores[0], scores[1].topRows(scores[0].rows()));
    }
    factors.route = fmt::format("{} {}", name(moments.form),
                                routine                        ? linalg::name(*routine)
                                : saturated[0] && saturated[1] ? "potrf"
                                                               : "geqrf");
  }
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    factors.domains[i].mean = std::move(means[i]);
    factors.domains[i].covariance.samples = samples[i];
  }
  return factors;
}

void regularize(Factors& factors, const FitOptions& options) {
  std::array<Vector, 2> shrunk;  // s/scale: what regularization leaves of a direction's correlations
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    DomainFactor& factor = factors.domains[i];
    const Index limit = options.max_rank[i];
    const Ridge& ridge = options.ridge[i];
    if (limit < 0) {
      throw InvalidInput(
          fmt::format("a max_rank of {} for domain {}; give at least 1, or 0 for no limit", limit, number(domain)));
    }
    if (!ridge.automatic && !(ridge.value >= 0 && std::isfinite(ridge.value))) {
      throw InvalidInput(
          fmt::format("a ridge of {} for domain {}; it is a multiple of the mean variance of a feature, "
                      "0 or more",
                      ridge.value, number(domain)));
    }
    const double mean_variance = factor.trace / static_cast<double>(factor.features);
    Regularized& covariance = factor.covariance;
    if (factor.triangle) {
      shrunk[i] = Vector::Ones(factor.rank());
      continue;
    }
    if (ridge.automatic) {
      const double rho = oas_shrinkage(1, factor.concentration, factor.features, covariance.samples);
      covariance.data = 1 - rho;
      covariance.ridge = rho * mean_variance;
    } else {
      covariance.ridge = ridge.value * mean_variance;
    }
    if (limit > 0 && limit < factor.rank()) {
      factor.U.conservativeResize(Eigen::NoChange, limit);
      factor.s.conservativeResize(limit);
      factor.scale.conservativeResize(limit);
    }
    if (!covariance.plain()) {
      factor.scale = (covariance.data * factor.s.array().square() + covariance.ridge).sqrt();
      factor.variance = covariance.data * factor.variance.array() + covariance.ridge;
    }
    shrunk[i] = factor.s.cwiseQuotient(factor.scale);
  }
  const Index r1 = shrunk[0].size(), r2 = shrunk[1].size();
  factors.B = (shrunk[0].asDiagonal() * factors.B.topLeftCorner(r1, r2) * shrunk[1].asDiagonal()).eval();
}

// ρ = min(1, (tr Θ²/d² + μ²) / ((n+1) (tr Θ²/d² - μ²/d))),   μ = tr Θ/d                                        (25)
double oas_shrinkage(double trace, double trace_of_square, Index features, Index samples) {
  const double d = static_cast<double>(features), n = static_cast<double>(samples);
  const double mu = trace / d, alpha = trace_of_square / (d * d);
  const double denominator = (n + 1) * (alpha - mu * mu / d);
  return denominator > 0 ? std::min((alpha + mu * mu) / denominator, 1.0) : 1.0;
}

std::string name(const Ridge& ridge) { return ridge.automatic ? "auto" : fmt::format("{:.6g}", ridge.value); }

}  // namespace cgmca
