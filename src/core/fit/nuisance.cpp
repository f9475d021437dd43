#include "core/fit/nuisance.hpp"

#include <Eigen/QR>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/summary/compare.hpp"
#include "core/summary/moments.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;

// A value varies if its spread is more than this part of its mean: the rounding of a mean is less.
constexpr double kVaries = 1e-12;
// Of values at unit variance: a smaller direction is one that the others determine, such as the last of the indicators of
// all categories.
constexpr double kDetermined = 1e-10;

// Z = U diag(s) Vᵀ / D of the nuisance's root Z, of the directions that vary.
struct Directions {
  Vector size;  // D: q
  Matrix U, V;  // q×rank, columns×rank
  Vector s;
};

Directions directions_of(const Matrix& Z, const Vector& mean, double weight) {
  Directions result;
  result.size = Z.rowwise().norm();
  const Vector least = kVaries * std::sqrt(weight) * mean.cwiseAbs();
  result.size = (result.size.array() > least.array()).select(result.size, 0);
  const Vector inverse = (result.size.array() > 0).select(result.size.array().max(1e-300).inverse(), 0);
  if (result.size.maxCoeff() == 0) {
    result.U = Matrix(Z.rows(), 0);
    result.V = Matrix(Z.cols(), 0);
    result.s = Vector(0);
    return result;
  }
  linalg::Svd svd = linalg::thin_svd(inverse.asDiagonal() * Z);
  const Index rank = (svd.s.array() > kDetermined * svd.s(0)).count();
  result.U = inverse.asDiagonal() * svd.U.leftCols(rank);
  result.V = svd.V.leftCols(rank);
  result.s = svd.s.head(rank);
  return result;
}

// Columns with the products E Eᵀ of those given, one more, that sum to 0:  [E, 0] F with F = I - 2 v vᵀ/vᵀv, which maps
// the last unit vector to 1/√N.
Matrix centred(const Matrix& E) {
  const Index N = E.cols() + 1;
  Vector v = Vector::Constant(N, -1 / std::sqrt(static_cast<double>(N)));
  v(N - 1) += 1;
  Matrix X(E.rows(), N);
  X << E, Vector::Zero(E.rows());
  if (N == 1) return X;
  X -= (X * v) * (2 / v.squaredNorm() * v.transpose());
  return X;
}

// A basis of the range of Γ_i, from its effects at unit variance of the nuisance: what is lost in rounding is none.
Matrix range_of(const Matrix& effects, double size) {
  if (effects.cols() == 0) return Matrix(effects.rows(), 0);
  const linalg::Svd svd = linalg::thin_svd(effects);
  return svd.U.leftCols((svd.s.array() > kDetermined * size).count());
}

void check(const Summary& summary, const DataOptions& options) {
  if (std::any_of(options.extra.begin(), options.extra.end(), [](const Summary* extra) { return extra != nullptr; })) {
    throw InvalidInput("extra samples come without the values of the nuisance, so that it cannot be removed from them");
  }
  if (options.nuisance_unknown && options.scale) {
    throw InvalidInput(
        "maps that are blind to a nuisance are found in the units of the features; leave out scale, and "
        "divide the features yourself if their units differ");
  }
  for (const Domain domain : all_domains(summary.domains() - 1)) {
    if (summary.domain(domain).nuisance) throw InvalidInput("only the last domain of a summary can be a nuisance");
  }
  if (summary.samples() < 2) throw TooFewSamples("a nuisance cannot be removed from less than 2 samples");
}

void check_freedom(double weight, Index rank) {
  if (weight - static_cast<double>(rank) > 2) return;
  throw TooFewSamples(
      fmt::format("a nuisance of rank {} leaves nothing of samples of the weight {:.6g}: it takes a degree of freedom "
                  "for each rank. Give fewer values, or join categories",
                  rank, weight));
}

