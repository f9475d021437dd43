// Cross-validation, and the permutation test of the canonical correlations.
#include <cgmca/bootstrap.hpp>
#include <cgmca/check_pairs.hpp>
#include <cgmca/error.hpp>
#include <cgmca/folds.hpp>
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

using namespace py::literals;

py::tuple describe(const Candidate& candidate) {
  return py::make_tuple(name(candidate.family), candidate.rank, candidate.max_rank, candidate.ridge,
                        name(candidate.towards));
}

py::tuple describe(const Score& score) { return py::make_tuple(score.mean, score.standard_error); }

py::dict describe(const std::array<Score, kCriteria.size()>& scores) {
  py::dict all;
  for (const Criterion one : kCriteria) {
    all[name(one)] = describe(scores[static_cast<std::size_t>(one)]);
  }
  return all;
}

py::dict describe(const TuneResult& result) {
  const auto trials = tuple_of(result.trials, [](const Trial& trial) {
    return py::make_tuple(describe(trial.candidate), describe(trial.scores));
  });
  const auto infeasible = tuple_of(result.infeasible, [](const Candidate& one) { return describe(one); });
  return py::dict("trials"_a = trials, "infeasible"_a = infeasible, "criterion"_a = name(result.criterion),
                  "best"_a = result.best, "chosen"_a = result.chosen, "alike"_a = result.alike,
                  "expected"_a = describe(result.expected), "with_half"_a = describe(result.with_half),
                  "no_map"_a = describe(result.unmapped), "offset"_a = describe(result.offset),
                  "target_only"_a = describe(result.target_only), "remarks"_a = result.remarks,
                  "recommendation"_a = result.recommendation);
}

// A Python function of rows, called from any thread; whichever of them lets go of it last.
std::function<Matrix(const Matrix&)> function_of_samples(const py::object& function) {
  const std::shared_ptr<py::object> kept(new py::object(function), [](py::object* object) {
    const py::gil_scoped_acquire acquire;
    delete object;
  });
  return [kept](const Matrix& X) {
    const py::gil_scoped_acquire acquire;
    py::object keep;
    const Samples found((*kept)(to_rows(Matrix(X))), "what downstream gives");
    return Matrix(found.block(0, found.count(), keep));
  };
}

Matrix whole(const Samples& samples) {
  py::object keep;
  return samples.block(0, samples.count(), keep);
}

// All that a search uses.
struct Search {
  std::shared_ptr<Folds> folds;
  TuneOptions options;
  std::vector<Matrix> samples;  // of each domain, if they themselves are needed
  Matrix more1, references, queries;
  std::vector<std::optional<Summary>> extra;  // of each domain

