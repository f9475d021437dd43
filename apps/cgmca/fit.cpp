// cgmca fit: from matched pairs, or a summary of them, to a model.
#include <cgmca/fit.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "covariance_spec.hpp"
#include "describe.hpp"
#include "estimate.hpp"
#include "files.hpp"
#include "options.hpp"
#include "pairs.hpp"
#include "signals.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  PairSources pairs;
  std::string summary, output;
  CovarianceSpecs covariances;
  Accumulate accumulate = Accumulate::automatic;
  double rank_tol = -1;
  Limits limits;
};

void check(const Options& options) {
  const bool both = !options.pairs.paths[0].empty() && !options.pairs.paths[1].empty();
  if (options.summary.empty() && !both) throw UsageError("fit needs two inputs, X1 and X2, or --summary FILE");
  if (!options.summary.empty() && options.pairs.given()) throw UsageError("give X1 and X2 or --summary, not both");
  if (options.output.empty() && !options.limits.dry_run) throw UsageError("fit needs -o MODEL");
  options.covariances.check();
  if (options.output.empty()) return;
  check_target(options.output, options.summary.empty()
                                   ? std::vector<std::string>{options.pairs.paths[0], options.pairs.paths[1]}
                                   : std::vector<std::string>{options.summary});
}

// With --dry-run there may be none: its figures are printed instead.
std::optional<PairSummary> summary_of_files(const Session& session, const Options& options) {
  PairReader reader(options.pairs);
  report_unmatched(session, reader);
  const Index d1 = reader.features(Domain::one), d2 = reader.features(Domain::two);
  const auto n = reader.samples();
  const Estimate estimate =
      estimate_fit(estimate_summary(d1, d2, n, options.accumulate, bytes_held(reader)), d1, d2, n);
  session.detail(fmt::format("{} and {}; about {} of memory", reader.shape(Domain::one), reader.shape(Domain::two),
                             bytes_text(estimate.memory)));
  if (stop_at_estimate(session, options.limits, estimate, {{"n", n ? Json(*n) : Json(nullptr)}, {"dims", {d1, d2}}},
                       {{"X1", reader.shape(Domain::one)}, {"X2", reader.shape(Domain::two)}})) {
    return std::nullopt;
  }
  PairSummary summary(d1, d2, options.accumulate);
  accumulate(session, reader, summary);
  return summary;
}

std::optional<PairSummary> summary_of_summary(const Session& session, const Options& options) {
  PairSummary summary = PairSummary::load(options.summary);
  const Index d1 = summary.dimension(Domain::one), d2 = summary.dimension(Domain::two), n = summary.samples();
  Estimate estimate = estimate_fit(estimate_summary(d1, d2, n, summary.accumulate(), 0), d1, d2, n);
  estimate.route = fmt::format("{}, then three SVDs", name(summary.form()));
  if (stop_at_estimate(session, options.limits, estimate, describe(summary), {{"summary", options.summary}})) {
    return std::nullopt;
  }
  return summary;
}

void run(const Session& session, const Options& options) {
  check(options);
  const auto [c1, c2] = options.covariances.parse();
  const auto summary =
      options.summary.empty() ? summary_of_files(session, options) : summary_of_summary(session, options);
  if (!summary) return;
  FitOptions fit_options;
  if (options.rank_tol >= 0) fit_options.rank_tol = options.rank_tol;
  session.detail(fmt::format("{} pairs in the form '{}'", summary->samples(), name(summary->form())));
  const Model model = fit(*summary, c1, c2, fit_options);
  stop_if_interrupted();
  session.result(describe(model), describe_text(model));
  model.save(options.output);
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
      "  data1:T       best rank-T approximation of domain 1's own covariance; data2:T likewise\n"
      "  file:PATH     a covariance matrix, K×K\n"
      "  factor:PATH   F of a covariance F Fᵀ, K×P\n"
      "  sd:PATH       K standard deviations of independent measurements\n\n"
      "Examples:\n"
      "  cgmca fit a.npy b.npy -o m\n"
      "  cgmca fit a.npy b.npy --cov data1:3 -o m --json\n"
      "  cgmca fit --summary s --cov1 identity:4 --cov2 identity:4 -o m");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
