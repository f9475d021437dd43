// cgmca apply: samples of a domain into the common space.
#include <cgmca/model.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands/commands.hpp"
#include "input/domains.hpp"
#include "input/mapped.hpp"
#include "input/pairs.hpp"
#include "options/options.hpp"
#include "output/files.hpp"

namespace cgmca::cli {
namespace {

struct ApplyArguments {
  std::string model, input, output, domain, nuisance;
  MapOptions map;
};

void run(const Session& session, const ApplyArguments& options) {
  options.map.check();
  check_target(options.output, {options.model, options.input, options.nuisance});
  const Model model = Model::load(options.model);
  const Domain domain = parse_domain("--domain", options.domain, model);
  std::vector<SampleReader> readers;
  readers.push_back(open_samples(session, options.input, options.map.input, model, options.model, domain));
  add_nuisance_reader(session, readers, options.nuisance, options.map.input, model);
  const Index k = model.common_dimension;
  const WriteOptions how =
      options.map.write(fmt::format("Z{}", number(domain)), readers, names_of_components(options.output, readers, k));
  if (stop_at_map_estimate(session, options.map.limits, readers, {options.output}, k, how)) return;
  Outputs outputs;
  outputs.add(options.output, k, how);
  const auto [n, missing] = map_samples(
      session, readers, k, options.map.input.missing,
      [&](const std::vector<Matrix>& X) {
        return apply(model, domain, with_nuisance(X, model).front(), options.map.device);
      },
      [&](const Matrix& Z, const std::vector<std::string>& ids) { outputs.write(0, Z, ids); });
  outputs.commit(session);
  session.result({{"n", n}, {"k", k}, {"missing", missing}},
                 fmt::format("{} samples of domain {} in {} common dimensions\n", n, number(domain), k),
                 outputs.targets());
}

}  // namespace

void add_apply(CLI::App& app, Session& session) {
  auto options = std::make_shared<ApplyArguments>();
  auto& command = *app.add_subcommand("apply", "Map samples of one domain into the common space");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  command.add_option("X", options->input, "Samples of the domain, one per row")->required();
  add_domain_option(command, "--domain", options->domain, "The domain that the samples are of, by number or name");
  add_output_option(
      command, options->output, "Z",
      "Where to write them: .npy, .csv, .tsv, .npz, .mat or .h5; f.mat:NAME adds to a file (default NAME: Z1, Z2)");
  add_nuisance_option(command, options->nuisance);
  add_map_options(command, options->map);
  command.footer(
      "Examples:\n"
      "  cgmca apply m --domain 1 a.npy -o z.npy\n"
      "  cgmca apply m --domain 2 b.npy -o z.mat:Z2");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
