// cgmca fit: from matched samples, or a summary of them, to a model.
#include <cgmca/calibrate.hpp>
#include <cgmca/check_pairs.hpp>
#include <cgmca/diagnose.hpp>
#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>
#include <cgmca/incomplete.hpp>
#include <cgmca/parts.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>

#include "commands/commands.hpp"
#include "input/domains.hpp"
#include "input/pairs.hpp"
#include "options/covariance_spec.hpp"
#include "options/graph_spec.hpp"
#include "options/options.hpp"
#include "options/regularization.hpp"
#include "options/tuning.hpp"
#include "output/describe.hpp"
#include "output/estimate.hpp"
#include "output/files.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

struct FitArguments {
  PairSources pairs;
  std::string summary, output;
  CovarianceSpecs covariances;
  Accumulate accumulate = Accumulate::automatic;
  Device device = Device::cpu;
  RegularizationSpecs regularization;
  MatchingSpecs matching;
  ExtraSources extra;
  bool tune = false, robust = false, blind = false;
  TuningSpecs tuning;
  const CLI::Option* seed = nullptr;
  Index calibrate = 0;
  double rank_tol = -1;
  bool scale = false;
  Limits limits;
};

// What can be told once the number of domains is known.
void check_domains(const FitArguments& options, Index domains) {
  options.covariances.check(domains);
  options.regularization.parse(domains);
  options.matching.parse(domains);
  check_numbered("extra", options.extra.paths, domains);
}

