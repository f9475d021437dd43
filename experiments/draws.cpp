#include "experiments/draws.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "experiments/purposes.hpp"

namespace cgmca::experiments {

Draw draw_matched(Index samples, Index matched, std::uint64_t seed) {
  using namespace random_numbers;
  const auto order = permutation(Stream(seed, kSplit, 0), static_cast<std::uint32_t>(samples));
  Draw draw{{order.begin(), order.begin() + matched}, {order.begin() + matched, order.end()}};
  std::sort(draw.matched.begin(), draw.matched.end());
  std::sort(draw.test.begin(), draw.test.end());
  return draw;
}

Index matched_count(double fraction, Index samples, Index least) {
  const auto matched = static_cast<Index>(std::floor(fraction * static_cast<double>(samples)));
  if (matched >= least && matched < samples) return matched;
  throw InvalidInput(
      fmt::format("{} of {} samples matched; between {} and {} are needed", matched, samples, least, samples - 1));
}

std::vector<int> at(const std::vector<int>& labels, const std::vector<Index>& places) {
  std::vector<int> result;
  for (Index place : places) result.push_back(labels[place]);
  return result;
}

Spread spread(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size()), mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() < 2 ? 0 : std::sqrt(squares / (n - 1))};
}

std::string text(const Spread& spread) { return fmt::format("{:.3f} ± {:.3f}", spread.mean, spread.sd); }

nlohmann::ordered_json to_json(const Spread& spread) { return {{"mean", spread.mean}, {"sd", spread.sd}}; }

void make_folder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw IoError(fmt::format("cannot make the folder '{}': {}", folder, problem.message()));
}

}  // namespace cgmca::experiments
