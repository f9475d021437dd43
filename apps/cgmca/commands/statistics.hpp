// What statisticians ask of a model: its tests, shares of variance, diagnostics. The options are in statistics.cpp.
#pragma once

#include <string>

#include "input/pairs.hpp"
#include "shell/session.hpp"

namespace cgmca::cli {

struct ExplainOptions {
  std::string model;
  PairSources pairs;
  std::string output, edges;  // tables to write; empty: none
  double least = 0.5;         // of an edge, in size
  Index top = 10;             // features shown of each domain
};
void run_explain(const Session& session, const ExplainOptions& options);

// JSON has no NaN.
Json number_or_null(double value);

}  // namespace cgmca::cli
