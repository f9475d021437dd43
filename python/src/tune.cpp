// Cross-validation, and the permutation test of the canonical correlations.
#include <cgmca/error.hpp>
#include <cgmca/permutation.hpp>
#include <cgmca/tune.hpp>

#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "support/choice.hpp"

namespace cgmca::python {
namespace {

py::tuple describe(const Candidate& candidate) {
  const py::object ridge =
      candidate.ridge.automatic ? py::object(py::str("auto")) : py::object(py::float_(candidate.ridge.value));
  return py::make_tuple(name(candidate.family), candidate.rank, candidate.max_rank, ridge);
}

Matrix whole(const py::object& rows, const char* name) {
  const Samples samples(rows, name);
  py::object keep;
  return samples.block(0, samples.count(), keep);
}

// All that a search uses.
struct Search {
  TuneOptions options;
  Matrix X1, X2, more1, references, queries;
  std::optional<Summary> extra1, extra2;
  std::optional<Folds> folds;
};

py::dict tune_pairs(const py::object& rows1, const py::object& rows2, const std::vector<std::string>& families,
                    const std::vector<Index>& ranks, const std::vector<Index>& max_ranks,
                    const std::vector<py::object>& ridges, const std::optional<std::string>& criterion, Index folds,
                    Index repeats, std::uint64_t seed, std::optional<double> rank_tol, const py::object& extra_X,
                    const py::object& extra_Y, const py::object& references, const std::vector<int>& reference_labels,
                    const py::object& queries, const std::vector<int>& query_labels, const py::object& progress,
                    const py::object& sample_weight, const py::object& more_X) {
  const auto search = std::make_shared<Search>();
  TuneOptions& options = search->options;
  for (const auto& family : families) options.families.push_back(need_choice(family, kFamilies, "covariance to tune"));
  options.ranks = ranks;
  options.max_ranks = max_ranks;
  for (const auto& ridge : ridges) options.ridges.push_back(ridge_of(ridge));
  if (criterion) options.criterion = need_choice(*criterion, kCriteria, "criterion");
  search->extra1 = summarize_extra(extra_X, "extra_X");
  search->extra2 = summarize_extra(extra_Y, "extra_Y");
  options.data.rank_tol = rank_tol;
  options.data.extra = {search->extra1 ? &*search->extra1 : nullptr, search->extra2 ? &*search->extra2 : nullptr};
  if (options.criterion == Criterion::partner || !references.is_none()) {
    search->X1 = whole(rows1, "X");
    search->X2 = whole(rows2, "Y");
    options.pairs = {&search->X1, &search->X2};
    if (!more_X.is_none()) {
      search->more1 = whole(more_X, "references");
      options.pairs.more1 = &search->more1;
    }
  }
  if (!references.is_none()) {
    search->references = whole(references, "labelled samples of X");
    search->queries = whole(queries, "labelled samples of Y");
    options.labels = {&search->references, reference_labels, &search->queries, query_labels};
  }

  const std::vector<Samples> domains = {{rows1, "X"}, {rows2, "Y"}};
  const Samples &X = domains[0], &Y = domains[1];
  if (X.count() != Y.count()) {
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain 2 has {}; matched pairs need as many of each",
                                     X.count(), Y.count()));
  }
  search->folds.emplace(std::vector<DomainInfo>{X.features(), Y.features()},
                        FoldOptions{.folds = folds, .repeats = repeats, .seed = seed});
  const std::optional<Vector> weights = weights_from(sample_weight, X.count());
  for_matched_blocks<MatchedSamples>(domains, block_samples(X.features() + Y.features()),
                                     [&](Index first, const MatchedSamples& block) {
                                       if (!weights) return search->folds->add(block);
                                       search->folds->add(block, weights->segment(first, block.front().cols()));
                                     });
  const auto result = interruptibly<TuneResult>(
      [search](const Report& report) {
        search->options.progress = report;
        return tune(*search->folds, search->options);
      },
      progress);
  const auto described = [](const std::array<Score, kCriteria.size()>& scores) {
    py::dict all;
    for (const Criterion one : kCriteria) {
      const Score& score = scores[static_cast<std::size_t>(one)];
      all[name(one)] = py::make_tuple(score.mean, score.standard_error);
    }
    return all;
  };
  py::list trials, infeasible;
  for (const Trial& trial : result.trials) {
    trials.append(py::make_tuple(describe(trial.candidate), described(trial.scores)));
  }
  for (const Candidate& candidate : result.infeasible) infeasible.append(describe(candidate));
  py::dict found;
  found["trials"] = trials;
  found["infeasible"] = infeasible;
  found["criterion"] = name(result.criterion);
  found["best"] = result.best;
  found["chosen"] = result.chosen;
  found["alike"] = result.alike;
  found["no_map"] = described(result.unmapped);
  found["target_only"] = described(result.target_only);
  found["remarks"] = result.remarks;
  return found;
}

py::dict test_by_permutation(SharedSummary& summary, std::pair<Index, Index> max_rank,
                             const std::pair<py::object, py::object>& ridge, std::optional<double> rank_tol,
                             Index permutations, std::uint64_t seed, double level, const py::object& progress) {
  const Regularization options{.max_rank = {max_rank.first, max_rank.second},
                               .ridge = {ridge_of(ridge.first), ridge_of(ridge.second)}};
  const auto found = summary.use_interruptibly<PermutationTest>(
      [=](const Summary& own, const Report& report) {
        return permutation_test(own, options, {permutations, seed, level, rank_tol, report});
      },
      progress);
  py::dict result;
  result["p_values"] = found.p_values;
  result["significant"] = found.significant;
  result["rotations"] = found.rotations;
  return result;
}

}  // namespace

void bind_tune(py::module_& module) {
  module.def("tune", &tune_pairs, py::arg("X"), py::arg("Y"), py::arg("families"), py::arg("ranks"),
             py::arg("max_ranks"), py::arg("ridges"), py::arg("criterion"), py::arg("folds"), py::arg("repeats"),
             py::arg("seed"), py::arg("rank_tol"), py::arg("extra_X"), py::arg("extra_Y"), py::arg("references"),
             py::arg("reference_labels"), py::arg("queries"), py::arg("query_labels"), py::arg("progress"),
             py::arg("sample_weight") = py::none(), py::arg("more_X") = py::none());
  module.def("permutation_test", &test_by_permutation, py::arg("summary"), py::arg("max_rank"), py::arg("ridge"),
             py::arg("rank_tol"), py::arg("permutations"), py::arg("seed"), py::arg("level"), py::arg("progress"));
}

}  // namespace cgmca::python
