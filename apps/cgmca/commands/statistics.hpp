// What statisticians ask of a model: its tests, shares of variance, diagnostics. The options are in statistics.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

struct DiagnoseArguments {
  std::string model;
  PairSources pairs;
  std::string output;  // empty: none
  double rate = 0.05;  // of false discoveries
  Index top = 20;      // suspects shown
};
void run_diagnose(const Session& session, const DiagnoseArguments& options);

struct BootstrapArguments {
  std::string model;
  PairSources pairs;
  std::string output, groups;  // empty: none
  Index replicas = 200, top = 10;
  std::uint64_t seed = 1;
  double level = 0.95;
};
void run_bootstrap(const Session& session, const BootstrapArguments& options);

// The features' names; x1_3 is the third feature of domain 1 where it has none.
std::vector<std::string> names_of_features(const Model& model, Domain domain);

// JSON has no NaN.
Json number_or_null(double value);

}  // namespace cgmca::cli
