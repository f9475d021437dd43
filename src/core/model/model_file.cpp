// Models as safetensors files (docs/architecture.md). They are written in version 3, which has a checksum. Versions 1
// (two domains compared by weight 1) and 2 (others) hold the same without one.
#include <cgmca/model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/tensor_file.hpp"
#include "core/data/domain_file.hpp"
#include "core/model/addition_file.hpp"
#include "core/model/nuisance_file.hpp"

namespace cgmca {
namespace {

using Json = nlohmann::json;

constexpr const char* kModelFormat = "cgmca-model";
const FormatVersions kVersions(1, 3, 3);

std::string of_two(const std::string& name, std::size_t i, std::size_t j) {
  return fmt::format("{}{}_{}", name, i + 1, j + 1);
}

// Two domains compared by weight 1 need neither a graph nor a search.
bool is_simple(const Model& model) { return model.count() == 2 && model.certificate.edge_weights(0, 1) == 1; }

void save_settings(TensorWriter& file, const FitSettings& settings) {
  for (std::size_t i = 0; i < settings.covariance.size(); ++i) {
    file.set(numbered("setting_covariance", domain_at(i)), settings.covariance[i]);
    file.set(numbered("setting_components", domain_at(i)), settings.components[i]);
    file.set(numbered("setting_max_rank", domain_at(i)), settings.max_rank[i]);
    const Ridge& ridge = settings.ridge[i];
    if (ridge.automatic) {
      file.set(numbered("setting_ridge", domain_at(i)), "auto");
    } else {
      file.set(numbered("setting_ridge", domain_at(i)), ridge.value);
    }
  }
  if (settings.rank_tol) file.set("setting_rank_tol", *settings.rank_tol);
  if (settings.scale) file.set("setting_scale", "true");
  if (settings.towards != Towards::zero) file.set("setting_towards", name(settings.towards));
  if (settings.covariance.size() == 2) return;
  file.set("setting_seed", fmt::format("{}", settings.seed));
  file.set("setting_random_starts", settings.random_starts);
  file.set("setting_max_sweeps", settings.max_sweeps);
  file.set("setting_max_seconds", settings.max_seconds);
}

std::uint64_t load_seed(const TensorReader& file, const std::string& key) {
  const std::string& digits = file.text(key);
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    file.fail(fmt::format("'{}' is '{}', not a whole number", key, digits));
  }
  return seed;
}

bool load_bool(const TensorReader& file, const std::string& key) {
  const std::string& text = file.text(key);
  if (text != "true" && text != "false") file.fail(fmt::format("'{}' is '{}', neither true nor false", key, text));
  return text == "true";
}

// Files written before these fields existed have none of them.
FitSettings load_settings(const TensorReader& file, std::size_t domains) {
  FitSettings settings(static_cast<Index>(domains));
  if (!file.has_text(numbered("setting_covariance", Domain::one))) return settings;
  for (std::size_t i = 0; i < domains; ++i) {
    settings.covariance[i] = file.text(numbered("setting_covariance", domain_at(i)));
    settings.components[i] = file.integer(numbered("setting_components", domain_at(i)), 0);
    settings.max_rank[i] = file.integer(numbered("setting_max_rank", domain_at(i)), 0);
    const std::string ridge = numbered("setting_ridge", domain_at(i));
    settings.ridge[i] = file.text(ridge) == "auto" ? Ridge::from_data() : Ridge(file.real(ridge));
  }
  if (file.has_text("setting_rank_tol")) settings.rank_tol = file.real("setting_rank_tol");
  settings.scale = file.has_text("setting_scale") && load_bool(file, "setting_scale");
  if (file.has_text("setting_towards")) {
    const std::string& text = file.text("setting_towards");
    if (text != name(Towards::identity)) file.fail(fmt::format("'setting_towards' is '{}', not identity", text));
    settings.towards = Towards::identity;
  }
  if (domains == 2) return settings;
  settings.seed = load_seed(file, "setting_seed");
  settings.random_starts = file.integer("setting_random_starts", 0);
  settings.max_sweeps = file.integer("setting_max_sweeps", 0);
  settings.max_seconds = file.real("setting_max_seconds");
  return settings;
}

void save_map(TensorWriter& file, std::size_t i, const DomainMap& map) {
  const Domain domain = domain_at(i);
  file.add_vector(numbered("mean", domain), map.mean);
  file.add_vector(numbered("variance", domain), map.variance);
  if (map.scale.size() > 0) file.add_vector(numbered("scale", domain), map.scale);
  if (map.held_out_error.size() > 0) file.add_vector(numbered("held_out_error", domain), map.held_out_error);
  file.add(numbered("weights", domain), map.weights);
  file.add(numbered("mixing", domain), map.mixing);
  file.add(numbered("loadings", domain), map.loadings);
  for (std::size_t j = 0; j < map.cross_loadings.size(); ++j) {
    if (map.cross_loadings[j].size() > 0) file.add(of_two("cross_loadings", i, j), map.cross_loadings[j]);
  }
  pack(file, "", domain, {map.features(), map.name, map.feature_names});
}

// `q`: columns of the loadings.
DomainMap load_map(const TensorReader& file, Domain domain, Index k, Index c, Index q) {
  DomainInfo info = unpack_domain(file, "", domain);
  const Index d = info.features;
  DomainMap map;
  map.name = std::move(info.name);
  map.feature_names = std::move(info.feature_names);
  map.mean = file.vector(numbered("mean", domain), d);
  map.variance = file.vector(numbered("variance", domain), d);
  if (file.has(numbered("scale", domain))) {
    map.scale = file.vector(numbered("scale", domain), d);
    if (!(map.scale.minCoeff() > 0)) file.fail(fmt::format("'{}' is not positive", numbered("scale", domain)));
  }
  if (file.has(numbered("held_out_error", domain))) {
    map.held_out_error = file.vector(numbered("held_out_error", domain), d);
  }
  map.weights = file.matrix(numbered("weights", domain), c, d);
  map.mixing = file.matrix(numbered("mixing", domain), k, c);
  map.loadings = file.matrix(numbered("loadings", domain), d, q);
  return map;
}

void save_domain_facts(TensorWriter& file, const Model& model) {
  const Certificate& certificate = model.certificate;
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    file.set(numbered("covariance", domain_at(i)), model.covariances[i]);
    file.set(numbered("rank", domain_at(i)), certificate.ranks[i]);
    file.set(numbered("covariance_rank", domain_at(i)), certificate.covariance_ranks[i]);
    file.set(numbered("constraint_residual", domain_at(i)), certificate.constraint_residuals[i]);
    file.set(numbered("tolerance", domain_at(i)), certificate.tolerances[i]);
    file.set(numbered("constrained_data", domain_at(i)), certificate.constrained[i].data);
    file.set(numbered("constrained_ridge", domain_at(i)), certificate.constrained[i].ridge);
    file.set(numbered("constrained_samples", domain_at(i)), certificate.constrained[i].samples);
  }
}

