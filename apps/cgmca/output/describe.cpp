#include "output/describe.hpp"

#include <cgmca/parts.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "input/domains.hpp"

namespace cgmca::cli {
namespace {

Json dimensions(const Model& model) {
  Json dims = Json::array();
  for (const auto& map : model.domains) dims.push_back(map ? Json(map->features()) : Json(nullptr));
  return dims;
}

// i and j of every pair of domains that the model holds.
std::vector<std::pair<Domain, Domain>> held_pairs(const Model& model) {
  std::vector<std::pair<Domain, Domain>> pairs;
  for (const Domain i : all_domains(model.count())) {
    for (const Domain j : all_domains(model.count())) {
      if (i < j && model.domains[i] && model.domains[j]) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

Json rows_of(const Matrix& values) {
  Json rows = Json::array();
  for (Index i = 0; i < values.rows(); ++i) rows.push_back(list(values.row(i).transpose()));
  return rows;
}

Json starts_of(const Certificate& certificate) {
  Json starts = Json::array();
  for (const Start& start : certificate.starts) {
    starts.push_back({{"kind", start.kind},
                      {"value", start.value},
                      {"sweeps", start.sweeps},
                      {"converged", start.converged},
                      {"agreement", agrees(start)},
                      {"below_best", start.f_below_best},
                      {"distance_to_best", start.distance_to_best}});
  }
  return starts;
}

Json common_correlations_of(const Model& model) {
  Json all = Json::array();
  for (const auto& [i, j] : held_pairs(model)) {
    all.push_back({{"domains", {number(i), number(j)}}, {"values", list(model.common_correlations(i, j))}});
  }
  return all;
}

std::string features_text(const Model& model, Domain domain) {
  const auto& map = model.domains[domain];
  return map ? fmt::format("{} features", map->features()) : "absent";
}

// "domain 1", or "synthetic" where it has a name.
std::string title(Domain domain, const std::string& name) {
  return name.empty() ? fmt::format("domain {}", number(domain)) : name;
}

Json name_or_null(const std::string& name) { return name.empty() ? Json(nullptr) : Json(name); }
Json names_or_null(const std::vector<std::string>& names) { return names.empty() ? Json(nullptr) : Json(names); }

// Without what identifies them.
std::vector<std::string> input_names(const Summary& summary) {
  std::vector<std::string> names;
  for (const std::string& input : summary.inputs()) names.push_back(input_name(input));
  return names;
}

// The first few of many.
std::string first_values(const Vector& values) {
  constexpr Index few = 6;
  std::string text;
  for (Index j = 0; j < std::min(few, values.size()); ++j)
    text += fmt::format("{}{:.4g}", j > 0 ? "  " : "", values(j));
  if (values.size() > few) text += fmt::format("  …  {:.4g}  ({} in all)", values(values.size() - 1), values.size());
  return text;
}

// Those of more than two domains, one row a pair.
void add_common_correlations(Rows& rows, const Model& model) {
  constexpr std::size_t most = 10;
  const auto pairs = held_pairs(model);
  for (std::size_t p = 0; p < std::min(most, pairs.size()); ++p) {
    const auto& [i, j] = pairs[p];
    rows.emplace_back(fmt::format("correlations {}–{}", number(i), number(j)),
                      first_values(model.common_correlations(i, j)));
  }
  if (pairs.size() > most) rows.emplace_back("", fmt::format("{} more pairs (--json)", pairs.size() - most));
}

std::string pattern_text(const Pattern& pattern) {
  return fmt::format("{} samples with {}", pairs_text(pattern.samples, pattern.total_weight),
                     domains_text(pattern.domains));
}

// Whether the covariances are those of the samples.
std::string sketch_text(const Certificate& certificate) {
  if (!certificate.samples_residual) return "none: the summary, or a part of it, is of cgmca 0.2 or earlier";
  return fmt::format("{:.1e}  (of the covariances used, from a sketch of the samples)", *certificate.samples_residual);
}

// What the search and the proof of more than two domains came to.
void add_search(Rows& rows, const Model& model) {
  const Certificate& certificate = model.certificate;
  rows.emplace_back("graph", graph_text(certificate.edge_weights));
  rows.emplace_back("optimum", optimum_text(certificate));
  rows.emplace_back("starts", starts_text(certificate));
}

}  // namespace

bool agrees(const Start& start) { return start.distance_to_best < 1e-6; }

std::string starts_text(const Certificate& certificate) {
  const auto same = std::count_if(certificate.starts.begin(), certificate.starts.end(), agrees);
  return fmt::format("{}, of which {} ended at the same maps; {} sweeps in all{}", certificate.starts.size(), same,
                     certificate.sweeps,
                     certificate.stopped_early ? "; a limit on sweeps, seconds or trials ended the search" : "");
}

std::string optimum_text(const Certificate& certificate) {
  if (certificate.certified) return fmt::format("proved: no maps can do better ({})", certificate.proof);
  return fmt::format("NOT PROVED: better maps may exist, by up to {:.3g} % of what is maximized ({})",
                     100 * certificate.gap, certificate.proof);
}

std::string graph_text(const Matrix& weights) {
  const Index m = weights.rows();
  const Matrix full = Matrix::Ones(m, m) - Matrix::Identity(m, m);
  if (weights == full) return "full: each domain with each other";
  std::vector<std::string> edges;
  for (Index i = 0; i < m; ++i) {
    for (Index j = i + 1; j < m; ++j) {
      if (weights(i, j) == 0) continue;
      edges.push_back(fmt::format("{}–{}{}", i + 1, j + 1,
                                  weights(i, j) == 1 ? "" : fmt::format(" (weight {:.4g})", weights(i, j))));
    }
  }
  return fmt::format("{}", fmt::join(edges, ", "));
}

std::string pairs_text(Index pairs, double weight) {
  return weight == static_cast<double>(pairs) ? fmt::format("{}", pairs)
                                              : fmt::format("{} of the weight {:.9g}", pairs, weight);
}

std::string shrinkage_text(const Model& model, Domain domain) {
  const double ridge = model.certificate.constrained[domain].ridge;
  if (ridge == 0 || !model.domains[domain]) return "";
  return fmt::format("{:.3g} %", 100 * ridge / model.domain(domain).variance.mean());
}

std::string constrained_text(const Model& model, Domain domain) {
  const Regularized& covariance = model.certificate.constrained[domain];
  std::string text = covariance.data == 1 ? "Θ" : fmt::format("{:.4g} Θ", covariance.data);
  if (covariance.ridge != 0) text += fmt::format(" + {:.4g} I", covariance.ridge);
  return fmt::format("{} of {} samples{}", text, covariance.samples,
                     model.settings.scale ? ", features at unit variance" : "");
}

// Which covariance the constraints hold for, unless it is simply that of the pairs.
void add_constrained(Rows& rows, const Model& model) {
  const auto& constrained = model.certificate.constrained;
  const auto plain = [&](const Regularized& one) {
    return one.data == 1 && one.ridge == 0 && one.samples == model.samples;
  };
  if (std::all_of(constrained.begin(), constrained.end(), plain)) return;
  std::vector<std::string> texts;
  for (const Domain domain : all_domains(model.count())) texts.push_back(constrained_text(model, domain));
  rows.emplace_back("hold for", fmt::format("{}  (Θ: their covariance{})", fmt::join(texts, "; "),
                                            model.patterns.empty() ? "" : " as EM estimates it"));
  std::vector<std::string> shares;
  for (const Domain domain : all_domains(model.count())) {
    const std::string share = shrinkage_text(model, domain);
    if (!share.empty()) shares.push_back(fmt::format("domain {} {}", number(domain), share));
  }
  if (!shares.empty()) rows.emplace_back("shrunk by", fmt::format("{}", fmt::join(shares, ", ")));
}

// What was removed, and whether new samples need its values.
void add_nuisance(Rows& rows, const Model& model) {
  if (!model.nuisance) return;
  const Nuisance& nuisance = *model.nuisance;
  std::vector<std::string> shares;
  for (std::size_t i = 0; i < nuisance.explained.size(); ++i) {
    shares.push_back(fmt::format("{:.3g} % of domain {}", 100 * nuisance.explained[i], i + 1));
  }
  rows.emplace_back(
      "nuisance",
      fmt::format("{} values of rank {}; it explains {}; {}", nuisance.values(), nuisance.rank, fmt::join(shares, ", "),
                  nuisance.unknown ? "the maps are blind to it" : "new samples need its values (--nuisance)"));
}

Json list(const Vector& values) { return std::vector<double>(values.begin(), values.end()); }

Json describe(const Pattern& pattern) {
  std::vector<int> domains;
  for (const Domain domain : pattern.domains) domains.push_back(number(domain));
  return {{"domains", domains}, {"n", pattern.samples}, {"total_weight", pattern.total_weight}};
}

Json describe(const Addition& addition) {
  std::vector<int> matched;
  for (const Domain domain : addition.matched) matched.push_back(number(domain));
  return {{"matched_with", matched},         {"weights", addition.weights},
          {"n", addition.samples},           {"total_weight", addition.total_weight},
          {"objective", addition.objective}, {"bound", addition.bound},
          {"scale", addition.scale},         {"singular_G", list(addition.singular_G)},
          {"unique", addition.unique},       {"transported", addition.transported}};
}

Json describe(const Model& model) {
  const Certificate& certificate = model.certificate;
  Json object;
  object["n"] = model.samples;
  object["total_weight"] = model.total_weight;
  if (model.nuisance) {
    object["nuisance"] = {{"names", model.nuisance->names},
                          {"values", model.nuisance->values()},
                          {"rank", model.nuisance->rank},
                          {"explained", model.nuisance->explained},
                          {"unknown", model.nuisance->unknown}};
  }
  object["dims"] = dimensions(model);
  object["names"] = object["feature_names"] = Json::array();
  for (const auto& map : model.domains) {
    object["names"].push_back(map ? name_or_null(map->name) : Json(nullptr));
    object["feature_names"].push_back(map ? names_or_null(map->feature_names) : Json(nullptr));
  }
  object["k"] = model.common_dimension;
  object["ranks"] = certificate.ranks;
  object["cov_ranks"] = certificate.covariance_ranks;
  object["covariances"] = model.covariances;
  object["objective"] = certificate.objective;
  object["bound"] = certificate.bound;
  object["constraint_residuals"] = certificate.constraint_residuals;
  object["samples_residual"] = certificate.samples_residual ? Json(*certificate.samples_residual) : Json(nullptr);
  object["constrained"] = Json::array();
  for (const Regularized& covariance : certificate.constrained) {
    object["constrained"].push_back(
        {{"data", covariance.data}, {"ridge", covariance.ridge}, {"samples", covariance.samples}});
  }
  object["scale"] = model.settings.scale;
  object["calibration_folds"] = model.calibration_folds == 0 ? Json(nullptr) : Json(model.calibration_folds);
  object["warnings"] = Json::array();
  for (const std::string& warning : model.warnings()) object["warnings"].push_back(in_options(warning));
  object["weights"] = rows_of(certificate.edge_weights);
  object["certified"] = certificate.certified;
  object["gap"] = certificate.gap;
  object["proof"] = certificate.proof;
  object["starts"] = starts_of(certificate);
  object["common_correlations"] = common_correlations_of(model);
  object["singular_A"] = list(certificate.singular_A);
  object["singular_B"] = list(certificate.singular_B);
  object["min_gap"] = certificate.min_gap;
  object["route"] = certificate.route;
  for (const Pattern& pattern : model.patterns) object["patterns"].push_back(describe(pattern));
  for (const Addition& addition : model.additions) object["additions"].push_back(describe(addition));
  return object;
}

std::string describe_text(const Model& model) {
  const Certificate& certificate = model.certificate;
  const bool two = model.count() == 2;
  Rows rows = {{matched_noun(model.fitted_count()), pairs_text(model.samples, model.total_weight)}};
  for (const Domain domain : all_domains(model.count())) {
    const Index i = index(domain);
    const auto& map = model.domains[i];
    rows.emplace_back(title(domain, map ? map->name : ""),
                      fmt::format("{} of rank {} → covariance {} of rank {}", features_text(model, domain),
                                  certificate.ranks[i], model.covariances[i], certificate.covariance_ranks[i]));
  }
  rows.emplace_back("common space", fmt::format("{} dimensions", model.common_dimension));
  if (two) {
    rows.emplace_back("correlations", first_values(certificate.singular_B));
  } else {
    add_common_correlations(rows, model);
    add_search(rows, model);
  }
  rows.insert(rows.end(), {{"objective", fmt::format("{:.9g}", certificate.objective)},
                           {"bound", fmt::format("{:.9g}  (no maps can do better)", certificate.bound)},
                           {"residuals", fmt::format("{:.1e}  (of the covariance constraints)",
                                                     fmt::join(certificate.constraint_residuals, "  "))}});
  rows.emplace_back("sketch", sketch_text(certificate));
  add_constrained(rows, model.fitted());
  add_nuisance(rows, model);
  if (model.settings.scale) rows.emplace_back("scale", "each feature was divided by its standard deviation");
  for (const Pattern& pattern : model.patterns) rows.emplace_back("pattern", pattern_text(pattern));
  for (const Domain domain : all_domains(model.count())) {
    const Addition* added = model.addition(domain);
    if (added == nullptr) continue;
    rows.emplace_back(
        fmt::format("added {}", number(domain)),
        fmt::format("matched with {} by {} samples; objective {:.9g}, bound {:.9g}", domains_text(added->matched),
                    pairs_text(added->samples, added->total_weight), added->objective, added->bound));
  }
  rows.insert(rows.end(), {{"least gap", fmt::format("{:.2g}  (between {} used; near 0: directions may mix)",
                                                     certificate.min_gap, two ? "correlations" : "directions")},
                           {"route", certificate.route}});
  if (model.calibration_folds > 0) {
    rows.emplace_back("error bars", fmt::format("calibrated on {} folds", model.calibration_folds));
  }
  return table(rows);
}

Json describe(const Summary& summary) {
  Json object;
  object["n"] = summary.samples();
  object["total_weight"] = summary.total_weight();
  object["dims"] = object["names"] = object["feature_names"] = Json::array();
  for (Index i = 1; i <= summary.domains(); ++i) {
    const DomainInfo& domain = summary.domain(static_cast<Domain>(i));
    object["dims"].push_back(domain.features);
    object["names"].push_back(name_or_null(domain.name));
    object["feature_names"].push_back(names_or_null(domain.feature_names));
  }
  object["inputs"] = input_names(summary);
  object["form"] = name(summary.form());
  object["accumulate"] = name(summary.accumulate());
  return object;
}

std::string describe_text(const Summary& summary) {
  Rows rows = {{matched_noun(summary.domains()), pairs_text(summary.samples(), summary.total_weight())}};
  for (Index i = 1; i <= summary.domains(); ++i) {
    const auto domain = static_cast<Domain>(i);
    rows.emplace_back(title(domain, summary.domain(domain).name),
                      fmt::format("{} features", summary.dimension(domain)));
  }
  if (!summary.inputs().empty()) rows.emplace_back("of", few_of(input_names(summary)));
  rows.emplace_back("form", name(summary.form()));
  return table(rows);
}

Json describe(const IncompleteSummary& summary) {
  Json object;
  object["n"] = summary.samples();
  object["total_weight"] = summary.total_weight();
  object["dims"] = object["names"] = object["patterns"] = Json::array();
  for (const Domain domain : all_domains(summary.domains())) {
    object["dims"].push_back(summary.domain(domain).features);
    object["names"].push_back(name_or_null(summary.domain(domain).name));
  }
  for (const auto& [domains, own] : summary.patterns()) {
    object["patterns"].push_back(describe(Pattern{domains, own.samples(), own.total_weight()}));
  }
  return object;
}

std::string describe_text(const IncompleteSummary& summary) {
  Rows rows = {{"samples", pairs_text(summary.samples(), summary.total_weight())}};
  for (const Domain domain : all_domains(summary.domains())) {
    rows.emplace_back(title(domain, summary.domain(domain).name),
                      fmt::format("{} features", summary.domain(domain).features));
  }
  for (const auto& [domains, own] : summary.patterns()) {
    rows.emplace_back("pattern", pattern_text({domains, own.samples(), own.total_weight()}));
  }
  return table(rows);
}

}  // namespace cgmca::cli
