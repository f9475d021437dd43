// cgmca report: one page that shows a model, and matched samples in it.
#include <cgmca/error.hpp>
#include <cgmca/explained.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <memory>

#include "commands/commands.hpp"
#include "commands/report_parts.hpp"
#include "input/domains.hpp"
#include "options/options.hpp"
#include "output/describe.hpp"
#include "output/files.hpp"
#include "report/html.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

constexpr Index kScatterPairs = 600;  // shown at most

struct ReportArguments {
  std::string model, output, shape, labels;
  PairSources pairs;
  Index replicas = 0;
};

// A label a line.
std::vector<std::string> read_labels_text(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw IoError(fmt::format("cannot read '{}'", path));
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    labels.push_back(line);
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  return labels;
}

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

// The model whose common space is the first two canonical scores.
Model first_scores(Model model) {
  Index most = 2;
  for (const Domain domain : all_domains(model.count())) most = std::min(most, model.domain(domain).scores());
  for (auto& map : model.domains) map->mixing = Matrix::Identity(most, map->scores());
  model.common_dimension = most;
  return model;
}

Seen look_at_pairs(const Session& session, const Model& model, const ReportArguments& options,
                   const std::optional<Shape>& shape) {
  if (model.nuisance) throw UsageError("the report of a model with a nuisance has no part on samples: leave them out");
  PairReader reader(options.pairs, session);
  reader.check_features(model, options.model);
  const Model scores = first_scores(model);
  const Index step = std::max<Index>(1, reader.samples().value_or(0) / kScatterPairs);
  Verifier verifier(model);
  std::optional<Diagnoser> diagnoser;
  if (std::all_of(model.certificate.constrained.begin(), model.certificate.constrained.end(),
                  [](const Regularized& one) { return one.data > 0; })) {
    diagnoser.emplace(model);
  }
  std::optional<BootstrapSamples> samples;
  if (options.replicas > 0) samples.emplace(reader.domains());
  const std::vector<std::string> labels =
      options.labels.empty() ? std::vector<std::string>{} : read_labels_text(options.labels);
  ByDomain<std::optional<MeasuredR2>> r2(model.domains.size());
  for (const Domain domain : all_domains(model.count())) {
    if (is_table(model, domain, shape)) r2[domain].emplace(model, domain);
  }
  const EndsAtOnce nothing_is_written_yet;
  Seen seen;
  seen.scores.resize(model.domains.size());
  seen.r2.resize(model.domains.size());
  Progress progress(session, reader.noun() + " read", reader.samples());
  for (Index done = 0;;) {
    const PairReader::Block block = reader.next();
    if (block.samples() == 0) break;
    add_to(verifier, block);
    if (diagnoser) diagnoser->add(block.views());
    if (samples) samples->add(MatchedSamples(block.X.begin(), block.X.end()), block.weights);
    for (auto& of_domain : r2) {
      if (of_domain) of_domain->add(block.views(), block.weights);
    }
    for (Index j = (step - done % step) % step; j < block.samples() && seen.scores[0].cols() < kScatterPairs;
         j += step) {
      const Index number = reader.numbers().empty() ? done + j : reader.numbers()[j];
      seen.numbers.push_back(number);
      if (!labels.empty()) {
        if (number >= std::ssize(labels)) {
          throw UnequalSamples(
              fmt::format("'{}' has {} labels, and there are more samples", options.labels, labels.size()));
        }
        seen.labels.push_back(labels[number]);
      }
      for (const Domain domain : all_domains(model.count())) {
        Matrix& shown = seen.scores[domain];
        shown.conservativeResize(scores.common_dimension, shown.cols() + 1);
        shown.rightCols(1) = apply(scores, domain, block.X[domain].col(j));
      }
    }
    done += block.samples();
    progress.update(done);
    stop_if_interrupted();
  }
  seen.verification = verifier.verification();
  if (diagnoser && diagnoser->samples() >= 8) seen.diagnosis = diagnoser->diagnosis();
  if (samples) {
    Progress replicas(session, "replicas", options.replicas);
    BootstrapOptions how;
    how.replicas = options.replicas;
    how.progress = [&](double part) {
      replicas.update(static_cast<Index>(std::lround(part * static_cast<double>(options.replicas))));
      stop_if_interrupted();
    };
    seen.bootstrap = bootstrap(*samples, model, how);
  }
  for (std::size_t i = 0; i < r2.size(); ++i) {
    if (r2[i]) seen.r2[i] = r2[i]->value().features;
  }
  return seen;
}

