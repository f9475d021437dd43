// Fitted models: what estimators keep, and what a model says of itself.
#include <cgmca/correlation_tests.hpp>
#include <cgmca/error.hpp>
#include <cgmca/explained.hpp>
#include <cgmca/model.hpp>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace cgmca::python {
namespace {

using namespace py::literals;

py::dict certificate_of(const FittedModel& self) {
  const Certificate& found = self.model.certificate;
  const auto constrained = tuple_of(found.constrained, [](const Regularized& theta) {
    return py::make_tuple(theta.data, theta.ridge, theta.samples);
  });
  const auto starts = tuple_of(found.starts, [](const Start& start) {
    return py::make_tuple(start.kind, start.value, start.sweeps, start.converged, start.f_below_best,
                          start.distance_to_best);
  });
  return py::dict("objective"_a = found.objective, "bound"_a = found.bound,
                  "constraint_residuals"_a = tuple_of(found.constraint_residuals), "constrained"_a = constrained,
                  "covariance_trace"_a = found.covariance_trace, "singular_A"_a = to_array(found.singular_A),
                  "singular_B"_a = to_array(found.singular_B), "ranks"_a = tuple_of(found.ranks),
                  "covariance_ranks"_a = tuple_of(found.covariance_ranks), "min_gap"_a = found.min_gap,
                  "tolerances"_a = tuple_of(found.tolerances), "route"_a = found.route,
                  "weights"_a = to_matrix(found.edge_weights), "certified"_a = found.certified, "gap"_a = found.gap,
                  "proof"_a = found.proof, "starts"_a = starts, "sweeps"_a = found.sweeps,
                  "stopped_early"_a = found.stopped_early, "samples_residual"_a = found.samples_residual);
}

py::tuple additions_of(const FittedModel& self) {
  return tuple_of(self.model.additions, [](const Addition& added) {
    return py::make_tuple(tuple_of(added.matched, [](Domain domain) { return number(domain); }),
                          tuple_of(added.weights), added.samples, added.total_weight, added.transported,
                          added.objective, added.bound, added.scale, to_array(added.singular_G), added.unique);
  });
}

py::object nuisance_of(const FittedModel& self) {
  if (!self.model.nuisance) return py::none();
  const Nuisance& found = *self.model.nuisance;
  return py::dict("names"_a = or_none(found.names), "mean"_a = to_array(found.mean),
                  "effects"_a = tuple_of(found.effects, [](const Matrix& effects) { return to_matrix(effects); }),
                  "explained"_a = tuple_of(found.explained), "rank"_a = found.rank, "unknown"_a = found.unknown);
}

py::dict settings_of(const FittedModel& self) {
  const FitSettings& settings = self.model.settings;
  return py::dict("covariance"_a = tuple_of(settings.covariance), "components"_a = tuple_of(settings.components),
                  "max_rank"_a = tuple_of(settings.max_rank), "ridge"_a = tuple_of(settings.ridge),
                  "rank_tol"_a = settings.rank_tol, "scale"_a = settings.scale, "seed"_a = settings.seed,
                  "random_starts"_a = settings.random_starts, "max_sweeps"_a = settings.max_sweeps,
                  "max_seconds"_a = settings.max_seconds, "towards"_a = name(settings.towards));
}

py::tuple tests_of(const FittedModel& self) {
  const auto entries = [](const FTest& test) { return py::make_tuple(test.value, test.F, test.df1, test.df2, test.p); };
  return tuple_of(correlation_tests(self.model), [&](const CorrelationTest& test) {
    const auto statistics =
        py::make_tuple(entries(test.wilks), entries(test.pillai), entries(test.hotelling), entries(test.roy));
    return py::make_tuple(test.first, test.correlation, statistics,
                          py::make_tuple(test.chi_squared, test.chi_df, test.chi_p));
  });
}

py::tuple entries_of(const Shares& shares) {
  return py::make_tuple(to_array(shares.alone), to_array(shares.cumulative));
}
py::tuple entries_of(const TranslationR2& r2) {
  return py::make_tuple(to_array(r2.features), r2.variance, r2.standardized);
}

void bind_explained(py::class_<FittedModel>& model) {
  model
      .def(
          "explained",
          [](const FittedModel& self, int of, int by) {
            const Explained found = explained(self.model, self.domain(of), self.domain(by));
            return py::make_tuple(entries_of(found.variance), entries_of(found.standardized));
          },
          py::arg("of"), py::arg("by"))
      .def(
          "score_correlations",
          [](const FittedModel& self, int features, int scores) {
            return to_matrix(score_correlations(self.model, self.domain(features), self.domain(scores)));
          },
          py::arg("features"), py::arg("scores"))
      .def(
          "shared_correlations",
          [](const FittedModel& self, int one, int two) {
            return to_matrix(shared_correlations(self.model, self.domain(one), self.domain(two)));
          },
          py::arg("one"), py::arg("two"))
      .def(
          "translation_r2",
          [](const FittedModel& self, int to) { return entries_of(translation_r2(self.model, self.domain(to))); },
          py::arg("to"))
      .def(
          "importance",
          [](const FittedModel& self, int number) { return to_array(importance(self.model, self.domain(number))); },
          py::arg("domain"));
}

// get(map) of one domain.
template <class Get>
auto of_domain(Get get) {
  return [get](const FittedModel& self, int number) { return get(self.model.domain(self.domain(number))); };
}

// A tuple of get(map) of all domains, None for one that is absent.
template <class Get>
auto of_each_domain(Get get) {
  return [get](const FittedModel& self) {
    return tuple_of(self.model.domains, [get](const std::optional<DomainMap>& map) {
      return map ? py::object(get(*map)) : py::object(py::none());
    });
  };
}

}  // namespace

