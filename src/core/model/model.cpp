#include <cgmca/domain.hpp>
#include <cgmca/error.hpp>
#include <cgmca/model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/device.hpp"
#include "core/linalg/linalg.hpp"
#include "core/linalg/one_sample.hpp"
#include "core/model/regularization.hpp"

namespace cgmca {
namespace {

std::vector<Matrix> none(Index domains) { return std::vector<Matrix>(domains); }

// "domain 2", "domains 1 and 3", "domains 1, 2 and 4"
std::string listed(const std::vector<int>& domains) {
  std::string text = domains.size() == 1 ? "domain " : "domains ";
  for (std::size_t i = 0; i < domains.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == domains.size() ? " and " : ", ", domains[i]);
  }
  return text;
}

}  // namespace

Certificate::Certificate(Index domains) {
  constraint_residuals.resize(domains);
  constrained.resize(domains);
  ranks.resize(domains);
  covariance_ranks.resize(domains);
  tolerances.resize(domains);
  edge_weights = Matrix::Ones(domains, domains) - Matrix::Identity(domains, domains);
}

FitSettings::FitSettings(Index domains) {
  covariance.assign(domains, "matrix");
  components.resize(domains);
  max_rank.resize(domains);
  ridge.resize(domains);
}

Model::Model(Index count_) : settings(count_), covariances(count_), domains(count_), certificate(count_) {}

Matrix DomainMap::matrix() const { return linalg::AB(mixing, weights); }
Vector DomainMap::offset() const { return -linalg::AB(mixing, linalg::AB(weights, mean)); }

Matrix DomainMap::scaled_weights() const { return scale.size() == 0 ? weights : Matrix(weights * scale.asDiagonal()); }

Vector DomainMap::covariance_spectrum() const { return linalg::symmetric_eigenvalues(linalg::AtB(mixing, mixing)); }

void DomainMap::check_features(Domain domain, Index given) const {
  if (given == features()) return;
  throw WrongDimension(fmt::format("domain {} of this model has {} features, the samples given have {}", number(domain),
                                   features(), given));
}

void Model::check_features(Domain domain, Index rows) const {
  const Index features = this->domain(domain).features(), more = nuisance_values();
  if (rows == features + more) return;
  throw WrongDimension(
      fmt::format("domain {} of this model has {} features{}, the samples given have {}", number(domain), features,
                  more > 0 ? fmt::format(" and {} values of the nuisance below them", more) : "", rows));
}

// T (x - μ - Γ (z - z̄)) = [T, -T Γ] ((x; z) - (μ; z̄))                                                             (93)
DomainMap Model::with_nuisance(Domain domain) const {
  DomainMap map = this->domain(domain);
  if (nuisance_values() == 0) return map;
  const Index d = map.features(), q = nuisance->values();
  Matrix weights(map.weights.rows(), d + q);
  weights << map.weights, -linalg::AB(map.weights, nuisance->effects[domain]);
  map.weights = std::move(weights);
  map.mean.conservativeResize(d + q);
  map.mean.tail(q) = nuisance->mean;
  return map;
}

Matrix Model::without_nuisance(Domain domain, const MatrixView& X) const {
  check_features(domain, X.rows());
  const Index q = nuisance_values();
  if (q == 0) return X;
  return X.topRows(X.rows() - q) - linalg::AB(nuisance->effects[domain], X.bottomRows(q).colwise() - nuisance->mean);
}

const DomainMap& Model::domain(Domain domain) const {
  if (number(domain) < 1 || number(domain) > count()) {
    throw MissingDomain(fmt::format("the model has {} domains; there is no domain {}", count(), number(domain)));
  }
  if (domains[domain]) return *domains[domain];
  std::vector<int> held;
  for (int i = 1; i <= static_cast<int>(count()); ++i) {
    if (domains[Domain{i}]) held.push_back(i);
  }
  throw MissingDomain(
      fmt::format("this model holds only {}; the operation needs domain {} too. "
                  "Use the whole model, or a method that needs one domain (exact, mahalanobis, lsqr)",
                  listed(held), number(domain)));
}

std::vector<Domain> Model::others(Domain domain) const {
  std::vector<Domain> result;
  for (int i = 1; i <= static_cast<int>(count()); ++i) {
    if (i != number(domain)) result.push_back(Domain{i});
  }
  return result;
}

Matrix Model::score_covariance(Domain i, Domain j) const {
  Matrix R = Matrix::Zero(domain(i).scores(), domain(j).scores());
  if (i == j) {
    R.setIdentity();
  } else if (count() == 2) {
    const Vector& s = certificate.singular_B;
    const Index m = std::min({R.rows(), R.cols(), s.size()});
    R.topLeftCorner(m, m).diagonal() = s.head(m);
  } else if (i < j) {
    return score_covariances[i][j];
  } else {
    return score_covariances[j][i].transpose();
  }
  return R;
}

Matrix Model::cross_loadings(Domain i, Domain j) const {
  const DomainMap &to = domain(i), &from = domain(j);
  if (i == j) return to.loadings.leftCols(to.scores());
  if (count() > 2 || !to.cross_loadings.empty()) return to.cross_loadings[j];
  Matrix L = Matrix::Zero(to.features(), from.scores());
  const Index m = std::min({from.scores(), to.loadings.cols(), certificate.singular_B.size()});
  L.leftCols(m) = to.loadings.leftCols(m) * certificate.singular_B.head(m).asDiagonal();
  return L;
}

