// cgmca export: a model's numbers in a file that other programs read.
#include <cgmca/error.hpp>
#include <cgmca/io.hpp>
#include <cgmca/model.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands/commands.hpp"
#include "commands/export_onnx.hpp"
#include "input/domains.hpp"
#include "options/options.hpp"
#include "output/files.hpp"
#include "support/suggest.hpp"

namespace cgmca::cli {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  std::string model, output, only;
  OnnxArguments onnx;
};

// One array of the file, as it shall stand there; vectors are columns, so that A1*x + b1 is what apply does.
struct Array {
  std::string name;
  Matrix values;
  std::vector<std::string> feature_names = {};  // of the columns
};

// Of more than two domains: correlations_1_2 and so on, of each coordinate of the common space.
void append_correlations(const Model& model, std::vector<Array>& arrays) {
  for (const Domain i : all_domains(model.count())) {
    for (const Domain j : all_domains(model.count())) {
      if (!(i < j) || !model.domains[i] || !model.domains[j]) continue;
      arrays.push_back({fmt::format("correlations_{}_{}", number(i), number(j)), model.common_correlations(i, j)});
    }
  }
}

std::vector<Array> arrays_of(const Model& model) {
  const Certificate& certificate = model.certificate;
  const auto scalar = [](double value) { return Matrix::Constant(1, 1, value); };
  std::vector<Array> arrays;
  for (const Domain domain : all_domains(model.count())) {
    const Index i = index(domain);
    if (!model.domains[i]) continue;
    const DomainMap& map = *model.domains[i];
    const auto add = [&](const char* name, Matrix values, std::vector<std::string> names = {}) {
      arrays.push_back({fmt::format("{}{}", name, number(domain)), std::move(values), std::move(names)});
    };
    add("A", map.matrix(), map.feature_names);
    add("b", map.offset());
    add("mean", map.mean);
    add("variance", map.variance);
    if (map.scale.size() > 0) add("scale", map.scale);
    add("weights", map.weights, map.feature_names);
    add("mixing", map.mixing);
    add("loadings", map.loadings);
    add("covariance", map.mixing * map.mixing.transpose());
    add("residual", scalar(certificate.constraint_residuals[i]));
  }
  if (model.count() == 2) {
    arrays.push_back({"correlations", certificate.singular_B});
    arrays.push_back({"prescribed", certificate.singular_A});
  } else {
    append_correlations(model, arrays);
  }
  arrays.push_back({"graph", certificate.edge_weights});
  arrays.push_back({"certified", scalar(certificate.certified ? 1 : 0)});
  arrays.push_back({"gap", scalar(certificate.gap)});
  arrays.push_back({"objective", scalar(certificate.objective)});
  arrays.push_back({"bound", scalar(certificate.bound)});
  arrays.push_back({"samples", scalar(static_cast<double>(model.samples))});
  arrays.push_back({"total_weight", scalar(model.total_weight)});
  return arrays;
}

