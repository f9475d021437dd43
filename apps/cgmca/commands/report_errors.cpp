// How far translations may be off: what the fit promises beside what held-out pairs showed.
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands/report_parts.hpp"
#include "input/domains.hpp"
#include "report/plot.hpp"

namespace cgmca::cli {
namespace {

double root_mean_square(const Vector& values) {
  return values.size() == 0 ? std::nan("") : std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
}

std::string percent(double part) { return std::isfinite(part) ? fmt::format("{:.1f} %", 100 * part) : "not known"; }

}  // namespace

// s_f of (29) with degrees of freedom and of (30) by cross-fitting, beside the error among the pairs fitted, (23).
void add_error_bars(report::Page& page, const Model& model) {
  const bool whole =
      std::all_of(model.domains.begin(), model.domains.end(), [](const auto& map) { return map.has_value(); });
  if (!whole) return;
  Model promised = model;
  for (auto& map : promised.domains) map->held_out_error = {};
  const bool calibrated = model.calibration_folds > 0;
  report::Table table{{"translated to", "pairs fitted", "promised for new pairs"},
                      {},
                      "Root mean square over the features of the standard error of lmmse translations from all other "
                      "domains, as a part of the domain's standard deviation. Promised: by degrees of freedom, which "
                      "is given if directions were not chosen among many."};
  if (calibrated) table.columns.push_back(fmt::format("measured on {} held-out parts", model.calibration_folds));
  std::vector<report::Series> series;
  for (const Domain to : all_domains(model.count())) {
    const Translation lmmse = translation(promised, promised.others(to), to);
    const double spread = root_mean_square(model.sample_variance(to).cwiseMax(0).cwiseSqrt());
    table.rows.push_back({domain_title(model, to), percent(root_mean_square(lmmse.standard_error) / spread),
                          percent(root_mean_square(lmmse.errors.scale) / spread)});
    if (!calibrated) continue;
    const Vector& measured = model.domain(to).held_out_error;
    table.rows.back().push_back(percent(root_mean_square(measured) / spread));
    if (lmmse.errors.scale.size() == 0) continue;
    const Vector& closed = lmmse.errors.scale;
    series.push_back({domain_title(model, to), {closed.begin(), closed.end()}, {measured.begin(), measured.end()}});
  }
  page.section("Error bars").table(table);
  if (!calibrated) {
    page.text(
        "Not measured on held-out pairs: fit with --calibrate 10 to see the measured errors here, and to use them.");
  }
  if (series.empty()) return;
  double most = 0;
  for (const report::Series& one : series) most = std::max(most, *std::max_element(one.x.begin(), one.x.end()));
  report::Series equal{"equal", {}, {}};
  for (int step = 0; step <= 40; ++step) equal.x.push_back(most * step / 40);
  equal.y = equal.x;
  series.push_back(equal);
  page.figure(
      report::scatter(series, {.title = "Promised and measured errors",
                               .x_label = "promised standard error",
                               .y_label = "measured on held-out pairs",
                               .y_low = 0}),
      fmt::format(
          "Each point is a feature. If it is above the diagonal, the closed form promises too much. Error bars and "
          "intervals of this model use the measured errors ({} folds).",
          model.calibration_folds));
}

}  // namespace cgmca::cli
