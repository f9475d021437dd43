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
  object["dims"] = dimensions(model);
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
  object["warnings"] = model.warnings();
  object["singular_A"] = list(certificate.singular_A);
  object["singular_B"] = list(certificate.singular_B);
  object["min_gap"] = certificate.min_gap;
  object["route"] = certificate.route;
  return object;
}

std::string describe_text(const Model& model) {
  const Certificate& certificate = model.certificate;
  Rows rows = {{"pairs", fmt::format("{}", model.samples)}};
  for (Domain domain : {Domain::one, Domain::two}) {
    const auto i = slot(domain);
    rows.emplace_back(fmt::format("domain {}", number(domain)),
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
  return table(rows);
}

Json describe(const Summary& summary) {
  Json object;
  object["n"] = summary.samples();
  object["dims"] = {summary.dimension(Domain::one), summary.dimension(Domain::two)};
  object["form"] = name(summary.form());
  object["accumulate"] = name(summary.accumulate());
  return object;
}

std::string describe_text(const Summary& summary) {
  return table({{"pairs", fmt::format("{}", summary.samples())},
                {"domain 1", fmt::format("{} features", summary.dimension(Domain::one))},
                {"domain 2", fmt::format("{} features", summary.dimension(Domain::two))},
                {"form", name(summary.form())}});
}

}  // namespace cgmca::cli
