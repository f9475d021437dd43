// fit, and the covariances it takes.
#include <cgmca/calibrate.hpp>
#include <cgmca/covariance.hpp>
#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>
#include <cgmca/threads.hpp>

#include <pybind11/eigen.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace cgmca::python {

Ridge ridge_of(const py::object& setting) {
  return py::isinstance<py::str>(setting) ? Ridge::oas() : Ridge(setting.cast<double>());
}

std::optional<Summary> summarize_extra(const py::object& rows, const char* name) {
  if (rows.is_none()) return std::nullopt;
  const Samples samples(rows, name);
  Summary summary({samples.features()});
  for_blocks(samples, block_samples(samples.features()), [&](Index, const auto& X) { summary.add(X); });
  return summary;
}

namespace {

// The options of a fit, and the extra samples that they point to.
struct Settings {
  std::optional<Summary> extra1, extra2;
  FitOptions options;

  Settings(std::optional<double> rank_tol, std::pair<Index, Index> max_rank,
           const std::pair<py::object, py::object>& ridge, const py::object& extra_X, const py::object& extra_Y)
      : extra1(summarize_extra(extra_X, "extra_X")),
        extra2(summarize_extra(extra_Y, "extra_Y")),
        options{.rank_tol = rank_tol,
                .max_rank = {max_rank.first, max_rank.second},
                .ridge = {ridge_of(ridge.first), ridge_of(ridge.second)},
                .extra = {extra1 ? &*extra1 : nullptr, extra2 ? &*extra2 : nullptr}} {}
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
};

std::unique_ptr<FittedModel> fit_summary(SharedSummary& summary, const Covariance& c1, const Covariance& c2,
                                         std::optional<double> rank_tol, std::pair<Index, Index> max_rank,
                                         const std::pair<py::object, py::object>& ridge, const py::object& extra_X,
                                         const py::object& extra_Y) {
  const auto settings = std::make_shared<Settings>(rank_tol, max_rank, ridge, extra_X, extra_Y);
  return std::make_unique<FittedModel>(summary.use_interruptibly<Model>(
      [settings, c1, c2](const Summary& own, const Report&) { return fit(own, c1, c2, settings->options); }));
}

std::unique_ptr<FittedModel> calibrate_on(const FittedModel& fitted, const py::object& rows1, const py::object& rows2,
                                          Index folds, std::uint64_t seed, const Covariance& c1, const Covariance& c2,
                                          std::optional<double> rank_tol, std::pair<Index, Index> max_rank,
                                          const std::pair<py::object, py::object>& ridge, const py::object& extra_X,
                                          const py::object& extra_Y, const py::object& sample_weight) {
  const auto settings = std::make_shared<Settings>(rank_tol, max_rank, ridge, extra_X, extra_Y);
  const Samples X(rows1, "X"), Y(rows2, "Y");
  const std::optional<Vector> weights = weights_from(sample_weight, X.count());
  const auto dealt = std::make_shared<Folds>(std::vector<DomainInfo>{X.features(), Y.features()},
                                             FoldOptions{.folds = folds, .seed = seed});
  for_pair_blocks(X, Y, block_samples(X.features() + Y.features()), [&](Index first, const auto& X1, const auto& X2) {
    if (!weights) return dealt->add(X1, X2);
    dealt->add(X1, X2, weights->segment(first, X1.cols()));
  });
  return std::make_unique<FittedModel>(
      interruptibly<Model>([model = fitted.model, dealt, c1, c2, settings](const Report& report) {
        return calibrate(model, *dealt, c1, c2, settings->options, report);
      }));
}

}  // namespace

void bind_fit(py::module_& module) {
  py::class_<Covariance>(module, "Covariance", "The covariance that a map's output is to have.")
      .def_static("identity", &Covariance::identity, py::arg("k"))
      .def_static("largest_identity", &Covariance::largest_identity)
      .def_static(
          "data", [](int number, Index rank) { return Covariance::data(domain_of(number), rank); }, py::arg("domain"),
          py::arg("rank"))
      .def_static("correlation", &Covariance::correlation, py::arg("k"))
      .def_static(
          "likelihood", [](int number) { return Covariance::likelihood(domain_of(number)); }, py::arg("query"))
      .def_static(
          "matrix", [](const py::object& C) { return Covariance::matrix(from_matrix(C, "covariance")); }, py::arg("C"))
      .def_static(
          "factor", [](const py::object& F) { return Covariance::factor(from_matrix(F, "the covariance's factor")); },
          py::arg("F"))
      .def_static(
          "diagonal", [](const Vector& sd) { return Covariance::diagonal(sd); }, py::arg("sd"))
      .def_property_readonly("description", &Covariance::description);

  module.def("fit", &fit_summary, py::arg("summary"), py::arg("c1"), py::arg("c2"), py::arg("rank_tol") = py::none(),
             py::arg("max_rank") = std::pair<Index, Index>(0, 0), py::arg("ridge") = std::pair<double, double>(0, 0),
             py::arg("extra_X") = py::none(), py::arg("extra_Y") = py::none());
  module.def("calibrate", &calibrate_on, py::arg("model"), py::arg("X"), py::arg("Y"), py::arg("folds"),
             py::arg("seed"), py::arg("c1"), py::arg("c2"), py::arg("rank_tol") = py::none(),
             py::arg("max_rank") = std::pair<Index, Index>(0, 0), py::arg("ridge") = std::pair<double, double>(0, 0),
             py::arg("extra_X") = py::none(), py::arg("extra_Y") = py::none(), py::arg("sample_weight") = py::none());
  module.def("threads", &threads, "The number of threads BLAS uses; 0 where it does not tell.");
  module.def("set_threads", &set_threads, py::arg("count"), "Let BLAS and the image functions use `count` threads.");
  module.def("blas_description", &blas_description, "Which BLAS serves this process.");
}

}  // namespace cgmca::python
