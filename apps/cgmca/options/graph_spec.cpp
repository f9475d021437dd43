#include "options/graph_spec.hpp"

#include <cgmca/error.hpp>
#include <cgmca/io.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "shell/session.hpp"
#include "support/suggest.hpp"

namespace cgmca::cli {
namespace {

bool is_word(const std::string& graph) { return graph == "full" || graph == "path" || graph.starts_with("star:"); }

}  // namespace

void add_graph_option(CLI::App& command, MatchingSpecs& specs) {
  command
      .add_option("--graph", specs.graph,
                  "Which domains are compared: full (each with each, the default), star:D (D with every other), path "
                  "(1 with 2, 2 with 3, …), or a file with the M×M weights")
      ->option_text("GRAPH");
}

void add_matching_options(CLI::App& command, MatchingSpecs& specs) {
  add_graph_option(command, specs);
  command
      .add_option("--max-sweeps", specs.max_sweeps,
                  "For more than two domains: at most N sweeps of each search for the best maps; default: 5000")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  command
      .add_option("--max-seconds", specs.max_seconds,
                  "For more than two domains: at most S seconds for the search, and for its proof; default: no limit, "
                  "which gives the same answer on every machine")
      ->check(CLI::PositiveNumber)
      ->option_text("S");
}

void MatchingSpecs::check() const {
  std::error_code ignored;
  if (graph.empty() || is_word(graph) || std::filesystem::exists(file_of(graph), ignored)) return;
  throw UsageError(fmt::format("no graph '{}', and no such file{}: give full, star:D, path or a file with the weights",
                               graph, did_you_mean(graph, {"full", "path", "star:1"})));
}

MatchingOptions MatchingSpecs::parse(Index domains) const {
  check();
  if (domains == 2 && (max_sweeps || max_seconds)) {
    throw UsageError(fmt::format("--{} limits a search that only more than two domains need; two have a closed form",
                                 max_sweeps ? "max-sweeps" : "max-seconds"));
  }
  MatchingOptions options;
  if (is_word(graph)) {
    options.graph = graph;
  } else if (!graph.empty()) {
    options.graph = Matrix(read(graph).transpose());  // rows of the file are what io calls samples
  }
  try {
    weights_of(options.graph, domains);
  } catch (const InvalidInput& problem) {
    if (is_word(graph)) throw;  // its message says which
    throw InvalidInput(fmt::format("--graph {}: {}", graph, problem.what()));
  }
  if (max_sweeps) options.max_sweeps = *max_sweeps;
  if (max_seconds) options.max_seconds = *max_seconds;
  return options;
}

}  // namespace cgmca::cli
