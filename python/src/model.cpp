// Fitted models: what estimators keep.
#include <cgmca/error.hpp>
#include <cgmca/model.hpp>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "support/choice.hpp"

namespace cgmca::python {
namespace {

LsqrOptions lsqr_options(Method method, std::optional<Index> iterations, std::optional<double> tolerance) {
  LsqrOptions options;
  if (method != Method::lsqr && (iterations || tolerance)) {
    throw InvalidInput(
        fmt::format("iterations and tolerance are for the method 'lsqr'; '{}' needs none", name(method)));
  }
  if (iterations && *iterations < 1)
    throw InvalidInput(fmt::format("{} iterations; at least 1 is needed", *iterations));
  if (tolerance && !(*tolerance >= 0))
    throw InvalidInput(fmt::format("a tolerance of {}; it cannot be negative", *tolerance));
  if (iterations) options.iterations = *iterations;
  if (tolerance) options.tolerance = *tolerance;
  return options;
}

// lsqr and the inverses begin each block with a factorization; fewer, larger blocks then.
constexpr Index kLargeBlock = 256;

// work() without the GIL, as an array of Python's.
template <class Work>
py::object computed_there(const Work& work) {
  std::optional<DeviceMatrix> result;
  {
    const py::gil_scoped_release release;
    result.emplace(work());
  }
  return py::cast(DeviceArray(std::move(*result)));
}

// Samples of an array that is on a device go there, and so does the result.
bool stays_there(const py::object& rows) { return py::isinstance<DeviceArray>(rows) || on_gpu(rows); }

py::object apply_to(const FittedModel& self, int number, const py::object& rows) {
  const Domain domain = self.domain(number);
  if (stays_there(rows)) {
    const DeviceArray there = device_array(rows, "X");
    const SampleView view = there.view();
    return computed_there([&] { return self.map_there(domain, there.device())(view); });
  }
  const Samples X(rows, "X");
  const Index k = self.model.common_dimension, d = self.model.domain(domain).features();
  return map_blocks(X, k, block_samples(std::max(d, k)),
                    [&](const auto& block) { return apply(self.model, domain, block); });
}

py::object translate_with(const FittedModel& self, int source, int target, const py::object& rows,
                          const std::string& method_name, std::optional<Index> iterations,
                          std::optional<double> tolerance) {
  const Domain from = self.domain(source), to = self.domain(target);
  const Method method = need_choice(method_name, kMethods, "method");
  const LsqrOptions options = lsqr_options(method, iterations, tolerance);
  if (stays_there(rows)) {
    const DeviceArray there = device_array(rows, "X");
    const SampleView view = there.view();
    const Device device = there.device();
    return computed_there([&] {
      if (method != Method::lsqr) return self.translation_there(from, to, method, device)(view);
      const Matrix X = there.host();  // its iteration is on the processor
      return to_device(translate(self.model, from, to, X, method, options, device), device);
    });
  }
  const Samples X(rows, "X");
  const Index d_from = self.model.domain(from).features(), d_to = self.model.domain(to).features();
  const Index widest = std::max(d_from, d_to);
  if (method == Method::lsqr) {
    return map_blocks(X, d_to, block_samples(widest, kLargeBlock),
                      [&](const auto& block) { return translate(self.model, from, to, block, method, options); });
  }
  std::shared_ptr<const Translation> map;
  {
    const py::gil_scoped_release release;
    map = self.translation(from, to, method);
  }
  return map_blocks(X, d_to, block_samples(widest), [&](const auto& block) { return (*map)(block); });
}

// work(translation, X) for blocks of samples: as many rows as features of the target.
template <class Work>
py::array errors_of(const FittedModel& self, int source, int target, const py::object& rows, Work work) {
  const Samples X(rows, "X");
  const auto map = self.translation(self.domain(source), self.domain(target), Method::lmmse);
  const Index d_to = map->mean_to.size(), widest = std::max(map->mean_from.size(), d_to);
  return map_blocks(X, d_to, block_samples(widest), [&](const auto& block) { return work(*map, block); });
}

py::object invert_with(const FittedModel& self, int number, const py::object& rows, const std::string& method_name,
                       std::optional<Index> iterations, std::optional<double> tolerance) {
  const Domain domain = self.domain(number);
  const Method method = need_choice(method_name, kMethods, "method");
  const LsqrOptions options = lsqr_options(method, iterations, tolerance);
  if (stays_there(rows)) {
    const DeviceArray there = device_array(rows, "Z");
    const Device device = there.device();
    return computed_there(
        [&] { return to_device(invert(self.model, domain, there.host(), method, options, device), device); });
  }
  const Samples Z(rows, "Z");
  const Index d = self.model.domain(domain).features();
  return map_blocks(Z, d, block_samples(std::max(d, self.model.common_dimension), kLargeBlock),
                    [&](const auto& block) { return invert(self.model, domain, block, method, options); });
}

py::dict settings_of(const FittedModel& self) {
  const FitSettings& settings = self.model.settings;
  py::list ridge;
  for (const Ridge& one : settings.ridge) {
    ridge.append(one.automatic ? py::object(py::str("auto")) : py::object(py::float_(one.value)));
  }
  py::dict result;
  result["covariance"] = per_domain(settings.covariance);
  result["components"] = per_domain(settings.components);
  result["max_rank"] = per_domain(settings.max_rank);
  result["ridge"] = py::tuple(ridge);
  result["rank_tol"] = settings.rank_tol;
  result["seed"] = settings.seed;
  result["random_starts"] = settings.random_starts;
  result["max_sweeps"] = settings.max_sweeps;
  result["max_seconds"] = settings.max_seconds;
  return result;
}

template <class Get>
auto of_domain(Get get) {
  return [get](const FittedModel& self, int number) { return get(self.model.domain(self.domain(number))); };
}

py::bytes to_bytes(const FittedModel& self) { return self.model.to_bytes(); }

std::unique_ptr<FittedModel> model_from_bytes(const py::bytes& bytes) {
  return std::make_unique<FittedModel>(Model::from_bytes(std::string_view(bytes)));
}

}  // namespace

std::shared_ptr<const Translation> FittedModel::translation(Domain from, Domain to, Method method) const {
  const std::lock_guard lock(mutex_);
  auto& kept = translations_[{from, to, method}];
  if (!kept) kept = std::make_shared<const Translation>(cgmca::translation(model, from, to, method));
  return kept;
}

DeviceMap FittedModel::map_there(Domain domain, Device device) const {
  const std::lock_guard lock(mutex_);
  const std::tuple key(domain, domain, Method::lmmse, device);
  if (const auto kept = maps_there_.find(key); kept != maps_there_.end()) return kept->second;
  return maps_there_.emplace(key, device_map(model, domain, device)).first->second;
}

DeviceMap FittedModel::translation_there(Domain from, Domain to, Method method, Device device) const {
  const auto map = translation(from, to, method);  // which refuses from == to, the key of a map into the common space
  const std::lock_guard lock(mutex_);
  const std::tuple key(from, to, method, device);
  if (const auto kept = maps_there_.find(key); kept != maps_there_.end()) return kept->second;
  return maps_there_.emplace(key, device_map(*map, device)).first->second;
}

void bind_model(py::module_& module) {
  py::class_<FittedModel> model(module, "Model", "The maps of a fit, one a domain; estimators keep one.");
  bind_matched(model);
  model.def("apply", &apply_to, py::arg("domain"), py::arg("X"))
      .def("translate", &translate_with, py::arg("source"), py::arg("target"), py::arg("X"), py::arg("method"),
           py::arg("iterations") = py::none(), py::arg("tolerance") = py::none())
      .def("invert", &invert_with, py::arg("domain"), py::arg("Z"), py::arg("method"),
           py::arg("iterations") = py::none(), py::arg("tolerance") = py::none())
      .def(
          "standard_errors",
          [](const FittedModel& self, int source, int target, const py::object& rows) {
            return errors_of(self, source, target, rows,
                             [](const Translation& map, const MatrixView& X) { return map.standard_errors(X); });
          },
          py::arg("source"), py::arg("target"), py::arg("X"))
      .def(
          "half_widths",
          [](const FittedModel& self, int source, int target, const py::object& rows, double probability) {
            return errors_of(self, source, target, rows, [&](const Translation& map, const MatrixView& X) {
              return map.half_widths(X, probability);
            });
          },
          py::arg("source"), py::arg("target"), py::arg("X"), py::arg("probability"))
      .def_property_readonly("calibration_folds", [](const FittedModel& self) { return self.model.calibration_folds; })
      .def(
          "linear",
          [](const FittedModel& self, int source, int target) {
            const auto map = self.translation(self.domain(source), self.domain(target), Method::lmmse);
            return to_matrix(map->matrix());
          },
          py::arg("source"), py::arg("target"))
      .def("settings", &settings_of)
      .def("warnings", [](const FittedModel& self) { return self.model.warnings(); })
      .def(
          "has",
          [](const FittedModel& self, int number) { return self.model.domains[slot(self.domain(number))].has_value(); },
          py::arg("domain"))
      .def(
          "only",
          [](const FittedModel& self, int number) {
            return std::make_unique<FittedModel>(self.model.only(self.domain(number)));
          },
          py::arg("domain"))
      .def("matrix", of_domain([](const DomainMap& map) { return to_matrix(map.matrix()); }), py::arg("domain"))
      .def("offset", of_domain([](const DomainMap& map) { return to_array(map.offset()); }), py::arg("domain"))
      .def("mean", of_domain([](const DomainMap& map) { return to_array(map.mean); }), py::arg("domain"))
      .def("variance", of_domain([](const DomainMap& map) { return to_array(map.variance); }), py::arg("domain"))
      .def("weights", of_domain([](const DomainMap& map) { return to_matrix(map.weights); }), py::arg("domain"))
      .def("mixing", of_domain([](const DomainMap& map) { return to_matrix(map.mixing); }), py::arg("domain"))
      .def("loadings", of_domain([](const DomainMap& map) { return to_matrix(map.loadings); }), py::arg("domain"))
      .def("features", of_domain([](const DomainMap& map) { return map.features(); }), py::arg("domain"))
      .def("name", of_domain([](const DomainMap& map) { return map.name; }), py::arg("domain"))
      .def("feature_names", of_domain([](const DomainMap& map) { return map.feature_names; }), py::arg("domain"))
      .def_property_readonly("count", [](const FittedModel& self) { return self.model.count(); })
      .def_property_readonly("samples", [](const FittedModel& self) { return self.model.samples; })
      .def_property_readonly("total_weight", [](const FittedModel& self) { return self.model.total_weight; })
      .def_property_readonly("common_dimension", [](const FittedModel& self) { return self.model.common_dimension; })
      .def_property_readonly("covariances", [](const FittedModel& self) { return per_domain(self.model.covariances); })
      .def(
          "save",
          [](const FittedModel& self, const std::string& path, const std::string& note) {
            self.model.save(path, note);
          },
          py::arg("path"), py::arg("note") = "", py::call_guard<py::gil_scoped_release>())
      .def_static(
          "load",
          [](const std::string& path) {
            check_exists(path);
            std::string note;
            auto loaded = std::make_unique<FittedModel>(Model::load(path, &note));
            return py::make_tuple(std::move(loaded), note);
          },
          py::arg("path"), "The model of a file, and the note that `save` wrote.")
      .def("__copy__", [](const FittedModel& self) { return std::make_unique<FittedModel>(self.model); })
      .def("__deepcopy__",
           [](const FittedModel& self, const py::dict&) { return std::make_unique<FittedModel>(self.model); });
  bind_pickle(model, &to_bytes, &model_from_bytes);
}

}  // namespace cgmca::python
