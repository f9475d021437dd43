// fit, and the covariances it takes.
#include <cgmca/blas_kernels.hpp>
#include <cgmca/calibrate.hpp>
#include <cgmca/covariance.hpp>
#include <cgmca/error.hpp>
#include <cgmca/extend.hpp>
#include <cgmca/fit.hpp>
#include <cgmca/incomplete.hpp>
#include <cgmca/threads.hpp>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "bindings.hpp"
#include "support/choice.hpp"

namespace cgmca::python {

Keywords::Keywords(const py::kwargs& given, const char* function, std::initializer_list<const char*> known)
    : given_(given) {
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw py::type_error(fmt::format("{} has no setting '{}'", function, name));
  }
}

void Keywords::take(const char* key, Graph& setting) const {
  if (!given_.contains(key)) return;
  const py::object graph = given_[key];
  setting = py::isinstance<py::str>(graph) ? Graph(graph.cast<std::string>()) : Graph(from_matrix(graph, "graph"));
}

void Keywords::take(const char* key, std::vector<std::optional<Summary>>& setting) const {
  if (!has(key)) return;
  const py::sequence arrays = given_[key];
  setting.resize(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const py::object rows = arrays[i];
    if (rows.is_none()) continue;
    const Samples samples(rows, fmt::format("{}[{}]", key, i).c_str());
    Summary& summary = setting[i].emplace(std::vector<DomainInfo>{samples.features()});
    for_blocks<MatchedSamples>({samples}, block_samples(samples.features()),
                               [&](Index, const MatchedSamples& X) { summary.add(X); });
  }
}

std::vector<const Summary*> pointers_to(const std::vector<std::optional<Summary>>& extra) {
  std::vector<const Summary*> pointers;
  for (const auto& summary : extra) pointers.push_back(summary ? &*summary : nullptr);
  return pointers;
}

namespace {

constexpr Index kMostDomains = 1000;  // as those of a model file; the fit knows how many there are

// The options of a fit, and the extra samples that they point to.
struct Settings {
  std::vector<Covariance> covariances;
  std::vector<std::optional<Summary>> extra;
  FitOptions options;

  explicit Settings(const py::kwargs& arguments) {
    const Keywords given(arguments, "a fit",
                         {"covariances", "rank_tol", "max_rank", "ridge", "extra", "graph", "seed", "random_starts",
                          "max_sweeps", "max_seconds", "scale", "towards", "nuisance_unknown"});
    std::string towards;
    given.take("towards", towards);
    if (!towards.empty()) options.towards = need_choice(towards, kTowards, "towards");
    given.take("covariances", covariances);
    given.take("rank_tol", options.rank_tol);
    given.take("max_rank", options.max_rank);
    given.take("ridge", options.ridge);
    given.take("scale", options.scale);
    given.take("nuisance_unknown", options.nuisance_unknown);
    given.take("extra", extra);
    options.extra = pointers_to(extra);
    MatchingOptions& matching = options.matching;
    given.take("graph", matching.graph);
    given.take("seed", matching.seed);
    given.take("random_starts", matching.random_starts);
    given.take("max_sweeps", matching.max_sweeps);
    given.take("max_seconds", matching.max_seconds);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
};

// Passes on to Python, in the calling thread, what the search tells in its own: the search must not touch Python.
class Progress {
 public:
  // The options with a `progress` of the search. It tells a sweep's end so often that only some are passed on: the first
  // of each ascent, and others 20 ms apart. `report` throws if nobody waits for the fit any longer; then the search ends.
  FitOptions told_by(FitOptions options, const Report& report) const {
    options.matching.progress = [report, told = told_](const MatchingProgress& progress) {
      {
        const std::lock_guard lock(told->mutex);
        const auto now = std::chrono::steady_clock::now();
        if (progress.sweep > 1 && now - told->last < std::chrono::milliseconds(20)) return;
        told->last = now;
        told->waiting.push_back(progress);
      }
      report(0);
    };
    return options;
  }

  // Calls progress(stage, start, sweep, f) for all that was told since the last call.
  py::object passed_to(const py::object& progress) const {
    return py::cpp_function([progress, told = told_](double) {
      std::deque<MatchingProgress> waiting;
      {
        const std::lock_guard lock(told->mutex);
        waiting.swap(told->waiting);
      }
      if (progress.is_none()) return;
      for (const MatchingProgress& one : waiting) progress(one.stage, one.start, one.sweep, one.f);
    });
  }

