// The published experiments behind `cgmca reproduce`. Each is a file reproduce_NAME.cpp and one line in reproduce.cpp.
#pragma once

#include <cgmca/types.hpp>
#include <cstdint>
#include <string>

#include "session.hpp"

namespace cgmca::cli {

// The options of all experiments; each takes those that concern it.
struct ReproduceOptions {
  std::string data;  // empty: where the experiment looks by itself
  std::string out;   // empty: no report
  std::uint64_t seed = 1;
  int repeat = 0;                                 // 0: the experiment's own number
  std::string noise = "imnoise", digits = "0-9";  // mnist
  std::string fractions;                          // sar; empty: 0.05,0.1,0.25,0.5
  Index crop = 64;                                // sar
};

void reproduce_mnist(const Session& session, const ReproduceOptions& options);
void reproduce_sar(const Session& session, const ReproduceOptions& options);

}  // namespace cgmca::cli
