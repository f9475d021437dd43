#include "report_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "describe.hpp"
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
  const auto& map = model.domains[slot(domain)];
  const std::string plain = fmt::format("domain {}", number(domain));
  return map && !map->name.empty() ? fmt::format("{} ({})", report::shortened(map->name, 32), plain) : plain;
}

bool is_table(const Model& model, Domain domain, const std::optional<Shape>& shape) {
  const auto& map = model.domains[slot(domain)];
  if (!map || (shape && shape->size() == map->features())) return false;
  return !map->feature_names.empty() || map->features() <= kNumberedFeatures;
}

void add_facts(Page& page, const Model& model) {
  report::Table table{{"", domain_title(model, Domain::one), domain_title(model, Domain::two)},
                      {},
                      "The two maps take these features into one common space."};
  const auto row = [&](const std::string& label, auto value) {
    table.rows.push_back({label, value(Domain::one), value(Domain::two)});
  };
  const Certificate& certificate = model.certificate;
  row("features", [&](Domain d) {
    const auto& map = model.domains[slot(d)];
    return map ? fmt::format("{}", map->features()) : std::string("absent");
  });
  row("whitened with", [&](Domain d) { return constrained_text(certificate.constrained[slot(d)]); });
  row("rank", [&](Domain d) { return fmt::format("{}", certificate.ranks[slot(d)]); });
  row("covariance", [&](Domain d) { return model.covariances[slot(d)]; });
  row("its rank", [&](Domain d) { return fmt::format("{}", certificate.covariance_ranks[slot(d)]); });
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
  const Attained found = seen != nullptr ? seen->attained : Attained{};
  row("squared distance", fmt::format("{:.9g}", certificate.objective), fmt::format("{:.9g}", found.objective));
  row("least possible", fmt::format("{:.9g}", certificate.bound), fmt::format("{:.9g}", found.best_objective));
  const double claimed_shortfall = (certificate.objective - certificate.bound) / certificate.covariance_trace;
  row("above it, of the scale", fmt::format("{:.1e}", claimed_shortfall),
      fmt::format("{:.1e}", seen != nullptr ? found.shortfall() : 0));
  for (auto i : {0U, 1U}) {
    row(fmt::format("residual {}", i + 1), fmt::format("{:.1e}", certificate.constraint_residuals[i]),
        seen != nullptr ? fmt::format("{:.1e}", found.constraint_residuals[i]) : "");
  }
  row("pairs", pairs_text(model.samples, model.total_weight), pairs_text(found.samples, found.total_weight));
  table.caption =
      "What the model claims, and what its maps do to the pairs given. The maps are optimal where the mean squared "
      "distance of pairs is the least possible, and have the prescribed covariances where the residuals are at "
      "rounding level.";
  page.section("Certificate").table(table);
}

void add_correlations(Page& page, const Model& model) {
  const Vector& correlations = model.certificate.singular_B;
  const report::Axes axes{.title = "Canonical correlations",
                          .x_label = "direction",
                          .y_label = "correlation",
                          .whole_x = true,
                          .y_low = 0,
                          .y_high = std::max(1.0, correlations(0))};
  page.section("Canonical correlations")
      .figure(report::stems({{"", counted(correlations.size()), values(correlations)}}, axes),
              "How strongly the two domains share each direction; 1: fully. All at 1 means fewer pairs than features.");
}

// Eigenvalues that are all equal, as those of an identity, have no spectrum to plot.
void add_spectra(Page& page, const Model& model) {
  page.section("Covariance spectrum");
  std::vector<Series> spectra;
  std::string counts;
  bool flat = true;
  for (Domain domain : kDomains) {
    if (!model.domains[slot(domain)]) continue;
    Vector spectrum = model.domain(domain).covariance_spectrum();
    spectrum = (spectrum.array() / spectrum(0)).max(1e-16).log10();
    flat = flat && spectrum.minCoeff() > -1e-9;
    counts += fmt::format("{}{} of domain {}", counts.empty() ? "" : ", ", spectrum.size(), number(domain));
    spectra.push_back({fmt::format("domain {}", number(domain)), counted(spectrum.size()), values(spectrum)});
  }
  if (spectra.size() == 2 && spectra[0].y == spectra[1].y) {
    spectra.pop_back();
    spectra.front().name = "both domains";
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
  const auto& [Z1, Z2] = seen.scores;
  const auto row = [](const Matrix& Z, Index i) { return values(Z.row(i).transpose()); };
  page.section("Pairs in the first common directions");
  page.figure(report::scatter({{"", row(Z1, 0), row(Z2, 0)}}, {.title = "First canonical score of both domains",
                                                               .x_label = "first score, domain 1",
                                                               .y_label = "first score, domain 2"}),
              fmt::format("{} of {} pairs, one a dot; correlation {:.4f}.", Z1.cols(), seen.attained.samples,
                          model.certificate.singular_B(0)));
  if (Z1.rows() < 2) return;
  page.figure(
      report::scatter({{"domain 1", row(Z1, 0), row(Z1, 1)}, {"domain 2", row(Z2, 0), row(Z2, 1)}},
                      {.title = "First two canonical scores", .x_label = "first score", .y_label = "second score"}),
      "Both members of each pair in the plane of the first two directions; the closer, the better matched.");
}

void add_loadings(Page& page, const Model& model, const std::optional<Shape>& shape) {
  std::vector<Domain> shown;
  for (Domain domain : kDomains) {
    if (model.domains[slot(domain)] && !is_table(model, domain, shape)) shown.push_back(domain);
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
