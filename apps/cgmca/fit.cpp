// cgmca fit: from matched pairs, or a summary of them, to a model.
#include <cgmca/calibrate.hpp>
#include <cgmca/fit.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "covariance_spec.hpp"
#include "describe.hpp"
#include "estimate.hpp"
#include "files.hpp"
#include "options.hpp"
#include "pairs.hpp"
#include "progress.hpp"
#include "regularization.hpp"
#include "signals.hpp"
#include "tuning.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  PairSources pairs;
  std::string summary, output;
  CovarianceSpecs covariances;
  Accumulate accumulate = Accumulate::automatic;
  RegularizationSpecs regularization;
  ExtraSources extra;
  bool tune = false;
  TuningSpecs tuning;
  Index calibrate = 0;
  double rank_tol = -1;
  Limits limits;
};

void check(const Options& options) {
  const bool both = !options.pairs.paths[0].empty() && !options.pairs.paths[1].empty();
  if (options.summary.empty() && !both) throw UsageError("fit needs two inputs, X1 and X2, or --summary FILE");
  if (!options.summary.empty() && options.pairs.given()) throw UsageError("give X1 and X2 or --summary, not both");
  if (!options.summary.empty() && !options.pairs.weights.empty()) {
    throw UsageError("--weights belongs to X1 and X2; a summary has its weights inside, give them to summarize");
  }
  if (options.output.empty() && !options.limits.dry_run) throw UsageError("fit needs -o MODEL");
  if (options.calibrate > 0 && !options.summary.empty()) {
    throw UsageError("--calibrate deals the pairs to folds, which a summary does not allow; give X1 and X2");
  }
  options.covariances.check();
  Regularization unused;
  options.regularization.apply_to(unused);
  if (options.tune) {
    if (!options.summary.empty()) {
      throw UsageError("--tune deals the pairs to folds anew, which a summary does not allow; give X1 and X2");
    }
    if (options.regularization.given() || options.covariances.given()) {
      throw UsageError(
          "--tune chooses covariance, max rank and ridge itself; say what to try with --covs, --ranks, "
          "--max-ranks and --ridges");
    }
    if (options.calibrate > 0 && options.calibrate != options.tuning.folds.folds) {
      throw UsageError(
          fmt::format("--tune and --calibrate use the same folds; give --folds {} too", options.calibrate));
    }
    options.tuning.check();
  }
  if (options.output.empty()) return;
  std::vector<std::string> inputs = options.pairs.files();
  inputs.insert(inputs.end(), options.extra.paths.begin(), options.extra.paths.end());
  inputs.push_back(options.summary);
  check_target(options.output, inputs);
  const std::string extension = extension_of(options.output);
  for (const char* data : {".mat", ".npz", ".h5", ".hdf5", ".npy", ".csv", ".tsv"}) {
    if (extension != data) continue;
    throw UsageError(
        fmt::format("a model is not a {} file: write it as in -o m. For other programs: "
                    "cgmca export m -o m.mat (or .npz, .h5)",
                    extension));
  }
}

// Whether to go on: with --dry-run the figures are printed instead.
bool estimate_files(const Session& session, const Options& options, const PairReader& reader) {
  const Index d1 = reader.features(Domain::one), d2 = reader.features(Domain::two);
  const auto n = reader.samples();
  const Estimate estimate =
      estimate_fit(estimate_summary(d1, d2, n, options.accumulate, bytes_held(reader)), d1, d2, n);
  session.detail(fmt::format("{} and {}; about {} of memory", reader.shape(Domain::one), reader.shape(Domain::two),
                             bytes_text(estimate.memory)));
  return !stop_at_estimate(session, options.limits, estimate, {{"n", n ? Json(*n) : Json(nullptr)}, {"dims", {d1, d2}}},
                           {{"X1", reader.shape(Domain::one)}, {"X2", reader.shape(Domain::two)}});
}

// What there is to fit; nothing after a dry run.
struct Input {
  std::optional<Summary> summary;
  std::optional<Folds> folds;  // where they are to be calibrated with
  std::optional<TuneResult> tuned;
  ExtraSamples extra;
};

DataOptions data_options(const Options& options, const ExtraSamples& extra) {
  DataOptions data;
  if (options.rank_tol >= 0) data.rank_tol = options.rank_tol;
  data.extra = pointers(extra);
  return data;
}

Input read_files(const Session& session, const Options& options) {
  Input input;
  PairReader reader(options.pairs, session);
  if (!estimate_files(session, options, reader)) return input;
  input.extra = read_extra(session, {options.extra.paths, options.pairs.input}, reader.domains());
  if (options.tune) {
    TuningSpecs specs = options.tuning;
    specs.folds.accumulate = options.accumulate;
    Tuning tuning = run_tuning(session, reader, specs, data_options(options, input.extra), options.pairs.input);
    input.summary = tuning.folds.all();
    input.tuned = tuning.result;
    if (options.calibrate > 0) input.folds = std::move(tuning.folds);
    return input;
  }
  if (options.calibrate > 0) {
    FoldOptions folds = options.tuning.folds;
    folds.folds = options.calibrate;
    folds.accumulate = options.accumulate;
    input.folds.emplace(reader.domains(), folds);
    read_folds(session, reader, *input.folds);
    input.summary = input.folds->all();
    return input;
  }
  input.summary.emplace(reader.domains(), options.accumulate);
  accumulate(session, reader, *input.summary);
  return input;
}