// Θ̃ = α Θ + β D². A variance below 1e-9 of β is lost in the rounding of that sum.
Vector Model::sample_variance(Domain domain) const {
  const DomainMap& map = this->domain(domain);
  const Regularized& covariance = certificate.constrained[domain];
  if (covariance.plain()) return map.variance;
  Vector ridge = Vector::Constant(map.features(), covariance.ridge);
  if (map.scale.size() > 0) ridge.array() *= map.scale.array().square();
  const Vector own = map.variance - ridge;
  const double data = covariance.data > 0 ? covariance.data : std::nan("");
  return (own.array() > 1e-9 * ridge.array()).select(own, 0.0) / data;
}

// T Θ Tᵀ = (I - β T D² Tᵀ) / α, because T Θ̃ Tᵀ = I
Matrix Model::sample_score_covariance(Domain domain) const {
  const DomainMap& map = this->domain(domain);
  const Regularized& covariance = certificate.constrained[domain];
  const Index c = map.scores();
  if (covariance.plain()) return Matrix::Identity(c, c);
  const Matrix T = map.scaled_weights();
  return (Matrix::Identity(c, c) - covariance.ridge * linalg::ABt(T, T)) / covariance.data;
}

// (M_i R_ij M_jᵀ)_pp / √(C_i,pp C_j,pp)
Vector Model::common_correlations(Domain i, Domain j) const {
  const Matrix &M_i = domain(i).mixing, &M_j = domain(j).mixing;
  const Vector joint = linalg::AB(M_i, score_covariance(i, j)).cwiseProduct(M_j).rowwise().sum();
  const Vector scale = (M_i.rowwise().squaredNorm().array() * M_j.rowwise().squaredNorm().array()).sqrt();
  return (scale.array() > 0).select(joint.array() / scale.array(), 0.0);
}

Model Model::fitted() const {
  if (additions.empty()) return *this;
  Model result = *this;
  const auto m = static_cast<std::size_t>(fitted_count());
  result.additions.clear();
  result.domains.resize(m);
  result.covariances.resize(m);
  for (auto* values : {&result.settings.components, &result.settings.max_rank, &result.certificate.ranks,
                       &result.certificate.covariance_ranks}) {
    values->resize(m);
  }
  for (auto* values : {&result.certificate.constraint_residuals, &result.certificate.tolerances}) values->resize(m);
  result.settings.covariance.resize(m);
  result.settings.ridge.resize(m);
  result.certificate.constrained.resize(m);
  const bool two = m == 2;
  result.score_covariances.resize(two ? 0 : m);
  for (ByDomain<Matrix>& row : result.score_covariances) row.resize(m);
  for (std::optional<DomainMap>& map : result.domains) {
    if (map) map->cross_loadings.resize(two ? 0 : m);
  }
  return result;
}

Pattern Model::together(std::vector<Domain> these) const {
  std::sort(these.begin(), these.end());
  if (patterns.empty()) return {these, samples, total_weight};
  Pattern result{these, 0, 0};
  for (const Pattern& pattern : patterns) {
    if (!std::includes(pattern.domains.begin(), pattern.domains.end(), these.begin(), these.end())) continue;
    result.samples += pattern.samples;
    result.total_weight += pattern.total_weight;
  }
  return result;
}

const Addition* Model::addition(Domain domain) const {
  const Index later = number(domain) - 1 - fitted_count();
  return later < 0 ? nullptr : &additions[later];
}

Model Model::only(Domain domain) const {
  this->domain(domain);
  Model part = *this;
  for (const Domain absent : others(domain)) {
    part.domains[absent].reset();
    if (part.nuisance) part.nuisance->effects[absent].resize(0, 0);
  }
  if (count() > 2) part.score_covariances.assign(domains.size(), none(count()));
  if (!part.domains[domain]->cross_loadings.empty()) part.domains[domain]->cross_loadings = none(count());
  return part;
}

namespace {

template <class Scalar>
void apply_to_one(const Model& model, Domain domain, const Eigen::Ref<const Eigen::Vector<Scalar, Eigen::Dynamic>>& x,
                  Eigen::Ref<Eigen::Vector<Scalar, Eigen::Dynamic>> z) {
  const DomainMap& own = model.domain(domain);
  const Index rows = own.features() + model.nuisance_values();
  if (x.size() != rows || z.size() != own.mixing.rows()) {
    throw WrongDimension(fmt::format(
        "domain {} of this model has {} features and {} common dimensions; the sample has {}, room is for {}",
        number(domain), rows, own.mixing.rows(), x.size(), z.size()));
  }
  std::optional<DomainMap> longer;
  if (model.nuisance_values() > 0) longer = model.with_nuisance(domain);
  const DomainMap& map = longer ? *longer : own;
  static const Vector none;
  linalg::affine_into(map.mixing, map.weights, map.mean, none, x.data(), z.data());
}

}  // namespace

void apply_into(const Model& model, Domain domain, const VectorView& x, Eigen::Ref<Vector> z) {
  apply_to_one<double>(model, domain, x, z);
}

void apply_into(const Model& model, Domain domain, const Eigen::Ref<const Eigen::VectorXf>& x,
                Eigen::Ref<Eigen::VectorXf> z) {
  apply_to_one<float>(model, domain, x, z);
}

Matrix apply(const Model& model, Domain domain, const MatrixView& X, Device device) {
  model.check_features(domain, X.rows());
  const DomainMap map = model.with_nuisance(domain);
  return linalg::affine(backend_of(device), map.mixing, map.weights, X, map.mean, Vector::Zero(map.mixing.rows()));
}

}  // namespace cgmca
