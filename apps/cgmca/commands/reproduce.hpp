// The published experiments behind `cgmca reproduce`. Each is a file reproduce_NAME.cpp and one line in reproduce.cpp.
#pragma once

#include <cgmca/types.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "shell/progress.hpp"
#include "shell/session.hpp"
#include "shell/signals.hpp"

namespace cgmca::cli {

// The options of all experiments; each takes those that concern it.
struct ReproduceOptions {
  std::string data;  // empty: where the experiment looks by itself
  std::string out;   // empty: no report
  std::uint64_t seed = 1;
  int repeat = 0;                                 // 0: the experiment's own number
  std::string noise = "imnoise", digits = "0-9";  // mnist
  std::string fractions;                          // sar, views; empty: the experiment's own
  Index crop = 64;                                // sar
};

void reproduce_mnist(const Session& session, const ReproduceOptions& options);
void reproduce_sar(const Session& session, const ReproduceOptions& options);
void reproduce_views(const Session& session, const ReproduceOptions& options);

// Shares between 0 and 1, or `usual` where none are given. Throws UsageError.
std::vector<double> parse_fractions(const std::string& text, const std::vector<double>& usual);

// What `run` finds, which is called with a function to be told the part done. Ctrl-C ends it at once.
template <class Run>
auto watched(const Session& session, const std::string& steps_done, Index steps, const Run& run) {
  const EndsAtOnce nothing_is_written_yet;
  Progress progress(session, steps_done, steps);
  return run([&](double done) {
    progress.update(static_cast<Index>(std::lround(done * static_cast<double>(steps))));
    stop_if_interrupted();
  });
}

// The report to --out, then the result to stdout.
template <class Result>
void tell(const Session& session, const ReproduceOptions& options, const Result& result) {
  std::vector<std::string> written;
  if (!options.out.empty()) {
    write_report(result, options.out);
    written.push_back(options.out);
  }
  session.result(Json::parse(to_json(result)), to_text(result), written);
}

}  // namespace cgmca::cli
