// cgmca merge: one summary of what several summaries hold.
#include <cgmca/error.hpp>
#include <cgmca/incomplete.hpp>
#include <cgmca/parts.hpp>
#include <cgmca/summary.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "commands/commands.hpp"
#include "options/options.hpp"
#include "output/describe.hpp"
#include "output/files.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string output;
  bool allow_repeats = false, allow_missing = false;
};

// What was merged so far: a file, and the inputs its summary holds.
using Held = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Throws where samples of the next file are in one of those before: they would count twice.
void refuse_repeats(const Held& held, const std::string& path, const std::vector<std::string>& inputs) {
  for (const auto& [file, its] : held) {
    const std::string why = repeated(its, inputs);
    if (why.empty()) continue;
    throw InvalidInput(fmt::format("'{}' and '{}': {}; --allow-repeats merges them all the same", file, path, why));
  }
}

// Parts that are missing, and parts of other inputs among the rest.
void check_complete(const Held& held, const Summary& summary) {
  const std::vector<std::string> missing = missing_parts(summary.inputs());
  if (missing.empty()) return;
  std::map<std::string, std::vector<std::string>> files;  // by what they are parts of
  for (const auto& [file, inputs] : held) {
    if (const std::string of = division_of(inputs); !of.empty()) files[of].push_back(fmt::format("'{}'", file));
  }
  std::string foreign;
  if (files.size() > 1) {
    std::vector<std::string> groups;
    for (const auto& [ignored, names] : files) groups.push_back(fmt::format("{}", fmt::join(names, ", ")));
    foreign = fmt::format("; there are parts of different inputs, or of one that has changed since: {}",
                          fmt::join(groups, " against "));
  }
  throw InvalidInput(fmt::format("{} {} missing{}. --allow-missing merges what is there", fmt::join(missing, "; "),
                                 missing.size() == 1 && missing.front().starts_with("part ") ? "is" : "are", foreign));
}

void note_order(const Session& session, const Summary& first, const Summary& next, const std::string& path) {
  for (Index i = 0; i < std::min(first.domains(), next.domains()); ++i) {
    const auto domain = domain_at(i);
    const Index moved = moved_by(order_of(first.domain(domain).feature_names, next.domain(domain).feature_names));
    if (moved == 0) continue;
    session.message(fmt::format("'{}': {} features of domain {} are put into the order of the first summary", path,
                                moved, number(domain)));
  }
}

// Summaries of which some are of incomplete samples.
void merge_incomplete(const Session& session, const MergeArguments& options) {
  std::optional<IncompleteSummary> all;
  const auto take = [&](const IncompleteSummary& next) {
    if (!all) {
      all = next;
    } else {
      all->merge(next, options.allow_repeats ? Repeats::allow : Repeats::refuse);
    }
  };
  for (const std::string& path : options.inputs) {
    if (holds_incomplete_summary(path)) {
      take(IncompleteSummary::load(path));
    } else {
      const Summary whole = Summary::load(path);
      std::vector<DomainInfo> info;
      for (const Domain domain : all_domains(whole.domains())) info.push_back(whole.domain(domain));
      IncompleteSummary next(info, whole.accumulate());
      next.add(all_domains(whole.domains()), whole);
      take(next);
    }
    stop_if_interrupted();
  }
  all->save(options.output);
  session.result(describe(*all), describe_text(*all), {options.output});
}

void run(const Session& session, const MergeArguments& options) {
  check_target(options.output, {});  // an input may be replaced: its pairs are part of the result
  if (std::any_of(options.inputs.begin(), options.inputs.end(), holds_incomplete_summary)) {
    return merge_incomplete(session, options);
  }
  Summary summary = Summary::load(options.inputs.front());
  Held held = {{options.inputs.front(), summary.inputs()}};
  for (std::size_t i = 1; i < options.inputs.size(); ++i) {
    const Summary next = Summary::load(options.inputs[i]);
    const std::string& path = options.inputs[i];
    try {
      summary.merge(next, Repeats::allow);
    } catch (const InvalidInput& problem) {
      throw InvalidInput(fmt::format("'{}' and '{}': {}", held.front().first, path, problem.what()));
    }
    if (!options.allow_repeats) refuse_repeats(held, path, next.inputs());
    note_order(session, summary, next, path);
    held.emplace_back(path, next.inputs());
    stop_if_interrupted();
  }
  if (!options.allow_missing) check_complete(held, summary);
  summary.save(options.output);
  session.result(describe(summary), describe_text(summary), {options.output});
}

}  // namespace

void add_merge(CLI::App& app, Session& session) {
  auto options = std::make_shared<MergeArguments>();
  auto& command = *app.add_subcommand("merge", "Join summaries: of parts, of several machines, of last week and today");
  command.add_option("SUMMARY", options->inputs, "Summaries written by summarize or merge, of the same features")
      ->required()
      ->expected(1, -1);
  add_output_option(command, options->output, "SUMMARY", "The summary to write");
  command.add_flag("--allow-repeats", options->allow_repeats, "Count samples twice that are in two of the summaries");
  command.add_flag("--allow-missing", options->allow_missing,
                   "Merge parts (summarize --part) of which some are missing; the result says which");
  command.footer(
      "Summaries know the files they were made from. A file that is in two of them is refused. So are parts of a file\n"
      "if one is missing, occurs twice, or belongs to another file.\n\n"
      "Examples:\n  cgmca merge s0 s1 -o t\n  cgmca merge part* -o s");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
