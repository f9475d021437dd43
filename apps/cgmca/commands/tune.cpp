// cgmca tune: which rank, max rank and ridge, by cross-validation over the matched samples.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "commands/commands.hpp"
#include "input/domains.hpp"
#include "options/graph_spec.hpp"
#include "options/options.hpp"
#include "options/tuning.hpp"
#include "output/files.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

struct TuneArguments {
  PairSources pairs;
  TuningSpecs tuning;
  MatchingSpecs matching;
  ExtraSources extra;
  bool scale = false;
  Index permutations = 0;
  std::string output;
};

void run(const Session& session, TuneArguments& options) {
  options.pairs.check();
  const Index domains = options.pairs.domains();
  options.tuning.check(domains);
  check_numbered("extra", options.extra.paths, domains);
  const Graph graph = options.matching.parse(domains).graph;
  if (!options.output.empty()) check_target(options.output, options.pairs.files());
  std::optional<EndsAtOnce> until_written(std::in_place);
  PairReader reader(options.pairs, session);
  const ExtraSamples extra = read_extra(session, {options.extra.paths, options.pairs.input}, reader.domains());
  DataOptions data;
  data.extra = pointers(extra);
  data.scale = options.scale;
  options.tuning.keep = options.permutations > 0;
  const Tuning tuning = run_tuning(session, reader, options.tuning, data, graph, options.pairs.input);

  Json object = describe(tuning.result);
  std::string text = describe_text(tuning.result);
  std::optional<PermutationTest> test;
  if (options.permutations > 0) {
    Progress progress(session, domains == 2 ? "permutations of one correlation" : "permutations of one direction",
                      options.permutations);
    PermutationOptions settings;
    settings.permutations = options.permutations;
    settings.seed = options.tuning.folds.seed;
    settings.graph = graph;
    settings.scale = options.scale;
    settings.progress = [&](double done) {
      progress.update(static_cast<Index>(done * static_cast<double>(options.permutations)));
      stop_if_interrupted();
    };
    const MatchedSamples X(tuning.X.begin(), tuning.X.end());
    const Regularization choice = tuning.result.choice().regularization();
    test = tuning.weights.size() == 0 ? permutation_test(X, choice, settings)
                                      : permutation_test(X, tuning.weights, choice, settings);
    object["permutation_test"] = describe(*test);
    text += describe_text(*test);
  }
  until_written.reset();
  std::vector<std::string> written;
  if (!options.output.empty()) {
    write_tuning_report(options.output, tuning.result, test ? &*test : nullptr);
    written.push_back(options.output);
  }
  session.result(std::move(object), text, written);
}

}  // namespace

void add_tune(CLI::App& app, Session& session) {
  auto options = std::make_shared<TuneArguments>();
  auto& command =
      *app.add_subcommand("tune", "Choose rank, max rank and ridge by cross-validation over the matched samples");
  add_pair_options(command, options->pairs);
  add_tuning_options(command, options->tuning);
  command
      .add_option("--towards", options->tuning.towards,
                  "What ridges shrink translations towards: zero, identity, or both (the default for two domains of as "
                  "many features)")
      ->option_text("LIST");
  add_graph_option(command, options->matching);
  add_extra_options(command, options->extra);
  add_scale_option(command, options->scale);
  command
      .add_option(
          "--permutations", options->permutations,
          "Also test how many canonical correlations of the choice (for more than two domains: common directions) "
          "are more than chance, with N random pairings; all samples are held in memory for that")
      ->check(CLI::Range(1, 10'000'000))
      ->option_text("N");
  add_output_option(command, options->output, "HTML", "Also write a page with heat maps and all trials", false);
  command.footer(
      "Every error is measured on samples that the fit has not seen. fit --tune fits with the choice at once.\n\n"
      "Examples:\n"
      "  cgmca tune a.npy b.npy\n"
      "  cgmca tune a.npy b.npy --weights w.npy\n"
      "  cgmca tune a.npy b.npy --ranks 1,2,3 --ridges 0,0.1 --permutations 99 -o tune.html\n"
      "  cgmca tune a.npy b.npy d.npy --ranks 1,2,3 --ridges 0,0.1 --graph star:1");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
