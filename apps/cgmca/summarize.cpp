// cgmca summarize: all that a fit needs to know of matched pairs, in one pass and little memory.
#include <cgmca/summary.hpp>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "describe.hpp"
#include "estimate.hpp"
#include "files.hpp"
#include "options.hpp"
#include "pairs.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  PairSources pairs;
  std::string output;
  Accumulate accumulate = Accumulate::automatic;
  Limits limits;
};

void run(const Session& session, const Options& options) {
  if (options.output.empty() && !options.limits.dry_run) throw UsageError("summarize needs -o SUMMARY");
  if (!options.output.empty()) check_target(options.output, {options.pairs.paths[0], options.pairs.paths[1]});
  PairReader reader(options.pairs);
  report_unmatched(session, reader);
  const Index d1 = reader.features(Domain::one), d2 = reader.features(Domain::two);
  const auto n = reader.samples();
  if (stop_at_estimate(session, options.limits, estimate_summary(d1, d2, n, options.accumulate, bytes_held(reader)),
                       {{"n", n ? Json(*n) : Json(nullptr)}, {"dims", {d1, d2}}},
                       {{"X1", reader.shape(Domain::one)}, {"X2", reader.shape(Domain::two)}})) {
    return;
  }
  PairSummary summary(d1, d2, options.accumulate);
  accumulate(session, reader, summary);
  session.result(describe(summary), describe_text(summary));
  summary.save(options.output);
}

}  // namespace

void add_summarize(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("summarize", "Gather pairs into a small summary that fit and merge take");
  add_pair_options(command, options->pairs);
  add_output_option(command, options->output, "SUMMARY", "The summary file to write", false);
  add_accumulate_option(command, options->accumulate);
  add_limit_options(command, options->limits);
  command.footer("Example:\n  cgmca summarize a.npy b.npy -o s");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
