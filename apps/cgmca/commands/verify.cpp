// cgmca verify: whether a model fits given matched samples, from its maps and those samples alone.
#include <cgmca/error.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "commands/commands.hpp"
#include "input/domains.hpp"
#include "options/options.hpp"
#include "options/regularization.hpp"
#include "output/describe.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {
namespace {

constexpr double kSameWeight = 1e-9;  // of the sum of the weights, which was rounded in another order

struct VerifyArguments {
  std::string model;
  PairSources pairs;
  ExtraSources extra;
  double tolerance = 1e-6;
};

Verification verification_by(const Session& session, const VerifyArguments& options, const Model& model) {
  PairReader reader(options.pairs.of(model, model.nuisance.has_value()), session);
  reader.check_features(model, options.model);
  if (options.pairs.input.missing == Missing::keep) {
    IncompleteSummary all = read_incomplete(session, reader, Accumulate::automatic);
    return verify(model, all);
  }
  Verifier verifier(model);
  Progress progress(session, reader.noun() + " checked", reader.samples());
  for (;;) {
    const PairReader::Block block = reader.next();
    if (block.samples() == 0) break;
    add_to(verifier, block);
    progress.update(reader.position());
    stop_if_interrupted();
  }
  verify_extra(session, verifier, {options.extra.paths, options.pairs.input}, model, options.model);
  return verifier.verification();
}

// What does not hold, in words.
std::vector<std::string> failures_of(const VerifyArguments& options, const Model& model, const Verification& found) {
  const Certificate& claimed = model.certificate;
  std::vector<std::string> failures;
  const auto check = [&](const std::string& what, double value) {
    // Not `value > tolerance`: NaN must fail.
    if (!(value <= options.tolerance)) failures.push_back(fmt::format("{} {:.2e}", what, value));
  };
  for (std::size_t i = 0; i < found.constraint_residuals.size(); ++i) {
    check(fmt::format("constraint residual {}", i + 1), found.constraint_residuals[i]);
    check(fmt::format("mean residual {}", i + 1), found.mean_residuals[i]);
  }
  // The numbers of samples are told below, in words, where they are what differs.
  if (found.samples == model.samples && found.claims.size() > 0) {
    for (const Claim& claim : found.claims) {
      check(fmt::format("'{}' of the model is not what these samples say; it differs by", claim.what),
            claim.difference);
    }
  } else {
    check("objective's distance from the claimed one",
          std::abs(found.objective - claimed.objective) / found.covariance_trace);
  }
  if (claimed.certified) {
    check("the maps are not the best: their objective is above the least possible by a fraction of", found.shortfall());
  } else if (!(found.gap <= claimed.gap + options.tolerance)) {
    failures.push_back(fmt::format("the maps may fall short of the best by {:.3g} %, more than the {:.3g} % claimed",
                                   100 * found.gap, 100 * claimed.gap));
  }
  if (found.samples != model.samples) {
    failures.push_back(fmt::format("{} {} where the model was fitted to {}", found.samples, matched_noun(model.count()),
                                   model.samples));
    return failures;
  }
  if (std::abs(found.total_weight - model.total_weight) > kSameWeight * model.total_weight) {
    failures.push_back(fmt::format("weights that sum to {:.9g} where those of the fit did to {:.9g} (see --weights)",
                                   found.total_weight, model.total_weight));
  }
  for (std::size_t i = 0; i < found.all_samples.size(); ++i) {
    if (found.all_samples[i] == claimed.constrained[i].samples) continue;
    failures.push_back(fmt::format("{} samples of domain {} where the model was fitted to {} (give --extra{})",
                                   found.all_samples[i], i + 1, claimed.constrained[i].samples, i + 1));
  }
  return failures;
}

Json claims_of(const Verification& found) {
  Json claims = Json::object();
  for (const Claim& claim : found.claims) {
    claims[claim.what] = std::isfinite(claim.difference) ? Json(claim.difference) : Json("not equal");
  }
  return claims;
}

std::string verdict(const Model& model, const Verification& found, bool fits) {
  if (!fits) return "DOES NOT FIT";
  const std::string text = fmt::format("the model fits these {}", matched_noun(model.count()));
  if (model.certificate.certified) return text;
  return fmt::format("{}; its maps are NOT PROVED to be the best, and may fall short by up to {:.3g} % ({})", text,
                     100 * found.gap, found.proof);
}

void run(const Session& session, const VerifyArguments& options) {
  const EndsAtOnce nothing_is_written;
  const Model whole = Model::load(options.model), model = whole.fitted();
  if (!whole.additions.empty()) {
    session.message(fmt::format("the samples check the {} domains of the fit; info has the certificate of those added",
                                model.count()));
  }
  check_inputs(options.pairs.paths.size(), model);
  const Verification found = verification_by(session, options, model);
  const Certificate& claimed = model.certificate;
  const std::vector<std::string> failures = failures_of(options, model, found);
  const std::string noun = matched_noun(model.count());
  session.result(
      {{"verified", failures.empty()},
       {"n", found.samples},
       {"total_weight", found.total_weight},
       {"constraint_residuals", found.constraint_residuals},
       {"mean_residuals", found.mean_residuals},
       {"objective", found.objective},
       {"claimed_objective", claimed.objective},
       {"best_objective", found.best_objective},
       {"shortfall", found.shortfall()},
       {"certified", found.certified},
       {"gap", found.gap},
       {"claimed_gap", claimed.gap},
       {"proof", found.proof},
       {"claims", claims_of(found)},
       {"tolerance", options.tolerance}},
      table(
          {{noun, pairs_text(found.samples, found.total_weight)},
           {"residuals",
            fmt::format("{:.1e}  (of the covariance constraints)", fmt::join(found.constraint_residuals, "  "))},
           {"means",
            fmt::format("{:.1e}  (distance of the mapped means from 0)", fmt::join(found.mean_residuals, "  "))},
           {"objective", fmt::format("{:.9g}  (the model claims {:.9g})", found.objective, claimed.objective)},
           {"least possible", fmt::format("{:.9g}  (of these {}; the maps are {:.1e} of the scale above)",
                                          found.best_objective, noun, found.shortfall())},
           {"claims", fmt::format("{} others compared; the farthest from these {}: {}, by {:.1e}", found.claims.size(),
                                  noun, found.worst_claim().what, found.worst_claim().difference)},
           {"verdict", verdict(model, found, failures.empty())}}));
  if (failures.empty()) return;
  throw Refuted(fmt::format("'{}' does not fit these {}: {}; the tolerance is {}", options.model, noun,
                            fmt::join(failures, ", "), options.tolerance));
}

}  // namespace

void add_verify(CLI::App& app, Session& session) {
  auto options = std::make_shared<VerifyArguments>();
  auto& command = *app.add_subcommand("verify", "Recompute what a model claims, from its maps and the samples alone");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  add_pair_options(command, options->pairs);
  options->pairs.may_lack = true;
  add_extra_options(command, options->extra);
  add_nuisance_option(command, options->pairs.nuisance);
  command
      .add_option("--tolerance", options->tolerance,
                  "Largest relative residual, and distance of the objective from the claimed and from the best one; "
                  "default: 1e-6")
      ->check(CLI::PositiveNumber)
      ->option_text("T");
  command.footer(
      "The exit status is 3 if the model does not fit. Maps of more than two domains that are not proven to be the\n"
      "best must be as near to the best as the model claims.\n\n"
      "Examples:\n"
      "  cgmca verify m a.npy b.npy\n"
      "  cgmca verify m a.npy b.npy --weights w.npy\n"
      "  cgmca verify m3 a.npy b.npy d.npy");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
