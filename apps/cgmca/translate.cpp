// cgmca translate: samples of one domain as samples of the other.
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "files.hpp"
#include "mapped.hpp"
#include "options.hpp"
#include "support/choice.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  std::string model, input, output, standard_errors;
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
  check_target(options.output, {options.model, options.input});
  if (options.standard_errors.empty()) return;
  if (options.method != Method::lmmse) {
    throw UsageError(fmt::format("--stderr is for --method lmmse; {} has no standard errors", name(options.method)));
  }
  check_target(options.standard_errors, {options.model, options.input}, {options.output});
}

void run(const Session& session, const Options& options) {
  check(options);
  const Model model = Model::load(options.model);
  const DomainMap& target = model.domain(options.to);
  SampleReader reader = open_samples(session, options.input, options.map.input, model, options.model, options.from);
  const auto mapped_by = [&](const std::function<Matrix(const Matrix&)>& map) {
    return map_samples(session, reader, target.features(), options.map.input.missing, map);
  };
  const std::string variable = fmt::format("X{}_from_{}", number(options.to), number(options.from));
  Mapped mapped;
  std::optional<Matrix> standard_errors;
  if (options.method == Method::lsqr) {
    const LsqrOptions lsqr_options{.iterations = options.iterations};
    mapped = mapped_by(
        [&](const Matrix& X) { return translate(model, options.from, options.to, X, Method::lsqr, lsqr_options); });
  } else {
    const Translation map = translation(model, options.from, options.to, options.method);
    mapped = mapped_by(map);
    if (!options.standard_errors.empty()) standard_errors = map.standard_error;
  }
  const Index n = mapped.Y.cols();
  std::vector<Output> outputs = {{options.output, std::move(mapped.Y),
                                  options.map.write(variable, target.feature_names), std::move(mapped.ids),
                                  options.map.id_name()}};
  std::vector<std::string> written = {options.output};
  if (standard_errors) {
    outputs.push_back({options.standard_errors, std::move(*standard_errors),
                       options.map.write(variable + "_stderr", target.feature_names)});
    written.push_back(options.standard_errors);
  }
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
  command.add_option("--stderr", options->standard_errors, "Where to write lmmse's standard error of each feature")
      ->option_text("FILE");
  add_map_options(command, options->map);
  command.footer(
      "Examples:\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.npy\n"
      "  cgmca translate m --from 2 --to 1 b.npy -o c.csv --stderr e.csv\n"
      "  cgmca translate m --from 1 --to 2 a.npy -o c.npy --method lsqr --iterations 5");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
