// cgmca tests: whether the canonical correlations of a model are more than chance, by theory. And the options of what
// else statisticians ask of a model.
#include <cgmca/correlation_tests.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "commands/commands.hpp"
#include "commands/statistics.hpp"
#include "input/domains.hpp"
#include "output/describe.hpp"

namespace cgmca::cli {
namespace {

struct TestsOptions {
  std::string model;
  double level = 0.05;
};

Json object_of(const FTest& test) {
  return {{"value", test.value},
          {"F", number_or_null(test.F)},
          {"df1", test.df1},
          {"df2", test.df2},
          {"p", number_or_null(test.p)}};
}

Json object_of(const CorrelationTest& test) {
  return {{"first", test.first},
          {"correlation", test.correlation},
          {"wilks", object_of(test.wilks)},
          {"bartlett_lawley", {{"chi_squared", test.chi_squared}, {"df", test.chi_df}, {"p", test.chi_p}}},
          {"pillai", object_of(test.pillai)},
          {"hotelling_lawley", object_of(test.hotelling)},
          {"roy", object_of(test.roy)}};
}

std::string line_of(const std::string& what, const FTest& test) {
  return fmt::format("{:<20}{:>12.6g}{:>12.5g}{:>8.4g}{:>10.5g}{:>12.4g}\n", what, test.value, test.F, test.df1,
                     test.df2, test.p);
}

void run_tests(const Session& session, const TestsOptions& options) {
  const Model model = Model::load(options.model);
  const std::vector<CorrelationTest> tests = correlation_tests(model);
  const Index significant = significant_correlations(tests, options.level);
  Json list = Json::array();
  for (const CorrelationTest& test : tests) list.push_back(object_of(test));
  std::string text =
      fmt::format("{}, {} + {} directions\n\n{:<6}{:>14}{:>12}{:>12}{:>8}{:>10}{:>12}\n",
                  pairs_text(model.samples, model.total_weight) + " " + matched_noun(2), model.certificate.ranks[0],
                  model.certificate.ranks[1], "from", "correlation", "Wilks", "F", "df1", "df2", "p");
  for (const CorrelationTest& test : tests) {
    text += fmt::format("{:<6}{:>14.6f}{:>12.6g}{:>12.5g}{:>8.4g}{:>10.5g}{:>12.4g}\n", test.first, test.correlation,
                        test.wilks.value, test.wilks.F, test.wilks.df1, test.wilks.df2, test.wilks.p);
  }
  const CorrelationTest& all = tests.front();
  text += fmt::format("\nall correlations are zero\n{:<20}{:>12}{:>12}{:>8}{:>10}{:>12}\n", "", "value", "F", "df1",
                      "df2", "p");
  text += line_of("Wilks (Rao)", all.wilks) + line_of("Pillai", all.pillai) +
          line_of("Hotelling-Lawley", all.hotelling) + line_of("Roy (least p)", all.roy);
  text += fmt::format("Bartlett-Lawley: chi-squared {:.6g} of {} degrees of freedom, p {:.4g}\n", all.chi_squared,
                      all.chi_df, all.chi_p);
  text += fmt::format("\n{} of {} correlations are not zero (Wilks, in turn, at the level {})\n", significant,
                      tests.size(), options.level);
  session.result({{"n", model.total_weight},
                  {"ranks", model.certificate.ranks},
                  {"tests", list},
                  {"level", options.level},
                  {"significant", significant}},
                 text);
}

}  // namespace

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

void add_tests(CLI::App& app, Session& session) {
  auto options = std::make_shared<TestsOptions>();
  auto& command =
      *app.add_subcommand("tests", "Test whether the canonical correlations of a model are more than chance");
  command.add_option("MODEL", options->model, "A plain model of two domains, written by fit")->required();
  command.add_option("--level", options->level, "Level of significance; default: 0.05")
      ->check(CLI::Range(1e-12, 0.999999999))
      ->option_text("P");
  command.footer(
      "Each line tests whether the correlations from its number on are zero, by Wilks' statistic and Rao's F: from "
      "the\n"
      "correlations, the number of pairs and the ranks alone, for data that are roughly normal. The theory does not\n"
      "hold with a ridge, --max-rank, extra samples, more than two domains, too few pairs or weights whose sum is not\n"
      "whole; the command then says so, and 'cgmca tune --permutations' tests instead. Other weights are taken for\n"
      "counts.\n\n"
      "Examples:\n"
      "  cgmca tests m\n"
      "  cgmca tests m --json");
  command.callback([options, &session] { session.command = [options, &session] { run_tests(session, *options); }; });
}

void add_explain(CLI::App& app, Session& session) {
  auto options = std::make_shared<ExplainOptions>();
  auto& command =
      *app.add_subcommand("explain", "Tell how much of each domain's variance the common directions explain");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  add_pair_options(command, options->pairs, false);
  add_nuisance_option(command, options->pairs.nuisance);
  command
      .add_option("-o,--output", options->output,
                  "Write a table with a line for each feature: R2, importance, correlations with all scores")
      ->option_text("TABLE");
  command
      .add_option("--edges", options->edges,
                  "Write a list of correlated features of different domains, for network tools (.tsv)")
      ->option_text("FILE");
  command.add_option("--least", options->least, "The smallest correlation in that list, in size; default: 0.5")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("R");
  command.add_option("--top", options->top, "How many features of each domain are shown; default: 10")
      ->check(CLI::NonNegativeNumber)
      ->option_text("N");
  command.footer(
      "Shares are of the samples of the fit. 'own' is what a score of the domain itself carries of its features at "
      "unit\n"
      "variance (adequacy), 'other' what the other domain's score explains of them (redundancy); 'variance' is the "
      "same\n"
      "weighted by variance. With samples, R2 of the translations is measured on these.\n\n"
      "Examples:\n"
      "  cgmca explain m\n"
      "  cgmca explain m a.npy b.npy\n"
      "  cgmca explain m3 -o features.csv --edges edges.tsv --least 0.3");
  command.callback([options, &session] { session.command = [options, &session] { run_explain(session, *options); }; });
}

void add_diagnose(CLI::App& app, Session& session) {
  auto options = std::make_shared<DiagnoseArguments>();
  auto& command = *app.add_subcommand("diagnose", "List samples that look mispaired, swapped or unlike the others");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  add_pair_options(command, options->pairs);
  add_nuisance_option(command, options->pairs.nuisance);
  command.add_option("-o,--output", options->output, "Write a table with a line for each sample")->option_text("TABLE");
  command.add_option("--fdr", options->rate, "The false discovery rate of the list; default: 0.05")
      ->check(CLI::Range(1e-12, 0.999999999))
      ->option_text("Q");
  command.add_option("--top", options->top, "How many of the list are shown; default: 20")
      ->check(CLI::NonNegativeNumber)
      ->option_text("N");
  command.footer(
      "For each sample and domain: T2 within the common space, Q outside of it, the distance to its partners, p "
      "values,\n"
      "and the place of the partner among all samples. Samples are counted from 1.\n\n"
      "Examples:\n"
      "  cgmca diagnose m a.npy b.npy\n"
      "  cgmca diagnose m a.npy b.npy --fdr 0.01 -o diagnosis.csv");
  command.callback([options, &session] { session.command = [options, &session] { run_diagnose(session, *options); }; });
}

void add_bootstrap(CLI::App& app, Session& session) {
  auto options = std::make_shared<BootstrapArguments>();
  auto& command = *app.add_subcommand("bootstrap", "Tell how much a fit would differ in other samples");
  command.add_option("MODEL", options->model, "A model written by fit, whose settings are used")->required();
  add_pair_options(command, options->pairs);
  command.add_option("--replicas", options->replicas, "How many fits to samples drawn again; default: 200")
      ->check(CLI::Range(10, 1000000))
      ->option_text("N");
  command
      .add_option("--groups", options->groups,
                  "Samples of one number are drawn together: measurements of one person, for instance")
      ->option_text("FILE");
  command.add_option("--seed", options->seed, "Of the draws; default: 1")->option_text("N");
  command.add_option("--level", options->level, "What intervals are to cover; default: 0.95")
      ->check(CLI::Range(1e-9, 0.999999999))
      ->option_text("P");
  command.add_option("-o,--output", options->output, "Write a table with a line for each feature")
      ->option_text("TABLE");
  command.add_option("--top", options->top, "How many features of each domain are shown; default: 10")
      ->check(CLI::NonNegativeNumber)
      ->option_text("N");
  command.footer(
      "Standard errors, percentile intervals, p values and false discovery rates (q) of correlations, weights and\n"
      "structure correlations of the first 10 directions. One pass over the samples.\n\n"
      "Examples:\n"
      "  cgmca bootstrap m a.npy b.npy\n"
      "  cgmca bootstrap m a.npy b.npy --replicas 50 --seed 2 -o intervals.csv");
  command.callback(
      [options, &session] { session.command = [options, &session] { run_bootstrap(session, *options); }; });
}

}  // namespace cgmca::cli
