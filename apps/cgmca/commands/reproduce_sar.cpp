// cgmca reproduce sar: accuracies on stdout, curves and pictures in --out.
#include <fmt/format.h>

#include "commands/reproduce.hpp"
#include "experiments/sar.hpp"

namespace cgmca::cli {

void reproduce_sar(const Session& session, const ReproduceOptions& options) {
  using namespace experiments;
  SarOptions settings;
  settings.seed = options.seed;
  if (options.repeat > 0) settings.draws = options.repeat;
  settings.fractions = parse_fractions(options.fractions, settings.fractions);
  const std::string folder = options.data.empty() ? default_sample_folder() : options.data;
  if (folder.empty()) {
    throw UsageError("sar needs --data DIR, the folder of the SAMPLE data set (SAMPLE_dataset_public on GitHub)");
  }
  session.detail(fmt::format("data: {}", folder));
  const RadarChips chips = load_sample(folder, options.crop);
  const auto steps = std::ssize(settings.fractions) * settings.draws;
  tell(session, options,
       watched(session, "draws done", steps, [&](const auto& progress) { return run_sar(chips, settings, progress); }));
}

}  // namespace cgmca::cli