void load_domain_facts(const TensorReader& file, Model& model) {
  Certificate& certificate = model.certificate;
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    model.covariances[i] = file.text(numbered("covariance", domain_at(i)));
    certificate.ranks[i] = file.integer(numbered("rank", domain_at(i)), 1);
    certificate.covariance_ranks[i] = file.integer(numbered("covariance_rank", domain_at(i)), 1);
    certificate.constraint_residuals[i] = file.real(numbered("constraint_residual", domain_at(i)));
    certificate.tolerances[i] = file.real(numbered("tolerance", domain_at(i)));
    certificate.constrained[i] = {file.real(numbered("constrained_data", domain_at(i))),
                                  file.real(numbered("constrained_ridge", domain_at(i))),
                                  file.integer(numbered("constrained_samples", domain_at(i)), 2)};
  }
}

// The graph, the proof and the search, for models that have more than the simple ones.
void save_proof(TensorWriter& file, const Certificate& certificate) {
  file.add("graph", certificate.edge_weights);
  file.set("certified", certificate.certified ? "true" : "false");
  file.set("gap", certificate.gap);
  file.set("proof", certificate.proof);
  file.set("sweeps", certificate.sweeps);
  file.set("stopped_early", certificate.stopped_early ? "true" : "false");
  Json starts = Json::array();
  for (const Start& start : certificate.starts) {
    starts.push_back({{"kind", start.kind},
                      {"value", start.value},
                      {"sweeps", start.sweeps},
                      {"converged", start.converged},
                      {"f_below_best", start.f_below_best},
                      {"distance_to_best", start.distance_to_best}});
  }
  file.set("starts", starts.dump());
}

