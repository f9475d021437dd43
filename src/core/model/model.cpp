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

std::vector<Matrix> none(Index domains) { return std::vector<Matrix>(static_cast<std::size_t>(domains)); }

// "domain 2", "domains 1 and 3", "domains 1, 2 and 4"
std::string listed(const std::vector<int>& domains) {
  std::string text = domains.size() == 1 ? "domain " : "domains ";
  for (std::size_t i = 0; i < domains.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == domains.size() ? " and " : ", ", domains[i]);
  }
  return text;
}

bool is_plain(const Model& model, std::size_t i) { return model.certificate.constrained[i].plain(); }

// How many canonical correlations of two domains their ranks r_i force to be 1: n centred samples span n - 1 dimensions,
// in which two subspaces have at least r_1 + r_2 - (n - 1) in common.
Index forced(const Model& model, std::size_t i, std::size_t j) {
  if (!is_plain(model, i) || !is_plain(model, j)) return 0;
  return std::max<Index>(0, model.certificate.ranks[i] + model.certificate.ranks[j] - (model.samples - 1));
}

std::string forced_text(const Model& model, std::size_t i, std::size_t j) {
  const Index count = forced(model, i, j), r_i = model.certificate.ranks[i], r_j = model.certificate.ranks[j];
  return fmt::format(
      "the fit is half saturated: the ranks {} and {} of domains {} and {} add up to more than {} {} less 1, so that "
      "{} "
      "of their {} canonical correlations {} 1 whatever the data, and the maps will not carry over to new samples. "
      "Limit "
      "max_rank to well below {}, give a ridge (auto, for instance), or let tune choose",
      r_i, r_j, i + 1, j + 1, model.samples, model.count() == 2 ? "pairs" : "matched samples", count,
      std::min(r_i, r_j), count == 1 ? "is" : "are", (model.samples - 1) / 2);
}

// Where ridges and max_rank work in units that decide.
void warn_of_units(const Model& model, std::vector<std::string>& result) {
  if (model.settings.scale) return;
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    const bool used = !is_plain(model, i) || model.certificate.ranks[i] == model.settings.max_rank[i];
    if (!used || !model.domains[i]) continue;
    const auto domain = static_cast<Domain>(i + 1);
    const Vector variance = model.sample_variance(domain);
    std::string sentence = units_decide(domain, variance.array().isNaN().select(0, variance));
    if (!sentence.empty()) result.push_back(std::move(sentence));
  }
}

void warn_of_two(const Model& model, std::vector<std::string>& result) {
  const Vector& correlations = model.certificate.singular_B;
  const Index most = std::max(model.certificate.ranks[0], model.certificate.ranks[1]);
  if (model.samples - 1 <= most && correlations(correlations.size() - 1) > 1 - thresholds::kSaturated) {
    result.push_back(
        fmt::format("the fit is saturated: with {} pairs and a domain of rank {} every canonical correlation is 1 "
                    "whatever the data, so the maps will not carry over to new samples. Limit max_rank to well below "
                    "{}, give a ridge (auto, for instance), or let tune choose",
                    model.samples, most, model.samples - 1));
  } else if (const Index count = std::min(forced(model, 0, 1), correlations.size());
             count > 0 && std::abs(correlations(count - 1) - 1) < thresholds::kSaturated) {
    result.push_back(forced_text(model, 0, 1));
  }
  if (correlations(0) > 1 + thresholds::kSaturated) {
    const Index above = (correlations.array() > 1 + thresholds::kSaturated).count();
    result.push_back(
        fmt::format("{} canonical correlation{} above 1 (the largest is {:.3g}): the few pairs' cross-covariance does "
                    "not fit the covariances whitened with, which extra samples changed. The "
                    "maps hold, but standard errors are too small. Limit max_rank, or give a ridge by number",
                    above, above == 1 ? " is" : "s are", correlations(0)));
  }
}

// The least and the largest singular value of any R_ij that is held.
std::pair<double, double> range_of_correlations(const Model& model) {
  double least = INFINITY, most = 0;
  for (const auto& row : model.score_covariances) {
    for (const Matrix& R : row) {
      if (R.size() == 0) continue;
      const Vector s = linalg::singular_values(R);
      least = std::min(least, s(s.size() - 1));
      most = std::max(most, s(0));
    }
  }
  return {least, most};
}

