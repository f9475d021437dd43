// The parts of the report about pairs of domains: how they correlate, which are compared, and how their maps were
// found.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "commands/report_parts.hpp"
#include "input/domains.hpp"
#include "output/describe.hpp"
#include "report/plot.hpp"

namespace cgmca::cli {
namespace {

constexpr Index kDirections = 12, kPairs = 45;  // shown at most

void add_canonical_correlations(report::Page& page, const Certificate& certificate) {
  const Vector& correlations = certificate.singular_B;
  const Index all = std::min(certificate.ranks[0], certificate.ranks[1]);
  std::string caption =
      "How strongly the two domains share each direction; 1: fully. All at 1 means fewer pairs than features.";
  if (correlations.size() < all) {
    caption += fmt::format(" A fit of few directions finds the leading {} of {} only.", correlations.size(), all);
  }
  report::Series series{"", {}, {correlations.begin(), correlations.end()}};
  for (Index j = 1; j <= correlations.size(); ++j) series.x.push_back(static_cast<double>(j));
  const report::Axes axes{.title = "Canonical correlations",
                          .x_label = "direction",
                          .y_label = "correlation",
                          .whole_x = true,
                          .y_low = 0,
                          .y_high = std::max(1.0, correlations(0))};
  page.section("Canonical correlations").figure(report::stems({series}, axes), caption);
}

}  // namespace

void add_correlations(report::Page& page, const Model& model) {
  if (model.count() == 2) return add_canonical_correlations(page, model.certificate);
  std::vector<Vector> rows;
  std::vector<std::string> names, directions;
  for (const Domain i : all_domains(model.count())) {
    for (const Domain j : all_domains(model.count())) {
      if (!(i < j) || !model.domains[i] || !model.domains[j]) continue;
      rows.push_back(model.common_correlations(i, j));
      names.push_back(fmt::format("{}–{}", number(i), number(j)));
    }
  }
  if (rows.empty()) return;  // a model of one domain alone
  const Index shown = std::min<Index>(kPairs, std::ssize(rows)), k = std::min(kDirections, model.common_dimension);
  Matrix values(shown, k);
  for (Index p = 0; p < shown; ++p) values.row(p) = rows[p].head(k).transpose();
  for (Index j = 1; j <= k; ++j) directions.push_back(fmt::format("{}", j));
  names.resize(static_cast<std::size_t>(shown));
  std::string caption =
      "Correlation of two domains along each direction of the common space, among the samples of the fit; 1: the "
      "domains share it fully.";
  if (k < model.common_dimension) caption += fmt::format(" {} more directions left out.", model.common_dimension - k);
  if (shown < std::ssize(rows)) caption += fmt::format(" {} more pairs of domains left out.", std::ssize(rows) - shown);
  page.section("Correlations of the common directions")
      .figure(report::grid_map(
                  values, names, directions, 1, std::min(0.0, values.minCoeff()), std::nullopt,
                  {.title = "Correlations of the common directions", .x_label = "direction", .y_label = "domains"}),
              caption);
}

void add_graph(report::Page& page, const Model& model) {
  if (model.count() == 2) return;
  const Matrix& weights = model.certificate.edge_weights;
  report::Table table{{""}, {}, "How much the distance of two domains counts; 0: they are not compared."};
  for (const Domain i : all_domains(model.count())) {
    table.columns.push_back(domain_title(model, i));
    table.rows.push_back({domain_title(model, i)});
    for (const Domain j : all_domains(model.count())) {
      table.rows.back().push_back(i == j ? std::string("–")
                                         : fmt::format("{:.4g}", weights(number(i) - 1, number(j) - 1)));
    }
  }
  page.section("Graph: which domains are compared")
      .text(fmt::format("Compared: {}.", graph_text(weights)))
      .table(table);
}

void add_starts(report::Page& page, const Model& model) {
  const Certificate& certificate = model.certificate;
  if (certificate.starts.empty()) return;
  report::Table table{
      {"start", "what is maximized", "below the best", "distance from the best maps", "sweeps", "ended"},
      {},
      "Where each start of the search ended. Starts that agree make it likely that nothing better was "
      "missed; the certificate says whether that is proven."};
  for (const Start& start : certificate.starts) {
    table.rows.push_back({start.kind, fmt::format("{:.9g}", start.value), fmt::format("{:.1e}", start.f_below_best),
                          fmt::format("{:.1e}", start.distance_to_best), fmt::format("{}", start.sweeps),
                          !start.converged ? "at a limit"
                          : agrees(start)  ? "at the best maps"
                                           : "at other maps"});
  }
  page.section("Agreement of the starts").text(fmt::format("Starts: {}.", starts_text(certificate))).table(table);
}

void add_pair_check(report::Page& page, const std::vector<Matrix>& X, const std::vector<Index>& numbers) {
  try {
    const PairCheck check = check_pairs(X[0], X[1]);
    report::Table table{{"row", "probably right", "likely partner in domain 2"},
                        {},
                        "Pairs that a fit to the others finds less likely together than apart. Rows are counted from "
                        "0."};
    constexpr std::size_t most = 20;
    for (std::size_t i = 0; i < std::min(check.suspects.size(), most); ++i) {
      const SuspectPair& one = check.suspects[i];
      table.rows.push_back({fmt::format("{}", numbers[one.pair]), fmt::format("{:.4f}", one.probability),
                            one.partner < 0 ? "none stands out" : fmt::format("{}", numbers[one.partner])});
    }
    std::string text = check.informative
                           ? fmt::format("{} of {} pairs are confirmed as right, {} are probably wrong.",
                                         check.confirmed.size(), check.probability.size(), check.suspects.size())
                           : "No pair can be judged.";
    for (const std::string& remark : check.remarks) text += " " + remark + ".";
    page.section("Wrong pairs").text(text);
    if (!table.rows.empty()) page.table(table);
  } catch (const InvalidInput& why) {
    page.section("Wrong pairs").text(fmt::format("Not judged: {}.", why.what()));
  }
}

void add_additions(report::Page& page, const Model& model) {
  if (model.additions.empty()) return;
  report::Table table{{"domain", "matched with", "samples", "objective", "least possible", "residual"},
                      {},
                      "Domains that were added after the fit. The maps above did not change."};
  for (const Domain domain : all_domains(model.count())) {
    const Addition* addition = model.addition(domain);
    if (addition == nullptr) continue;
    table.rows.push_back({domain_title(model, domain), domains_text(addition->matched),
                          pairs_text(addition->samples, addition->total_weight),
                          fmt::format("{:.9g}", addition->objective), fmt::format("{:.9g}", addition->bound),
                          fmt::format("{:.1e}", model.certificate.constraint_residuals[domain])});
  }
  page.section("Added domains").table(table);
}

}  // namespace cgmca::cli
