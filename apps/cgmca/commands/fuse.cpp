// cgmca fuse: one point of the common space for each sample, from whatever domains there are.
#include <cgmca/error.hpp>
#include <cgmca/fuse.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "commands/commands.hpp"
#include "input/domains.hpp"
#include "input/mapped.hpp"
#include "input/pairs.hpp"
#include "options/options.hpp"
#include "output/files.hpp"
#include "shell/progress.hpp"
#include "shell/signals.hpp"
#include "support/choice.hpp"

namespace cgmca::cli {
namespace {

struct FuseArguments {
  std::string nuisance, model, output, domains;  // of the inputs, as --domains has them; empty: 1, 2, …
  std::vector<std::string> inputs;
  Fusion how = Fusion::estimate;
  MapOptions map;
};

std::vector<Domain> domains_of(const FuseArguments& options, const Model& model) {
  if (options.domains.empty()) {
    check_inputs(options.inputs.size(), model, "; say with --domains which");
    return all_domains(model.count());
  }
  const std::vector<Domain> domains = parse_domains("--domains", options.domains, model);
  if (domains.size() == options.inputs.size()) return domains;
  throw UsageError(fmt::format("--domains names {} domains for {} inputs; name one for each", domains.size(),
                               options.inputs.size()));
}

// The next samples of all inputs, in step.
std::vector<Matrix> next_matrices(std::vector<SampleReader>& readers, Index block) {
  std::vector<Matrix> X;
  for (SampleReader& reader : readers) X.push_back(in_doubles(reader.next(block)));
  for (std::size_t i = 1; i < X.size(); ++i) {
    if (X[i].cols() == X[0].cols()) continue;
    const std::size_t shorter = X[i].cols() < X[0].cols() ? i : 0;
    throw UnequalSamples(fmt::format("{} ends before {}; samples must match one to one", readers[shorter].shape(),
                                     readers[shorter == 0 ? i : 0].shape()));
  }
  check_same_keys(readers);
  return X;
}

Index count_incomplete(const std::vector<Matrix>& X) {
  Index count = 0;
  for (Index j = 0; j < X.front().cols(); ++j) {
    count += std::any_of(X.begin(), X.end(), [j](const Matrix& one) { return one.col(j).hasNaN(); }) ? 1 : 0;
  }
  return count;
}

struct FusedCount {
  Index samples = 0, incomplete = 0;
};

FusedCount fuse_all(const Session& session, const FuseArguments& options, const Model& model,
                    const std::vector<Domain>& domains, std::vector<SampleReader>& readers, Outputs& outputs) {
  const Index block = block_samples(readers, model.common_dimension);
  Progress progress(session, "samples written", readers.front().samples());
  FusedCount result;
  for (;;) {
    const std::vector<Matrix> X = with_nuisance(next_matrices(readers, block), model);
    const Index n = X.front().cols();
    if (n == 0) return result;
    std::vector<DomainSamples> present;
    for (std::size_t i = 0; i < domains.size(); ++i) present.push_back({domains[i], X[i]});
    outputs.write(0, fuse(model, present, options.how), readers.front().ids());
    result.incomplete += count_incomplete(X);
    result.samples += n;
    progress.update(result.samples);
    stop_if_interrupted();
  }
}

void run(const Session& session, const FuseArguments& options) {
  options.map.check();
  check_standard_input(options.inputs);
  std::vector<std::string> inputs = options.inputs;
  inputs.push_back(options.model);
  check_target(options.output, inputs);
  const Model model = Model::load(options.model);
  const std::vector<Domain> domains = domains_of(options, model);
  std::vector<SampleReader> readers;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    readers.push_back(open_samples(session, options.inputs[i], options.map.input, model, options.model, domains[i]));
  }
  add_nuisance_reader(session, readers, options.nuisance, options.map.input, model);
  const Index k = model.common_dimension;
  const WriteOptions how = options.map.write("Z", readers, names_of_components(options.output, readers, k));
  if (stop_at_map_estimate(session, options.map.limits, readers, {options.output}, k, how)) return;
  Outputs outputs;
  outputs.add(options.output, k, how);
  const auto [n, incomplete] = fuse_all(session, options, model, domains, readers, outputs);
  if (incomplete > 0) {
    session.message(fmt::format("{} of {} samples lack a domain (NaN or empty cells) and are fused from the others",
                                incomplete, n));
  }
  outputs.commit(session);
  session.result({{"n", n}, {"k", k}, {"method", name(options.how)}, {"incomplete", incomplete}},
                 fmt::format("{} samples fused in {} common dimensions\n", n, k), outputs.targets());
}

}  // namespace

void add_fuse(CLI::App& app, Session& session) {
  auto options = std::make_shared<FuseArguments>();
  auto& command = *app.add_subcommand("fuse", "Join matched samples of several domains in the common space");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  command.add_option("X", options->inputs, "Samples of domain 1, 2, …, one per row, matched by order")
      ->required()
      ->expected(1, -1);
  command
      .add_option("--domains", options->domains,
                  "The domains that the inputs are of, by number or name, if not all are given")
      ->option_text("LIST");
  add_output_option(
      command, options->output, "Z",
      "Where to write them: .npy, .csv, .tsv, .npz, .mat or .h5; f.mat:NAME adds to a file (default NAME: Z)");
  command
      .add_option_function<std::string>(
          "--method",
          [chosen = &options->how](const std::string& text) { *chosen = need_choice(text, kFusions, "method"); },
          "estimate: an estimate of the mean of all domains' points, also of those not given (default); mean: the "
          "mean of those given")
      ->check(CLI::IsMember(names_of(kFusions)))
      ->option_text(fmt::format("{}", fmt::join(names_of(kFusions), "|")));
  command.add_flag("--columns", options->map.input.columns, "Samples are the files' columns, and the output's");
  command
      .add_option("--id", options->map.input.id,
                  "The column of text files that names samples, by its header or place; a CSV output keeps it. none: "
                  "all columns are features, also a first one without a name")
      ->option_text("NAME");
  add_nuisance_option(command, options->nuisance);
  add_precision_option(command, options->map.single);
  add_limit_options(command, options->map.limits);
  command.footer(
      "A sample with NaN or empty cells in one domain is fused from the others.\n\n"
      "Examples:\n"
      "  cgmca fuse m a.npy b.npy -o z.npy\n"
      "  cgmca fuse m --domains 2 b.npy -o z.npy\n"
      "  cgmca fuse m3 --domains 1,3 a.npy d.npy -o z.npy");
  command.callback([options, &session] { session.command = [options, &session] { run(session, *options); }; });
}

}  // namespace cgmca::cli
