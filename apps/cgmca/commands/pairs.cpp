// cgmca pairs: which pairs are wrong.
#include <cgmca/check_pairs.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "commands/commands.hpp"
#include "input/pairs.hpp"
#include "options/options.hpp"
#include "output/describe.hpp"
#include "output/files.hpp"

namespace cgmca::cli {
namespace {

struct PairsArguments {
  PairSources pairs;
  PairCheckOptions check;
  std::string output;
  Index shown = 20;
};

Json describe(const PairCheck& check, const std::vector<Index>& numbers) {
  const auto number_of = [&](Index pair) { return numbers[pair]; };
  Json suspects = Json::array(), displacements = Json::array(), confirmed = Json::array();
  for (const SuspectPair& one : check.suspects) {
    const bool known = one.partner >= 0;
    suspects.push_back({{"pair", number_of(one.pair)},
                        {"probability", one.probability},
                        {"partner", known ? Json(number_of(one.partner)) : Json(nullptr)},
                        {"partner_probability", known ? Json(one.partner_probability) : Json(nullptr)}});
  }
  for (const Displacement& run : check.displacements) {
    displacements.push_back({{"first", number_of(run.first)}, {"last", number_of(run.last)}, {"by", run.by}});
  }
  for (const Index pair : check.confirmed) confirmed.push_back(number_of(pair));
  return {{"n", check.probability.size()},
          {"informative", check.informative},
          {"right", check.right},
          {"ridge", check.ridge},
          {"suspects", suspects},
          {"displacements", displacements},
          {"confirmed", confirmed},
          {"probability", list(check.probability)},
          {"p_values", list(check.p_values)},
          {"remarks", check.remarks}};
}

void run(const Session& session, const PairsArguments& options) {
  if (options.pairs.domains() != 2) throw UsageError("pairs needs two inputs, one for each domain");
  if (!options.output.empty()) check_target(options.output, options.pairs.files());
  PairReader reader(options.pairs, session);
  const AllPairs all = read_all(session, reader);
  const PairCheck check = check_pairs(all.X[0], all.X[1], options.check);
  if (!options.output.empty()) {
    write(options.output, Matrix(check.probability.transpose()), {.feature_names = {"probability"}});
  }
  std::string text = check_text(check, all.numbers, options.shown);
  session.result(describe(check, all.numbers), text,
                 options.output.empty() ? std::vector<std::string>{} : std::vector<std::string>{options.output});
}

}  // namespace

std::string check_text(const PairCheck& check, const std::vector<Index>& numbers, Index shown) {
  const Index n = check.probability.size();
  std::string text;
  for (const std::string& remark : check.remarks) text += remark + "\n";
  if (!check.informative) return text + "no pair can be judged\n";
  text += fmt::format("{} of {} pairs are confirmed as right, {} are probably wrong\n", check.confirmed.size(), n,
                      check.suspects.size());
  if (check.suspects.empty()) return text;
  text += fmt::format("{:>10}{:>20}  {}\n", "row", "probably right", "likely partner in domain 2");
  for (std::size_t i = 0; i < std::min(check.suspects.size(), static_cast<std::size_t>(shown)); ++i) {
    const SuspectPair& one = check.suspects[i];
    text += fmt::format(
        "{:>10}{:>20.4f}  {}\n", numbers[one.pair], one.probability,
        one.partner < 0 ? std::string("none stands out")
                        : fmt::format("row {} (probability {:.2f})", numbers[one.partner], one.partner_probability));
  }
  if (std::ssize(check.suspects) > shown) text += fmt::format("{} more (--json)\n", std::ssize(check.suspects) - shown);
  return text + "rows are counted from 0\n";
}

void add_pairs_command(CLI::App& app, Session& session) {
  auto options = std::make_shared<PairsArguments>();
  auto& command = *app.add_subcommand("pairs", "Find pairs that are probably wrong: swapped, mismatched or displaced");
  add_pair_options(command, options->pairs);
  command
      .add_option("--level", options->check.level,
                  "False discovery rate of the pairs that are confirmed as right; default: 0.05")
      ->check(CLI::Range(1e-12, 0.999999999))
      ->option_text("P");
  command.add_option("--seed", options->check.seed, "Seed of the folds and of the shuffled pairs; default: 1")
      ->option_text("N");
  command.add_option("--show", options->shown, "At most so many suspicious pairs are shown; default: 20")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  add_output_option(command, options->output, "W", "Where to write the probability that each pair is right", false);
  command.footer(
      "Each pair is judged by a fit to the others: whether its samples are likelier together than apart, compared\n"
      "with pairs that were shuffled on purpose. The command fails if the domains say too little of each other. The\n"
      "probabilities can be given to fit as --weights, which is what fit --robust does.\n\n"
      "Examples:\n"
      "  cgmca pairs a.npy b.npy\n"
      "  cgmca pairs a.npy b.npy -o w.npy --json");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