 private:
  struct Told {
    std::mutex mutex;
    std::deque<MatchingProgress> waiting;
    std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  };
  std::shared_ptr<Told> told_ = std::make_shared<Told>();
};

std::unique_ptr<FittedModel> fit_summary(SharedSummary& summary, const py::object& progress, const py::kwargs& given) {
  const auto settings = std::make_shared<Settings>(given);
  const Progress told;
  return std::make_unique<FittedModel>(summary.use_interruptibly<Model>(
      [settings, told](const Summary& own, const Report& report) {
        return fit(own, settings->covariances, told.told_by(settings->options, report));
      },
      told.passed_to(progress)));
}

// Extra samples have one domain.
std::unique_ptr<FittedModel> fit_incomplete(const IncompleteSummary& summary, const py::object& progress,
                                            const py::kwargs& given) {
  const auto settings = std::make_shared<Settings>(given);
  const Progress told;
  return std::make_unique<FittedModel>(interruptibly<Model>(
      [settings, told, own = summary](const Report& report) {
        IncompleteSummary all = own;
        for (std::size_t i = 0; i < settings->extra.size(); ++i) {
          if (settings->extra[i]) all.add({domain_at(i)}, *settings->extra[i]);
        }
        FitOptions options = told.told_by(settings->options, report);
        options.extra.clear();
        return fit(all, settings->covariances, options);
      },
      told.passed_to(progress)));
}

std::unique_ptr<FittedModel> calibrate_on(const FittedModel& fitted, const std::shared_ptr<Folds>& folds,
                                          const py::object& progress, const py::kwargs& given) {
  const auto settings = std::make_shared<Settings>(given);
  const Progress told;
  return std::make_unique<FittedModel>(interruptibly<Model>(
      [model = fitted.model, folds, settings, told](const Report& report) {
        return calibrate(model, *folds, settings->covariances, told.told_by(settings->options, report), report);
      },
      told.passed_to(progress)));
}

// The covariances that are rules: name, which numbers of domains may end it (0: none), whether a number follows.
std::vector<std::tuple<std::string, int, std::string>> covariance_rules(int domains) {
  std::vector<std::tuple<std::string, int, std::string>> rules;
  for (const CovarianceKind& kind : covariance_kinds()) {
    if (kind.takes == CovarianceTakes::file) continue;
    const char* const number = kind.takes == CovarianceTakes::number           ? "must"
                               : kind.takes == CovarianceTakes::perhaps_number ? "may"
                                                                               : "cannot";
    rules.emplace_back(kind.name, !kind.of_domain ? 0 : kind.two_domains ? 2 : domains, number);
  }
  return rules;
}

std::unique_ptr<FittedModel> add_domain_to(const FittedModel& fitted, SharedSummary& matched,
                                           const std::vector<int>& numbers, const Covariance* covariance,
                                           const py::kwargs& given) {
  const Keywords keywords(given, "add_domain", {"weights", "rank_tol", "max_rank", "ridge", "transport"});
  AddOptions options;
  if (covariance != nullptr) options.covariance = *covariance;
  keywords.take("weights", options.weights);
  keywords.take("rank_tol", options.rank_tol);
  keywords.take("max_rank", options.max_rank);
  keywords.take("ridge", options.ridge);
  keywords.take("transport", options.transport);
  std::vector<Domain> known;
  for (const int number : numbers) known.push_back(fitted.domain(number));
  return std::make_unique<FittedModel>(
      matched.use([&](const Summary& summary) { return add_domain(fitted.model, summary, known, options); }));
}

}  // namespace

void bind_fit(py::module_& module) {
  py::class_<Covariance> covariance(module, "Covariance", "The covariance that a map's output is to have.");
  refuse_pickle(covariance);
  covariance
      .def_static(
          "parse", [](const std::string& spec) { return Covariance::parse(spec); }, py::arg("spec"))
      .def_static(
          "matrix", [](const py::object& C) { return Covariance::matrix(from_matrix(C, "covariance")); }, py::arg("C"))
      .def_static(
          "factor", [](const py::object& F) { return Covariance::factor(from_matrix(F, "the covariance's factor")); },
          py::arg("F"))
      .def_static(
          "diagonal",
          [](const std::vector<double>& sd) {
            return Covariance::diagonal(Eigen::Map<const Vector>(sd.data(), std::ssize(sd)));
          },
          py::arg("sd"))
      .def_property_readonly("number", &Covariance::number)
      .def_property_readonly("description", &Covariance::description);
  module.def("covariance_rules", &covariance_rules, py::arg("domains"));
  module.def("fit", &fit_summary, py::arg("summary"), py::arg("progress") = py::none());
  module.def("fit", &fit_incomplete, py::arg("summary"), py::arg("progress") = py::none());
  module.def("add_domain", &add_domain_to, py::arg("model"), py::arg("matched"), py::arg("known"),
             py::arg("covariance") = nullptr);
  module.def("calibrate", &calibrate_on, py::arg("model"), py::arg("folds"), py::arg("progress") = py::none());
  module.def("threads", &threads, "The number of threads BLAS uses; 0 if it does not tell.");
  module.def("set_threads", &set_threads, py::arg("count"), "Let BLAS and the image functions use `count` threads.");
  module.def("blas_description", &blas_description,
             "Which BLAS serves this process, and the remedy if it runs on slow kernels.");
  module.def("slow_kernels", [] {
    const auto slow = slow_kernels();
    return slow ? py::object(py::make_tuple(slow->used, slow->faster)) : py::object(py::none());
  });
}

}  // namespace cgmca::python
