// cgmca translate: samples of one domain, or of several, as samples of another.
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "commands/commands.hpp"
#include "input/domains.hpp"
#include "input/mapped.hpp"
#include "input/pairs.hpp"
#include "options/options.hpp"
#include "output/files.hpp"
#include "support/choice.hpp"

namespace cgmca::cli {
namespace {

struct TranslateArguments {
  std::string model, from, to, output, nuisance, standard_errors, lower, upper;
  std::vector<std::string> inputs;
  double interval = 0;
  Method method = Method::lmmse;
  Index iterations = 0;
  MapOptions map;
};

std::vector<std::string> targets_of(const TranslateArguments& options) {
  std::vector<std::string> targets;
  for (const std::string& target : {options.output, options.standard_errors, options.lower, options.upper}) {
    if (!target.empty()) targets.push_back(target);
  }
  return targets;
}

void check(const TranslateArguments& options) {
  options.map.check();
  if (options.iterations > 0 && options.method != Method::lsqr) {
    throw UsageError(fmt::format("--iterations is for --method lsqr; {} needs none", name(options.method)));
  }
  const bool limits = options.interval > 0;
  if (limits != !options.lower.empty() || limits != !options.upper.empty()) {
    throw UsageError("--interval P, --lower FILE and --upper FILE go together");
  }
  if (options.method != Method::lmmse && (limits || !options.standard_errors.empty())) {
    throw UsageError(fmt::format("--{} is for --method lmmse; {} has no standard errors",
                                 limits ? "interval" : "stderr", name(options.method)));
  }
  check_standard_input(options.inputs);
  std::vector<std::string> outputs, inputs = options.inputs;
  inputs.push_back(options.model);
  for (const std::string& target : targets_of(options)) {
    check_target(target, inputs, outputs);
    outputs.push_back(target);
  }
}

// From where to where, as the model has it.
struct Way {
  std::vector<Domain> from;
  Domain to;
};

Way way_of(const TranslateArguments& options, const Model& model) {
  Way way{parse_domains("--from", options.from, model), parse_domain("--to", options.to, model)};
  if (std::find(way.from.begin(), way.from.end(), way.to) != way.from.end()) {
    throw UsageError("--from and --to name the same domain");
  }
  if (way.from.size() != options.inputs.size()) {
    throw UsageError(fmt::format("--from names {} domain{} for {} input{}", way.from.size(),
                                 way.from.size() == 1 ? "" : "s", options.inputs.size(),
                                 options.inputs.size() == 1 ? "" : "s"));
  }
  if (way.from.size() > 1 && options.method != Method::lmmse) {
    throw UsageError(fmt::format("--method {} translates from one domain; from {} together only lmmse does",
                                 name(options.method), way.from.size()));
  }
  return way;
}

Matrix stacked(const std::vector<Matrix>& parts) {
  const Index d = parts.front().rows();
  Matrix all(d * std::ssize(parts), parts.front().cols());
  for (std::size_t i = 0; i < parts.size(); ++i) all.middleRows(d * static_cast<Index>(i), d) = parts[i];
  return all;
}

// What lmmse says of each sample, one below the other: the translation, and what was asked for of its standard errors
// and the half widths of its intervals.
Matrix with_errors(const Translation& map, const TranslateArguments& options, const Matrix& X) {
  std::vector<Matrix> parts = {map(X, options.map.device)};
  if (!options.standard_errors.empty()) parts.push_back(map.standard_errors(X));
  if (options.interval > 0) parts.push_back(map.half_widths(X, options.interval));
  return stacked(parts);
}

// The same from several domains, where a sample may lack some of them.
Matrix from_several(const Model& model, const TranslateArguments& options, const Way& way,
                    const std::vector<Matrix>& X) {
  std::vector<DomainSamples> present;
  for (std::size_t i = 0; i < X.size(); ++i) present.push_back({way.from[i], X[i]});
  if (options.standard_errors.empty() && options.interval == 0) return translate(model, present, way.to);
  const std::optional<double> probability = options.interval > 0 ? std::optional(options.interval) : std::nullopt;
  const cgmca::Estimate estimated = cgmca::estimate(model, present, way.to, probability);
  std::vector<Matrix> parts = {estimated.X};
  if (!options.standard_errors.empty()) parts.push_back(estimated.standard_errors);
  if (probability) parts.push_back(estimated.half_widths);
  return stacked(parts);
}

using Map = std::function<Matrix(const std::vector<Matrix>&)>;

Map map_of(const Model& model, const TranslateArguments& options, const Way& way) {
  if (way.from.size() > 1) {
    if (options.map.device != Device::cpu)
      throw UsageError("--device is for a translation from one domain; leave it out");
    return [&](const std::vector<Matrix>& X) { return from_several(model, options, way, X); };
  }
  if (options.method != Method::lsqr) {
    return [&options, map = translation(model, way.from, way.to, options.method)](const std::vector<Matrix>& X) {
      return with_errors(map, options, X.front());
    };
  }
  return [&](const std::vector<Matrix>& X) {
    return translate(model, way.from.front(), way.to, X.front(), Method::lsqr, {.iterations = options.iterations},
                     options.map.device);
  };
}

// "X1_from_2", "X1_from_2_3"
std::string variable_of(const Way& way) {
  std::string text = fmt::format("X{}_from", number(way.to));
  for (const Domain domain : way.from) text += fmt::format("_{}", number(domain));
  return text;
}

void run(const Session& session, const TranslateArguments& options) {
  check(options);
  const Model model = Model::load(options.model);
  const Way way = way_of(options, model);
  const DomainMap& target = model.domain(way.to);
  std::vector<SampleReader> readers;
  for (std::size_t i = 0; i < way.from.size(); ++i) {
    readers.push_back(open_samples(session, options.inputs[i], options.map.input, model, options.model, way.from[i]));
  }
  add_nuisance_reader(session, readers, options.nuisance, options.map.input, model);
  const Index d = target.features();
  const bool errors = !options.standard_errors.empty(), limits = options.interval > 0;
  const WriteOptions how = options.map.write(variable_of(way), readers, target.feature_names);
  if (stop_at_map_estimate(session, options.map.limits, readers, targets_of(options), d, how)) return;
  Outputs outputs;
  const auto add = [&](const std::string& path, const char* suffix) {
    WriteOptions its = how;
    its.variable += suffix;
    outputs.add(path, d, its);
  };
  add(options.output, "");
  if (errors) add(options.standard_errors, "_stderr");
  if (limits) add(options.lower, "_lower"), add(options.upper, "_upper");
  // Y: the translation, and below it what was asked for of its standard errors and half widths
  const auto write = [&](const Matrix& Y, const std::vector<std::string>& ids) {
    std::size_t output = 0;
    outputs.write(output++, Y.topRows(d), ids);
    if (errors) outputs.write(output++, Y.middleRows(d, d), ids);
    if (!limits) return;
    outputs.write(output++, Y.topRows(d) - Y.bottomRows(d), ids);
    outputs.write(output++, Y.topRows(d) + Y.bottomRows(d), ids);
  };
  const auto [n, missing] = map_samples(
      session, readers, (1 + (errors ? 1 : 0) + (limits ? 1 : 0)) * d, options.map.input.missing,
      [&model, map = map_of(model, options, way)](const std::vector<Matrix>& X) {
        return map(with_nuisance(X, model));
      },
      write);
  outputs.commit(session);
  session.result({{"n", n}, {"features", d}, {"method", name(options.method)}, {"missing", missing}},
                 fmt::format("{} samples of {} as samples of domain {} ({} features) by {}\n", n,
                             domains_text(way.from), number(way.to), d, name(options.method)),
                 outputs.targets());
}

}  // namespace

void add_translate(CLI::App& app, Session& session) {
  auto options = std::make_shared<TranslateArguments>();
  auto& command =
      *app.add_subcommand("translate", "Turn samples of one domain, or of several, into samples of another");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  command.add_option("X", options->inputs, "Samples of the domains --from, one per row, matched by order")
      ->required()
      ->expected(1, -1);
  add_domain_option(command, "--from", options->from,
                    "The domains that the inputs are of, by number or name: 2, or 2,3 for two inputs");
  add_domain_option(command, "--to", options->to, "The domain to turn them into");
  add_output_option(
      command, options->output, "Y",
      "Where to write them: .npy, .csv, .tsv, .npz, .mat or .h5; f.mat:NAME adds to a file (default NAME: X1_from_2)");
  const auto choose = [chosen = &options->method](const std::string& text) {
    *chosen = need_choice(text, kMethods, "method");
  };
  command
      .add_option_function<std::string>(
          "--method", choose,
          "lmmse: best linear estimate (default), also from several; exact: nearest to the mean; "
          "mahalanobis: most likely; lsqr: iterative, stopped early")
      ->check(CLI::IsMember(names_of(kMethods)))
      ->option_text(fmt::format("{}", fmt::join(names_of(kMethods), "|")));
  command.add_option("--iterations", options->iterations, "Most iterations of lsqr; default: min(k, d, 20)")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  command
      .add_option("--stderr", options->standard_errors,
                  "Where to write the standard error (lmmse) of each feature of each sample, for new samples")
      ->option_text("FILE");
  command
      .add_option("--interval", options->interval,
                  "Limits that hold the true value with this probability, 0.9 for instance; with --lower and --upper")
      ->check(CLI::Range(0.001, 0.9999))
      ->option_text("P");
  command.add_option("--lower", options->lower, "Where to write the lower limits")->option_text("FILE");
  command.add_option("--upper", options->upper, "Where to write the upper limits")->option_text("FILE");
  add_nuisance_option(command, options->nuisance);
  add_map_options(command, options->map);
  command.footer(
      "A sample that one of several inputs lacks (NaN or empty cells) is translated from the others with "
      "--missing pass.\n\n"
      "Examples:\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.npy\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.csv --stderr e.csv\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.csv --interval 0.9 --lower low.csv --upper high.csv\n"
      "  cgmca translate m --from 1 --to 2 a.npy -o c.npy --method lsqr --iterations 5\n"
      "  cgmca translate m3 --from 2,3 --to 1 b.npy d.npy -o c.npy --stderr e.npy");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
