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

py::dict describe(const TuneResult& result) {
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

void deal(Folds& folds, const std::vector<Samples>& domains, const py::object& sample_weight) {
  check_matched(domains);
  const std::optional<Vector> weights = weights_from(sample_weight, domains.front().count());
  for_matched_blocks<MatchedSamples>(domains, block_samples(features_of(domains)),
                                     [&](Index first, const MatchedSamples& block) {
                                       if (!weights) return folds.add(block);
                                       folds.add(block, weights->segment(first, block.front().cols()));
                                     });
}

// All that a search uses.
struct Search {
  TuneOptions options;
  std::vector<Matrix> X;  // of each domain, where the samples themselves are needed
  Matrix more1, references, queries;
  std::vector<std::optional<Summary>> extra;  // of each domain
  std::optional<Folds> folds;
};

// What searches over pairs, over more domains and over folds share. `names`: what Python calls the extra samples.
std::shared_ptr<Search> make_search(const std::vector<std::string>& families, const std::vector<Index>& ranks,
                                    const std::vector<Index>& max_ranks, const std::vector<py::object>& ridges,
                                    const std::optional<std::string>& criterion, std::optional<double> rank_tol,
                                    const std::vector<std::pair<std::string, py::object>>& extra) {
  auto search = std::make_shared<Search>();
  TuneOptions& options = search->options;
  for (const auto& family : families) options.families.push_back(need_choice(family, kFamilies, "covariance to tune"));
  options.ranks = ranks;
  options.max_ranks = max_ranks;
  for (const auto& ridge : ridges) options.ridges.push_back(ridge_of(ridge));
  if (criterion) options.criterion = need_choice(*criterion, kCriteria, "criterion");
  options.data.rank_tol = rank_tol;
  for (const auto& [name, rows] : extra) search->extra.push_back(summarize_extra(rows, name.c_str()));
  for (const auto& summary : search->extra) options.data.extra.push_back(summary ? &*summary : nullptr);
  return search;
}

py::dict run(const std::shared_ptr<Search>& search, const py::object& progress) {
  return describe(interruptibly<TuneResult>(
      [search](const Report& report) {
        search->options.progress = report;
        return tune(*search->folds, search->options);
      },
      progress));
}

py::dict tune_pairs(const py::object& rows1, const py::object& rows2, const std::vector<std::string>& families,
                    const std::vector<Index>& ranks, const std::vector<Index>& max_ranks,
                    const std::vector<py::object>& ridges, const std::optional<std::string>& criterion, Index folds,
                    Index repeats, std::uint64_t seed, std::optional<double> rank_tol, const py::object& extra_X,
                    const py::object& extra_Y, const py::object& references, const std::vector<int>& reference_labels,
                    const py::object& queries, const std::vector<int>& query_labels, const py::object& progress,
                    const py::object& sample_weight, const py::object& more_X) {
  const auto search = make_search(families, ranks, max_ranks, ridges, criterion, rank_tol,
                                  {{"extra_X", extra_X}, {"extra_Y", extra_Y}});
  TuneOptions& options = search->options;
  if (options.criterion == Criterion::partner || !references.is_none()) {
    search->X = {whole(rows1, "X"), whole(rows2, "Y")};
    options.pairs = {&search->X[0], &search->X[1]};
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
  const FoldOptions dealing{.folds = folds, .repeats = repeats, .seed = seed};
  search->folds.emplace(std::vector<DomainInfo>{domains[0].features(), domains[1].features()}, dealing);
  deal(*search->folds, domains, sample_weight);
  return run(search, progress);
}

// What Python calls the extra samples of each domain.
std::vector<std::pair<std::string, py::object>> named_extra(const py::sequence& extra) {
  if (extra.size() == 2) return {{"extra_X", extra[0]}, {"extra_Y", extra[1]}};
  std::vector<std::pair<std::string, py::object>> named;
  for (std::size_t i = 0; i < extra.size(); ++i) named.emplace_back(fmt::format("extra[{}]", i), extra[i]);
  return named;
}

// Of more than two domains.
py::dict tune_views(const py::sequence& arrays, const std::vector<std::string>& families,
                    const std::vector<Index>& ranks, const std::vector<Index>& max_ranks,
                    const std::vector<py::object>& ridges, const std::optional<std::string>& criterion, Index folds,
                    Index repeats, std::uint64_t seed, std::optional<double> rank_tol, const py::sequence& extra,
                    const std::vector<int>& labels, const py::object& graph, const py::object& progress,
                    const py::object& sample_weight) {
  const auto search = make_search(families, ranks, max_ranks, ridges, criterion, rank_tol, named_extra(extra));
  TuneOptions& options = search->options;
  options.graph = graph_of(graph);
  const std::vector<Samples> domains = matched_samples(arrays);
  check_matched(domains);
  if (!labels.empty()) {
    for (const Samples& domain : domains) {
      py::object keep;
      search->X.push_back(domain.block(0, domain.count(), keep));
    }
    for (const Matrix& X : search->X) options.matched.samples.push_back(&X);
    options.matched.labels = labels;
  }
  std::vector<DomainInfo> infos;
  for (const Samples& domain : domains) infos.emplace_back(domain.features());
  search->folds.emplace(infos, FoldOptions{.folds = folds, .repeats = repeats, .seed = seed});
  deal(*search->folds, domains, sample_weight);
  return run(search, progress);
}

// Matched samples that other processes may have dealt to folds.
py::dict tune_folds(const Folds& folds, const std::vector<std::string>& families, const std::vector<Index>& ranks,
                    const std::vector<Index>& max_ranks, const std::vector<py::object>& ridges,
                    const std::optional<std::string>& criterion, std::optional<double> rank_tol,
                    const py::sequence& extra, const py::object& graph, const py::object& progress) {
  const auto search = make_search(families, ranks, max_ranks, ridges, criterion, rank_tol, named_extra(extra));
  search->options.graph = graph_of(graph);
  search->folds = folds;
  return run(search, progress);
}

// Folds are never changed once Python has them, so that threads need no lock.
Folds with_more(const Folds& folds, const py::sequence& arrays, const py::object& sample_weight) {
  Folds more = folds;
  const std::vector<Samples> domains = matched_samples(arrays);
  if (static_cast<Index>(domains.size()) != folds.domains()) {
    throw InvalidInput(fmt::format("samples of {} domains for folds of {}", domains.size(), folds.domains()));
  }
  deal(more, domains, sample_weight);
  return more;
}

Folds merged(const Folds& one, const Folds& two) {
  const py::gil_scoped_release release;
  Folds both = one;
  both.merge(two);
  return both;
}

void bind_folds(py::module_& module) {
  py::class_<Folds> type(module, "Folds",
                         "Matched samples dealt to folds for cross-validation: what `tune` needs of them.");
  type.def(py::init([](const std::vector<Index>& features, Index folds, Index repeats, std::uint64_t seed) {
             return Folds({features.begin(), features.end()},
                          FoldOptions{.folds = folds, .repeats = repeats, .seed = seed});
           }),
           py::arg("n_features"), py::arg("folds"), py::arg("repeats"), py::arg("seed"))
      .def("with_more", &with_more, py::arg("arrays"), py::arg("sample_weight") = py::none())
      .def("merged", &merged, py::arg("other"))
      .def_property_readonly("n_samples", [](const Folds& self) { return self.samples(); });
  bind_pickle(
      type, [](const Folds& self) { return py::bytes(self.to_bytes()); },
      [](const py::bytes& bytes) { return Folds::from_bytes(std::string_view(bytes)); });
}

py::dict describe(const PermutationTest& found) {
  py::dict result;
  result["p_values"] = found.p_values;
  result["significant"] = found.significant;
  result["rotations"] = found.rotations;
  result["remarks"] = found.remarks;
  return result;
}

// Of samples, arrays of all domains.
py::dict test_samples(const py::sequence& arrays, const py::object& sample_weight, const std::vector<Index>& max_rank,
                      const std::vector<py::object>& ridge, std::optional<double> rank_tol, Index permutations,
                      std::uint64_t seed, double level, const py::object& progress, const py::object& graph) {
  std::vector<Ridge> ridges;
  for (const py::object& one : ridge) ridges.push_back(ridge_of(one));
  const Regularization options{.max_rank = PerDomain<Index>(max_rank), .ridge = PerDomain<Ridge>(ridges)};
  check_matched(matched_samples(arrays));
  const auto own = std::make_shared<std::vector<Matrix>>();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    own->push_back(whole(arrays[i], array_name(i, arrays.size()).c_str()));
  }
  const std::optional<Vector> weights = weights_from(sample_weight, own->front().cols());
  return describe(interruptibly<PermutationTest>(
      [=, edges = graph_of(graph)](const Report& report) {
        const PermutationOptions test{permutations, seed, level, rank_tol, report, edges};
        const MatchedSamples X(own->begin(), own->end());
        return weights ? permutation_test(X, *weights, options, test) : permutation_test(X, options, test);
      },
      progress));
}

py::dict test_by_permutation(SharedSummary& summary, const std::vector<Index>& max_rank,
                             const std::vector<py::object>& ridge, std::optional<double> rank_tol, Index permutations,
                             std::uint64_t seed, double level, const py::object& progress, const py::object& graph) {
  std::vector<Ridge> ridges;
  for (const py::object& one : ridge) ridges.push_back(ridge_of(one));
  const Regularization options{.max_rank = PerDomain<Index>(max_rank), .ridge = PerDomain<Ridge>(ridges)};
  const auto found = summary.use_interruptibly<PermutationTest>(
      [=, edges = graph_of(graph)](const Summary& own, const Report& report) {
        return permutation_test(own, options, {permutations, seed, level, rank_tol, report, edges});
      },
      progress);
  return describe(found);
}

}  // namespace