std::vector<Start> load_starts(const TensorReader& file) {
  const Json listed = Json::parse(file.text("starts"), nullptr, false);
  if (!listed.is_array()) file.fail("'starts' is not a list");
  std::vector<Start> starts;
  try {
    for (const Json& start : listed) {
      starts.push_back({start.at("kind").get<std::string>(), start.at("value").get<double>(),
                        start.at("sweeps").get<Index>(), start.at("converged").get<bool>(),
                        start.at("f_below_best").get<double>(), start.at("distance_to_best").get<double>()});
    }
  } catch (const Json::exception&) {
    file.fail("'starts' does not describe the starts of a search");
  }
  return starts;
}

void load_proof(const TensorReader& file, Certificate& certificate, Index domains) {
  const Matrix weights = file.matrix("graph", domains, domains);
  if (weights.minCoeff() < 0 || weights != weights.transpose() || weights.diagonal().any()) {
    file.fail("'graph' is not symmetric, of weights of at least 0, with zeros on the diagonal");
  }
  certificate.edge_weights = weights;
  certificate.certified = load_bool(file, "certified");
  certificate.gap = file.real("gap");
  certificate.proof = file.text("proof");
  certificate.sweeps = file.integer("sweeps", 0);
  certificate.stopped_early = load_bool(file, "stopped_early");
  certificate.starts = load_starts(file);
}

// Of more than two domains, or of maps that are blind to a nuisance: between the domains that are there.
void load_pairs(const TensorReader& file, Model& model) {
  const std::size_t m = model.domains.size();
  const std::vector<Index>& c = model.certificate.covariance_ranks;
  if (m > 2) model.score_covariances.assign(m, ByDomain<Matrix>(m));
  for (std::size_t i = 0; i < m; ++i) {
    if (!model.domains[i]) continue;
    DomainMap& map = *model.domains[i];
    map.cross_loadings.resize(m);
    for (std::size_t j = 0; j < m; ++j) {
      if (i == j || !model.domains[j]) continue;
      map.cross_loadings[j] = file.matrix(of_two("cross_loadings", i, j), map.features(), c[j]);
      if (i < j && m > 2) model.score_covariances[i][j] = file.matrix(of_two("score_covariance", i, j), c[i], c[j]);
    }
  }
}

Index load_count(const TensorReader& file) { return file.has_text("domains") ? file.count("domains", 2) : 2; }

}  // namespace

void Model::save(const std::string& path, const std::string& note) const {
  TensorWriter file = pack();
  if (!note.empty()) file.set("note", note);
  file.save(path);
}

Model Model::load(const std::string& path, std::string* note) {
  const TensorReader file(path, kModelFormat, kVersions);
  if (note != nullptr) *note = file.has_text("note") ? file.text("note") : "";
  return unpack(file);
}

std::string Model::to_bytes() const { return pack().bytes(); }
Model Model::from_bytes(std::string_view bytes) { return unpack(TensorReader(bytes, kModelFormat, kVersions)); }

