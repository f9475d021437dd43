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

// Called by work that runs without the GIL: tells Python how far it is, and lets Ctrl-C through.
std::function<void(double)> report_to(const py::object& progress) {
  return [&progress](double done) {
    const py::gil_scoped_acquire acquire;
    let_signals_through();
    if (!progress.is_none()) progress(done);
  };
}

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

py::dict tune_pairs(const py::object& rows1, const py::object& rows2, const std::vector<std::string>& families,
                    const std::vector<Index>& ranks, const std::vector<Index>& max_ranks,
                    const std::vector<py::object>& ridges, const std::optional<std::string>& criterion, Index folds,
                    Index repeats, std::uint64_t seed, std::optional<double> rank_tol, const py::object& extra_X,
                    const py::object& extra_Y, const py::object& labelled, const std::vector<int>& labelled_labels,
                    const std::vector<int>& pair_labels, const py::object& progress, const py::object& sample_weight) {
  TuneOptions options;
  options.families.clear();
  for (const auto& family : families) options.families.push_back(need_choice(family, kFamilies, "covariance to tune"));
  options.ranks = ranks;
  options.max_ranks = max_ranks;
  for (const auto& ridge : ridges) options.ridges.push_back(ridge_of(ridge));
  if (criterion) options.criterion = need_choice(*criterion, kCriteria, "criterion");
  const auto extra1 = summarize_extra(extra_X, "extra_X"), extra2 = summarize_extra(extra_Y, "extra_Y");
  options.data.rank_tol = rank_tol;
  options.data.extra = {extra1 ? &*extra1 : nullptr, extra2 ? &*extra2 : nullptr};
  options.progress = report_to(progress);
  Matrix samples, queries, own1, own2;
  if (options.criterion == Criterion::partner) {
    own1 = whole(rows1, "X");
    own2 = whole(rows2, "Y");
    options.pairs = {&own1, &own2};
  }
  if (!labelled.is_none()) {
    samples = whole(labelled, "labelled samples");
    queries = whole(rows2, "Y");
    options.labels = {&samples, labelled_labels, &queries, pair_labels};
  }

  const std::vector<Samples> domains = {{rows1, "X"}, {rows2, "Y"}};
  const Samples &X = domains[0], &Y = domains[1];
  if (X.count() != Y.count()) {
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain 2 has {}; matched pairs need as many of each",
                                     X.count(), Y.count()));
  }
  Folds pairs({X.features(), Y.features()}, {.folds = folds, .repeats = repeats, .seed = seed});
  const std::optional<Vector> weights = weights_from(sample_weight, X.count());
  for_matched_blocks(domains, block_samples(X.features() + Y.features()),
                     [&](Index first, const MatchedSamples& block) {
                       if (!weights) return pairs.add(block);
                       pairs.add(block, weights->segment(first, block.front().cols()));
                     });
  TuneResult result;
  {
    const py::gil_scoped_release release;
    result = tune(pairs, options);
  }
  py::list trials, infeasible;
  for (const Trial& trial : result.trials) {
    py::dict scores;
    for (Criterion one : kCriteria) scores[name(one)] = py::make_tuple(trial[one].mean, trial[one].standard_error);
    trials.append(py::make_tuple(describe(trial.candidate), scores));
  }
  for (const Candidate& candidate : result.infeasible) infeasible.append(describe(candidate));
  py::dict found;
  found["trials"] = trials;
  found["infeasible"] = infeasible;
  found["criterion"] = name(result.criterion);
  found["best"] = result.best;
  found["chosen"] = result.chosen;
  return found;
}

py::dict test_by_permutation(SharedSummary& summary, std::pair<Index, Index> max_rank,
                             const std::pair<py::object, py::object>& ridge, std::optional<double> rank_tol,
                             Index permutations, std::uint64_t seed, double level, const py::object& progress) {
  const Regularization options{.max_rank = {max_rank.first, max_rank.second},
                               .ridge = {ridge_of(ridge.first), ridge_of(ridge.second)}};
  const PermutationOptions test{permutations, seed, level, rank_tol, report_to(progress)};
  const PermutationTest found = summary.use([&](const Summary& own) { return permutation_test(own, options, test); });
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
             py::arg("seed"), py::arg("rank_tol"), py::arg("extra_X"), py::arg("extra_Y"), py::arg("labelled"),
             py::arg("labelled_labels"), py::arg("pair_labels"), py::arg("progress"),
             py::arg("sample_weight") = py::none());
  module.def("permutation_test", &test_by_permutation, py::arg("summary"), py::arg("max_rank"), py::arg("ridge"),
             py::arg("rank_tol"), py::arg("permutations"), py::arg("seed"), py::arg("level"), py::arg("progress"));
}

}  // namespace cgmca::python