// All arrays or none: they are gathered in a file beside the target, which then takes its place.
void write_arrays(const std::string& target, const std::vector<Array>& arrays) {
  const fs::path path(target);
  const std::string beside =
      (path.parent_path() / fmt::format(".{}.{}{}", path.stem().string(), ::getpid(), path.extension().string()))
          .string();
  try {
    for (const Array& array : arrays) {
      write(fmt::format("{}:{}", beside, array.name), array.values.transpose(), {.feature_names = array.feature_names});
    }
    fs::rename(beside, path);
  } catch (const fs::filesystem_error& problem) {
    ::unlink(beside.c_str());
    throw IoError(fmt::format("cannot write '{}': {}", target, problem.code().message()));
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

// Those that --only names, in its order; all if it names none.
std::vector<Array> selected(std::vector<Array> arrays, const std::string& only) {
  if (only.empty()) return arrays;
  std::vector<std::string> names;
  for (const Array& array : arrays) names.push_back(array.name);
  std::vector<Array> found;
  for (const std::string& wanted : CLI::detail::split(only, ',')) {
    const auto place = std::find(names.begin(), names.end(), wanted);
    if (place == names.end()) {
      const std::string near = did_you_mean(wanted, names);
      throw UsageError(fmt::format("--only: the model has no '{}'{} {}", wanted,
                                   near.empty() ? "; it has" : near + " It has", fmt::join(names, ", ")));
    }
    found.push_back(arrays[place - names.begin()]);
  }
  return found;
}

// Text holds one array a file: m.csv becomes m.A1.csv, m.b1.csv, …; or it is the only array's file.
std::vector<Output> texts_of(const std::string& target, const std::vector<Array>& arrays) {
  std::vector<Output> outputs;
  for (const Array& array : arrays) {
    fs::path path(target);
    if (arrays.size() > 1) path.replace_extension(fmt::format(".{}{}", array.name, path.extension().string()));
    outputs.push_back({path.string(), array.values.transpose(), {.feature_names = array.feature_names}});
  }
  return outputs;
}

void run(const Session& session, const ExportArguments& options) {
  const std::string extension = extension_of(options.output);
  const bool text = is_text(options.output);
  if (!text && extension != ".mat" && extension != ".npz" && extension != ".h5" && extension != ".hdf5") {
    throw UsageError(
        fmt::format("'{}': export writes .mat, .npz, .h5, .csv or .tsv, and .onnx with --onnx", options.output));
  }
  check_target(options.output, {options.model});
  const Model model = Model::load(options.model);
  if (model.nuisance_values() > 0) {
    throw UsageError("the maps take the values of a nuisance beside a sample, for which an export has no arrays");
  }
  const std::vector<Array> arrays = selected(arrays_of(model), options.only);
  std::vector<std::string> files = {options.output};
  if (text) {
    const std::vector<Output> outputs = texts_of(options.output, arrays);
    files.clear();
    for (const Output& output : outputs) {
      check_target(output.target, {options.model});
      files.push_back(output.target);
    }
    write_all(outputs);
  } else {
    write_arrays(options.output, arrays);
  }
  Json shapes;
  Rows rows;
  for (const Array& array : arrays) {
    shapes[array.name] = {array.values.rows(), array.values.cols()};
    rows.emplace_back(array.name, fmt::format("{} × {}", array.values.rows(), array.values.cols()));
  }
  session.result({{"file", options.output}, {"files", files}, {"arrays", shapes}}, table(rows), files);
}

}  // namespace

void add_export(CLI::App& app, Session& session) {
  auto options = std::make_shared<ExportArguments>();
  auto& command = *app.add_subcommand("export", "Write a model's numbers for other programs: MATLAB, NumPy, HDF5, CSV");
  command.add_option("MODEL", options->model, "A model written by fit")->required();
  add_output_option(
      command, options->output, "FILE",
      "The file to write: .mat, .npz or .h5; or .csv, .tsv: one file for each array, m.A1.csv of m.csv; or "
      ".onnx");
  command.add_option("--only", options->only, "Only these arrays; a single one is the text file itself")
      ->option_text("LIST");
  add_onnx_options(command, options->onnx);
  command.footer(
      "For domain 1, and with 2, 3, … for the others:\n"
      "  A1, b1        the map: A1*x + b1 is what apply makes of a sample x (a column)\n"
      "  mean1         of the features; b1 = -A1*mean1\n"
      "  variance1     of each feature; scale1, if fit had --scale: what the features were divided by\n"
      "  weights1      canonical scores t = weights1*(x - mean1), and mixing1: A1 = mixing1*weights1\n"
      "  loadings1     covariance of the features with the first canonical scores\n"
      "  covariance1   what was prescribed for A1*x + b1, and residual1, how far it is missed, relative to it\n"
      "For all: correlations (canonical) and prescribed (singular values of what was prescribed) of two domains, of "
      "more\n"
      "correlations_1_2 and so on (of each coordinate of the common space); graph (weights of the pairs of domains), "
      "objective\n"
      "(mean squared distance of mapped samples), bound (the least possible), certified (1: proven to be the best), "
      "gap,\n"
      "samples. A1_features has the features' names, if any.\n\n"
      "Examples:\n"
      "  cgmca export m -o m.mat\n"
      "  cgmca export m -o m.npz --json\n"
      "  cgmca export m --only A1,b1 -o m.csv\n"
      "  cgmca export m --onnx --from 2 --to 1 --stderr -o translate.onnx\n"
      "  cgmca export m --onnx --what apply --domain 2 --precision single -o apply.onnx");
  command.callback([options, &session, &command] {
    check_onnx(command, options->onnx);
    session.command = [options, &session] {
      options->onnx.wanted ? export_onnx(session, options->model, options->output, options->onnx)
                           : run(session, *options);
    };
  });
}

}  // namespace cgmca::cli