std::shared_ptr<const Translation> FittedModel::translation(Domain from, Domain to, Method method) const {
  const std::lock_guard lock(mutex_);
  auto& kept = translations_[{from, to, method}];
  if (!kept) kept = std::make_shared<const Translation>(cgmca::translation(model, from, to, method));
  return kept;
}

DeviceMap FittedModel::map_there(Domain domain, Device device) const {
  return kept_there({domain, domain, Method::lmmse, device}, [&] { return device_map(model, domain, device); });
}

DeviceMap FittedModel::translation_there(Domain from, Domain to, Method method, Device device) const {
  const auto map = translation(from, to, method);  // which refuses from == to, the key of a map into the common space
  return kept_there({from, to, method, device}, [&] { return device_map(*map, device); });
}

void bind_model(py::module_& module) {
  py::class_<FittedModel> model(module, "Model", "The maps of a fit, one a domain; estimators keep one.");
  bind_maps(model);
  bind_explained(model);
  model.def("certificate", &certificate_of)
      .def("settings", &settings_of)
      .def("additions", &additions_of)
      .def("patterns",
           [](const FittedModel& self) {
             return tuple_of(self.model.patterns, [](const Pattern& pattern) {
               return py::make_tuple(tuple_of(pattern.domains, [](Domain domain) { return number(domain); }),
                                     pattern.samples, pattern.total_weight);
             });
           })
      .def("nuisance", &nuisance_of)
      .def_property_readonly("nuisance_values", [](const FittedModel& self) { return self.model.nuisance_values(); })
      .def("tests", &tests_of)
      .def("warnings", [](const FittedModel& self) { return self.model.warnings(); })
      .def(
          "common_correlations",
          [](const FittedModel& self, int one, int two) {
            return to_array(self.model.common_correlations(self.domain(one), self.domain(two)));
          },
          py::arg("one"), py::arg("two"))
      .def(
          "linear",
          [](const FittedModel& self, int source, int target) {
            return to_matrix(self.translation(self.domain(source), self.domain(target), Method::lmmse)->matrix());
          },
          py::arg("source"), py::arg("target"))
      .def(
          "only",
          [](const FittedModel& self, int number) {
            return std::make_unique<FittedModel>(self.model.only(self.domain(number)));
          },
          py::arg("domain"))
      .def("weights", of_domain([](const DomainMap& map) { return to_matrix(map.weights); }), py::arg("domain"))
      .def("mixing", of_domain([](const DomainMap& map) { return to_matrix(map.mixing); }), py::arg("domain"))
      .def("loadings", of_domain([](const DomainMap& map) { return to_matrix(map.loadings); }), py::arg("domain"))
      .def("features", of_domain([](const DomainMap& map) { return map.features(); }), py::arg("domain"))
      .def_property_readonly("matrices", of_each_domain([](const DomainMap& map) { return to_matrix(map.matrix()); }))
      .def_property_readonly("means", of_each_domain([](const DomainMap& map) { return to_array(map.mean); }))
      .def_property_readonly("names", of_each_domain([](const DomainMap& map) { return or_none(map.name); }))
      .def_property_readonly("feature_names",
                             of_each_domain([](const DomainMap& map) { return or_none(map.feature_names); }))
      .def_property_readonly("count", [](const FittedModel& self) { return self.model.count(); })
      .def_property_readonly("samples", [](const FittedModel& self) { return self.model.samples; })
      .def_property_readonly("common_dimension", [](const FittedModel& self) { return self.model.common_dimension; })
      .def_property_readonly("calibration_folds", [](const FittedModel& self) { return self.model.calibration_folds; })
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
          py::arg("path"), "The model of a file, and the note that `save` wrote.");
  bind_copies(model, [](const FittedModel& self) { return std::make_unique<FittedModel>(self.model); });
  bind_pickle(
      model, [](const FittedModel& self) { return py::bytes(self.model.to_bytes()); },
      [](const py::bytes& bytes) { return std::make_unique<FittedModel>(Model::from_bytes(std::string_view(bytes))); });
}

}  // namespace cgmca::python