void warn_of_more(const Model& model, std::vector<std::string>& result) {
  const auto [least, most] = range_of_correlations(model);
  const Index rank = *std::max_element(model.certificate.ranks.begin(), model.certificate.ranks.end());
  if (model.samples - 1 <= rank && least > 1 - thresholds::kSaturated && std::isfinite(least)) {
    result.push_back(
        fmt::format("the fit is saturated: with {} matched samples and a domain of rank {} all common directions are "
                    "correlated by 1 whatever the data, so the maps will not carry over to new samples. Limit max_rank "
                    "to well below {}, or give a ridge (auto, for instance)",
                    model.samples, rank, model.samples - 1));
  } else {
    std::pair<std::size_t, std::size_t> worst{0, 1};
    for (std::size_t i = 0; i < model.domains.size(); ++i) {
      for (std::size_t j = i + 1; j < model.domains.size(); ++j) {
        if (forced(model, i, j) > forced(model, worst.first, worst.second)) worst = {i, j};
      }
    }
    if (forced(model, worst.first, worst.second) > 0) result.push_back(forced_text(model, worst.first, worst.second));
  }
  if (most > 1 + thresholds::kSaturated) {
    result.push_back(
        fmt::format("scores of two domains are correlated above 1 (the largest is {:.3g}): the matched samples' "
                    "cross-covariance does not fit the covariances whitened with, which extra samples "
                    "changed. The maps hold, but standard errors are too small. Limit max_rank, or give a ridge "
                    "by number",
                    most));
  }
  const Certificate& certificate = model.certificate;
  if (!certificate.certified) {
    result.push_back(
        fmt::format("the maps are not proven to be the best: what they maximize is within {:.2g} % of the best "
                    "possible (bound: {}){}",
                    100 * certificate.gap, certificate.proof,
                    certificate.stopped_early ? "; the search stopped at a limit on sweeps, seconds or trials" : ""));
  }
}

void warn_of_residuals(const Model& model, std::vector<std::string>& result) {
  const std::vector<double>& residuals = model.certificate.constraint_residuals;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (residuals[i] <= thresholds::kRefusedCertificate) continue;
    result.push_back(
        fmt::format("the covariance of domain {}'s output differs from the prescribed one by {:.1e} of it: rounding, "
                    "because the data are ill-conditioned for the form '{}' of the summary. The form 'auto' loses "
                    "least; a ridge or a lower max_rank helps too",
                    i + 1, residuals[i], model.certificate.route.substr(0, model.certificate.route.find(':'))));
  }
}

}  // namespace

Certificate::Certificate(Index domains) {
  const auto m = static_cast<std::size_t>(domains);
  constraint_residuals.resize(m);
  constrained.resize(m);
  ranks.resize(m);
  covariance_ranks.resize(m);
  tolerances.resize(m);
  weights = Matrix::Ones(domains, domains) - Matrix::Identity(domains, domains);
}

FitSettings::FitSettings(Index domains) {
  const auto m = static_cast<std::size_t>(domains);
  covariance.assign(m, "matrix");
  components.resize(m);
  max_rank.resize(m);
  ridge.resize(m);
}

Model::Model(Index count_)
    : settings(count_),
      covariances(static_cast<std::size_t>(count_)),
      domains(static_cast<std::size_t>(count_)),
      certificate(count_) {}

Matrix DomainMap::matrix() const { return linalg::AB(mixing, weights); }
Vector DomainMap::offset() const { return -linalg::AB(mixing, linalg::AB(weights, mean)); }

Matrix DomainMap::scaled_weights() const { return scale.size() == 0 ? weights : Matrix(weights * scale.asDiagonal()); }

Vector DomainMap::covariance_spectrum() const { return linalg::symmetric_eigenvalues(linalg::AtB(mixing, mixing)); }

void DomainMap::check_features(Domain domain, const MatrixView& X) const {
  if (X.rows() == features()) return;
  throw WrongDimension(fmt::format("domain {} of this model has {} features, the samples given have {}", number(domain),
                                   features(), X.rows()));
}

const DomainMap& Model::domain(Domain domain) const {
  if (number(domain) < 1 || number(domain) > count()) {
    throw MissingDomain(fmt::format("the model has {} domains; there is no domain {}", count(), number(domain)));
  }
  if (domains[slot(domain)]) return *domains[slot(domain)];
  std::vector<int> held;
  for (int i = 1; i <= static_cast<int>(count()); ++i) {
    if (domains[slot(Domain{i})]) held.push_back(i);
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
    return score_covariances[slot(i)][slot(j)];
  } else {
    return score_covariances[slot(j)][slot(i)].transpose();
  }
  return R;
}

