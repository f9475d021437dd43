// cgmca extend: a new domain in the common space of a model whose other maps stay as they are.
#include <cgmca/error.hpp>
#include <cgmca/extend.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "commands/commands.hpp"
#include "input/domains.hpp"
#include "input/pairs.hpp"
#include "options/covariance_spec.hpp"
#include "options/options.hpp"
#include "options/regularization.hpp"
#include "output/describe.hpp"
#include "output/files.hpp"

namespace cgmca::cli {
namespace {

struct ExtendArguments {
  std::string model, added, summary, output;
  std::vector<std::string> with;  // "2=FILE", or "2" with --summary
  PairSources pairs;              // the matched samples, the new domain's last
  std::string covariance;
  RegularizationSpecs regularization;
  bool no_transport = false;
};

void check(const ExtendArguments& options) {
  if (options.with.empty()) throw UsageError("extend needs --with DOMAIN=FILE: the samples that the new ones match");
  if (options.summary.empty() == options.added.empty()) {
    throw UsageError("extend needs the samples of the new domain, NAME=FILE, or --summary FILE, but not both");
  }
  if (!options.summary.empty() && !options.pairs.weights.empty()) {
    throw UsageError("--weights belongs to the inputs; a summary has its weights inside, give them to summarize");
  }
  options.regularization.check();
}

// The domains of --with, and the files that match, into `pairs`.
std::vector<Domain> parse_with(const ExtendArguments& options, const Model& model, PairSources& pairs) {
  std::string domains;
  for (const std::string& given : options.with) {
    const auto equals = given.find('=');
    const bool file = equals != std::string::npos && equals + 1 < given.size();
    if (file != options.summary.empty()) {
      throw UsageError(options.summary.empty()
                           ? fmt::format("--with {}: give the file of samples too, as --with {}=FILE", given, given)
                           : fmt::format("--with {}: the summary has the samples; name the domain alone", given));
    }
    domains += fmt::format("{}{}", domains.empty() ? "" : ",", given.substr(0, equals));
    pairs.paths.push_back(file ? given.substr(equals + 1) : "");
    pairs.names.emplace_back();
  }
  return parse_domains("--with", domains, model);
}

// NAME=FILE or FILE.
void add_new(const std::string& given, PairSources& pairs) {
  const auto equals = given.find('=');
  const bool named = equals != std::string::npos && equals > 0 && given.find_first_of("/.") > equals;
  pairs.names.push_back(named ? given.substr(0, equals) : "");
  pairs.paths.push_back(named ? given.substr(equals + 1) : given);
}

Summary read_matched(const Session& session, const ExtendArguments& options, const PairSources& pairs,
                     const Model& model, const std::vector<Domain>& known) {
  PairReader reader(pairs, session);
  reader.check_features(model, options.model, known);
  Summary summary(reader.domains());
  summary.expect(reader.samples().value_or(0));
  accumulate(session, reader, summary);
  return summary;
}

void run(const Session& session, const ExtendArguments& options) {
  check(options);
  const Model model = Model::load(options.model);
  PairSources pairs = options.pairs;
  const std::vector<Domain> known = parse_with(options, model, pairs);
  std::vector<std::string> inputs = {options.model};
  if (options.summary.empty()) {
    add_new(options.added, pairs);
    for (const std::string& file : pairs.files()) inputs.push_back(file);
  } else {
    inputs.push_back(options.summary);
  }
  check_target(options.output, inputs);
  AddOptions how;
  how.transport = !options.no_transport;
  const Regularization regularization = options.regularization.parse(1);
  how.max_rank = regularization.max_rank[0];
  how.ridge = regularization.ridge[0];
  if (!options.covariance.empty()) how.covariance = CovarianceSpecs{options.covariance, {}}.parse(1).front();
  const Summary matched =
      options.summary.empty() ? read_matched(session, options, pairs, model, known) : Summary::load(options.summary);
  const Model extended = add_domain(model, matched, known, how);
  extended.save(options.output);
  const Addition& addition = extended.additions.back();
  for (const std::string& warning : extended.warnings()) session.message("warning: " + in_options(warning));
  session.result({{"domain", extended.count()},
                  {"certificate", describe(addition)},
                  {"constraint_residual", extended.certificate.constraint_residuals.back()}},
                 table({{"domain", fmt::format("{}, of {} features, matched with {} by {} samples", extended.count(),
                                               extended.domains.back()->features(), domains_text(known),
                                               pairs_text(addition.samples, addition.total_weight))},
                        {"objective", fmt::format("{:.9g}", addition.objective)},
                        {"bound", fmt::format("{:.9g}  (no map can do better)", addition.bound)},
                        {"residual", fmt::format("{:.1e}  (of the covariance constraint)",
                                                 extended.certificate.constraint_residuals.back())}}),
                 {options.output});
}

}  // namespace

void add_extend(CLI::App& app, Session& session) {
  auto options = std::make_shared<ExtendArguments>();
  auto& command = *app.add_subcommand("extend", "Add a domain to a model, whose other maps stay as they are");
  command.add_option("MODEL", options->model, "A model written by fit or extend")->required();
  command.add_option("NEW", options->added,
                     "Samples of the new domain, one per row; NAME=FILE names the domain. They match those of --with "
                     "by order");
  command
      .add_option("--with", options->with,
                  "A domain of the model, by number or name, and samples of it that match the new ones; may be given "
                  "for several domains")
      ->option_text("DOMAIN=FILE");
  command
      .add_option("--summary", options->summary,
                  "A summary of the matched samples in place of files: the domains of --with in that order, and last "
                  "the new one")
      ->option_text("FILE");
  add_output_option(command, options->output, "MODEL2", "Where to write the model of all domains");
  command
      .add_option("--cov", options->covariance,
                  "The covariance of the new domain's points: identity:K, file:PATH, factor:PATH or sd:PATH; default: "
                  "that of the first domain of --with")
      ->option_text("SPEC");
  add_regularization_options(command, options->regularization);
  command.add_flag("--no-transport", options->no_transport,
                   "Take mean and covariance of the new domain from the new samples as they are, which need not be "
                   "like those of the fit");
  add_input_options(command, options->pairs.input);
  command
      .add_option("--weights", options->pairs.weights,
                  "How often each sample counts: a column of numbers; 2 counts it twice, 0 leaves it out")
      ->option_text("FILE");
  command.footer(
      "Examples:\n"
      "  cgmca extend m third=d.npy --with 2=b.npy -o m3\n"
      "  cgmca extend m d.npy --with 1=a.npy --with 2=b.npy --ridge 0.1 -o m3\n"
      "  cgmca extend m --summary s --with 1 -o m3    # b.npy is new, a.npy domain 1");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
