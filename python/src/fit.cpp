// fit, and the covariances it takes.
#include <cgmca/blas_kernels.hpp>
#include <cgmca/calibrate.hpp>
#include <cgmca/covariance.hpp>
#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>
#include <cgmca/threads.hpp>

#include <fmt/format.h>
#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>

#include "arrays.hpp"
#include "bindings.hpp"

namespace cgmca::python {

Ridge ridge_of(const py::object& setting) {
  return py::isinstance<py::str>(setting) ? Ridge::oas() : Ridge(setting.cast<double>());
}

Graph graph_of(const py::object& setting) {
  if (py::isinstance<py::str>(setting)) return setting.cast<std::string>();
  return from_matrix(setting, "graph");
}

std::optional<Summary> summarize_extra(const py::object& rows, const char* name) {
  if (rows.is_none()) return std::nullopt;
  const Samples samples(rows, name);
  Summary summary({samples.features()});
  for_blocks(samples, block_samples(samples.features()), [&](Index, const auto& X) { summary.add(X); });
  return summary;
}

namespace {

constexpr Index kMostDomains = 1000;  // as those of a model file; the fit knows how many there are

// The options of a fit, and the extra samples that they point to.
struct Settings {
  std::vector<Covariance> covariances;
  std::vector<std::optional<Summary>> extra;
  FitOptions options;

  // Of keyword arguments; `covariances` must be there.
  explicit Settings(const py::dict& given) : covariances(given["covariances"].cast<std::vector<Covariance>>()) {
    check_names(given);
    const auto take = [&](const char* key, auto& setting) {
      using Setting = std::remove_reference_t<decltype(setting)>;
      if (given.contains(key)) setting = given[key].template cast<Setting>();
    };
    take("rank_tol", options.rank_tol);
    if (given.contains("max_rank")) {
      options.max_rank = PerDomain<Index>(given["max_rank"].cast<std::vector<Index>>());
    }
    if (given.contains("ridge")) {
      std::vector<Ridge> ridges;
      for (const py::handle ridge : given["ridge"])
        ridges.push_back(ridge_of(py::reinterpret_borrow<py::object>(ridge)));
      options.ridge = PerDomain<Ridge>(ridges);
    }
    if (given.contains("extra")) take_extra(given["extra"]);
    MatchingOptions& matching = options.matching;
    if (given.contains("graph")) matching.graph = graph_of(given["graph"]);
    take("seed", matching.seed);
    take("random_starts", matching.random_starts);
    take("max_sweeps", matching.max_sweeps);
    take("max_seconds", matching.max_seconds);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

 private:
  static void check_names(const py::dict& given) {
    constexpr std::array known = {"covariances", "rank_tol", "max_rank",      "ridge",      "extra",
                                  "graph",       "seed",     "random_starts", "max_sweeps", "max_seconds"};
    for (const auto& [key, value] : given) {
      const auto name = key.cast<std::string>();
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        throw py::type_error(fmt::format("a fit has no setting '{}'", name));
      }
    }
  }