// H_i without what the nuisance explains, in an orthonormal basis of the complement of the nuisance's directions and of
// `null`, in which all H_i are 0 (none if it has no columns).                                                     (91)
Matrix complement(const Matrix& H, const Eigen::HouseholderQR<Matrix>& qr, Index taken) {
  Matrix rows = H.transpose();
  if (taken > 0) rows.applyOnTheLeft(qr.householderQ().setLength(taken).adjoint());
  return rows.bottomRows(rows.rows() - taken).transpose();
}

void keep_outside(WithoutNuisance& result, std::size_t i, const Matrix& explained, const Matrix& E, double freedom) {
  const Matrix U = range_of(explained, E.norm() + explained.norm());
  if (U.cols() >= E.rows()) {
    throw InvalidInput(
        fmt::format("maps that are blind to a nuisance of {} directions need more features than these; "
                    "domain {} has {}. Give the nuisance of new samples instead",
                    U.cols(), i + 1, E.rows()));
  }
  result.E.push_back(E / std::sqrt(freedom));
  result.variance.emplace_back(result.E.back().rowwise().squaredNorm() +
                               explained.rowwise().squaredNorm() / (result.total_weight - 1));
  result.range.push_back(U);
}

}  // namespace

bool has_nuisance(const Summary& summary) {
  const std::vector<DomainInfo>& info = summary.state().info;
  return std::any_of(info.begin(), info.end(), [](const DomainInfo& one) { return one.nuisance; });
}

Index matched_domains(const Summary& summary) { return summary.domains() - (has_nuisance(summary) ? 1 : 0); }

namespace {

// From H_i H_jᵀ = Σ w (x_i - mean_i)(x_j - mean_j)ᵀ, the last of the nuisance. H null = 0; `null` may be empty.
WithoutNuisance removed(WithoutNuisance result, const std::vector<Matrix>& H, const std::vector<Vector>& means,
                        const Vector& null, bool unknown) {
  const Directions z = directions_of(H.back(), means.back(), result.total_weight);
  Nuisance& nuisance = result.nuisance;
  nuisance.rank = z.s.size();
  result.spread = z.size / std::sqrt(result.total_weight - 1);
  nuisance.mean = means.back();
  nuisance.unknown = unknown;
  const Matrix pseudo = z.U * z.s.cwiseInverse().asDiagonal();  // Z⁺ = V pseudoᵀ
  nuisance.inverse = (result.total_weight - 1) * ABt(pseudo, pseudo);
  check_freedom(result.total_weight, nuisance.rank);

  const Index nulls = null.size() > 0 ? 1 : 0;
  Matrix taken(H.back().cols(), nuisance.rank + nulls);
  taken.rightCols(nuisance.rank) = z.V;
  if (nulls > 0) taken.col(0) = null.normalized();
  const Eigen::HouseholderQR<Matrix> qr(taken);
  const double left = result.total_weight - static_cast<double>(nuisance.rank);  // n - q
  for (std::size_t i = 0; i + 1 < H.size(); ++i) {
    const Matrix explained = AB(H[i], z.V), E = complement(H[i], qr, taken.cols());
    nuisance.effects.push_back(ABt(explained, pseudo));
    const double all = explained.squaredNorm() + E.squaredNorm();
    const double share = all > 0 ? 1 - E.squaredNorm() / (left - 1) * (result.total_weight - 1) / all : 0;
    nuisance.explained.push_back(std::max(0.0, share));
    Matrix own = E;
    if (unknown) {
      keep_outside(result, i, explained, E, left - 1);
      own -= AB(result.range[i], linalg::AtB(result.range[i], E));
    }
    const Matrix X = centred(own);
    const double each = left / static_cast<double>(X.cols());
    const bool whole = std::abs(each - 1) < thresholds::kSameWeight;
    if (i == 0 && !whole) result.weights = Vector::Constant(X.cols(), each);
    result.X.emplace_back((whole ? X : Matrix(X / std::sqrt(each))).colwise() + means[i]);
  }
  return result;
}

}  // namespace