  Search(std::shared_ptr<Folds> folds_, const py::kwargs& arguments) : folds(std::move(folds_)) {
    const Keywords given(
        arguments, "tune",
        {"families", "ranks", "max_ranks", "ridges", "criterion", "rank_tol", "extra", "graph", "samples", "more1",
         "references", "reference_labels", "queries", "query_labels", "labels", "scale", "towards", "downstream"});
    std::vector<std::string> families, towards;
    std::string criterion;
    given.take("families", families);
    given.take("ranks", options.ranks);
    given.take("max_ranks", options.max_ranks);
    given.take("ridges", options.ridges);
    given.take("criterion", criterion);
    given.take("rank_tol", options.data.rank_tol);
    given.take("scale", options.data.scale);
    given.take("towards", towards);
    for (const auto& one : towards) options.towards.push_back(need_choice(one, kTowards, "towards"));
    if (given.has("downstream")) options.downstream = function_of_samples(arguments["downstream"]);
    for (const auto& one : families) options.families.push_back(need_choice(one, kFamilies, "covariance to tune"));
    if (given.has("criterion")) options.criterion = need_choice(criterion, kCriteria, "criterion");
    given.take("graph", options.graph);
    given.take("extra", extra);
    options.data.extra = pointers_to(extra);
    const auto take_samples = [&](const char* key, Matrix& matrix) -> const Matrix* {
      if (!given.has(key)) return nullptr;
      matrix = whole(Samples(arguments[key], key));
      return &matrix;
    };
    if (given.has("samples")) {
      for (const Samples& one : samples_of(arguments["samples"])) samples.push_back(whole(one));
    }
    if (samples.size() == 2) options.pairs = {&samples[0], &samples[1], take_samples("more1", more1)};
    options.labels.samples = take_samples("references", references);
    options.labels.queries = take_samples("queries", queries);
    given.take("reference_labels", options.labels.sample_labels);
    given.take("query_labels", options.labels.query_labels);
    given.take("labels", options.matched.labels);
    if (options.matched.labels.empty()) return;
    for (const Matrix& X : samples) options.matched.samples.push_back(&X);
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
};

py::dict tune_folds(const std::shared_ptr<Folds>& folds, const py::object& progress, const py::kwargs& given) {
  const auto search = std::make_shared<Search>(folds, given);
  return describe(interruptibly<TuneResult>(
      [search](const Report& report) {
        search->options.progress = report;
        return tune(*search->folds, search->options);
      },
      progress));
}

// Folds are never changed once Python has them, so threads need no lock.
std::shared_ptr<Folds> with_more(const Folds& folds, const py::sequence& arrays, const py::object& sample_weight) {
  const Matched samples(arrays, sample_weight);
  if (std::ssize(samples.domains) != folds.domains()) {
    throw InvalidInput(fmt::format("samples of {} domains for folds of {}", samples.domains.size(), folds.domains()));
  }
  auto more = std::make_shared<Folds>(folds);
  add_blocks(*more, samples);
  return more;
}

std::shared_ptr<Folds> merged(const Folds& one, const Folds& two) {
  const py::gil_scoped_release release;
  auto both = std::make_shared<Folds>(one);
  both->merge(two);
  return both;
}

void bind_folds(py::module_& module) {
  py::class_<Folds, std::shared_ptr<Folds>> type(
      module, "Folds", "Matched samples dealt to folds for cross-validation: what `tune` needs of them.");
  type.def(py::init(
               [](const std::vector<Index>& features, Index folds, Index repeats, std::uint64_t seed, bool nuisance) {
                 std::vector<DomainInfo> domains(features.begin(), features.end());
                 if (nuisance && !domains.empty()) domains.back().nuisance = true;
                 return std::make_shared<Folds>(std::move(domains),
                                                FoldOptions{.folds = folds, .repeats = repeats, .seed = seed});
               }),
           py::arg("n_features"), py::arg("folds"), py::arg("repeats"), py::arg("seed"), py::arg("nuisance") = false)
      .def("with_more", &with_more, py::arg("arrays"), py::arg("sample_weight") = py::none())
      .def("merged", &merged, py::arg("other"))
      .def_property_readonly("n_samples", [](const Folds& self) { return self.samples(); });
  bind_pickle(
      type, [](const Folds& self) { return py::bytes(self.to_bytes()); },
      [](const py::bytes& bytes) { return std::make_shared<Folds>(Folds::from_bytes(std::string_view(bytes))); });
}

// Of a summary, or of samples: an array for each domain.
py::dict test_by_permutation(const py::object& samples, const py::object& sample_weight, const py::object& progress,
                             const py::kwargs& arguments) {
  const Keywords given(
      arguments, "permutation_test",
      {"max_rank", "ridge", "rank_tol", "permutations", "seed", "level", "graph", "scale", "nuisance"});
  PermutationOptions test;
  Regularization options;
  given.take("rank_tol", test.rank_tol);
  given.take("scale", test.scale);
  given.take("nuisance", test.nuisance);
  given.take("permutations", test.permutations);
  given.take("seed", test.seed);
  given.take("level", test.level);
  given.take("graph", test.graph);
  given.take("max_rank", options.max_rank);
  given.take("ridge", options.ridge);
  const auto reporting = [test](const Report& report) {
    PermutationOptions told = test;
    told.progress = report;
    return told;
  };
  PermutationTest found;
  if (py::isinstance<SharedSummary>(samples)) {
    found = samples.cast<SharedSummary&>().use_interruptibly<PermutationTest>(
        [=](const Summary& own, const Report& report) { return permutation_test(own, options, reporting(report)); },
        progress);
  } else {
    const Matched given_samples(samples, sample_weight);
    const auto own = std::make_shared<std::vector<Matrix>>();
    for (const Samples& one : given_samples.domains) own->push_back(whole(one));
    found = interruptibly<PermutationTest>(
        [=, weights = given_samples.weights](const Report& report) {
          const MatchedSamples X(own->begin(), own->end());
          return weights ? permutation_test(X, *weights, options, reporting(report))
                         : permutation_test(X, options, reporting(report));
        },
        progress);
  }
  return py::dict("p_values"_a = found.p_values, "significant"_a = found.significant, "rotations"_a = found.rotations,
                  "remarks"_a = found.remarks);
}

py::tuple entries_of(const Bootstrapped& found) {
  return py::make_tuple(to_matrix(found.estimate), to_matrix(found.standard_error), to_matrix(found.lower),
                        to_matrix(found.upper), to_matrix(found.p), to_matrix(found.q));
}

// With the settings of a model.
py::dict bootstrap_of(const FittedModel& fitted, const py::sequence& arrays, const py::object& sample_weight,
                      const std::vector<std::int64_t>& units, const py::object& progress, const py::kwargs& arguments) {
  const Keywords given(arguments, "bootstrap", {"replicas", "seed", "level", "directions", "strongest"});
  BootstrapOptions how;
  given.take("replicas", how.replicas);
  given.take("seed", how.seed);
  given.take("level", how.level);
  given.take("directions", how.directions);
  given.take("strongest", how.strongest);
  const Matched samples(arrays, sample_weight);
  std::vector<DomainInfo> domains;
  for (const Samples& one : samples.domains) domains.emplace_back(one.features());
  const auto drawn = std::make_shared<BootstrapSamples>(std::move(domains), how.seed);
  for_blocks<MatchedSamples>(
      samples.domains, block_samples(features_of(samples.domains)), [&](Index first, const MatchedSamples& X) {
        const Index count = X.front().cols();
        std::vector<std::int64_t> own;
        if (!units.empty()) own.assign(units.begin() + first, units.begin() + first + count);
        drawn->add(X, samples.weights ? Vector(samples.weights->segment(first, count)) : Vector(), own);
      });
  const Bootstrap found = interruptibly<Bootstrap>(
      [drawn, model = fitted.model, how](const Report& report) {
        BootstrapOptions told = how;
        told.progress = report;
        return bootstrap(*drawn, model, told);
      },
      progress);
  const auto of_domains = tuple_of(found.domains, [](const DomainBootstrap& one) {
    return py::make_tuple(entries_of(one.weights), entries_of(one.structure), to_matrix(one.selected));
  });
  return py::dict("correlations"_a = entries_of(found.correlations), "domains"_a = of_domains,
                  "replicas"_a = found.replicas, "failed"_a = found.failed, "groups"_a = found.groups);
}

py::dict check_by_pair(const py::object& X, const py::object& Y, double level, std::uint64_t seed) {
  const auto own = std::make_shared<std::vector<Matrix>>();
  own->push_back(whole(Samples(X, "X")));
  own->push_back(whole(Samples(Y, "y")));
  const auto found = interruptibly<PairCheck>(
      [own, level, seed](const Report&) { return check_pairs((*own)[0], (*own)[1], {.level = level, .seed = seed}); });
  const auto suspects = tuple_of(found.suspects, [](const SuspectPair& one) {
    const bool known = one.partner >= 0;
    return py::make_tuple(one.pair, one.probability, known ? py::object(py::int_(one.partner)) : py::object(py::none()),
                          known ? py::object(py::float_(one.partner_probability)) : py::object(py::none()));
  });
  const auto runs = tuple_of(found.displacements,
                             [](const Displacement& run) { return py::make_tuple(run.first, run.last, run.by); });
  return py::dict("probability"_a = to_array(found.probability), "log_ratio"_a = to_array(found.log_ratio),
                  "p_values"_a = to_array(found.p_values), "confirmed"_a = found.confirmed, "suspects"_a = suspects,
                  "displacements"_a = runs, "right"_a = found.right, "ridge"_a = found.ridge,
                  "informative"_a = found.informative, "remarks"_a = found.remarks);
}

}  // namespace

void bind_tune(py::module_& module) {
  bind_folds(module);
  module.def("tune", &tune_folds, py::arg("folds"), py::arg("progress") = py::none());
  module.def("bootstrap", &bootstrap_of, py::arg("model"), py::arg("arrays"), py::arg("sample_weight"),
             py::arg("units"), py::arg("progress") = py::none());
  module.def("check_pairs", &check_by_pair, py::arg("X"), py::arg("y"), py::arg("level"), py::arg("seed"));
  module.def("permutation_test", &test_by_permutation, py::arg("samples"), py::arg("sample_weight") = py::none(),
             py::arg("progress") = py::none());
}

}  // namespace cgmca::python
