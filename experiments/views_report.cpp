// out/views/report.html: what each view, some of them together and translations of a missing one are worth, and how
// sure the maps are.
#include <fmt/format.h>

#include <limits>

#include "experiments/views.hpp"
#include "report/html.hpp"
#include "report/plot.hpp"

namespace cgmca::experiments {
namespace {

using report::Page;
using report::Series;

std::vector<std::string> names(const ViewsResult& result, const ViewsFit& fit) {
  std::vector<std::string> chosen;
  for (const std::size_t v : fit.views) chosen.push_back(result.names[v]);
  return chosen;
}

void add_views(Page& page, const ViewsResult& result, const ViewsRow& row, const ViewsTrial& trial) {
  report::Table table{
      {"view", "alone", "mapped", "translated", "explained"},
      {},
      fmt::format("{} matched samples, {}: share of test samples named right, mean ± sd; explained: share "
                  "of the view's variance that the translation from all others explains.",
                  row.matched, result.title(trial.fit))};
  Series alone{"alone", {}, {}}, mapped{"mapped", {}, {}}, translated{"translated", {}, {}};
  for (std::size_t v = 0; v < trial.fit.views.size(); ++v) {
    const auto i = static_cast<Index>(v);
    const Spread one = row.alone[trial.fit.views[v]], two = trial.of(&ViewsDraw::mapped, i),
                 three = trial.of(&ViewsDraw::translated, i);
    table.rows.push_back({result.names[trial.fit.views[v]], text(one), text(two), text(three),
                          fmt::format("{:.2f}", trial.of(&ViewsDraw::explained, i).mean)});
    alone.y.push_back(one.mean);
    mapped.y.push_back(two.mean);
    translated.y.push_back(three.mean);
  }
  page.figure(report::bars(names(result, trial.fit), {alone, mapped, translated},
                           {.title = "Accuracy of each view", .y_label = "accuracy", .y_low = 0, .y_high = 1}),
              fmt::format("{} matched samples, {}.", row.matched, result.title(trial.fit)));
  page.table(table);
}

void add_numbers(Page& page, const ViewsResult& result) {
  std::vector<Series> series;
  std::size_t most = 0;
  for (const ViewsRow& row : result.rows) {
    for (const ViewsTrial& trial : row.trials) {
      Series one{fmt::format("{} matched, identity:{}", row.matched, trial.fit.components), {}, {}};
      for (int count = 1; count <= static_cast<int>(trial.fit.views.size()); ++count) {
        one.x.push_back(count);
        one.y.push_back(trial.fused_of(count).mean);
      }
      most = std::max(most, trial.fit.views.size());
      series.push_back(std::move(one));
    }
  }
  page.figure(report::line_plot(series, {.title = "Accuracy against the number of views fused",
                                         .x_label = "views fused",
                                         .y_label = "accuracy, nearest neighbour",
                                         .whole_x = true,
                                         .y_high = 1,
                                         .markers = true}),
              "Mean over all sets of so many views and over the draws.");
  report::Table table{
      {"matched samples, fit"},
      {},
      "The same in figures, by the number of views. Side by side: all views as they are, without any map."};
  for (std::size_t count = 1; count <= most; ++count) {
    table.columns.push_back(fmt::format("{}", count));
  }
  table.columns.emplace_back("side by side");
  for (const ViewsRow& row : result.rows) {
    for (const ViewsTrial& trial : row.trials) {
      std::vector<std::string> cells = {fmt::format("{}, {}", row.matched, result.title(trial.fit))};
      for (std::size_t count = 1; count <= most; ++count) {
        const bool possible = count <= trial.fit.views.size();
        cells.push_back(possible ? fmt::format("{:.3f}", trial.fused_of(static_cast<int>(count)).mean) : "");
      }
      cells.push_back(fmt::format("{:.3f}", row.side_by_side.mean));
      table.rows.push_back(std::move(cells));
    }
  }
  page.table(table);
}

// Of the views in row and column: fused above, or one translated to the other.
std::string grid(const ViewsResult& result, const ViewsTrial& trial, const char* heading,
                 const std::function<double(std::size_t, std::size_t)>& value, const char* x, const char* y) {
  const auto m = std::ssize(trial.fit.views);
  Matrix values(m, m);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < m; ++j) values(i, j) = value(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  }
  const std::vector<std::string> labels = names(result, trial.fit);
  return report::grid_map(values, labels, labels, 1, 0, std::nullopt, {.title = heading, .x_label = x, .y_label = y});
}

void add_certificates(Page& page, const ViewsResult& result) {
  report::Table fits{{"matched samples, fit", "proved by", "proven the best", "largest gap"},
                     {},
                     "The gap is by how much the value reached may fall short of the best possible one. Below 1e-9 the "
                     "maps count as proven to be the best."};
  fits.text_columns = 2;
  report::Table residuals{{"matched samples, fit"}, {}, "‖cov(z) - I‖ / ‖I‖ of each view, the largest over the draws."};
  residuals.columns.insert(residuals.columns.end(), result.names.begin(), result.names.end());
  for (const ViewsRow& row : result.rows) {
    for (const ViewsTrial& trial : row.trials) {
      const std::string name = fmt::format("{}, {}", row.matched, result.title(trial.fit));
      fits.rows.push_back({name, trial.proofs(), fmt::format("{} of {}", trial.certified(), trial.draws.size()),
                           fmt::format("{:.1e}", trial.largest_gap())});
      std::vector<std::string> cells(result.names.size() + 1);
      cells[0] = name;
      for (std::size_t v = 0; v < trial.fit.views.size(); ++v) {
        cells[trial.fit.views[v] + 1] = fmt::format("{:.0e}", trial.largest_residual(static_cast<Index>(v)));
      }
      residuals.rows.push_back(std::move(cells));
    }
  }
  page.section("How sure the maps are")
      .text(
          "More than two domains have no closed form. The fit ascends from several starts and then proves how far "
          "the best point found can be from the optimum. Each view's covariance in the common space is the one "
          "prescribed, the identity.")
      .table(fits)
      .table(residuals);
}

}  // namespace

