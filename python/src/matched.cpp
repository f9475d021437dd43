// What a model does with samples of several domains at once: fusion, translation from a set of domains, verification.
// And what it knows of all domains together.
#include <cgmca/correlation_tests.hpp>
#include <cgmca/error.hpp>
#include <cgmca/fuse.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "support/choice.hpp"

namespace cgmca::python {
namespace {

// Samples of some of a model's domains, as they were given.
struct Present {
  std::vector<Domain> domains;
  std::vector<Samples> samples;

  Present(const FittedModel& self, const std::vector<int>& numbers, const py::sequence& arrays) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      domains.push_back(self.domain(numbers[i]));
      samples.emplace_back(arrays[i], "samples");
      if (samples.back().count() == samples.front().count()) continue;
      throw UnequalSamples(fmt::format("{} samples of domain {}, {} of domain {}; they must match one to one",
                                       samples.front().count(), numbers.front(), samples.back().count(), numbers[i]));
    }
    if (samples.empty()) throw InvalidInput("samples of at least one domain are needed");
  }

  Index count() const { return samples.front().count(); }

  // work(first, present) for blocks of samples; `features` are those of the result.
  template <class Work>
  void for_blocks(Index features, Work work) const {
    const Index step = block_samples(std::max(features, features_of(samples)));
    for_matched_blocks<std::vector<MatrixView>>(samples, step, [&](Index first, const std::vector<MatrixView>& X) {
      std::vector<DomainSamples> present;
      for (std::size_t i = 0; i < X.size(); ++i) present.push_back({domains[i], X[i]});
      work(first, present);
    });
  }
};

// An (n, d) array and the d×n matrix that it is.
struct Rows {
  py::array_t<double> array;
  Eigen::Map<Matrix> X;

  Rows(Index count, Index features) : array({count, features}), X(array.mutable_data(), features, count) {}
};

py::array fuse_with(const FittedModel& self, const std::vector<int>& numbers, const py::sequence& arrays,
                    const std::string& method_name) {
  const Fusion how = need_choice(method_name, kFusions, "method");
  const Present given(self, numbers, arrays);
  Rows result(given.count(), self.model.common_dimension);
  given.for_blocks(self.model.common_dimension, [&](Index first, const std::vector<DomainSamples>& present) {
    result.X.middleCols(first, present[0].X.cols()) = fuse(self.model, present, how);
  });
  return result.array;
}

py::array translate_from(const FittedModel& self, const std::vector<int>& numbers, const py::sequence& arrays,
                         int target) {
  const Domain to = self.domain(target);
  const Present given(self, numbers, arrays);
  const Index d = self.model.domain(to).features();
  Rows result(given.count(), d);
  given.for_blocks(d, [&](Index first, const std::vector<DomainSamples>& present) {
    result.X.middleCols(first, present[0].X.cols()) = translate(self.model, present, to);
  });
  return result.array;
}

// Translations, and their standard errors or, with a probability, the half widths of intervals.
py::tuple estimate_from(const FittedModel& self, const std::vector<int>& numbers, const py::sequence& arrays,
                        int target, std::optional<double> probability) {
  const Domain to = self.domain(target);
  const Present given(self, numbers, arrays);
  const Index d = self.model.domain(to).features();
  Rows translated(given.count(), d), widths(given.count(), d);
  given.for_blocks(d, [&](Index first, const std::vector<DomainSamples>& present) {
    const Estimate found = estimate(self.model, present, to, probability);
    translated.X.middleCols(first, found.X.cols()) = found.X;
    widths.X.middleCols(first, found.X.cols()) = probability ? found.half_widths : found.standard_errors;
  });
  return py::make_tuple(translated.array, widths.array);
}

// A translation in its factors, for other runtimes. With a probability also q s_f of (29): the half width of an interval
// is √(1 + h) times that, and h is 1/n at the mean.
py::dict translation_of(const FittedModel& self, const std::vector<int>& numbers, int target,
                        std::optional<double> probability) {
  std::vector<Domain> from;
  for (const int number : numbers) from.push_back(self.domain(number));
  const Translation map = translation(self.model, from, self.domain(target));
  py::dict result;
  result["mean_from"] = to_array(map.mean_from);
  result["mean_to"] = to_array(map.mean_to);
  result["left"] = to_matrix(map.left);
  result["right"] = to_matrix(map.right);
  result["scale"] = to_array(map.errors.scale);
  result["G"] = to_matrix(map.errors.G);
  result["total_weight"] = map.errors.total_weight;
  if (probability) {
    const Matrix at_mean = map.half_widths(map.mean_from, *probability);
    result["half_width"] = to_array(at_mean.col(0) / std::sqrt(1 + 1 / map.errors.total_weight));
  }
  return result;
}

