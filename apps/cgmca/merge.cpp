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
  bool allow_repeats = false;
};

// What was merged so far: a file, and the inputs its summary holds.
using Held = std::vector<std::pair<std::string, std::vector<std::string>>>;

// The file of those before that holds an input which `inputs` have too; empty: none.
std::string file_sharing(const Held& held, const std::vector<std::string>& inputs) {
  const auto identity_of = [](const std::string& input) { return input.substr(0, input.find(' ')); };
  for (const auto& [file, its] : held) {
    for (const std::string& one : its) {
      for (const std::string& other : inputs) {
        if (identity_of(one) == identity_of(other)) return file;
      }
    }
  }
  return "";
}

void note_order(const Session& session, const Summary& first, const Summary& next, const std::string& path) {
  for (Index i = 0; i < std::min(first.domains(), next.domains()); ++i) {
    const auto domain = static_cast<Domain>(i + 1);
    const Index moved = moved_by(order_of(first.domain(domain).feature_names, next.domain(domain).feature_names));
    if (moved == 0) continue;
    session.message(fmt::format("'{}': {} features of domain {} are put into the order of the first summary", path,
                                moved, number(domain)));
  }
}

void run(const Session& session, const Options& options) {
  check_target(options.output, {});  // an input may be replaced: its pairs are part of the result
  Summary summary = Summary::load(options.inputs.front());
  Held held = {{options.inputs.front(), summary.inputs()}};
  for (std::size_t i = 1; i < options.inputs.size(); ++i) {
    const Summary next = Summary::load(options.inputs[i]);
    const std::string& path = options.inputs[i];
    try {
      summary.merge(next, options.allow_repeats ? Repeats::allow : Repeats::refuse);
      note_order(session, summary, next, path);
    } catch (const InvalidInput& problem) {
      const std::string sharing = options.allow_repeats ? "" : file_sharing(held, next.inputs());
      throw InvalidInput(fmt::format("'{}' and '{}': {}{}", sharing.empty() ? held.front().first : sharing, path,
                                     problem.what(),
                                     sharing.empty() ? "" : "; --allow-repeats merges them all the same"));
    }
    held.emplace_back(path, next.inputs());
    stop_if_interrupted();
  }
  summary.save(options.output);
  session.result(describe(summary), describe_text(summary), {options.output});
}

}  // namespace

void add_merge(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("merge", "Join summaries: of parts, of several machines, of last week and today");
  command.add_option("SUMMARY", options->inputs, "Summaries written by summarize or merge, of the same features")
      ->required()
      ->expected(1, -1);
  add_output_option(command, options->output, "SUMMARY", "The summary to write");
  command.add_flag("--allow-repeats", options->allow_repeats, "Count samples twice that are in two of the summaries");
  command.footer(
      "Summaries know the files they were made of, and a file in two of them is refused.\n\n"
      "Example:\n  cgmca merge s0 s1 -o t");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
