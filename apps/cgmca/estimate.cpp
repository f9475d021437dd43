#include "estimate.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace cgmca::cli {
namespace {

constexpr double kProgram = 60e6;  // the program, its libraries and BLAS's buffers
constexpr double kBlock = 40e6;    // a block of samples as read, converted and mapped

// Thin SVD of an m×n matrix by bidiagonalization and divide and conquer.
double svd_flops(double m, double n) {
  const double q = std::min(m, n);
  return 6 * m * n * q + 20 * q * q * q;
}

}  // namespace

void add_limit_options(CLI::App& command, Limits& limits) {
  command.add_flag("--dry-run", limits.dry_run, "Print shapes, route, estimated memory and work; read headers only");
  command
      .add_option("--mem-limit", limits.memory, "Refuse at once what is estimated to need more memory, as 2G or 500M")
      ->transform(CLI::AsSizeValue(true))
      ->option_text("SIZE");
}

double bytes_held(const PairReader& reader) {
  if (reader.streams() || !reader.samples()) return 0;
  return 8.0 * static_cast<double>(*reader.samples()) *
         static_cast<double>(reader.features(Domain::one) + reader.features(Domain::two));
}

Estimate estimate_summary(Index d1, Index d2, std::optional<Index> n, Accumulate accumulate, double held) {
  const double p = static_cast<double>(d1 + d2), samples = n ? static_cast<double>(*n) : 0;
  const bool rows = n && samples <= 2 * p;
  Estimate estimate;
  if (rows) {
    estimate.route = "rows";  // the samples themselves, and a copy while the room for them grows
    estimate.memory = 2 * 8 * p * samples;
  } else {
    estimate.route = accumulate == Accumulate::automatic ? "qr, or gram where the data allow it" : name(accumulate);
    estimate.memory = 5 * 8 * p * p;  // the factor, and 2p samples twice
    estimate.flops = (accumulate == Accumulate::gram ? 1 : 2) * samples * p * p;
  }
  estimate.memory += kProgram + kBlock + held;
  return estimate;
}

Estimate estimate_fit(const Estimate& summary, Index d1, Index d2, std::optional<Index> n) {
  const double a = static_cast<double>(d1), b = static_cast<double>(d2), p = a + b;
  // Columns of S_1 and S_2: the samples, or after compression d1 and p.
  const double samples = n ? static_cast<double>(*n) : 2 * p;
  const bool rows = n && samples <= 2 * p;
  const double m1 = rows ? samples : a, m2 = rows ? samples : p;
  const double r1 = std::min(a, m1), r2 = std::min(b, m2);
  Estimate estimate = summary;
  estimate.route += ", then three SVDs";
  estimate.flops += svd_flops(a, m1) + svd_flops(b, m2) + svd_flops(r1, r2) + 4 * (a * r1 * r1 + b * r2 * r2);
  // Moments, one SVD's input, factors and workspace, and the maps; the summary itself stays.
  const double kept = rows ? p * samples : p * p;
  const double svd = std::max(2 * a * m1 + (a + m1) * r1 + 4 * r1 * r1, 2 * b * m2 + (b + m2) * r2 + 4 * r2 * r2);
  const double maps = 4 * (a * r1 + b * r2) + 6 * r1 * r2;
  const double during_fit = kProgram + 8 * (2 * kept + a * m1 + b * m2 + std::max(svd, maps) + a * r1 + b * r2);
  estimate.memory = std::max(estimate.memory, during_fit);
  return estimate;
}

bool stop_at_estimate(const Session& session, const Limits& limits, const Estimate& estimate, Json object, Rows rows) {
  if (limits.memory > 0 && estimate.memory > static_cast<double>(limits.memory)) {
    throw InvalidInput(fmt::format("about {} of memory are needed, more than the --mem-limit of {}",
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