py::dict attained_on(const FittedModel& self, const py::sequence& arrays, const py::object& sample_weight) {
  const auto verifier = std::make_shared<Verifier>(self.model);
  const std::vector<Samples> domains = matched_samples(arrays);
  if (domains.empty()) throw InvalidInput("samples of every domain are needed");
  check_matched(domains);
  const std::optional<Vector> weights = weights_from(sample_weight, domains.front().count());
  for_matched_blocks<std::vector<MatrixView>>(domains, block_samples(features_of(domains)),
                                              [&](Index first, const std::vector<MatrixView>& X) {
                                                if (!weights) return verifier->add(X);
                                                verifier->add(X, weights->segment(first, X.front().cols()));
                                              });
  const auto attained = interruptibly<Attained>([verifier](const Report&) { return verifier->attained(); });
  py::dict result;
  result["samples"] = attained.samples;
  result["total_weight"] = attained.total_weight;
  result["constraint_residuals"] = per_domain(attained.constraint_residuals);
  result["mean_residuals"] = per_domain(attained.mean_residuals);
  result["objective"] = attained.objective;
  result["covariance_trace"] = attained.covariance_trace;
  result["best_objective"] = attained.best_objective;
  result["certified"] = attained.certified;
  result["gap"] = attained.gap;
  result["proof"] = attained.proof;
  py::dict claims;
  for (const Claim& claim : attained.claims) claims[py::str(claim.what)] = claim.difference;
  result["claims"] = claims;
  return result;
}

py::dict certificate_of(const FittedModel& self) {
  const Certificate& certificate = self.model.certificate;
  py::dict result;
  result["objective"] = certificate.objective;
  result["bound"] = certificate.bound;
  result["constraint_residuals"] = per_domain(certificate.constraint_residuals);
  result["samples_residual"] =
      certificate.samples_residual ? py::object(py::float_(*certificate.samples_residual)) : py::object(py::none());
  py::list constrained, starts;
  for (const Regularized& theta : certificate.constrained) {
    constrained.append(py::make_tuple(theta.data, theta.ridge, theta.samples));
  }
  for (const Start& start : certificate.starts) {
    starts.append(py::make_tuple(start.kind, start.value, start.sweeps, start.converged, start.f_below_best,
                                 start.distance_to_best));
  }
  result["constrained"] = py::tuple(constrained);
  result["covariance_trace"] = certificate.covariance_trace;
  result["ranks"] = per_domain(certificate.ranks);
  result["covariance_ranks"] = per_domain(certificate.covariance_ranks);
  result["tolerances"] = per_domain(certificate.tolerances);
  result["min_gap"] = certificate.min_gap;
  result["route"] = certificate.route;
  result["singular_A"] = to_array(certificate.singular_A);
  result["singular_B"] = to_array(certificate.singular_B);
  result["weights"] = to_matrix(certificate.weights);
  result["certified"] = certificate.certified;
  result["gap"] = certificate.gap;
  result["proof"] = certificate.proof;
  result["starts"] = py::tuple(starts);
  result["sweeps"] = certificate.sweeps;
  result["stopped_early"] = certificate.stopped_early;
  return result;
}

py::tuple entries_of(const FTest& test) { return py::make_tuple(test.value, test.F, test.df1, test.df2, test.p); }

py::list tests_of(const FittedModel& self) {
  py::list result;
  for (const CorrelationTest& test : correlation_tests(self.model)) {
    result.append(py::make_tuple(test.first, test.correlation,
                                 py::make_tuple(entries_of(test.wilks), entries_of(test.pillai),
                                                entries_of(test.hotelling), entries_of(test.roy)),
                                 py::make_tuple(test.chi_squared, test.chi_df, test.chi_p)));
  }
  return result;
}

}  // namespace

void bind_matched(py::class_<FittedModel>& model) {
  model.def("fuse", &fuse_with, py::arg("domains"), py::arg("arrays"), py::arg("method"))
      .def("translate_from", &translate_from, py::arg("sources"), py::arg("arrays"), py::arg("target"))
      .def("estimate_from", &estimate_from, py::arg("sources"), py::arg("arrays"), py::arg("target"),
           py::arg("probability") = py::none())
      .def("translation", &translation_of, py::arg("sources"), py::arg("target"), py::arg("probability") = py::none())
      .def("attained", &attained_on, py::arg("arrays"), py::arg("sample_weight") = py::none())
      .def("certificate", &certificate_of)
      .def("tests", &tests_of)
      .def(
          "common_correlations",
          [](const FittedModel& self, int one, int two) {
            return to_array(self.model.common_correlations(self.domain(one), self.domain(two)));
          },
          py::arg("one"), py::arg("two"));
}

}  // namespace cgmca::python
