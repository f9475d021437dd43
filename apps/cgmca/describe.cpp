#include "describe.hpp"

#include <fmt/format.h>

namespace cgmca::cli {
namespace {

Json dimensions(const Model& model) {
  Json dims = Json::array();
  for (const auto& map : model.domains) dims.push_back(map ? Json(map->features()) : Json(nullptr));
  return dims;
}

std::string features_text(const Model& model, Domain domain) {
  const auto& map = model.domains[slot(domain)];
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
  for (const std::string& input : summary.inputs()) names.push_back(input.substr(input.find(' ') + 1));
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

}  // namespace

std::string pairs_text(Index pairs, double weight) {
  return weight == static_cast<double>(pairs) ? fmt::format("{}", pairs)
                                              : fmt::format("{} of the weight {:.9g}", pairs, weight);
}

std::string constrained_text(const Regularized& covariance) {
  std::string text = covariance.data == 1 ? "Θ" : fmt::format("{:.4g} Θ", covariance.data);
  if (covariance.ridge != 0) text += fmt::format(" + {:.4g} I", covariance.ridge);
  return fmt::format("{} of {} samples", text, covariance.samples);
}

Json list(const Vector& values) { return std::vector<double>(values.begin(), values.end()); }

Json describe(const Model& model) {
  const Certificate& certificate = model.certificate;
  Json object;
  object["n"] = model.samples;
  object["total_weight"] = model.total_weight;
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
  object["constrained"] = Json::array();
  for (const Regularized& covariance : certificate.constrained) {
    object["constrained"].push_back(
        {{"data", covariance.data}, {"ridge", covariance.ridge}, {"samples", covariance.samples}});
  }
  object["calibration_folds"] = model.calibration_folds == 0 ? Json(nullptr) : Json(model.calibration_folds);
  object["warnings"] = Json::array();
  for (const std::string& warning : model.warnings()) object["warnings"].push_back(in_options(warning));
  object["singular_A"] = list(certificate.singular_A);
  object["singular_B"] = list(certificate.singular_B);
  object["min_gap"] = certificate.min_gap;
  object["route"] = certificate.route;
  return object;
}

std::string describe_text(const Model& model) {
  const Certificate& certificate = model.certificate;
  Rows rows = {{"pairs", pairs_text(model.samples, model.total_weight)}};
  for (Domain domain : {Domain::one, Domain::two}) {
    const auto i = slot(domain);
    const auto& map = model.domains[i];
    rows.emplace_back(title(domain, map ? map->name : ""),
                      fmt::format("{} of rank {} → covariance {} of rank {}", features_text(model, domain),
                                  certificate.ranks[i], model.covariances[i], certificate.covariance_ranks[i]));
  }
  const auto& residuals = certificate.constraint_residuals;
  rows.insert(
      rows.end(),
      {{"common space", fmt::format("{} dimensions", model.common_dimension)},
       {"correlations", first_values(certificate.singular_B)},
       {"objective", fmt::format("{:.9g}", certificate.objective)},
       {"bound", fmt::format("{:.9g}  (no maps can do better)", certificate.bound)},
       {"residuals", fmt::format("{:.1e}  {:.1e}  (of the covariance constraints)", residuals[0], residuals[1])},
       {"hold for", fmt::format("{}; {}", constrained_text(certificate.constrained[0]),
                                constrained_text(certificate.constrained[1]))},
       {"least gap",
        fmt::format("{:.2g}  (between correlations used; near 0: directions may mix)", certificate.min_gap)},
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
  Rows rows = {{summary.domains() == 2 ? "pairs" : "samples", pairs_text(summary.samples(), summary.total_weight())}};
  for (Index i = 1; i <= summary.domains(); ++i) {
    const auto domain = static_cast<Domain>(i);
    rows.emplace_back(title(domain, summary.domain(domain).name),
                      fmt::format("{} features", summary.dimension(domain)));
  }
  if (!summary.inputs().empty()) rows.emplace_back("of", few_of(input_names(summary)));
  rows.emplace_back("form", name(summary.form()));
  return table(rows);
}

}  // namespace cgmca::cli
