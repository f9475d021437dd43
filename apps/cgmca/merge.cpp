// cgmca merge: one summary of what several summaries hold.
#include <cgmca/error.hpp>
#include <cgmca/summary.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "describe.hpp"
#include "files.hpp"
#include "options.hpp"
#include "signals.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output;
};

void run(const Session& session, const Options& options) {
  check_target(options.output, {});  // an input may be replaced: its pairs are part of the result
  Summary summary = Summary::load(options.inputs.front());
  for (std::size_t i = 1; i < options.inputs.size(); ++i) {
    const Summary next = Summary::load(options.inputs[i]);
    try {
      summary.merge(next);
    } catch (const WrongDimension& problem) {
      throw WrongDimension(fmt::format("'{}' and '{}': {}", options.inputs.front(), options.inputs[i], problem.what()));
    }
    stop_if_interrupted();
  }
  session.result(describe(summary), describe_text(summary));
  summary.save(options.output);
}

}  // namespace

void add_merge(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("merge", "Join summaries: of parts, of several machines, of last week and today");
  command.add_option("SUMMARY", options->inputs, "Summaries written by summarize or merge, of the same features")
      ->required()
      ->expected(1, -1);
  add_output_option(command, options->output, "SUMMARY", "The summary to write");
  command.footer("Example:\n  cgmca merge s s -o t");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
