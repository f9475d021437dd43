#include <cgmca/error.hpp>
#include <cgmca/model.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "domain_file.hpp"
#include "linalg/linalg.hpp"
#include "tensor_file.hpp"
#include "thresholds.hpp"

namespace cgmca {
namespace {

constexpr const char* kFormat = "cgmca-model";

void save_settings(TensorWriter& file, const FitSettings& settings) {
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    file.set(numbered("setting_covariance", domain), settings.covariance[i]);
    file.set(numbered("setting_components", domain), settings.components[i]);
    file.set(numbered("setting_max_rank", domain), settings.max_rank[i]);
    const Ridge& ridge = settings.ridge[i];
    if (ridge.automatic) {
      file.set(numbered("setting_ridge", domain), "auto");
    } else {
      file.set(numbered("setting_ridge", domain), ridge.value);
    }
  }
  if (settings.rank_tol) file.set("setting_rank_tol", *settings.rank_tol);
}

// Files of before these fields were kept have none of them.
FitSettings load_settings(const TensorReader& file) {
  FitSettings settings;
  if (!file.has_text(numbered("setting_covariance", Domain::one))) return settings;
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    settings.covariance[i] = file.text(numbered("setting_covariance", domain));
    settings.components[i] = file.integer(numbered("setting_components", domain), 0);
    settings.max_rank[i] = file.integer(numbered("setting_max_rank", domain), 0);
    const std::string ridge = numbered("setting_ridge", domain);
    settings.ridge[i] = file.text(ridge) == "auto" ? Ridge::oas() : Ridge(file.real(ridge));
  }
  if (file.has_text("setting_rank_tol")) settings.rank_tol = file.real("setting_rank_tol");
  return settings;
}

void save_map(TensorWriter& file, Domain domain, const DomainMap& map) {
  file.add_vector(numbered("mean", domain), map.mean);
  file.add_vector(numbered("variance", domain), map.variance);
  if (map.held_out_error.size() > 0) file.add_vector(numbered("held_out_error", domain), map.held_out_error);
  file.add(numbered("weights", domain), map.weights);
  file.add(numbered("mixing", domain), map.mixing);
  file.add(numbered("loadings", domain), map.loadings);
  pack(file, "", domain, {map.features(), map.name, map.feature_names});
}

DomainMap load_map(const TensorReader& file, Domain domain, Index k, Index c, Index wanted, Index rank) {
  DomainInfo info = unpack_domain(file, "", domain);
  const Index d = info.features;
  DomainMap map;
  map.name = std::move(info.name);
  map.feature_names = std::move(info.feature_names);
  map.mean = file.vector(numbered("mean", domain), d);
  map.variance = file.vector(numbered("variance", domain), d);
  if (file.has(numbered("held_out_error", domain))) {
    map.held_out_error = file.vector(numbered("held_out_error", domain), d);
  }
  map.weights = file.matrix(numbered("weights", domain), c, d);
  map.mixing = file.matrix(numbered("mixing", domain), k, c);
  map.loadings = file.matrix(numbered("loadings", domain), d, std::min(wanted, rank));
  return map;
}

}  // namespace

Matrix DomainMap::matrix() const { return linalg::AB(mixing, weights); }
Vector DomainMap::offset() const { return -linalg::AB(mixing, linalg::AB(weights, mean)); }

Vector DomainMap::covariance_spectrum() const { return linalg::symmetric_eigenvalues(linalg::AtB(mixing, mixing)); }

void DomainMap::check_features(Domain domain, const MatrixView& X) const {
  if (X.rows() == features()) return;
  throw WrongDimension(fmt::format("domain {} of this model has {} features, the samples given have {}", number(domain),
                                   features(), X.rows()));
}

const DomainMap& Model::domain(Domain domain) const {
  if (!domains[slot(domain)]) {
    throw MissingDomain(
        fmt::format("this model holds only domain {}; the operation needs domain {} too. "
                    "Use the whole model, or a method that needs one domain (exact, mahalanobis, lsqr)",
                    number(other(domain)), number(domain)));
  }
  return *domains[slot(domain)];
}

std::vector<std::string> Model::warnings() const {
  std::vector<std::string> result;
  const Vector& correlations = certificate.singular_B;
  const Index most = std::max(certificate.ranks[0], certificate.ranks[1]);
  if (samples - 1 <= most && correlations(correlations.size() - 1) > 1 - thresholds::kSaturated) {
    result.push_back(
        fmt::format("the fit is saturated: with {} pairs and a domain of rank {} every canonical correlation is 1 "
                    "whatever the data, so the maps will not carry over to new samples. Limit max_rank to well below "
                    "{}, give a ridge (auto, for instance), or let tune choose",
                    samples, most, samples - 1));
  }
  if (correlations(0) > 1 + thresholds::kSaturated) {
    const Index above = (correlations.array() > 1 + thresholds::kSaturated).count();
    result.push_back(
        fmt::format("{} canonical correlation{} above 1 (the largest is {:.3g}): the few pairs' cross-covariance does "
                    "not fit the covariances whitened with, which extra samples or the automatic ridge changed. The "
                    "maps hold, but standard errors are too small. Limit max_rank, or give a ridge by number",
                    above, above == 1 ? " is" : "s are", correlations(0)));
  }
  return result;
}

