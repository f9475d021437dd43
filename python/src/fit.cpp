// fit, and the covariances it takes.
#include <cgmca/covariance.hpp>
#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>
#include <cgmca/threads.hpp>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace cgmca::python {
namespace {

std::unique_ptr<FittedModel> fit_summary(SharedSummary& summary, const Covariance& c1, const Covariance& c2,
                                         std::optional<double> rank_tol) {
  FitOptions options;
  options.rank_tol = rank_tol;
  auto model =
      std::make_unique<FittedModel>(summary.use([&](const PairSummary& own) { return fit(own, c1, c2, options); }));
  let_signals_through();
  return model;
}

}  // namespace

void bind_fit(py::module_& module) {
  py::class_<Covariance>(module, "Covariance", "The covariance that a map's output is to have.")
      .def_static("identity", &Covariance::identity, py::arg("k"))
      .def_static("largest_identity", &Covariance::largest_identity)
      .def_static(
          "data", [](int number, Index rank) { return Covariance::data(domain_of(number), rank); }, py::arg("domain"),
          py::arg("rank"))
      .def_static(
          "matrix", [](const py::object& C) { return Covariance::matrix(from_matrix(C, "covariance")); }, py::arg("C"))
      .def_property_readonly("description", &Covariance::description);

  module.def("fit", &fit_summary, py::arg("summary"), py::arg("c1"), py::arg("c2"), py::arg("rank_tol") = py::none());
  module.def("threads", &threads, "The number of threads BLAS uses; 0 where it does not tell.");
  module.def("set_threads", &set_threads, py::arg("count"), "Let BLAS and the image functions use `count` threads.");
  module.def("blas_description", &blas_description, "Which BLAS serves this process.");
}

}  // namespace cgmca::python
