#include "output/estimate.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>

namespace cgmca::cli {
namespace {

constexpr double kProgram = 60e6;     // the program, its libraries and BLAS's buffers
constexpr double kBlockBytes = 40e6;  // a block of samples as read, converted and mapped

// Thin SVD of an m×n matrix by bidiagonalization and divide and conquer.
double svd_flops(double m, double n) {
  const double q = std::min(m, n);
  return 6 * m * n * q + 20 * q * q * q;
}

double sum_of(const std::vector<Index>& features) {
  return static_cast<double>(std::accumulate(features.begin(), features.end(), Index{0}));
}

// What one domain's SVD handles: d×columns of the samples, or after compression of all features up to its own.
struct SvdSize {
  double d, columns, rank;
};

}  // namespace

void add_limit_options(CLI::App& command, Limits& limits) {
  command.add_flag("--dry-run", limits.dry_run, "Print shapes, route, estimated memory and work; read headers only");
  command
      .add_option("--mem-limit", limits.memory, "Refuse at once work that is estimated to need more memory: 2G, 500M")
      ->transform(CLI::AsSizeValue(true))
      ->option_text("SIZE");
}

double bytes_held(const PairReader& reader) {
  if (reader.streams() || !reader.all_samples()) return 0;
  return 8.0 * static_cast<double>(*reader.all_samples()) * sum_of(reader.dimensions());
}

double bytes_of_all(const std::vector<Index>& features, std::optional<Index> n) {
  const double p = sum_of(features), samples = n ? static_cast<double>(*n) : 4 * p;
  return samples > 2 * p && samples <= 4 * p ? 8 * p * samples : 0;
}

RunEstimate estimate_summary(const std::vector<Index>& features, std::optional<Index> n, Accumulate accumulate,
                             double held) {
  const double p = sum_of(features), samples = n ? static_cast<double>(*n) : 0;
  const bool rows = n && samples <= 2 * p;
  RunEstimate estimate;
  if (rows) {
    estimate.route = "rows";  // the samples themselves, and a copy while the room for them grows
    estimate.memory = 2 * 8 * p * samples;
  } else {
    estimate.route = accumulate == Accumulate::automatic ? "qr, or gram where the data allow it" : name(accumulate);
    estimate.memory = 5 * 8 * p * p;  // the factor, and 2p samples twice
    estimate.flops = (accumulate == Accumulate::gram ? 1 : 2) * samples * p * p;
  }
  estimate.memory += kProgram + kBlockBytes + held;
  return estimate;
}

RunEstimate estimate_fit(const RunEstimate& summary, const std::vector<Index>& features, std::optional<Index> n) {
  const double p = sum_of(features), samples = n ? static_cast<double>(*n) : 2 * p;
  const bool rows = n && samples <= 2 * p;
  std::vector<SvdSize> parts;
  double before = 0;
  for (const Index count : features) {
    const auto d = static_cast<double>(count);
    before += d;
    const double columns = rows ? samples : before;
    parts.push_back({d, columns, std::min(d, columns)});
  }
  RunEstimate estimate = summary;
  estimate.route += parts.size() == 2 ? ", then three SVDs"
                                      : fmt::format(", then {} SVDs and a search for the best maps", parts.size());
  // Moments, one SVD's input, factors and workspace, and the maps; the summary itself stays.
  double svd = 0, maps = 0, factors = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [d, columns, r] = parts[i];
    estimate.flops += svd_flops(d, columns) + 4 * d * r * r;
    svd = std::max(svd, 2 * d * columns + (d + columns) * r + 4 * r * r);
    maps += 4 * d * r;
    factors += d * columns + d * r;
    for (std::size_t j = 0; j < i; ++j) {
      const double other = parts[j].rank;
      estimate.flops += parts.size() == 2 ? svd_flops(other, r) : 2 * other * r * columns;
      maps += 6 * other * r;
    }
  }
  const double kept = rows ? p * samples : p * p;
  const double during_fit = kProgram + 8 * (2 * kept + factors + std::max(svd, maps));
  estimate.memory = std::max(estimate.memory, during_fit);
  return estimate;
}

// The maps go through at most min(inputs, outputs) scores.
RunEstimate estimate_map(Index inputs, Index outputs, std::optional<Index> n, Index block, double held) {
  const auto in = static_cast<double>(inputs), out = static_cast<double>(outputs);
  const double factors = std::min(in, out) * (in + out);
  RunEstimate estimate;
  estimate.route = fmt::format("blocks of {} samples", block);
  estimate.memory = kProgram + kBlockBytes + 3 * 8 * factors + held;
  estimate.flops = 2 * static_cast<double>(n.value_or(0)) * factors;
  return estimate;
}

bool stop_at_estimate(const Session& session, const Limits& limits, const RunEstimate& estimate, Json object,
                      Rows rows) {
  if (limits.memory > 0 && estimate.memory > static_cast<double>(limits.memory)) {
    throw InvalidInput(fmt::format(
        "about {} of memory are needed, more than the --mem-limit of {}; raise the limit, or give fewer features",
        bytes_text(estimate.memory), bytes_text(static_cast<double>(limits.memory))));
  }
  if (!limits.dry_run) return false;
  object["route"] = estimate.route;
  object["memory_bytes"] = estimate.memory;
  object["flops"] = estimate.flops;
  rows.emplace_back("route", estimate.route);
  rows.emplace_back("memory", fmt::format("about {}", bytes_text(estimate.memory)));
  rows.emplace_back("work", fmt::format("about {:.2g} floating point operations", estimate.flops));
  session.result(std::move(object), table(rows));
  return true;
}

}  // namespace cgmca::cli
