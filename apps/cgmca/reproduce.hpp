// The published experiments behind `cgmca reproduce`. Each is a file reproduce_NAME.cpp and one line in reproduce.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "session.hpp"

namespace cgmca::cli {

// The options of all experiments; each takes those that concern it.
struct ReproduceOptions {
  std::string data;  // empty: where the experiment looks by itself
  std::string out;   // empty: no report
  std::uint64_t seed = 1;
  int repeat = 1;
  std::string noise = "imnoise", digits = "0-9";  // mnist
};

void reproduce_mnist(const Session& session, const ReproduceOptions& options);

}  // namespace cgmca::cli
