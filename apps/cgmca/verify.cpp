// cgmca verify: whether a model fits given pairs, from its maps and the pairs alone.
#include <cgmca/error.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "commands.hpp"
#include "describe.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "regularization.hpp"
#include "signals.hpp"

namespace cgmca::cli {
namespace {

constexpr double kSameWeight = 1e-9;  // of the sum of the weights, which was rounded in another order

struct Options {
  std::string model;
  PairSources pairs;
  ExtraSources extra;
  double tolerance = 1e-6;
};

Attained attained_by(const Session& session, const Options& options, const Model& model) {
  PairReader reader(options.pairs, session);
  reader.check_features(model, options.model);
  Verifier verifier(model);
  Progress progress(session, "pairs checked", reader.samples());
  for (;;) {
    const PairReader::Block block = reader.next();
    if (block.X1.cols() == 0) break;
    add_to(verifier, block);
    progress.update(reader.position());
    stop_if_interrupted();
  }
  verify_extra(session, verifier, {options.extra.paths, options.pairs.input}, model, options.model);
  return verifier.attained();
}

void run(const Session& session, const Options& options) {
  const EndsAtOnce nothing_is_written;
  const Model model = Model::load(options.model);
  const Attained found = attained_by(session, options, model);
  const double claimed = model.certificate.objective;
  const double objective_error = std::abs(found.objective - claimed) / found.covariance_trace;

  std::vector<std::string> failures;
  const auto check = [&](const std::string& what, double value) {
    // Not `value > tolerance`: NaN must fail.
    if (!(value <= options.tolerance)) failures.push_back(fmt::format("{} {:.2e}", what, value));
  };
  for (auto i : {0U, 1U}) {
    check(fmt::format("constraint residual {}", i + 1), found.constraint_residuals[i]);
    check(fmt::format("mean residual {}", i + 1), found.mean_residuals[i]);
  }
  check("objective's distance from the claimed one", objective_error);
  check("the maps are not the best: their objective is above the least possible by a part of", found.shortfall());
  if (found.samples != model.samples) {
    failures.push_back(fmt::format("{} pairs where the model was fitted to {}", found.samples, model.samples));
  } else if (std::abs(found.total_weight - model.total_weight) > kSameWeight * model.total_weight) {
    failures.push_back(fmt::format("weights that sum to {:.9g} where those of the fit did to {:.9g} (see --weights)",
                                   found.total_weight, model.total_weight));
  }

  for (auto i : {0U, 1U}) {
    const Index claimed_samples = model.certificate.constrained[i].samples;
    if (found.all_samples[i] != claimed_samples && found.samples == model.samples) {
      failures.push_back(fmt::format("{} samples of domain {} where the model was fitted to {} (give --extra{})",
                                     found.all_samples[i], i + 1, claimed_samples, i + 1));
    }
  }

  session.result(
      {{"verified", failures.empty()},
       {"n", found.samples},
       {"total_weight", found.total_weight},
       {"constraint_residuals", found.constraint_residuals},
       {"mean_residuals", found.mean_residuals},
       {"objective", found.objective},
       {"claimed_objective", claimed},
       {"best_objective", found.best_objective},
       {"shortfall", found.shortfall()},
       {"tolerance", options.tolerance}},
      table({{"pairs", pairs_text(found.samples, found.total_weight)},
             {"residuals", fmt::format("{:.1e}  {:.1e}  (of the covariance constraints)", found.constraint_residuals[0],
                                       found.constraint_residuals[1])},
             {"means", fmt::format("{:.1e}  {:.1e}  (distance of the mapped means from 0)", found.mean_residuals[0],
                                   found.mean_residuals[1])},
             {"objective", fmt::format("{:.9g}  (the model claims {:.9g})", found.objective, claimed)},
             {"least possible", fmt::format("{:.9g}  (of these pairs; the maps are {:.1e} of the scale above)",
                                            found.best_objective, found.shortfall())},
             {"verdict", failures.empty() ? "the model fits these pairs" : "DOES NOT FIT"}}));
  if (!failures.empty()) {
    throw Refuted(fmt::format("'{}' does not fit these pairs: {}; the tolerance is {}", options.model,
                              fmt::join(failures, ", "), options.tolerance));
  }
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("verify", "Recompute what a model claims, from its maps and the pairs alone");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  add_pair_options(command, options->pairs);
  add_extra_options(command, options->extra);
  command
      .add_option("--tolerance", options->tolerance,
                  "Largest relative residual, and distance of the objective from the claimed and from the best one; "
                  "default: 1e-6")
      ->check(CLI::PositiveNumber)
      ->option_text("T");
  command.footer(
      "Exit status 3 where the model does not fit.\n\nExamples:\n  cgmca verify m a.npy b.npy\n"
      "  cgmca verify m a.npy b.npy --weights w.npy");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