WithoutNuisance without_nuisance(const Summary& summary, const DataOptions& options) {
  check(summary, options);
  const Summary::State& state = summary.state();
  WithoutNuisance result;
  result.info.assign(state.info.begin(), state.info.end() - 1);
  result.nuisance.names = state.info.back().feature_names;
  result.total_weight = summary.total_weight();
  result.samples = summary.samples();
  result.samples_residual = distance_from_samples(summary, moments(summary));
  std::vector<Vector> means;
  for (const Domain domain : all_domains(summary.domains())) means.push_back(summary.mean(domain));
  std::vector<Matrix> H = roots_about(means, summary);
  const Index columns = H.front().cols() - 1;  // the last is 0
  for (Matrix& own : H) own.conservativeResize(Eigen::NoChange, columns);
  Vector null;
  if (!state.compressed) {  // the columns are samples times √w
    const Vector weights = state.rows.weights();
    null = weights.size() == 0 ? Vector(Vector::Ones(columns)) : Vector(weights.cwiseSqrt());
  }
  return removed(std::move(result), H, means, null, options.nuisance_unknown);
}

WithoutNuisance without_nuisance(const WeightedSamples& samples) {
  const Index n = samples.X.front().cols();
  const Vector weights = samples.weights.size() == 0 ? Vector(Vector::Ones(n)) : samples.weights;
  const Vector roots = weights.cwiseSqrt();
  WithoutNuisance result;
  result.total_weight = weights.sum();
  result.samples = n;
  std::vector<Vector> means;
  std::vector<Matrix> H;
  for (const SampleView& domain : samples.X) {
    Matrix X = domain.visit([](const auto& own) { return Matrix(own.template cast<double>()); });
    const Vector origin = X.col(0);
    X.colwise() -= origin;
    const Vector mean = X * weights / result.total_weight;
    means.emplace_back(origin + mean);
    H.emplace_back((X.colwise() - mean) * roots.asDiagonal());
    result.info.emplace_back(X.rows());
  }
  result.info.pop_back();
  return removed(std::move(result), H, means, roots, false);
}

Summary WithoutNuisance::summary() const {
  Summary result(info);
  const MatchedSamples own(X.begin(), X.end());
  result.expect(own.front().cols());
  weights.size() == 0 ? result.add(own) : result.add(own, weights);
  return result;
}

Vector added_variance(const WithoutNuisance& without, std::size_t i) {
  const Matrix &U = without.range[i], &E = without.E[i];
  return without.variance[i] - (E - AB(U, linalg::AtB(U, E))).rowwise().squaredNorm();
}

Matrix cross_covariance(const WithoutNuisance& without, std::size_t i, const Matrix& scores) {
  return ABt(without.E[i], scores);
}

void add_nuisance(Model& model, const WithoutNuisance& without) {
  if (model.settings.towards != Towards::zero) {
    throw InvalidInput("translations of a fit with a nuisance are shrunk towards zero, not towards identity");
  }
  const double n = without.total_weight, left = model.total_weight;
  const double factor = (n - 1) / n * left / (left - 1);
  for (double* value : {&model.certificate.objective, &model.certificate.bound, &model.certificate.covariance_trace}) {
    *value *= factor;
  }
  for (Regularized& theta : model.certificate.constrained) theta.samples = without.samples;
  model.samples = without.samples;
  model.total_weight = n;
  model.nuisance = without.nuisance;
  model.certificate.samples_residual = without.samples_residual;
  model.certificate.route = fmt::format("without a nuisance of rank {}{}; {}", without.nuisance.rank,
                                        without.nuisance.unknown ? ", maps blind to it" : "", model.certificate.route);
  if (!without.nuisance.unknown) return;
  for (std::size_t i = 0; i < without.range.size(); ++i) {
    DomainMap& map = *model.domains[i];
    map.weights -= ABt(AB(map.weights, without.range[i]), without.range[i]);
    map.variance += added_variance(without, i);
    map.cross_loadings.resize(without.range.size());
  }
  for (std::size_t i = 0; i < without.range.size(); ++i) {
    for (std::size_t j = 0; j < without.range.size(); ++j) {
      if (i == j) continue;
      model.domains[i]->cross_loadings[j] = cross_covariance(without, i, AB(model.domains[j]->weights, without.E[j]));
    }
  }
}

}  // namespace cgmca
