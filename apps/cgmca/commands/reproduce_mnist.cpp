// cgmca reproduce mnist: the paper's table on stdout, its figures in --out.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "commands/reproduce.hpp"
#include "experiments/drawn_digits.hpp"
#include "experiments/mnist.hpp"

namespace cgmca::cli {
namespace {

using namespace experiments;

constexpr std::uint32_t kDrawn = 2000;  // images of each class, where there is no data set

Dataset dataset(const Session& session, const ReproduceOptions& options) {
  const std::string folder = options.data.empty() ? default_data_folder() : options.data;
  if (!folder.empty()) {
    session.detail(fmt::format("data: {}", folder));
    return load_dataset(folder);
  }
  session.message("no data set found (see --data); running on digits drawn here");
  return draw_digits(kDrawn, options.seed);
}

}  // namespace

void reproduce_mnist(const Session& session, const ReproduceOptions& options) {
  MnistOptions settings;
  settings.noise = options.noise == "additive" ? Noise::additive : Noise::imnoise;
  settings.seed = options.seed;
  settings.repeat = std::max(options.repeat, 1);
  settings.figures = !options.out.empty();
  try {
    settings.digits = parse_digits(options.digits);
  } catch (const InvalidInput& problem) {
    throw UsageError(fmt::format("--digits: {}", problem.what()));
  }
  const Dataset data = dataset(session, options);
  const auto steps = std::ssize(settings.digits) * settings.repeat;
  tell(session, options, watched(session, "classes done", steps, [&](const auto& progress) {
         return run_mnist(data, settings, progress);
       }));
}

}  // namespace cgmca::cli
