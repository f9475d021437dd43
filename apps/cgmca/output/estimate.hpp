// What a run will need, told before it starts: --dry-run and --mem-limit.
#pragma once

#include <cgmca/fit.hpp>
#include <cgmca/summary.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "input/pairs.hpp"
#include "shell/session.hpp"

namespace cgmca::cli {

struct Limits {
  bool dry_run = false;
  std::uint64_t memory = 0;  // bytes; 0: no limit
};
void add_limit_options(CLI::App& command, Limits& limits);

struct RunEstimate {
  std::string route;
  double memory = 0, flops = 0;  // bytes at the peak; floating point operations
};

// n: samples, unknown for text. `held`: bytes of inputs that are held in memory whole.
// What a fit holds of samples that are compressed together (Summary::expect).
double bytes_of_all(const std::vector<Index>& features, std::optional<Index> n);
RunEstimate estimate_summary(const std::vector<Index>& features, std::optional<Index> n, Accumulate accumulate,
                             double held);
// The same with the fit after it. Of more than two domains the work of the search is not in it: it depends on the data.
RunEstimate estimate_fit(const RunEstimate& summary, const std::vector<Index>& features, std::optional<Index> n);

// What apply, translate and fuse need: so many features of all inputs, and of all outputs, in blocks of samples.
RunEstimate estimate_map(Index inputs, Index outputs, std::optional<Index> n, Index block, double held);

double bytes_held(const PairReader& reader);

// With --dry-run prints the estimate and returns true: there is nothing more to do. Throws InvalidInput where the
// estimate exceeds the limit.
bool stop_at_estimate(const Session& session, const Limits& limits, const RunEstimate& estimate, Json object,
                      Rows rows);

}  // namespace cgmca::cli