void write_report(const ViewsResult& result, const std::string& folder) {
  make_folder(folder);
  const ViewsRow& row = result.rows[result.rows.size() / 2];
  const ViewsTrial& trial = row.trials.front();
  Page page("Several views of one object",
            fmt::format("{}: {} samples of {} classes in {} views, {} random draw{} of the matched samples",
                        result.source, result.samples, result.classes, result.names.size(), result.options.draws,
                        result.options.draws == 1 ? "" : "s"));
  page.section("Each view alone")
      .text(fmt::format(
          "Some samples are matched across all views and have labels; the nearest of them names the others. Alone: by "
          "one view as it is. Mapped: by that view in the common space of all views. Translated: the view is missing "
          "from the test samples, is translated from all other views and then mapped. Each view is cut to its first {} "
          "principal directions for the fit.",
          result.options.max_rank));
  for (const ViewsRow& each : result.rows) {
    for (const ViewsTrial& fit : each.trials) add_views(page, result, each, fit);
  }
  page.section("Views together")
      .text(
          "One point of the common space is made of some views of a sample, and the nearest labelled point names it.");
  add_numbers(page, result);
  page.figure(
      grid(
          result, trial, "Two views fused",
          [&](std::size_t i, std::size_t j) { return trial.fused(std::size_t{1} << i | std::size_t{1} << j).mean; },
          "view", "view"),
      fmt::format("{} matched samples, {}: two views fused; on the diagonal one view.", row.matched,
                  result.title(trial.fit)));
  page.section("A missing view")
      .text(
          "The reference samples have one view alone, and the test samples have another. Translated to the view of the "
          "references, they can be compared.")
      .figure(grid(
                  result, trial, "Translations from one view",
                  [&](std::size_t to, std::size_t from) {
                    return trial.from_one(static_cast<Index>(to), static_cast<Index>(from)).mean;
                  },
                  "translated from", "view of the references"),
              fmt::format("{} matched samples, {}; on the diagonal the view itself.", row.matched,
                          result.title(trial.fit)));
  add_certificates(page, result);
  page.write(folder + "/report.html");
}

}  // namespace cgmca::experiments