constexpr Index kMostChecked = 2000;  // pairs that are looked at one by one

void run(const Session& session, const ReportArguments& options) {
  if (!options.pairs.given() && !options.pairs.weights.empty())
    throw UsageError("--weights needs the samples too; give them after the model");
  if (!options.pairs.given() && (!options.labels.empty() || options.replicas > 0))
    throw UsageError("--labels and --bootstrap need the samples too; give them after the model");
  std::optional<Shape> shape;
  if (!options.shape.empty()) shape = parse_shape(options.shape);
  std::vector<std::string> inputs = {options.model};
  if (options.pairs.given())
    for (const std::string& file : options.pairs.files()) inputs.push_back(file);
  check_target(options.output, inputs);

  const Model whole = Model::load(options.model), model = whole.fitted();
  if (options.pairs.given()) {
    check_inputs(options.pairs.paths.size(), model,
                 model.count() == 2 ? "; give both, or none" : "; give all, or none");
  }
  if (shape) {
    bool fits = false;
    for (const auto& map : model.domains) fits = fits || (map && map->features() == shape->size());
    if (!fits)
      throw InvalidInput(
          fmt::format("--shape {} has {} pixels, but no domain has as many features", options.shape, shape->size()));
  }
  std::optional<Seen> seen;
  if (options.pairs.given()) seen = look_at_pairs(session, model, options, shape);

  const Seen* pairs = seen ? &*seen : nullptr;
  report::Page page(fmt::format("Fit of {}", options.model),
                    fmt::format("{} {}, {} common dimensions", pairs_text(model.samples, model.total_weight),
                                matched_noun(model.count()), model.common_dimension));
  add_facts(page, model);
  add_graph(page, model);
  add_certificate(page, model, pairs);
  add_starts(page, model);
  add_additions(page, whole);
  add_correlations(page, model);
  add_correlation_tests(page, model);
  add_error_bars(page, model);
  add_features(page, model, pairs, shape);
  add_pictures(page, model, pairs);
  add_spectra(page, model);
  if (seen) add_pairs(page, model, *seen);
  if (seen && model.count() == 2 && seen->verification.samples <= kMostChecked) {
    PairReader reader(options.pairs, session);
    reader.check_features(model, options.model);
    const AllPairs all = read_all(session, reader);
    add_pair_check(page, all.X, all.numbers);
  }
  add_loadings(page, model, shape);
  const std::size_t bytes = page.write(options.output);
  session.result({{"report", options.output}, {"bytes", bytes}},
                 fmt::format("wrote {} ({})\n", options.output, bytes_text(static_cast<double>(bytes))),
                 {options.output});
}

}  // namespace

void add_report(CLI::App& app, Session& session) {
  auto options = std::make_shared<ReportArguments>();
  auto& command = *app.add_subcommand("report", "Show a model, and matched samples in it, on one page for the browser");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  add_pair_options(command, options->pairs, false);
  add_output_option(command, options->output, "HTML", "The page to write: one file that needs no network");
  command.add_option("--shape", options->shape, "The features are pixels of such an image, row by row, as in 28x28")
      ->option_text("HxW");
  command.add_option("--labels", options->labels, "Labels of the samples, one a line, that colour their scores")
      ->option_text("FILE");
  command.add_option("--bootstrap", options->replicas, "Show intervals of so many fits to samples drawn again, as 200")
      ->check(CLI::Range(10, 1000000))
      ->option_text("N");
  command.footer(
      "Examples:\n"
      "  cgmca report m -o report.html\n"
      "  cgmca report m a.npy b.npy -o report.html\n"
      "  cgmca report m a.npy b.npy --bootstrap 50 -o report.html\n"
      "  cgmca report m3 a.npy b.npy d.npy -o report.html");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