Input read_summary(const Session& session, const Options& options) {
  Summary summary = Summary::load(options.summary);
  const Index d1 = summary.dimension(Domain::one), d2 = summary.dimension(Domain::two), n = summary.samples();
  Estimate estimate = estimate_fit(estimate_summary(d1, d2, n, summary.accumulate(), 0), d1, d2, n);
  estimate.route = fmt::format("{}, then three SVDs", name(summary.form()));
  if (stop_at_estimate(session, options.limits, estimate, describe(summary), {{"summary", options.summary}})) {
    return {};
  }
  Input input;
  input.extra = read_extra(session, {options.extra.paths, options.pairs.input},
                           {summary.domain(Domain::one), summary.domain(Domain::two)});
  input.summary = std::move(summary);
  return input;
}

void run(const Session& session, const Options& options) {
  check(options);
  std::optional<EndsAtOnce> until_written(std::in_place);
  auto [c1, c2] = options.covariances.parse();
  const Input input = options.summary.empty() ? read_files(session, options) : read_summary(session, options);
  if (!input.summary) return;
  const DataOptions data = data_options(options, input.extra);
  Regularization regularization;
  options.regularization.apply_to(regularization);
  FitOptions fit_options{data.rank_tol, regularization.max_rank, regularization.ridge, data.extra};
  if (input.tuned) {
    c1 = c2 = input.tuned->choice().covariance();
    fit_options = input.tuned->choice().options(data);
  }
  session.detail(fmt::format("{} pairs in the form '{}'", input.summary->samples(), name(input.summary->form())));
  Model model = fit(*input.summary, c1, c2, fit_options);
  if (input.folds) {
    const Index folds = input.folds->options().folds * std::max<Index>(1, input.folds->options().repeats);
    Progress progress(session, "folds calibrated", folds);
    model = calibrate(std::move(model), *input.folds, c1, c2, fit_options, [&](double done) {
      progress.update(static_cast<Index>(std::lround(done * static_cast<double>(folds))));
      stop_if_interrupted();
    });
  }
  for (const std::string& warning : model.warnings()) session.message("warning: " + warning);
  Json object = describe(model);
  if (input.tuned) object["tuning"] = describe(*input.tuned);
  until_written.reset();
  model.save(options.output);
  session.result(std::move(object), (input.tuned ? describe_text(*input.tuned) + "\n" : "") + describe_text(model),
                 {options.output});
}

}  // namespace

void add_fit(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("fit", "Find the two maps of matched pairs, with their certificate");
  add_pair_options(command, options->pairs, false);
  command.add_option("--summary", options->summary, "Fit a summary written by summarize or merge instead of X1 and X2")
      ->option_text("FILE");
  add_output_option(command, options->output, "MODEL", "The model file to write", false);
  add_covariance_options(command, options->covariances);
  add_regularization_options(command, options->regularization);
  add_extra_options(command, options->extra);
  command.add_flag("--tune", options->tune, "Choose covariance, max rank and ridge by cross-validation, as tune does");
  add_tuning_options(command, options->tuning);
  command
      .add_option("--calibrate", options->calibrate,
                  "Measure the errors of translations on K parts of the pairs, each left out in turn (10 serves); with "
                  "--tune as many as its --folds")
      ->check(CLI::Range(2, 1000))
      ->option_text("K");
  add_accumulate_option(command, options->accumulate);
  command
      .add_option("--rank-tol", options->rank_tol,
                  "A domain's rank counts singular values above T times the largest; default: max(d, n)·eps")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("T");
  add_limit_options(command, options->limits);
  command.footer(
      "SPEC, the covariance that the common space shall have:\n"
      "  identity      plain matching component analysis with as many dimensions as the data allow\n"
      "  identity:K    the same with K dimensions\n"
      "  correlation:K each of K directions spread as its pair is correlated\n"
      "  likelihood2   the nearest sample of domain 1 is the likeliest partner of one of domain 2; needs a ridge or\n"
      "                more pairs than features; likelihood1 likewise for samples of domain 1\n"
      "  data1:T       best rank-T approximation of domain 1's own covariance; data2:T likewise\n"
      "  file:PATH     a covariance matrix, K×K\n"
      "  factor:PATH   F of a covariance F Fᵀ, K×P\n"
      "  sd:PATH       K standard deviations of independent measurements\n\n"
      "Examples:\n"
      "  cgmca fit a.npy b.npy -o m\n"
      "  cgmca fit a.npy b.npy --cov data1:3 -o m --json\n"
      "  cgmca fit a.npy b.npy --cov correlation:3 --max-rank 4 --ridge 0.1 -o m\n"
      "  cgmca fit a.npy b.npy --cov likelihood2 --ridge 1 -o m\n"
      "  cgmca fit a.npy b.npy --cov identity:2 --calibrate 10 -o m\n"
      "  cgmca fit a.npy b.npy --tune -o m\n"
      "  cgmca fit a.npy b.npy --weights w.npy -o m\n"
      "  cgmca fit --summary s --cov1 identity:4 --cov2 identity:4 -o m");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
