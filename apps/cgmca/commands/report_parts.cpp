#include "commands/report_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "input/domains.hpp"
#include "output/describe.hpp"
#include "report/labels.hpp"
#include "report/plot.hpp"

namespace cgmca::cli {
namespace {

using report::Page;
using report::Series;

constexpr Index kPictures = 12, kNumberedFeatures = 64;  // shown at most

std::vector<double> values(const Vector& vector) { return {vector.begin(), vector.end()}; }

std::vector<double> counted(Index count) { return values(Vector::LinSpaced(count, 1, static_cast<double>(count))); }

}  // namespace

std::string domain_title(const Model& model, Domain domain) {
  const auto& map = model.domains[domain];
  const std::string plain = fmt::format("domain {}", number(domain));
  return map && !map->name.empty() ? fmt::format("{} ({})", report::shortened(map->name, 32), plain) : plain;
}

bool is_table(const Model& model, Domain domain, const std::optional<Shape>& shape) {
  const auto& map = model.domains[domain];
  if (!map || (shape && shape->size() == map->features())) return false;
  return !map->feature_names.empty() || map->features() <= kNumberedFeatures;
}

void add_facts(Page& page, const Model& model) {
  report::Table table{{""}, {}, fmt::format("The {} maps take these features into one common space.", model.count())};
  if (model.count() == 2) table.caption = "The two maps take these features into one common space.";
  for (const Domain domain : all_domains(model.count())) table.columns.push_back(domain_title(model, domain));
  const auto row = [&](const std::string& label, auto value) {
    table.rows.push_back({label});
    for (const Domain domain : all_domains(model.count())) table.rows.back().push_back(value(domain));
  };
  const Certificate& certificate = model.certificate;
  row("features", [&](Domain d) {
    const auto& map = model.domains[d];
    return map ? fmt::format("{}", map->features()) : std::string("absent");
  });
  row("whitened with", [&](Domain d) { return constrained_text(model, d); });
  row("rank", [&](Domain d) { return fmt::format("{}", certificate.ranks[d]); });
  row("covariance", [&](Domain d) { return model.covariances[d]; });
  row("its rank", [&](Domain d) { return fmt::format("{}", certificate.covariance_ranks[d]); });
  page.section("What was fitted").table(table);
  for (const std::string& warning : model.warnings()) page.text("Warning: " + warning + ".");
}

void add_certificate(Page& page, const Model& model, const Seen* seen) {
  const Certificate& certificate = model.certificate;
  report::Table table{{"", "claimed"}, {}, ""};
  if (seen != nullptr) table.columns.push_back("found");
  const auto row = [&](const std::string& label, const std::string& claimed, const std::string& found) {
    table.rows.push_back({label, claimed});
    if (seen != nullptr) table.rows.back().push_back(found);
  };
  const bool two = model.count() == 2;
  const Verification found = seen != nullptr ? seen->verification : Verification{};
  row("squared distance", fmt::format("{:.9g}", certificate.objective), fmt::format("{:.9g}", found.objective));
  row("least possible", fmt::format("{:.9g}", certificate.bound), fmt::format("{:.9g}", found.best_objective));
  const double claimed_shortfall = (certificate.objective - certificate.bound) / certificate.covariance_trace;
  row("above it, of the scale", fmt::format("{:.1e}", claimed_shortfall),
      fmt::format("{:.1e}", seen != nullptr ? found.shortfall() : 0));
  if (!two) {
    row("may fall short of the best by", fmt::format("{:.3g} %", 100 * certificate.gap),
        fmt::format("{:.3g} %", 100 * found.gap));
    row("proof", certificate.proof, found.proof);
  }
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    row(fmt::format("residual {}", i + 1), fmt::format("{:.1e}", certificate.constraint_residuals[i]),
        seen != nullptr ? fmt::format("{:.1e}", found.constraint_residuals[i]) : "");
  }
  row("sketch of the samples",
      certificate.samples_residual ? fmt::format("{:.1e}", *certificate.samples_residual) : "none", "");
  row(matched_noun(model.count()), pairs_text(model.samples, model.total_weight),
      pairs_text(found.samples, found.total_weight));
  table.caption = fmt::format(
      "What the model claims, and what its maps do to the {0} given. The maps are optimal if the mean squared "
      "distance of {0} is the least possible, and have the prescribed covariances if the residuals are at "
      "rounding level.",
      matched_noun(model.count()));
  page.section("Certificate").table(table);
  if (!two) page.text(fmt::format("Optimum {}.", optimum_text(certificate)));
}

