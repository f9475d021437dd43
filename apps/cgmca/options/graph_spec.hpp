// --graph, --max-sweeps and --max-seconds: which domains are compared, and how long the best maps are looked for.
#pragma once

#include <cgmca/fit_options.hpp>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace cgmca::cli {

struct MatchingSpecs {
  std::string graph;
  std::optional<Index> max_sweeps;
  std::optional<double> max_seconds;

  void check() const;  // their form, before any data is read; throws UsageError
  // Reads the file of weights; throws UsageError, or InvalidInput where the graph cannot be one of these domains.
  MatchingOptions parse(Index domains) const;
};
void add_matching_options(CLI::App& command, MatchingSpecs& specs);
void add_graph_option(CLI::App& command, MatchingSpecs& specs);  // --graph alone

}  // namespace cgmca::cli
