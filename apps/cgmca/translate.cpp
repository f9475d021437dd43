// cgmca translate: samples of one domain as samples of the other.
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "commands.hpp"
#include "files.hpp"
#include "mapped.hpp"
#include "options.hpp"
#include "support/choice.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  std::string model, input, output, standard_errors, lower, upper;
  double interval = 0;
  Domain from = Domain::two, to = Domain::one;
  Method method = Method::lmmse;
  Index iterations = 0;
  MapOptions map;
};

void check(const Options& options) {
  options.map.check();
  if (options.from == options.to) throw UsageError("--from and --to name the same domain");
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
  std::vector<std::string> outputs;
  for (const std::string& target : {options.output, options.standard_errors, options.lower, options.upper}) {
    if (target.empty()) continue;
    check_target(target, {options.model, options.input}, outputs);
    outputs.push_back(target);
  }
}

// What lmmse says of each sample, one below the other: the translation, and what was asked for of its standard errors
// and the half widths of its intervals.
Matrix with_errors(const Translation& map, const Options& options, const Matrix& X) {
  std::vector<Matrix> parts = {map(X)};
  if (!options.standard_errors.empty()) parts.push_back(map.standard_errors(X));
  if (options.interval > 0) parts.push_back(map.half_widths(X, options.interval));
  const Index d = parts.front().rows();
  Matrix all(d * static_cast<Index>(parts.size()), X.cols());
  for (std::size_t i = 0; i < parts.size(); ++i) all.middleRows(d * static_cast<Index>(i), d) = parts[i];
  return all;
}

std::function<Matrix(const Matrix&)> map_of(const Model& model, const Options& options) {
  if (options.method != Method::lsqr) {
    return [&options, map = translation(model, options.from, options.to, options.method)](const Matrix& X) {
      return with_errors(map, options, X);
    };
  }
  return [&](const Matrix& X) {
    return translate(model, options.from, options.to, X, Method::lsqr, {.iterations = options.iterations});
  };
}

void run(const Session& session, const Options& options) {
  check(options);
  const Model model = Model::load(options.model);
  const DomainMap& target = model.domain(options.to);
  SampleReader reader = open_samples(session, options.input, options.map.input, model, options.model, options.from);
  const Index d = target.features();
  const Index parts = 1 + (options.standard_errors.empty() ? 0 : 1) + (options.interval > 0 ? 1 : 0);
  Mapped mapped = map_samples(session, reader, parts * d, options.map.input.missing, map_of(model, options));
  const Index n = mapped.Y.cols();
  std::vector<Output> outputs;
  std::vector<std::string> written;
  const auto add = [&](const std::string& path, Matrix Y, const std::string& suffix) {
    const std::string variable = fmt::format("X{}_from_{}{}", number(options.to), number(options.from), suffix);
    outputs.push_back(
        {path, std::move(Y), options.map.write(variable, target.feature_names), mapped.ids, options.map.id_name()});
    written.push_back(path);
  };
  if (!options.standard_errors.empty()) add(options.standard_errors, mapped.Y.middleRows(d, d), "_stderr");
  if (options.interval > 0) {
    add(options.lower, mapped.Y.topRows(d) - mapped.Y.bottomRows(d), "_lower");
    add(options.upper, mapped.Y.topRows(d) + mapped.Y.bottomRows(d), "_upper");
  }
  mapped.Y.conservativeResize(d, Eigen::NoChange);
  add(options.output, std::move(mapped.Y), "");
  write_all(outputs);
  session.result(
      {{"n", n}, {"features", target.features()}, {"method", name(options.method)}, {"missing", mapped.missing}},
      fmt::format("{} samples of domain {} as samples of domain {} ({} features) by {}\n", n, number(options.from),
                  number(options.to), target.features(), name(options.method)),
      written);
}

}  // namespace

void add_translate(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("translate", "Turn samples of one domain into samples of the other");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  command.add_option("X", options->input, "Samples of domain --from, one a row")->required();
  add_domain_option(command, "--from", options->from, "The domain that the samples are of")->required();
  add_domain_option(command, "--to", options->to, "The domain to turn them into")->required();
  add_output_option(
      command, options->output, "Y",
      "Where to write them: .npy, .csv, .tsv, .npz, .mat or .h5; f.mat:NAME adds to a file (else X1_from_2)");
  const auto choose = [chosen = &options->method](const std::string& text) {
    *chosen = need_choice(text, kMethods, "method");
  };
  command
      .add_option_function<std::string>("--method", choose,
                                        "lmmse: best linear estimate (default); exact: nearest to the mean; "
                                        "mahalanobis: most likely; lsqr: iterative, stopped early")
      ->check(CLI::IsMember(names_of(kMethods)))
      ->option_text(fmt::format("{}", fmt::join(names_of(kMethods), "|")));
  command.add_option("--iterations", options->iterations, "Most iterations of lsqr; default: min(k, d, 20)")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  command
      .add_option("--stderr", options->standard_errors,
                  "Where to write lmmse's standard error of each feature of each sample, as new samples have it")
      ->option_text("FILE");
  command
      .add_option("--interval", options->interval,
                  "Limits that hold the true value with this probability, 0.9 for instance; with --lower and --upper")
      ->check(CLI::Range(0.001, 0.9999))
      ->option_text("P");
  command.add_option("--lower", options->lower, "Where to write the lower limits")->option_text("FILE");
  command.add_option("--upper", options->upper, "Where to write the upper limits")->option_text("FILE");
  add_map_options(command, options->map);
  command.footer(
      "Examples:\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.npy\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.csv --stderr e.csv\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.csv --interval 0.9 --lower low.csv --upper high.csv\n"
      "  cgmca translate m --from 1 --to 2 a.npy -o c.npy --method lsqr --iterations 5");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
