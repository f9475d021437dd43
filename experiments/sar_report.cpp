// out/sar/report.html: accuracy against the number of matched pairs, confusions, chips.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <span>

#include "experiments/sar.hpp"
#include "report/html.hpp"
#include "report/plot.hpp"
#include "report/png.hpp"

namespace cgmca::experiments {
namespace {

using report::Page;
using report::Series;

void add_table(Page& page, const SarResult& result, double Accuracy::*classifier, const char* caption) {
  report::Table table{{"trained on"}, {}, caption};
  for (const SarRow& row : result.rows) {
    table.columns.push_back(fmt::format("{:.0f} % ({} pairs)", 100 * row.fraction, row.matched));
  }
  for (std::size_t m = 0; m < kSarMethods; ++m) {
    const auto method = static_cast<SarMethod>(m);
    std::vector<std::string> cells = {title(method)};
    for (const SarRow& row : result.rows) {
      cells.push_back(text(row.spread(method, classifier)));
    }
    table.rows.push_back(std::move(cells));
  }
  page.table(table);
}

std::string curves(const SarResult& result) {
  std::vector<Series> series;
  for (SarMethod method : {SarMethod::unmapped, SarMethod::measured, SarMethod::mca, SarMethod::cgmca_truncated,
                           SarMethod::cgmca_ridge, SarMethod::likelihood, SarMethod::tuned}) {
    Series one{title(method), {}, {}};
    for (const SarRow& row : result.rows) {
      one.x.push_back(static_cast<double>(row.matched));
      one.y.push_back(row.spread(method, &Accuracy::nearest).mean);
    }
    series.push_back(std::move(one));
  }
  return report::line_plot(series, {.title = "Accuracy against the number of matched pairs",
                                    .x_label = "matched pairs",
                                    .y_label = "accuracy, nearest neighbour",
                                    .log_x = true,
                                    .y_high = 1,
                                    .markers = true});
}

// Shares of each true class, strongest colour for the largest share.
std::string confusion(const Matrix& counts, const std::vector<std::string>& classes, const char* heading) {
  Matrix shares = counts;
  for (Index i = 0; i < shares.rows(); ++i) {
    const double sum = counts.row(i).sum();
    for (Index j = 0; j < shares.cols(); ++j) {
      shares(i, j) = counts(i, j) > 0 ? counts(i, j) / sum : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return report::grid_map(shares, classes, classes, 1, 0, std::nullopt,
                          {.title = heading, .x_label = "found", .y_label = "truth"});
}

void add_extras(Page& page, const SarResult& result) {
  Series accuracy_without{"without", {}, {}}, accuracy_with{"with extra samples", {}, {}};
  Series error_without{"without", {}, {}}, error_with{"with extra samples", {}, {}};
  for (const SarExtra& extra : result.extras) {
    const double x = static_cast<double>(extra.matched);
    for (Series* series : {&accuracy_without, &accuracy_with, &error_without, &error_with}) series->x.push_back(x);
    accuracy_without.y.push_back(extra.without);
    accuracy_with.y.push_back(extra.with);
    error_without.y.push_back(extra.without_error);
    error_with.y.push_back(extra.with_error);
  }
  page.section("Samples without partner")
      .text(
          "All other synthetic chips can join as extra samples of domain 1: they improve its mean and covariance, "
          "while "
          "the cross-covariance still comes from the matched pairs. Truncated CGMCA, mean of three draws.")
      .figure(
          report::line_plot({error_without, error_with}, {.title = "Translation error with and without extra samples",
                                                          .x_label = "matched pairs",
                                                          .y_label = "translation error",
                                                          .log_x = true,
                                                          .markers = true}),
          "Translation of test chips from measured to synthetic: squared error over their variance.")
      .figure(report::line_plot({accuracy_without, accuracy_with}, {.title = "Accuracy with and without extra samples",
                                                                    .x_label = "matched pairs",
                                                                    .y_label = "accuracy, nearest neighbour",
                                                                    .log_x = true,
                                                                    .markers = true}),
              "Classification: they harm it. A likely reason: extra samples of one domain alone make its map steadier "
              "than the "
              "other's, so that mapped new chips of the two domains differ in spread.");
}

void add_examples(Page& page, const SarResult& result, const std::string& folder) {
  if (result.examples.empty()) return;
  std::vector<report::Picture> strips;
  for (const auto& [label, pixels] : {std::pair{"synthetic", &SarExample::synthetic},
                                      {"measured", &SarExample::measured},
                                      {"translated", &SarExample::translated}}) {
    std::vector<report::Image> images;
    for (const SarExample& example : result.examples) {
      const Vector& chip = example.*pixels;
      images.push_back(report::gray(std::span(chip.data(), static_cast<std::size_t>(chip.size())), result.size.height,
                                    result.size.width));
    }
    strips.push_back({label, report::montage(images, std::ssize(images))});
  }
  std::string names;
  for (const SarExample& example : result.examples) names += (names.empty() ? "" : ", ") + example.name;
  page.section("Chips").strips(
      strips,
      fmt::format("One test chip of each vehicle ({}). Below the measured chip its translation to a synthetic one "
                  "(lmmse, tuned model): its partner above was not among the matched pairs.",
                  names));
  std::vector<report::Image> rows;
  for (const auto& strip : strips) rows.push_back(strip.image);
  report::write_png(folder + "/chips.png", report::enlarge(report::montage(rows, 1, 0), 2));
}

}  // namespace

void write_report(const SarResult& result, const std::string& folder) {
  make_folder(folder);
  Page page(
      "Radar transfer: train on synthetic chips, classify measured ones",
      fmt::format("{}, {} pairs of {}×{} pixels, {} vehicles, {} random draws of the matched pairs", result.data,
                  result.pairs, result.size.height, result.size.width, result.classes.size(), result.options.draws));
  page.section("Accuracy")
      .text(
          "From some matched pairs of a synthetic and a measured chip, two maps into a common space are found. A "
          "classifier trained on all mapped synthetic chips then names the measured chips that were not matched. "
          "Unmapped: "
          "the same without maps. Measured only: trained on the matched measured chips. Tuned: everything chosen by "
          "cross-validation over the matched pairs.")
      .figure(curves(result), "Share of test chips named right, mean over the draws.");
  add_table(page, result, &Accuracy::nearest, "Nearest neighbour: share of test chips named right, mean ± sd.");
  add_table(page, result, &Accuracy::linear, "Linear classifier (least squares): the same.");
  page.section("Confusions");
  for (const SarRow& row : result.rows) {
    if (&row != &result.rows.front() && row.fraction != 0.1) continue;
    const std::string heading = fmt::format("{} matched pairs", row.matched);
    page.figure(confusion(row.confusion_unmapped, result.classes, "unmapped"),
                heading + ", unmapped: share of each class.");
    page.figure(confusion(row.confusion_tuned, result.classes, "tuned"), heading + ", tuned: share of each class.");
  }
  add_extras(page, result);
  add_examples(page, result, folder);
  page.section("What tuning chose");
  report::Table chosen{{"draw"}, {}, "Rank, max rank and ridge by cross-validation over the matched pairs alone."};
  for (const SarRow& row : result.rows) chosen.columns.push_back(fmt::format("{} pairs", row.matched));
  chosen.text_columns = chosen.columns.size();
  for (std::size_t k = 0; k < result.rows.front().draws.size(); ++k) {
    std::vector<std::string> cells = {fmt::format("{}", k + 1)};
    for (const SarRow& row : result.rows) cells.push_back(row.draws[k].tuned.description());
    chosen.rows.push_back(std::move(cells));
  }
  page.table(chosen);
  page.write(folder + "/report.html");
}

}  // namespace cgmca::experiments