  void take_extra(const py::sequence& arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::string name = arrays.size() == 2 ? (i == 0 ? "extra_X" : "extra_Y") : fmt::format("extra[{}]", i);
      extra.push_back(summarize_extra(arrays[i], name.c_str()));
    }
    for (const auto& summary : extra) options.extra.push_back(summary ? &*summary : nullptr);
  }
};

// What the search tells, until the calling thread asks for it: the search must not touch Python.
struct Told {
  std::mutex mutex;
  std::deque<MatchingProgress> waiting;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

// The search tells a sweep's end so often that only some of them are passed on: the first of each ascent, and others
// 20 ms apart. `report` throws where nobody waits for the fit any longer, and then the search ends.
FitOptions with_reports(FitOptions options, const Report& report, const std::shared_ptr<Told>& told) {
  options.matching.progress = [report, told](const MatchingProgress& progress) {
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

// progress(stage, start, sweep, f) for all that was told since the last call.
py::object passing_on(const py::object& progress, const std::shared_ptr<Told>& told) {
  return py::cpp_function([progress, told](double) {
    std::deque<MatchingProgress> waiting;
    {
      const std::lock_guard lock(told->mutex);
      waiting.swap(told->waiting);
    }
    if (progress.is_none()) return;
    for (const MatchingProgress& one : waiting) progress(one.stage, one.start, one.sweep, one.f);
  });
}

std::unique_ptr<FittedModel> fit_summary(SharedSummary& summary, const py::object& progress, const py::kwargs& given) {
  const auto settings = std::make_shared<Settings>(given);
  const auto told = std::make_shared<Told>();
  return std::make_unique<FittedModel>(summary.use_interruptibly<Model>(
      [settings, told](const Summary& own, const Report& report) {
        return fit(own, settings->covariances, with_reports(settings->options, report, told));
      },
      passing_on(progress, told)));
}

std::unique_ptr<FittedModel> calibrate_on(const FittedModel& fitted, const py::sequence& arrays, Index folds,
                                          std::uint64_t fold_seed, const py::object& sample_weight,
                                          const py::object& progress, const py::kwargs& given) {
  const auto settings = std::make_shared<Settings>(given);
  const std::vector<Samples> domains = matched_samples(arrays);
  check_matched(domains);
  const std::optional<Vector> weights = weights_from(sample_weight, domains.front().count());
  std::vector<DomainInfo> infos;
  for (const Samples& domain : domains) infos.emplace_back(domain.features());
  const auto dealt = std::make_shared<Folds>(infos, FoldOptions{.folds = folds, .repeats = 1, .seed = fold_seed});
  for_matched_blocks<MatchedSamples>(domains, block_samples(features_of(domains)),
                                     [&](Index first, const MatchedSamples& X) {
                                       if (!weights) return dealt->add(X);
                                       dealt->add(X, weights->segment(first, X.front().cols()));
                                     });
  const auto told = std::make_shared<Told>();
  return std::make_unique<FittedModel>(interruptibly<Model>(
      [model = fitted.model, dealt, settings, told](const Report& report) {
        return calibrate(model, *dealt, settings->covariances, with_reports(settings->options, report, told), report);
      },
      passing_on(progress, told)));
}

}  // namespace

void bind_fit(py::module_& module) {
  py::class_<Covariance> covariance(module, "Covariance", "The covariance that a map's output is to have.");
  refuse_pickle(covariance);
  covariance.def_static("identity", &Covariance::identity, py::arg("k"))
      .def_static("largest_identity", &Covariance::largest_identity)
      .def_static(
          "data", [](int number, Index rank) { return Covariance::data(domain_of(number, kMostDomains), rank); },
          py::arg("domain"), py::arg("rank"))
      .def_static("correlation", &Covariance::correlation, py::arg("k"))
      .def_static(
          "likelihood", [](int number) { return Covariance::likelihood(domain_of(number, 2)); }, py::arg("query"))
      .def_static(
          "matrix", [](const py::object& C) { return Covariance::matrix(from_matrix(C, "covariance")); }, py::arg("C"))
      .def_static(
          "factor", [](const py::object& F) { return Covariance::factor(from_matrix(F, "the covariance's factor")); },
          py::arg("F"))
      .def_static(
          "diagonal", [](const Vector& sd) { return Covariance::diagonal(sd); }, py::arg("sd"))
      .def_property_readonly("description", [](const Covariance& self) { return self.description(); });

  module.def("fit", &fit_summary, py::arg("summary"), py::arg("progress") = py::none());
  module.def("calibrate", &calibrate_on, py::arg("model"), py::arg("arrays"), py::arg("folds"), py::arg("fold_seed"),
             py::arg("sample_weight") = py::none(), py::arg("progress") = py::none());
  module.def("threads", &threads, "The number of threads BLAS uses; 0 where it does not tell.");
  module.def("set_threads", &set_threads, py::arg("count"), "Let BLAS and the image functions use `count` threads.");
  module.def("blas_description", &blas_description,
             "Which BLAS serves this process, and the remedy where it runs on slow kernels.");
  module.def("slow_kernels", [] {
    const auto slow = slow_kernels();
    return slow ? py::object(py::make_tuple(slow->used, slow->faster)) : py::object(py::none());
  });
}

}  // namespace cgmca::python
