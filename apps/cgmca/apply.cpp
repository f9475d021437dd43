// cgmca apply: samples of a domain into the common space.
#include <cgmca/model.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "domains.hpp"
#include "files.hpp"
#include "mapped.hpp"
#include "options.hpp"

namespace cgmca::cli {
namespace {

struct ApplyArguments {
  std::string model, input, output, domain;
  MapOptions map;
};

// c1, c2, …: the header of a text file whose input has one.
std::vector<std::string> names_of_components(const ApplyArguments& options, const SampleReader& reader, Index k) {
  std::vector<std::string> names;
  if (reader.feature_names().empty() || !is_text(options.output)) return names;
  for (Index j = 1; j <= k; ++j) names.push_back(fmt::format("c{}", j));
  return names;
}

void run(const Session& session, const ApplyArguments& options) {
  options.map.check();
  check_target(options.output, {options.model, options.input});
  const Model model = Model::load(options.model);
  const Domain domain = parse_domain("--domain", options.domain, model);
  SampleReader reader = open_samples(session, options.input, options.map.input, model, options.model, domain);
  Mapped mapped = map_samples(session, reader, model.common_dimension, options.map.input.missing,
                              [&](const Matrix& X) { return apply(model, domain, X, options.map.device); });
  const Index n = mapped.Y.cols(), k = mapped.Y.rows();
  const WriteOptions how =
      options.map.write(fmt::format("Z{}", number(domain)), names_of_components(options, reader, k));
  write_all({{options.output, std::move(mapped.Y), how, std::move(mapped.ids), options.map.id_name()}});
  session.result({{"n", n}, {"k", k}, {"missing", mapped.missing}},
                 fmt::format("{} samples of domain {} in {} common dimensions\n", n, number(domain), k),
                 {options.output});
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
  add_map_options(command, options->map);
  command.footer(
      "Examples:\n"
      "  cgmca apply m --domain 1 a.npy -o z.npy\n"
      "  cgmca apply m --domain 2 b.npy -o z.mat:Z2");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