// Eigenvalues that are all equal, as those of an identity, have no spectrum to plot.
void add_spectra(Page& page, const Model& model) {
  page.section("Covariance spectrum");
  std::vector<Series> spectra;
  std::string counts;
  bool flat = true;
  for (const Domain domain : all_domains(model.count())) {
    if (!model.domains[domain]) continue;
    Vector spectrum = model.domain(domain).covariance_spectrum();
    spectrum = (spectrum.array() / spectrum(0)).max(1e-16).log10();
    flat = flat && spectrum.minCoeff() > -1e-9;
    counts += fmt::format("{}{} of domain {}", counts.empty() ? "" : ", ", spectrum.size(), number(domain));
    spectra.push_back({fmt::format("domain {}", number(domain)), counted(spectrum.size()), values(spectrum)});
  }
  const bool alike =
      std::all_of(spectra.begin(), spectra.end(), [&](const Series& one) { return one.y == spectra[0].y; });
  if (spectra.size() > 1 && alike) {
    spectra.front().name = spectra.size() == 2 ? "both domains" : "all domains";
    spectra.resize(1);
  }
  if (flat) {
    page.text(fmt::format(
        "The nonzero eigenvalues of a prescribed covariance are all equal ({}): no direction counts more than another.",
        counts));
    return;
  }
  page.figure(report::line_plot(spectra, {.title = "Covariance spectrum",
                                          .x_label = "eigenvalue",
                                          .y_label = "log₁₀ of its share of the largest",
                                          .whole_x = true,
                                          .markers = true}),
              "Eigenvalues of the covariances prescribed for the common space, each over the largest of its domain.");
}

void add_pairs(Page& page, const Model& model, const Seen& seen) {
  const auto row = [](const Matrix& Z, Index i) { return values(Z.row(i).transpose()); };
  const std::string noun = matched_noun(model.count());
  const Matrix& first = seen.scores.front();
  const bool two = model.count() == 2;
  if (!two && first.rows() < 2) return;
  page.section(two ? "Pairs in the first common directions" : "Matched samples in the first common directions");
  if (two) {
    page.figure(report::scatter({{"", row(first, 0), row(seen.scores[1], 0)}},
                                {.title = "First canonical score of both domains",
                                 .x_label = "first score, domain 1",
                                 .y_label = "first score, domain 2"}),
                fmt::format("{} of {} pairs, one dot each; correlation {:.4f}.", first.cols(),
                            seen.verification.samples, model.certificate.singular_B(0)));
    if (first.rows() < 2) return;
  }
  std::vector<Series> series;
  for (const Domain domain : all_domains(model.count())) {
    const Matrix& Z = seen.scores[domain];
    series.push_back({fmt::format("domain {}", number(domain)), row(Z, 0), row(Z, 1)});
  }
  page.figure(
      report::scatter(series,
                      {.title = "First two canonical scores", .x_label = "first score", .y_label = "second score"}),
      two ? std::string("Both members of each pair in the plane of the first two directions; the closer, the better "
                        "matched.")
          : fmt::format(
                "{} of {} {}, in every domain, in the plane of the first two directions; the closer, the better "
                "matched.",
                first.cols(), seen.verification.samples, noun));
}

void add_loadings(Page& page, const Model& model, const std::optional<Shape>& shape) {
  std::vector<Domain> shown;
  for (const Domain domain : all_domains(model.count())) {
    if (model.domains[domain] && !is_table(model, domain, shape)) shown.push_back(domain);
  }
  if (shown.empty()) return;
  std::vector<report::Picture> strips;
  page.section("Loadings");
  for (Domain domain : shown) {
    const DomainMap& map = model.domain(domain);
    const Matrix loadings = map.loadings.leftCols(std::min(kPictures, map.loadings.cols()));
    const std::string label = fmt::format("domain {}", number(domain));
    if (!shape || shape->size() != map.features()) {
      page.figure(
          report::heat_map(loadings.transpose(),
                           {.title = "Loadings of " + label, .x_label = "feature", .y_label = "direction"}),
          fmt::format("Domain {}: covariance of each feature with the first canonical scores.", number(domain)));
      continue;
    }
    std::vector<report::Image> images;
    for (Index j = 0; j < loadings.cols(); ++j) {
      const double most = loadings.col(j).cwiseAbs().maxCoeff();
      images.push_back(report::gray(std::span(loadings.col(j).data(), static_cast<std::size_t>(loadings.rows())),
                                    shape->height, shape->width, -most, most));
    }
    strips.push_back({label, report::montage(images, kPictures)});
  }
  if (strips.empty()) return;
  page.strips(strips, "Covariance of each pixel with the first canonical scores: white positive, black negative.");
}

}  // namespace cgmca::cli
