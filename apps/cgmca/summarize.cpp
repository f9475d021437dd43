// cgmca summarize: all that a fit needs to know of matched samples, in one pass and little memory.
#include <cgmca/summary.hpp>

#include <CLI/CLI.hpp>
#include <memory>

#include "checkpoint.hpp"
#include "commands.hpp"
#include "describe.hpp"
#include "estimate.hpp"
#include "files.hpp"
#include "fingerprint.hpp"
#include "options.hpp"
#include "pairs.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  PairSources pairs;
  std::string output;
  Accumulate accumulate = Accumulate::automatic;
  Device device = Device::cpu;
  CheckpointOptions checkpoint;
  Limits limits;
};

void run(const Session& session, const Options& options) {
  if (options.output.empty() && !options.limits.dry_run) throw UsageError("summarize needs -o SUMMARY");
  options.pairs.check();
  options.checkpoint.check();
  const std::vector<std::string>& inputs = options.pairs.paths;
  if (!options.output.empty()) check_target(options.output, options.pairs.files());
  if (!options.checkpoint.path.empty()) check_target(options.checkpoint.path, options.pairs.files(), {options.output});
  PairReader reader(options.pairs, session);
  const auto n = reader.samples();
  if (stop_at_estimate(session, options.limits,
                       estimate_summary(reader.dimensions(), n, options.accumulate, bytes_held(reader)),
                       {{"n", n ? Json(*n) : Json(nullptr)}, {"dims", reader.dimensions()}}, reader.shapes())) {
    return;
  }
  Checkpoint checkpoint(session, options.checkpoint, options.pairs, options.accumulate);
  Summary summary(reader.domains(), options.accumulate, options.device);
  if (auto resumed = checkpoint.resume()) {
    summary = resumed->summary.on(options.device);
    reader.skip(resumed->read, resumed->read - summary.samples());
  } else {
    for (std::size_t i = 0; i < inputs.size(); ++i) summary.note_input(identity(i + 1, inputs[i]));
  }
  accumulate(session, reader, summary, [&](bool last) { checkpoint.keep(summary, reader.position(), last); });
  summary.save(options.output);
  checkpoint.remove();
  session.result(describe(summary), describe_text(summary), {options.output});
}

}  // namespace

void add_summarize(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command =
      *app.add_subcommand("summarize", "Gather matched samples into a small summary that fit and merge take");
  add_pair_options(command, options->pairs);
  add_output_option(command, options->output, "SUMMARY", "The summary file to write", false);
  add_accumulate_option(command, options->accumulate);
  add_device_option(command, options->device);
  add_checkpoint_options(command, options->checkpoint);
  add_limit_options(command, options->limits);
  command.footer(
      "Files larger than memory are read in blocks. Stopped by Ctrl-C or kill (exit status 130 or 143), even by kill "
      "-9,\n"
      "work with a checkpoint goes on with --resume and ends with the same summary to the bit.\n\n"
      "Examples:\n"
      "  cgmca summarize a.npy b.npy -o s\n"
      "  cgmca summarize a.npy b.npy d.npy -o s3\n"
      "  cgmca summarize a.npy b.npy --weights w.npy -o s\n"
      "  cgmca summarize a.npy b.npy -o s --checkpoint s.part --every 30 --resume");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
