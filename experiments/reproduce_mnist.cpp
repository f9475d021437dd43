// The MNIST experiment from the command line: table on stdout, report and montages in --out.
#include <CLI/CLI.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "experiments/drawn_digits.hpp"
#include "experiments/mnist.hpp"

namespace {

using namespace cgmca::experiments;

int run(int argc, char** argv) {
  CLI::App app("Reproduces the table and figures of the CGMCA paper.");
  MnistOptions options;
  std::string data, digits = "0-9", out;
  bool json = false;
  app.add_option("--data", data, "folder with train-images-idx3-ubyte and train-labels-idx1-ubyte, plain or .gz");
  app.add_option("--noise", options.noise, "imnoise or additive")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Noise>{{"imnoise", Noise::imnoise}, {"additive", Noise::additive}}));
  app.add_option("--seed", options.seed);
  app.add_option("--repeat", options.repeat)->check(CLI::PositiveNumber);
  app.add_option("--digits", digits, "for instance 0-9 or 1,3");
  app.add_option("--out", out, "folder for report.html and the montages; none without it");
  app.add_flag("--json", json, "print one JSON object");
  CLI11_PARSE(app, argc, argv);
  options.digits = parse_digits(digits);
  options.figures = !out.empty();
  if (data.empty()) data = default_data_folder();
  if (data.empty()) fmt::print(stderr, "no data set found; running on digits drawn here\n");
  const Dataset dataset = data.empty() ? draw_digits(2000, options.seed) : load_dataset(data);
  const MnistResult result = run_mnist(dataset, options, [](int digit, double done) {
    fmt::print(stderr, "class {} done, {:.0f} % of all\n", digit, 100 * done);
  });
  fmt::print("{}\n", json ? to_json(result) : to_text(result));
  if (!out.empty()) write_report(result, out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reproduce_mnist: %s\n", error.what());
    return 1;
  }
}
