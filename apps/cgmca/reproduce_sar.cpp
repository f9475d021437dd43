// cgmca reproduce sar: accuracies on stdout, curves and pictures in --out.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <cmath>

#include "experiments/sar.hpp"
#include "progress.hpp"
#include "regularization.hpp"
#include "reproduce.hpp"
#include "signals.hpp"

namespace cgmca::cli {

void reproduce_sar(const Session& session, const ReproduceOptions& options) {
  using namespace experiments;
  SarOptions settings;
  settings.seed = options.seed;
  if (options.repeat > 0) settings.draws = options.repeat;
  if (!options.fractions.empty()) {
    settings.fractions.clear();
    for (const std::string& text : split_list(options.fractions)) {
      const auto fraction = parse_number(text);
      if (!fraction || !(*fraction > 0 && *fraction < 1)) {
        throw UsageError(fmt::format("--fractions are shares between 0 and 1, not '{}'", text));
      }
      settings.fractions.push_back(*fraction);
    }
  }
  const std::string folder = options.data.empty() ? default_sample_folder() : options.data;
  if (folder.empty()) {
    throw UsageError("sar needs --data DIR, the folder of the SAMPLE data set (SAMPLE_dataset_public on GitHub)");
  }
  session.detail(fmt::format("data: {}", folder));
  const RadarChips chips = load_sample(folder, options.crop);
  const auto steps = static_cast<Index>(settings.fractions.size()) * settings.draws;
  SarResult result;
  {
    const EndsAtOnce nothing_is_written_yet;
    Progress progress(session, "draws done", steps);
    result = run_sar(chips, settings, [&](double done) {
      progress.update(static_cast<Index>(std::lround(done * static_cast<double>(steps))));
      stop_if_interrupted();
    });
  }
  std::vector<std::string> written;
  if (!options.out.empty()) {
    write_report(result, options.out);
    written.push_back(options.out);
  }
  session.result(Json::parse(to_json(result)), to_text(result), written);
}

}  // namespace cgmca::cli
