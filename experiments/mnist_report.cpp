// out/mnist/report.html: the paper's table and figures, and why the table looks as it does.
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <span>

#include "experiments/mnist.hpp"
#include "report/html.hpp"
#include "report/plot.hpp"
#include "report/png.hpp"

namespace cgmca::experiments {
namespace {

using report::Image;
using report::Page;
using report::Series;

namespace fs = std::filesystem;

// A folder inside the target in which files wait until all are written: on an error none has changed.
class Staging {
 public:
  explicit Staging(const std::string& target)
      : target_(target), folder_((target_ / fmt::format(".report.{}", ::getpid())).string()) {
    std::error_code failure;
    fs::create_directories(folder_, failure);
    if (failure) throw IoError(fmt::format("cannot make the folder '{}': {}", folder_, failure.message()));
  }
  ~Staging() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  const std::string& folder() const { return folder_; }

  void publish() const {
    for (const auto& file : fs::directory_iterator(folder_)) {
      std::error_code failure;
      fs::rename(file.path(), target_ / file.path().filename(), failure);
      if (failure) throw IoError(fmt::format("cannot write to '{}': {}", target_.string(), failure.message()));
    }
  }

 private:
  fs::path target_;
  std::string folder_;
};

enum class Range { unit, full };  // black to white: 0 to 1, or the image's own least to greatest value

Image picture(const Vector& pixels, ImageSize size, Range range) {
  const double low = range == Range::unit ? 0 : pixels.minCoeff(), high = range == Range::unit ? 1 : pixels.maxCoeff();
  return report::gray(std::span(pixels.data(), static_cast<std::size_t>(pixels.size())), size.height, size.width, low,
                      high);
}

struct Stage {
  const char* label;
  Vector Example::*pixels;
  Range range;
};

// The rows of the paper's figure with one example of every digit, and two more.
constexpr std::array<Stage, 6> kRows{{{"clean", &Example::clean, Range::unit},
                                      {"corrupted", &Example::noisy, Range::unit},
                                      {"MCA, filtered", &Example::mca_filtered, Range::unit},
                                      {"CGMCA, filtered", &Example::cgmca_filtered, Range::unit},
                                      {"exact", &Example::exact, Range::unit},
                                      {"lmmse", &Example::lmmse, Range::unit}}};

// The paper's three figures of a single "3": the pair, the LSQR solutions, the same filtered.
constexpr std::array<Stage, 6> kSingle{{{"clean", &Example::clean, Range::unit},
                                        {"corrupted", &Example::noisy, Range::unit},
                                        {"MCA", &Example::mca, Range::full},
                                        {"CGMCA", &Example::cgmca, Range::full},
                                        {"MCA, filtered", &Example::mca_filtered, Range::unit},
                                        {"CGMCA, filtered", &Example::cgmca_filtered, Range::unit}}};

std::string pm(const MnistResult& result, const DigitRow& row, double Scores::*score) {
  return result.options.repeat > 1 ? fmt::format("{:.4f} ± {:.4f}", row.mean(score), row.sd(score))
                                   : fmt::format("{:.4f}", row.mean(score));
}

void add_table(Page& page, const MnistResult& result) {
  report::Table table;
  table.columns = {"class", "t", "train", "test", "MCA", "CGMCA"};
  if (result.is_mnist) table.columns.insert(table.columns.end(), {"paper: MCA", "paper: CGMCA"});
  for (const DigitRow& row : result.rows) {
    std::vector<std::string> cells{std::to_string(row.digit),     std::to_string(row.t),
                                   std::to_string(row.n_train),   std::to_string(row.n_test),
                                   pm(result, row, &Scores::mca), pm(result, row, &Scores::cgmca)};
    if (result.is_mnist) {
      for (const double score : paper_scores(row.digit)) cells.push_back(fmt::format("{:.4f}", score));
    }
    table.rows.push_back(std::move(cells));
  }
  std::vector<std::string> last{"mean",
                                "",
                                "",
                                "",
                                fmt::format("{:.4f}", result.mean(&Scores::mca)),
                                fmt::format("{:.4f}", result.mean(&Scores::cgmca))};
  last.resize(table.columns.size());
  table.rows.push_back(std::move(last));
  table.last_row_sums = true;
  table.caption = "Mean SSIM over each class's test images after 20 LSQR steps, wiener2, medfilt2 and min-max scaling.";
  page.section("The table").table(table);
}

void add_beyond(Page& page, const MnistResult& result) {
  report::Table table;
  table.columns = {"class", "noisy", "exact", "lmmse", "noisy, dB", "exact, dB", "lmmse, dB", "exact: MCA vs CGMCA"};
  for (const DigitRow& row : result.rows) {
    table.rows.push_back({std::to_string(row.digit), pm(result, row, &Scores::noisy), pm(result, row, &Scores::exact),
                          pm(result, row, &Scores::lmmse), fmt::format("{:.2f}", row.mean(&Scores::noisy_psnr)),
                          fmt::format("{:.2f}", row.mean(&Scores::exact_psnr)),
                          fmt::format("{:.2f}", row.mean(&Scores::lmmse_psnr)),
                          fmt::format("{:.0e}", row.exact_difference)});
  }
  const auto mean = [&](double Scores::*score, int digits) {
    return fmt::format("{:.{}f}", result.mean(score), digits);
  };
  table.rows.push_back({"mean", mean(&Scores::noisy, 4), mean(&Scores::exact, 4), mean(&Scores::lmmse, 4),
                        mean(&Scores::noisy_psnr, 2), mean(&Scores::exact_psnr, 2), mean(&Scores::lmmse_psnr, 2), ""});
  table.last_row_sums = true;
  table.caption =
      "SSIM and PSNR of translations clipped to [0, 1] and not filtered. Last column: relative difference between the "
      "exact translations by MCA, fitted by itself, and by CGMCA: the same map up to rounding.";
  page.section("Beyond the table").table(table);
  page.text(
      "The exact translation mean + A1⁺ A2 (x - mean) does not depend on the covariance prescribed, as long as it is "
      "the same for both domains and of the same rank. The best linear estimate (lmmse) weighs every canonical "
      "direction by its correlation instead of passing the noise of the weak ones on.");
  std::vector<std::string> classes;
  Series noisy{"noisy", {}, {}}, exact{"exact", {}, {}}, lmmse{"lmmse", {}, {}};
  for (const DigitRow& row : result.rows) {
    classes.push_back(std::to_string(row.digit));
    noisy.y.push_back(row.mean(&Scores::noisy));
    exact.y.push_back(row.mean(&Scores::exact));
    lmmse.y.push_back(row.mean(&Scores::lmmse));
  }
  page.figure(report::bars(classes, {noisy, exact, lmmse},
                           {.title = "SSIM per class", .x_label = "class", .y_label = "mean SSIM", .y_low = 0}),
              "Mean SSIM of the corrupted images and of their closed-form translations.");
}

void add_single(Page& page, const MnistResult& result, const DigitRow& row, const std::string& folder) {
  std::vector<report::Picture> pictures;
  std::vector<Image> images;
  for (const Stage& stage : kSingle) {
    images.push_back(picture(row.example.*stage.pixels, result.size, stage.range));
    pictures.push_back({stage.label, images.back()});
  }
  page.section("One image on its way");
  page.pictures(pictures,
                "A clean image and its corrupted twin; what 20 LSQR steps make of the twin by MCA and by CGMCA (grey "
                "levels stretched); the same filtered by wiener2 and medfilt2 and scaled to [0, 1].");
  report::write_png(folder + "/one_image.png", report::enlarge(report::montage(images, 2, 2), 4));
}

void add_montage(Page& page, const MnistResult& result, const std::string& folder) {
  const auto columns = std::ssize(result.rows);
  std::vector<report::Picture> strips;
  std::vector<Image> all;
  for (const Stage& stage : kRows) {
    std::vector<Image> images;
    for (const DigitRow& row : result.rows)
      images.push_back(picture(row.example.*stage.pixels, result.size, stage.range));
    all.insert(all.end(), images.begin(), images.end());
    strips.push_back({stage.label, report::montage(images, columns)});
  }
  page.section("One image of every class");
  page.strips(strips, "The paper's four rows, then the exact and the best linear translation, clipped to [0, 1].");
  report::write_png(folder + "/classes.png", report::enlarge(report::montage(all, columns), 4));
}

void add_curve(Page& page, const IterationCurve& curve) {
  const std::vector<double> x(curve.iterations.begin(), curve.iterations.end());
  const auto plot = [&](const std::vector<double>& mca, const std::vector<double>& cgmca, double exact) {
    return report::line_plot({{"MCA", x, mca}, {"CGMCA", x, cgmca}, {"exact", {x.front(), x.back()}, {exact, exact}}},
                             {.title = "SSIM against LSQR iterations",
                              .x_label = "LSQR iterations",
                              .y_label = "mean SSIM",
                              .log_x = true,
                              .y_low = 0,
                              .markers = true});
  };
  page.section("Why the table looks as it does");
  page.text(fmt::format(
      "The table stops LSQR after 20 steps, on the way to the exact translation, which is the same for MCA and CGMCA. "
      "The covariance prescribed decides how far 20 steps lead. {} ({:.0e} for MCA, {:.0e} for CGMCA). A likely reason "
      "is where a point of the common space has its energy: MCA spreads it evenly over all t directions, while with "
      "CGMCA {:.0f} % of the variance lies along the first 20.",
      curve.cgmca_condition < curve.mca_condition / 2
          ? "Here CGMCA's map is also the better conditioned, which it is not on MNIST's digits"
          : "That is not because CGMCA's map were better conditioned",
      curve.mca_condition, curve.cgmca_condition, 100 * curve.leading_share));
  page.figure(plot(curve.mca, curve.cgmca, curve.exact),
              fmt::format("Class {}, {} test images, filtered and scaled as in the table, which reads off at 20 steps.",
                          curve.digit, curve.images));
  page.figure(plot(curve.mca_clipped, curve.cgmca_clipped, curve.exact_clipped),
              "The same images clipped to [0, 1] and not filtered. The first steps yield nearly black images, whose "
              "similarity to a digit is that of its black ground.");
}

void add_correlations(Page& page, const MnistResult& result) {
  constexpr std::size_t most = 6;  // curves that can be told apart
  std::vector<Series> series;
  for (const DigitRow& row : result.rows) {
    if (series.size() == most) break;
    std::vector<double> x(static_cast<std::size_t>(row.correlations.size()));
    std::iota(x.begin(), x.end(), 1.0);
    series.push_back({fmt::format("class {}", row.digit), x, {row.correlations.begin(), row.correlations.end()}});
  }
  page.section("Canonical correlations");
  page.figure(
      report::line_plot(series, {.title = "Canonical correlations",
                                 .x_label = "direction",
                                 .y_label = "correlation",
                                 .y_low = 0,
                                 .y_high = 1}),
      fmt::format("What each pair of directions of the clean and the corrupted training images shares{}. The exact "
                  "translation treats all of the first t alike; lmmse weighs them by these figures.",
                  result.rows.size() > most ? fmt::format("; the first {} classes", most) : ""));
}

}  // namespace

void write_report(const MnistResult& result, const std::string& target) {
  if (result.rows.empty() || result.curve.iterations.empty()) throw InvalidInput("a report needs a run with figures");
  const Staging staging(target);
  const std::string& folder = staging.folder();
  const bool imnoise = result.options.noise == Noise::imnoise;
  Page page(fmt::format("{}: from corrupted to clean images", result.data),
            fmt::format("noise {} · seed {} · {} run{} · {:.1f} s", name(result.options.noise), result.options.seed,
                        result.options.repeat, result.options.repeat == 1 ? "" : "s", result.seconds));
  page.text(
      "Per class, 80 % of the images train two pairs of maps, MCA and CGMCA, from clean and corrupted images into a "
      "common space; the corrupted images among the other 20 % are then translated back to clean ones.");
  page.text(imnoise ? "Noise: Gaussian of variance 0.1, clipped to [0, 1], as MATLAB's imnoise(x, 'gaussian', 0, 0.1) "
                      "makes it. The paper's text says standard deviation 0.1, but its table is matched by this."
                    : "Noise: Gaussian of standard deviation 0.1, not clipped, as the paper's text says. Its table is "
                      "matched by a variance of 0.1 instead (noise imnoise).");
  const auto shown = std::find_if(result.rows.begin(), result.rows.end(),
                                  [&](const DigitRow& row) { return row.digit == result.curve.digit; });
  add_table(page, result);
  add_single(page, result, shown == result.rows.end() ? result.rows.front() : *shown, folder);
  add_montage(page, result, folder);
  add_curve(page, result.curve);
  add_beyond(page, result);
  add_correlations(page, result);
  page.write(folder + "/report.html");
  staging.publish();
}

}  // namespace cgmca::experiments