void bind_tune(py::module_& module) {
  bind_folds(module);
  module.def("tune_folds", &tune_folds, py::arg("folds"), py::arg("families"), py::arg("ranks"), py::arg("max_ranks"),
             py::arg("ridges"), py::arg("criterion"), py::arg("rank_tol"), py::arg("extra"), py::arg("graph"),
             py::arg("progress"));
  module.def("tune", &tune_pairs, py::arg("X"), py::arg("Y"), py::arg("families"), py::arg("ranks"),
             py::arg("max_ranks"), py::arg("ridges"), py::arg("criterion"), py::arg("folds"), py::arg("repeats"),
             py::arg("seed"), py::arg("rank_tol"), py::arg("extra_X"), py::arg("extra_Y"), py::arg("references"),
             py::arg("reference_labels"), py::arg("queries"), py::arg("query_labels"), py::arg("progress"),
             py::arg("sample_weight") = py::none(), py::arg("more_X") = py::none());
  module.def("permutation_test", &test_by_permutation, py::arg("summary"), py::arg("max_rank"), py::arg("ridge"),
             py::arg("rank_tol"), py::arg("permutations"), py::arg("seed"), py::arg("level"), py::arg("progress"),
             py::arg("graph") = "full");
  module.def("permutation_test_samples", &test_samples, py::arg("arrays"), py::arg("sample_weight"),
             py::arg("max_rank"), py::arg("ridge"), py::arg("rank_tol"), py::arg("permutations"), py::arg("seed"),
             py::arg("level"), py::arg("progress"), py::arg("graph") = "full");
  module.def("tune_views", &tune_views, py::arg("arrays"), py::arg("families"), py::arg("ranks"), py::arg("max_ranks"),
             py::arg("ridges"), py::arg("criterion"), py::arg("folds"), py::arg("repeats"), py::arg("seed"),
             py::arg("rank_tol"), py::arg("extra"), py::arg("labels"), py::arg("graph"), py::arg("progress"),
             py::arg("sample_weight") = py::none());
}

}  // namespace cgmca::python