void check(const FitArguments& options) {
  const bool files = options.summary.empty();
  if (files && options.pairs.domains() < 2) {
    throw UsageError("fit needs two inputs or more, one for each domain, or --summary FILE");
  }
  if (!files && options.pairs.given()) throw UsageError("give inputs or --summary, not both");
  if (!files && !options.pairs.weights.empty()) {
    throw UsageError("--weights belongs to the inputs; a summary has its weights inside, give them to summarize");
  }
  if (options.output.empty() && !options.limits.dry_run) throw UsageError("fit needs -o MODEL");
  if (options.calibrate > 0 && !files) {
    throw UsageError("--calibrate deals the pairs to folds, which a summary does not allow; give the inputs");
  }
  if (options.pairs.input.missing == Missing::keep && (options.tune || options.robust || options.calibrate > 0)) {
    throw UsageError("--missing keep goes without --tune, --calibrate and --robust, which need whole samples");
  }
  if (!options.pairs.nuisance.empty()) {
    if (!files) throw UsageError("--nuisance belongs to the inputs; a summary has it inside, give it to summarize");
    if (options.tune || options.robust) {
      throw UsageError("--nuisance goes without --tune and --robust, which look at samples as they are");
    }
  }
  if (options.blind && files && options.pairs.nuisance.empty()) throw UsageError("--blind needs --nuisance FILE");
  if (options.robust) {
    if (!files) throw UsageError("--robust looks at each pair, which a summary does not hold; give the inputs");
    if (options.pairs.domains() != 2) throw UsageError("--robust checks the pairs of two domains");
    if (options.tune || options.calibrate > 0) throw UsageError("give --robust or --tune and --calibrate, not both");
  }
  options.covariances.check();
  options.regularization.check();
  options.matching.check();
  if (files) check_domains(options, options.pairs.domains());
  if (options.tune) {
    if (!files) {
      throw UsageError("--tune deals the pairs to folds anew, which a summary does not allow; give the inputs");
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
    TuningSpecs tuning = options.tuning;
    tuning.towards = options.regularization.towards;
    tuning.check(options.pairs.domains());
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
bool estimate_files(const Session& session, const FitArguments& options, const PairReader& reader) {
  const std::vector<Index> features = reader.dimensions();
  const auto n = reader.samples();
  const RunEstimate estimate = estimate_fit(
      estimate_summary(features, n, options.accumulate, bytes_held(reader) + bytes_of_all(features, n)), features, n);
  std::vector<std::string> shapes;
  for (const auto& row : reader.shapes()) shapes.push_back(row.second);
  session.detail(fmt::format("{}; about {} of memory", fmt::join(shapes, " and "), bytes_text(estimate.memory)));
  return !stop_at_estimate(session, options.limits, estimate, {{"n", n ? Json(*n) : Json(nullptr)}, {"dims", features}},
                           reader.shapes());
}

// What there is to fit; nothing after a dry run.
struct Input {
  std::optional<Summary> summary;
  std::optional<IncompleteSummary> incomplete;  // in its place, where samples lack domains
  std::optional<Folds> folds;                   // where they are to be calibrated with
  std::optional<TuneResult> tuned;
  ExtraSamples extra;
};

Index matched_domains(const Summary& summary) {
  const Index all = summary.domains();
  return summary.domain(static_cast<Domain>(all)).nuisance ? all - 1 : all;
}

DataOptions data_options(const FitArguments& options, const ExtraSamples& extra) {
  DataOptions data;
  if (options.rank_tol >= 0) data.rank_tol = options.rank_tol;
  data.scale = options.scale;
  data.nuisance_unknown = options.blind;
  data.extra = pointers(extra);
  return data;
}

// Each pair counts as much as it is probably right.
void add_robustly(const Session& session, PairReader& reader, Summary& summary) {
  const AllPairs all = read_all(session, reader);
  const PairCheck check = check_pairs(all.X[0], all.X[1]);
  if (!check.informative) {
    throw InvalidInput(fmt::format("no pair can be judged: {}", fmt::join(check.remarks, "; ")));
  }
  for (const std::string& remark : check.remarks) session.message("warning: " + remark);
  session.message(fmt::format("{} of {} pairs are probably wrong and count little; the pairs weigh {:.6g} together",
                              check.suspects.size(), check.probability.size(), check.probability.sum()));
  const Vector weights =
      all.weights.size() == 0 ? check.probability : Vector(check.probability.cwiseProduct(all.weights));
  summary.expect(weights.size());
  summary.add({all.X.begin(), all.X.end()}, weights);
}

// Extra samples have one domain.
void add_extra(IncompleteSummary& summary, ExtraSamples& extra) {
  for (std::size_t i = 0; i < extra.size(); ++i) {
    if (extra[i]) summary.add({domain_at(i)}, *extra[i]);
  }
  extra.clear();
}

Input read_files(const Session& session, const FitArguments& options) {
  Input input;
  PairReader reader(options.pairs, session);
  if (!estimate_files(session, options, reader)) return input;
  std::vector<DomainInfo> domains = reader.domains();
  if (domains.back().nuisance) domains.pop_back();
  input.extra = read_extra(session, {options.extra.paths, options.pairs.input}, domains);
  if (options.pairs.input.missing == Missing::keep) {
    input.incomplete = read_incomplete(session, reader, options.accumulate);
    add_extra(*input.incomplete, input.extra);
    return input;
  }
  if (options.tune) {
    TuningSpecs specs = options.tuning;
    specs.folds.accumulate = options.accumulate;
    specs.towards = options.regularization.towards;
    Tuning tuning = run_tuning(session, reader, specs, data_options(options, input.extra),
                               options.matching.parse(reader.count()).graph, options.pairs.input);
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
  input.summary.emplace(reader.domains(), options.accumulate, options.device);
  if (options.robust) {
    add_robustly(session, reader, *input.summary);
    return input;
  }
  input.summary->expect(reader.samples().value_or(0));  // there will be no others
  accumulate(session, reader, *input.summary);
  return input;
}

Input read_summary(const Session& session, const FitArguments& options) {
  if (holds_incomplete_summary(options.summary)) {
    Input input;
    input.incomplete = IncompleteSummary::load(options.summary);
    check_domains(options, input.incomplete->domains());
    std::vector<DomainInfo> domains;
    for (const Domain domain : all_domains(input.incomplete->domains())) {
      domains.push_back(input.incomplete->domain(domain));
    }
    input.extra = read_extra(session, {options.extra.paths, options.pairs.input}, domains);
    add_extra(*input.incomplete, input.extra);
    return input;
  }
  Summary summary = Summary::load(options.summary);
  check_domains(options, matched_domains(summary));
  for (const std::string& missing : missing_parts(summary.inputs())) {
    session.message(fmt::format("warning: '{}' is not all of its inputs: {} missing", options.summary, missing));
  }
  std::vector<Index> features;
  std::vector<DomainInfo> domains;
  for (const Domain domain : all_domains(summary.domains())) {
    features.push_back(summary.dimension(domain));
    if (!summary.domain(domain).nuisance) domains.push_back(summary.domain(domain));
  }
  const Index n = summary.samples();
  RunEstimate held = estimate_summary(features, n, summary.accumulate(), 0);
  held.route = name(summary.form());
  const RunEstimate estimate = estimate_fit(held, features, n);
  if (stop_at_estimate(session, options.limits, estimate, describe(summary), {{"summary", options.summary}})) {
    return {};
  }
  Input input;
  input.extra = read_extra(session, {options.extra.paths, options.pairs.input}, domains);
  input.summary = std::move(summary);
  return input;
}

Index domains_of(const Input& input) {
  return input.summary ? matched_domains(*input.summary) : input.incomplete->domains();
}

FitOptions fit_options(const FitArguments& options, const Input& input) {
  const Index domains = domains_of(input);
  const DataOptions data = data_options(options, input.extra);
  FitOptions result;
  if (input.tuned) {
    result = input.tuned->choice().options(data);
  } else {
    const Regularization regularization = options.regularization.parse(domains);
    result = {data.rank_tol, regularization.max_rank, regularization.ridge, data.extra, {}, {}, data.scale};
    result.towards = regularization.towards;
  }
  result.nuisance_unknown = data.nuisance_unknown;
  result.matching = options.matching.parse(domains);
  result.device = options.device;
  if (options.seed->count() > 0) result.matching.seed = options.tuning.folds.seed;
  return result;
}

Model fit_with_progress(const Session& session, const Input& input, const std::vector<Covariance>& covariances,
                        FitOptions& settings) {
  Progress progress(session, "sweeps of the search", std::nullopt);
  Index sweeps = 0;
  settings.matching.progress = [&](const MatchingProgress&) {
    progress.update(++sweeps);
    stop_if_interrupted();
  };
  Model model =
      input.incomplete ? fit(*input.incomplete, covariances, settings) : fit(*input.summary, covariances, settings);
  settings.matching.progress = nullptr;
  return model;
}

void run(const Session& session, const FitArguments& options) {
  check(options);
  std::optional<EndsAtOnce> until_written(std::in_place);
  std::vector<Covariance> covariances;  // files they name are read before the samples, where their number is known
  if (options.summary.empty()) covariances = options.covariances.parse(options.pairs.domains());
  const Input input = options.summary.empty() ? read_files(session, options) : read_summary(session, options);
  if (!input.summary && !input.incomplete) return;
  const Index domains = domains_of(input);
  if (covariances.empty()) covariances = options.covariances.parse(domains);
  if (input.tuned) covariances.assign(covariances.size(), input.tuned->choice().covariance());
  FitOptions settings = fit_options(options, input);
  if (input.summary) {
    session.detail(fmt::format("{} {} in the form '{}'", input.summary->samples(), matched_noun(domains),
                               name(input.summary->form())));
  }
  Model model = fit_with_progress(session, input, covariances, settings);
  if (input.folds) {
    const Index folds = input.folds->options().folds * std::max<Index>(1, input.folds->options().repeats);
    Progress progress(session, "folds calibrated", folds);
    model = calibrate(std::move(model), *input.folds, covariances, settings, [&](double done) {
      progress.update(static_cast<Index>(std::lround(done * static_cast<double>(folds))));
      stop_if_interrupted();
    });
  }
  for (const std::string& warning : model.warnings()) session.message("warning: " + warning);
  Json object = describe(model);
  if (input.tuned) object["tuning"] = describe(*input.tuned);
  until_written.reset();
  model.save(options.output);
  const std::vector<std::string> notes = pairing_notes(model);
  object["notes"] = notes;
  for (const std::string& note : notes) {
    if (!session.json) session.message("note: " + note);
  }
  session.result(std::move(object), (input.tuned ? describe_text(*input.tuned) + "\n" : "") + describe_text(model),
                 {options.output});
}

}  // namespace

void add_fit(CLI::App& app, Session& session) {
  auto options = std::make_shared<FitArguments>();
  auto& command =
      *app.add_subcommand("fit", "Find the maps of matched samples of two domains or more, with their certificate");
  add_pair_options(command, options->pairs, false);
  options->pairs.may_lack = true;
  command.add_option("--summary", options->summary, "Fit a summary written by summarize or merge instead of inputs")
      ->option_text("FILE");
  add_output_option(command, options->output, "MODEL", "The model file to write", false);
  add_covariance_options(command, options->covariances);
  add_matching_options(command, options->matching);
  add_regularization_options(command, options->regularization);
  add_scale_option(command, options->scale);
  add_extra_options(command, options->extra);
  command.add_flag("--robust", options->robust,
                   "Weigh each pair of two domains by the probability that it is right, as pairs finds it");
  add_nuisance_option(command, options->pairs.nuisance);
  command.add_flag(
      "--blind", options->blind,
      "The nuisance of new samples is unknown: find maps that do not see it, and need no --nuisance later");
  command.add_flag("--tune", options->tune, "Choose covariance, max rank and ridge by cross-validation, as tune does");
  add_tuning_options(command, options->tuning);
  options->seed = command.get_option("--seed")->description(
      "Seed of the folds (default 1), and of the random starts for more than two domains (default 0)");
  command
      .add_option(
          "--calibrate", options->calibrate,
          "Measure the errors of translations on K parts of the pairs, each left out in turn (10 is a good choice); "
          "with --tune K is the number of its --folds")
      ->check(CLI::Range(2, 1000))
      ->option_text("K");
  add_accumulate_option(command, options->accumulate);
  add_device_option(command, options->device);
  command
      .add_option("--rank-tol", options->rank_tol,
                  "A domain's rank counts singular values above T times the largest; default: max(d, n)·eps")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("T");
  add_limit_options(command, options->limits);
  command.footer(
      "SPEC, the covariance that the common space shall have:\n" + covariance_table() +
      "\n"
      "Two domains have a closed form. For more, a search finds the maps, and the result says whether they are proven\n"
      "to be the best, or within how many per cent of the best they are.\n\n"
      "Examples:\n"
      "  cgmca fit a.npy b.npy -o m\n"
      "  cgmca fit a.npy b.npy --cov data1:3 -o m --json\n"
      "  cgmca fit a.npy b.npy --cov correlation:3 --max-rank 4 --ridge 0.1 -o m\n"
      "  cgmca fit a.npy b.npy --cov likelihood2 --ridge 1 -o m\n"
      "  cgmca fit a.npy b.npy --cov identity:2 --calibrate 10 -o m\n"
      "  cgmca fit a.npy b.npy --tune -o m\n"
      "  cgmca fit a.npy b.npy d.npy --tune --ranks 1,2,3 -o m3\n"
      "  cgmca fit a.npy b.npy --weights w.npy -o m\n"
      "  cgmca fit a.npy b.npy --cov identity:2 --nuisance z.csv -o m\n"
      "  cgmca fit --summary s --cov1 identity:4 --cov2 identity:4 -o m\n"
      "  cgmca fit optical=a.npy radar=b.npy thermal=d.npy --cov identity:2 -o m3\n"
      "  cgmca fit a.npy b.npy d.npy --cov identity:2 --graph star:1 --max-seconds 60 -o m3");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