Matrix Model::cross_loadings(Domain i, Domain j) const {
  const DomainMap &to = domain(i), &from = domain(j);
  if (i == j) return to.loadings.leftCols(to.scores());
  if (count() > 2) return to.cross_loadings[slot(j)];
  Matrix L = Matrix::Zero(to.features(), from.scores());
  const Index m = std::min({from.scores(), to.loadings.cols(), certificate.singular_B.size()});
  L.leftCols(m) = to.loadings.leftCols(m) * certificate.singular_B.head(m).asDiagonal();
  return L;
}

// Θ̃ = α Θ + β D². A variance below 1e-9 of β is lost in the rounding of that sum.
Vector Model::sample_variance(Domain domain) const {
  const DomainMap& map = this->domain(domain);
  const Regularized& covariance = certificate.constrained[slot(domain)];
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
  const Regularized& covariance = certificate.constrained[slot(domain)];
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
  for (std::vector<Matrix>& row : result.score_covariances) row.resize(m);
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
  return later < 0 ? nullptr : &additions[static_cast<std::size_t>(later)];
}

namespace {

// What the fit takes for granted of domains that no sample had together.
void warn_of_patterns(const Model& model, std::vector<std::string>& result) {
  for (const Domain i : all_domains(model.fitted_count())) {
    for (const Domain j : all_domains(model.fitted_count())) {
      if (!(i < j) || model.together({i, j}).samples > 0) continue;
      result.push_back(
          fmt::format("no sample had both domain {} and domain {}: what relates them is what they share with the other "
                      "domains, on the assumption that nothing else does. No data can tell",
                      number(i), number(j)));
    }
  }
}

void warn_of_additions(const Model& model, std::vector<std::string>& result) {
  for (const Domain domain : all_domains(model.count())) {
    const Addition* addition = model.addition(domain);
    if (addition == nullptr) continue;
    if (!addition->unique) {
      result.push_back(
          fmt::format("the map of domain {}, which was added, is not the only best one: the domains it was matched "
                      "with say nothing of some of its directions, which are chosen by its own variance",
                      number(domain)));
    }
    const Index rank = model.certificate.ranks[slot(domain)];
    const Regularized& constrained = model.certificate.constrained[slot(domain)];
    if (addition->samples - 1 <= rank && constrained.plain()) {
      result.push_back(
          fmt::format("domain {} was added from {} matched samples and has rank {}: every direction can be matched "
                      "whatever the data, so its map will not carry over to new samples. Give a ridge (auto, for "
                      "instance), or limit max_rank to well below {}",
                      number(domain), addition->samples, rank, addition->samples - 1));
    }
  }
}

}  // namespace

std::vector<std::string> Model::warnings() const {
  std::vector<std::string> result;
  if (!additions.empty()) {
    result = fitted().warnings();
    warn_of_additions(*this, result);
    return result;
  }
  count() == 2 ? warn_of_two(*this, result) : warn_of_more(*this, result);
  warn_of_residuals(*this, result);
  warn_of_units(*this, result);
  warn_of_patterns(*this, result);
  return result;
}

Model Model::only(Domain domain) const {
  this->domain(domain);
  Model part = *this;
  for (const Domain absent : others(domain)) part.domains[slot(absent)].reset();
  if (count() > 2) {
    part.score_covariances.assign(domains.size(), none(count()));
    part.domains[slot(domain)]->cross_loadings = none(count());
  }
  return part;
}

namespace {

template <class Scalar>
void apply_to_one(const Model& model, Domain domain, const Eigen::Ref<const Eigen::Vector<Scalar, Eigen::Dynamic>>& x,
                  Eigen::Ref<Eigen::Vector<Scalar, Eigen::Dynamic>> z) {
  const DomainMap& map = model.domain(domain);
  if (x.size() != map.features() || z.size() != map.mixing.rows()) {
    throw WrongDimension(fmt::format(
        "domain {} of this model has {} features and {} common dimensions; the sample has {}, room is for {}",
        number(domain), map.features(), map.mixing.rows(), x.size(), z.size()));
  }
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
  const DomainMap& map = model.domain(domain);
  map.check_features(domain, X);
  return linalg::affine(backend_of(device), map.mixing, map.weights, X, map.mean, Vector::Zero(map.mixing.rows()));
}

}  // namespace cgmca
