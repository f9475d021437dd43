// cgmca apply: samples of a domain into the common space.
#include <cgmca/model.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "files.hpp"
#include "mapped.hpp"
#include "options.hpp"

namespace cgmca::cli {
namespace {

struct Options {
  std::string model, input, output;
  Domain domain = Domain::one;
  InputOptions input_options;
};

void run(const Session& session, const Options& options) {
  check_target(options.output, {options.model, options.input});
  const Model model = Model::load(options.model);
  SampleReader reader =
      open_samples(session, options.input, options.input_options, model, options.model, options.domain);
  const auto [Z, missing] = map_samples(session, reader, model.common_dimension, options.input_options.missing,
                                        [&](const Matrix& X) { return apply(model, options.domain, X); });
  write(options.output, Z);
  session.result(
      {{"n", Z.cols()}, {"k", Z.rows()}, {"missing", missing}},
      fmt::format("{} samples of domain {} in {} common dimensions\n", Z.cols(), number(options.domain), Z.rows()),
      {options.output});
}

}  // namespace

void add_apply(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  auto& command = *app.add_subcommand("apply", "Map samples of one domain into the common space");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  command.add_option("X", options->input, "Samples of the domain, one a row")->required();
  add_domain_option(command, "--domain", options->domain, "The domain that the samples are of")->required();
  add_output_option(command, options->output, "Z", "Where to write them: .npy, .csv, .tsv, .mat or .h5");
  add_input_options(command, options->input_options, true);
  command.footer("Example:\n  cgmca apply m --domain 1 a.npy -o z.npy");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