Model Model::only(Domain domain) const {
  this->domain(domain);
  Model part = *this;
  part.domains[slot(other(domain))].reset();
  return part;
}

void Model::save(const std::string& path) const { pack().save(path); }
Model Model::load(const std::string& path) { return unpack(TensorReader(path, kFormat)); }
std::string Model::to_bytes() const { return pack().bytes(); }
Model Model::from_bytes(std::string_view bytes) { return unpack(TensorReader(bytes, kFormat)); }

TensorWriter Model::pack() const {
  TensorWriter file(kFormat);
  file.set("samples", samples);
  if (total_weight != static_cast<double>(samples)) file.set("total_weight", total_weight);
  file.set("k", common_dimension);
  if (calibration_folds > 0) file.set("calibration_folds", calibration_folds);
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    file.set(numbered("covariance", domain), covariances[i]);
    file.set(numbered("rank", domain), certificate.ranks[i]);
    file.set(numbered("covariance_rank", domain), certificate.covariance_ranks[i]);
    file.set(numbered("constraint_residual", domain), certificate.constraint_residuals[i]);
    file.set(numbered("tolerance", domain), certificate.tolerances[i]);
    file.set(numbered("constrained_data", domain), certificate.constrained[i].data);
    file.set(numbered("constrained_ridge", domain), certificate.constrained[i].ridge);
    file.set(numbered("constrained_samples", domain), certificate.constrained[i].samples);
  }
  file.set("objective", certificate.objective);
  file.set("bound", certificate.bound);
  file.set("covariance_trace", certificate.covariance_trace);
  file.set("min_gap", certificate.min_gap);
  file.set("route", certificate.route);
  save_settings(file, settings);
  file.add_vector("singular_A", certificate.singular_A);
  file.add_vector("singular_B", certificate.singular_B);
  for (Domain domain : kDomains) {
    if (domains[slot(domain)]) save_map(file, domain, *domains[slot(domain)]);
  }
  return file;
}

Model Model::unpack(const TensorReader& file) {
  Model model;
  model.samples = file.integer("samples", 2);
  model.total_weight = file.has_text("total_weight") ? file.real("total_weight") : static_cast<double>(model.samples);
  if (!(model.total_weight > 1)) file.fail(fmt::format("matched samples of the weight {}", model.total_weight));
  model.common_dimension = file.integer("k", 1);
  if (file.has_text("calibration_folds")) model.calibration_folds = file.integer("calibration_folds", 2);
  Certificate& certificate = model.certificate;
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    model.covariances[i] = file.text(numbered("covariance", domain));
    certificate.ranks[i] = file.integer(numbered("rank", domain), 1);
    certificate.covariance_ranks[i] = file.integer(numbered("covariance_rank", domain), 1);
    certificate.constraint_residuals[i] = file.real(numbered("constraint_residual", domain));
    certificate.tolerances[i] = file.real(numbered("tolerance", domain));
    certificate.constrained[i] = {file.real(numbered("constrained_data", domain)),
                                  file.real(numbered("constrained_ridge", domain)),
                                  file.integer(numbered("constrained_samples", domain), 2)};
  }
  certificate.objective = file.real("objective");
  certificate.bound = file.real("bound");
  certificate.covariance_trace = file.real("covariance_trace");
  certificate.min_gap = file.real("min_gap");
  certificate.route = file.text("route");
  model.settings = load_settings(file);
  const auto& c = certificate.covariance_ranks;
  certificate.singular_A = file.vector("singular_A", std::min(c[0], c[1]));
  certificate.singular_B = file.vector("singular_B", std::min(certificate.ranks[0], certificate.ranks[1]));
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    if (!file.has(numbered("mean", domain))) continue;
    model.domains[i] = load_map(file, domain, model.common_dimension, c[i], std::max(c[0], c[1]), certificate.ranks[i]);
  }
  if (!model.domains[0] && !model.domains[1]) file.fail("holds neither domain's map");
  return model;
}

Matrix apply(const Model& model, Domain domain, const MatrixView& X) {
  const DomainMap& map = model.domain(domain);
  map.check_features(domain, X);
  return linalg::affine(map.mixing, map.weights, X, map.mean, Vector::Zero(map.mixing.rows()));
}

}  // namespace cgmca