TensorWriter Model::pack() const {
  const bool simple = is_simple(*this);
  TensorWriter file(kModelFormat, kVersions.newest);
  if (!simple) file.set("domains", count());
  file.set("samples", samples);
  if (total_weight != static_cast<double>(samples)) file.set("total_weight", total_weight);
  file.set("k", common_dimension);
  if (calibration_folds > 0) file.set("calibration_folds", calibration_folds);
  if (calibration_repeats > 0) {
    file.set("calibration_repeats", calibration_repeats);
    file.set("calibration_seed", fmt::format("{}", calibration_seed));
  }
  save_domain_facts(file, *this);
  file.set("objective", certificate.objective);
  file.set("bound", certificate.bound);
  file.set("covariance_trace", certificate.covariance_trace);
  file.set("min_gap", certificate.min_gap);
  if (certificate.samples_residual) file.set("samples_residual", *certificate.samples_residual);
  file.set("route", certificate.route);
  save_settings(file, settings);
  if (!simple) save_proof(file, certificate);
  if (!additions.empty()) save_additions(file, additions);
  if (!patterns.empty()) save_patterns(file, patterns);
  if (nuisance) save_nuisance(file, *nuisance);
  if (difference_variance.size() > 0) file.add_vector("difference_variance", difference_variance);
  if (fitted_count() == 2) {
    file.add_vector("singular_A", certificate.singular_A);
    file.add_vector("singular_B", certificate.singular_B);
  }
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (domains[i]) save_map(file, i, *domains[i]);
  }
  for (std::size_t i = 0; i < score_covariances.size(); ++i) {
    for (std::size_t j = i + 1; j < score_covariances[i].size(); ++j) {
      const Matrix& R = score_covariances[i][j];
      if (R.size() > 0) file.add(of_two("score_covariance", i, j), R);
    }
  }
  return file;
}

Model Model::unpack(const TensorReader& file) {
  Model model(load_count(file));
  model.additions = load_additions(file, model.count());
  model.patterns = load_patterns(file, model.fitted_count());
  const bool two = model.fitted_count() == 2, alone = model.count() == 2;
  model.samples = file.integer("samples", 2);
  model.total_weight = file.has_text("total_weight") ? file.real("total_weight") : static_cast<double>(model.samples);
  if (!(model.total_weight > 1)) file.fail(fmt::format("matched samples of the weight {}", model.total_weight));
  model.common_dimension = file.integer("k", 1);
  if (file.has_text("calibration_folds")) model.calibration_folds = file.integer("calibration_folds", 2);
  if (file.has_text("calibration_repeats")) {
    model.calibration_repeats = file.integer("calibration_repeats", 1);
    model.calibration_seed = load_seed(file, "calibration_seed");
  }
  Certificate& certificate = model.certificate;
  load_domain_facts(file, model);
  certificate.objective = file.real("objective");
  certificate.bound = file.real("bound");
  certificate.covariance_trace = file.real("covariance_trace");
  certificate.min_gap = file.real("min_gap");
  if (file.has_text("samples_residual")) certificate.samples_residual = file.real("samples_residual");
  certificate.route = file.text("route");
  model.settings = load_settings(file, model.domains.size());
  if (file.has_text("domains")) load_proof(file, certificate, model.fitted_count());
  const auto& c = certificate.covariance_ranks;
  if (two) {
    certificate.singular_A = file.vector("singular_A", std::min(c[0], c[1]));
    // All correlations, or only the leading ones if a fit of few directions found no others.
    const Index most = std::min(certificate.ranks[0], certificate.ranks[1]), least = std::min(c[0], c[1]);
    const Index size = file.length("singular_B");
    certificate.singular_B = file.vector("singular_B", size < least || size > most ? most : size);
  }
  bool any = false;
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    if (!file.has(numbered("mean", domain_at(i)))) continue;
    const Index q = two && i < 2 ? std::min(std::max(c[0], c[1]), certificate.ranks[i]) : c[i];
    model.domains[i] = load_map(file, domain_at(i), model.common_dimension, c[i], q);
    any = true;
  }
  if (model.settings.towards == Towards::identity) {
    model.difference_variance = file.vector("difference_variance", file.length("difference_variance"));
  }
  if (!any) file.fail(alone ? "holds neither domain's map" : "holds no domain's map");
  model.nuisance = load_nuisance(file, model);
  const bool blind = model.nuisance && model.nuisance->unknown;
  if (!alone || blind) load_pairs(file, model);
  return model;
}

}  // namespace cgmca
