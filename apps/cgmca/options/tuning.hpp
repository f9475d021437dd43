// Cross-validation as `tune` and `fit --tune` run it.
#pragma once

#include <cgmca/permutation.hpp>
#include <cgmca/tune.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "input/pairs.hpp"
#include "options/regularization.hpp"
#include "shell/session.hpp"

namespace cgmca::cli {

struct TuningSpecs {
  std::string families, ranks, max_ranks, ridges, criterion, labels, reference, reference_labels, queries, query_labels;
  std::string towards, downstream;
  FoldOptions folds;
  bool keep = false;  // the samples, in Tuning::X

  void check(Index domains) const;  // throws UsageError
};
void add_tuning_options(CLI::App& command, TuningSpecs& specs);

struct Tuning {
  Folds folds;
  TuneResult result;
  std::vector<Matrix> X;  // of each domain, if they were to be kept, or the criterion needs them
  Vector weights;         // of these; empty: each counts once
};
// Reads the matched samples once, deals them to folds, tries the grid.
Tuning run_tuning(const Session& session, PairReader& reader, const TuningSpecs& specs, const DataOptions& data,
                  const Graph& graph, const InputOptions& input);

// Deals all pairs of the reader to the folds, with progress; `use` sees each block too.
void read_folds(const Session& session, PairReader& reader, Folds& folds,
                const std::function<void(const PairReader::Block&)>& use = {});

std::vector<std::size_t> by_merit(const TuneResult& result);  // the trials from the best to the worst
std::string max_rank_text(Index max_rank);                    // "50", "all"

std::vector<std::pair<std::string, Score>> baselines(const TuneResult& result);  // by the criterion, with their names
std::string rule_text(const TuneResult& result);  // "chosen", "of 4 that cannot be told from it, …"

Json describe(const TuneResult& result);
std::string describe_text(const TuneResult& result);
Json describe(const PermutationTest& test);
std::string describe_text(const PermutationTest& test);

// report.html: the table, and a heat map of the criterion for every covariance and ridge.
void write_tuning_report(const std::string& path, const TuneResult& result, const PermutationTest* test);

}  // namespace cgmca::cli
