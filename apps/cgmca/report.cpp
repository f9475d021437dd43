// cgmca report: one page that shows a model, and the pairs in it.
#include <cgmca/error.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <memory>
#include <span>

#include "commands.hpp"
#include "describe.hpp"
#include "files.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report/html.hpp"
#include "report/plot.hpp"
#include "signals.hpp"

namespace cgmca::cli {
namespace {

using report::Page;
using report::Series;

constexpr Index kScatterPairs = 600, kPictures = 12;  // shown at most

struct Options {
  std::string model, output, shape;
  PairSources pairs;
};

struct Shape {
  Index height = 0, width = 0;
  Index size() const { return height * width; }
};

Shape parse_shape(const std::string& text) {
  Shape shape;
  const char* end = text.data() + text.size();
  const auto [cross, problem] = std::from_chars(text.data(), end, shape.height);
  bool good = problem == std::errc() && cross != end && *cross == 'x';
  if (good) {
    const auto [stop, second] = std::from_chars(cross + 1, end, shape.width);
    good = second == std::errc() && stop == end && shape.height > 0 && shape.width > 0;
  }
  if (!good) throw UsageError(fmt::format("--shape is HEIGHTxWIDTH as in 28x28, not '{}'", text));
  return shape;
}

// What one pass over the pairs finds: whether the model fits them, and some of them to look at.
struct Seen {
  Attained attained;
  std::array<Matrix, 2> scores;  // of the pairs shown: 2 (or 1) × pairs
};

// The model whose common space is the first two canonical scores.
Model first_scores(Model model) {
  const Index most = std::min<Index>({2, model.domain(Domain::one).scores(), model.domain(Domain::two).scores()});
  for (auto& map : model.domains) map->mixing = Matrix::Identity(most, map->scores());
  model.common_dimension = most;
  return model;
}

Seen look_at_pairs(const Session& session, const Model& model, const Options& options) {
  PairReader reader(options.pairs, session);
  reader.check_features(model, options.model);
  const Model scores = first_scores(model);
  const Index step = std::max<Index>(1, reader.samples().value_or(0) / kScatterPairs);
  Verifier verifier(model);
  Seen seen;
  Progress progress(session, "pairs read", reader.samples());
  for (Index done = 0;;) {
    const PairReader::Block block = reader.next();
    if (block.X1.cols() == 0) break;
    verifier.add(block.X1, block.X2);
    for (Index j = (step - done % step) % step; j < block.X1.cols() && seen.scores[0].cols() < kScatterPairs;
         j += step) {
      for (Domain domain : kDomains) {
        Matrix& shown = seen.scores[slot(domain)];
        shown.conservativeResize(scores.common_dimension, shown.cols() + 1);
        shown.rightCols(1) = apply(scores, domain, (domain == Domain::one ? block.X1 : block.X2).col(j));
      }
    }
    done += block.X1.cols();
    progress.update(done);
    stop_if_interrupted();
  }
  seen.attained = verifier.attained();
  return seen;
}

std::vector<double> values(const Vector& vector) { return {vector.begin(), vector.end()}; }

std::vector<double> counted(Index count) { return values(Vector::LinSpaced(count, 1, static_cast<double>(count))); }

void add_facts(Page& page, const Model& model) {
  report::Table table{{"", "domain 1", "domain 2"}, {}, "The two maps take these features into one common space."};
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
        fmt::format("{:.1e}", found.constraint_residuals[i]));
  }
  row("pairs", fmt::format("{}", model.samples), fmt::format("{}", found.samples));
  table.caption =
      "What the model claims, and what its maps do to the pairs given. The maps are optimal where the mean squared "
      "distance of pairs is the least possible, and have the prescribed covariances where the residuals are at "
      "rounding "
      "level.";
  page.section("Certificate").table(table);
}

void add_spectra(Page& page, const Model& model) {
  const Vector& correlations = model.certificate.singular_B;
  page.section("Canonical correlations")
      .figure(
          report::stems({{"", counted(correlations.size()), values(correlations)}}, {.title = "Canonical correlations",
                                                                                     .x_label = "direction",
                                                                                     .y_label = "correlation",
                                                                                     .y_low = 0,
                                                                                     .y_high = 1}),
          "How strongly the two domains share each direction; 1: fully. All at 1 means fewer pairs than features.");
  std::vector<Series> spectra;
  for (Domain domain : kDomains) {
    if (!model.domains[slot(domain)]) continue;
    Vector spectrum = model.domain(domain).covariance_spectrum();
    spectrum = (spectrum.array() / spectrum(0)).max(1e-16).log10();
    spectra.push_back({fmt::format("domain {}", number(domain)), counted(spectrum.size()), values(spectrum)});
  }
  if (spectra.size() == 2 && spectra[0].y == spectra[1].y) {
    spectra.pop_back();
    spectra.front().name = "both domains";
  }
  page.section("Covariance spectrum")
      .figure(report::line_plot(spectra, {.title = "Covariance spectrum",
                                          .x_label = "eigenvalue",
                                          .y_label = "log₁₀ of its share of the largest",
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
  std::vector<report::Picture> strips;
  page.section("Loadings");
  for (Domain domain : kDomains) {
    if (!model.domains[slot(domain)]) continue;
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

void run(const Session& session, const Options& options) {
  if (options.pairs.given() && options.pairs.paths[1].empty()) throw UsageError("give both X1 and X2, or neither");
  std::optional<Shape> shape;
  if (!options.shape.empty()) shape = parse_shape(options.shape);
  std::vector<std::string> inputs = {options.model};
  if (options.pairs.given()) inputs.insert(inputs.end(), options.pairs.paths.begin(), options.pairs.paths.end());
  check_target(options.output, inputs);

  const Model model = Model::load(options.model);
  if (shape) {
    bool fits = false;
    for (const auto& map : model.domains) fits = fits || (map && map->features() == shape->size());
    if (!fits)
      throw InvalidInput(fmt::format("--shape {} is {} pixels, as neither domain has", options.shape, shape->size()));
  }
  std::optional<Seen> seen;
  if (options.pairs.given()) seen = look_at_pairs(session, model, options);

  Page page(fmt::format("Fit of {}", options.model),
            fmt::format("{} pairs, {} common dimensions", model.samples, model.common_dimension));
  add_facts(page, model);
  add_certificate(page, model, seen ? &*seen : nullptr);
  add_spectra(page, model);
  if (seen) add_pairs(page, model, *seen);
  add_loadings(page, model, shape);
  page.write(options.output);
  session.result({{"report", options.output}}, "", {options.output});
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("report", "Show a model, and pairs in it, on one page for the browser");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  add_pair_options(command, options->pairs, false);
  add_output_option(command, options->output, "HTML", "The page to write: one file that needs no network");
  command.add_option("--shape", options->shape, "The features are pixels of such an image, row by row, as in 28x28")
      ->option_text("HxW");
  command.footer(
      "Examples:\n"
      "  cgmca report m -o report.html\n"
      "  cgmca report m a.npy b.npy -o report.html");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
