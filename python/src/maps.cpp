// What a model does with samples: maps into the common space, translations with their errors, fusion, verification.
#include <cgmca/diagnose.hpp>
#include <cgmca/error.hpp>
#include <cgmca/explained.hpp>
#include <cgmca/fuse.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "support/choice.hpp"

namespace cgmca::python {
namespace {

using namespace py::literals;

// lsqr and the inverses begin each block with a factorization; fewer, larger blocks then.
constexpr Index kLargeBlock = 256;

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

// work(there) without the GIL, for an array on a device; the result stays there. Nothing for any other array.
template <class Work>
py::object computed_there(const py::object& rows, const char* name, const Work& work) {
  if (!py::isinstance<DeviceArray>(rows) && !on_gpu(rows)) return py::none();
  const DeviceArray there = device_array(rows, name);
  std::optional<DeviceMatrix> result;
  {
    const py::gil_scoped_release release;
    result.emplace(work(there));
  }
  return py::cast(DeviceArray(std::move(*result)));
}

py::object apply_to(const FittedModel& self, int number, const py::object& rows) {
  const Domain domain = self.domain(number);
  const py::object there =
      computed_there(rows, "X", [&](const DeviceArray& X) { return self.map_there(domain, X.device())(X.view()); });
  if (!there.is_none()) return there;
  const Index k = self.model.common_dimension, d = self.model.domain(domain).features();
  return map_blocks(Samples(rows, "X"), k, block_samples(std::max(d, k)),
                    [&](const MatrixView& X) { return apply(self.model, domain, X); });
}

py::object translate_with(const FittedModel& self, int source, int target, const py::object& rows,
                          const std::string& method_name, std::optional<Index> iterations,
                          std::optional<double> tolerance) {
  const Domain from = self.domain(source), to = self.domain(target);
  const Method method = need_choice(method_name, kMethods, "method");
  const LsqrOptions options = lsqr_options(method, iterations, tolerance);
  const py::object there = computed_there(rows, "X", [&](const DeviceArray& X) {
    if (method != Method::lsqr) return self.translation_there(from, to, method, X.device())(X.view());
    // Its iteration is on the processor.
    return to_device(translate(self.model, from, to, X.host(), method, options, X.device()), X.device());
  });
  if (!there.is_none()) return there;
  const Samples X(rows, "X");
  const Index d_from = self.model.domain(from).features(), d_to = self.model.domain(to).features();
  const Index widest = std::max(d_from, d_to);
  if (method == Method::lsqr) {
    return map_blocks(X, d_to, block_samples(widest, kLargeBlock),
                      [&](const MatrixView& block) { return translate(self.model, from, to, block, method, options); });
  }
  std::shared_ptr<const Translation> map;
  {
    const py::gil_scoped_release release;
    map = self.translation(from, to, method);
  }
  return map_blocks(X, d_to, block_samples(widest), [&](const MatrixView& block) { return (*map)(block); });
}

// Standard errors of translations by lmmse or, with a probability, the half widths of intervals.
py::array errors_of(const FittedModel& self, int source, int target, const py::object& rows,
                    std::optional<double> probability) {
  const auto map = self.translation(self.domain(source), self.domain(target), Method::lmmse);
  const Index d_to = map->mean_to.size(), widest = std::max(map->mean_from.size(), d_to);
  return map_blocks(Samples(rows, "X"), d_to, block_samples(widest), [&](const MatrixView& X) {
    return probability ? map->half_widths(X, *probability) : map->standard_errors(X);
  });
}

py::object invert_with(const FittedModel& self, int number, const py::object& rows, const std::string& method_name,
                       std::optional<Index> iterations, std::optional<double> tolerance) {
  const Domain domain = self.domain(number);
  const Method method = need_choice(method_name, kMethods, "method");
  const LsqrOptions options = lsqr_options(method, iterations, tolerance);
  const py::object there = computed_there(rows, "Z", [&](const DeviceArray& Z) {
    return to_device(invert(self.model, domain, Z.host(), method, options, Z.device()), Z.device());
  });
  if (!there.is_none()) return there;
  const Index d = self.model.domain(domain).features();
  return map_blocks(Samples(rows, "Z"), d, block_samples(std::max(d, self.model.common_dimension), kLargeBlock),
                    [&](const MatrixView& Z) { return invert(self.model, domain, Z, method, options); });
}

// Matched samples of some of a model's domains.
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

  // Calls work(place, present) for blocks of samples, which are the columns `place` of a result with so many features.
  template <class Work>
  void for_blocks(Index features, Work work) const {
    const Index per_block = block_samples(std::max(features, features_of(samples)));
    python::for_blocks<std::vector<MatrixView>>(samples, per_block, [&](Index first, const std::vector<MatrixView>& X) {
      std::vector<DomainSamples> present;
      for (std::size_t i = 0; i < X.size(); ++i) present.push_back({domains[i], X[i]});
      work(Eigen::seqN(first, X[0].cols()), present);
    });
  }
};

py::array fuse_with(const FittedModel& self, const std::vector<int>& numbers, const py::sequence& arrays,
                    const std::string& method_name) {
  const Fusion how = need_choice(method_name, kFusions, "method");
  const Present given(self, numbers, arrays);
  Rows fused(given.count(), self.model.common_dimension);
  given.for_blocks(self.model.common_dimension, [&](auto place, const std::vector<DomainSamples>& present) {
    fused.X(Eigen::all, place) = fuse(self.model, present, how);
  });
  return fused.array;
}

// Translations by lmmse from several domains and, if asked for, their standard errors or, with a probability, the half
// widths of intervals.
py::list estimate_from(const FittedModel& self, const std::vector<int>& numbers, const py::sequence& arrays, int target,
                       bool with_errors, std::optional<double> probability) {
  const Domain to = self.domain(target);
  const Present given(self, numbers, arrays);
  const Index d = self.model.domain(to).features();
  Rows translated(given.count(), d), errors(with_errors ? given.count() : 0, d);
  given.for_blocks(d, [&](auto place, const std::vector<DomainSamples>& present) {
    if (!with_errors) {
      translated.X(Eigen::all, place) = translate(self.model, present, to);
      return;
    }
    const Estimate found = estimate(self.model, present, to, probability);
    translated.X(Eigen::all, place) = found.X;
    errors.X(Eigen::all, place) = probability ? found.half_widths : found.standard_errors;
  });
  py::list result;
  result.append(translated.array);
  if (with_errors) result.append(errors.array);
  return result;
}

// A translation in its factors, for other runtimes. With a probability also q s_f of (29): the half width of an interval
// is √(1 + h) times that, and h is 1/n at the mean.
py::dict translation_of(const FittedModel& self, const std::vector<int>& numbers, int target,
                        std::optional<double> probability) {
  std::vector<Domain> from;
  for (const int number : numbers) from.push_back(self.domain(number));
  const Translation map = translation(self.model, from, self.domain(target));
  const double n = map.errors.total_weight;
  py::dict result("mean_from"_a = to_array(map.mean_from), "mean_to"_a = to_array(map.mean_to),
                  "left"_a = to_matrix(map.left), "right"_a = to_matrix(map.right), "identity"_a = map.identity,
                  "scale"_a = to_array(map.errors.scale), "G"_a = to_matrix(map.errors.G), "total_weight"_a = n);
  if (probability) {
    result["half_width"] = to_array(map.half_widths(map.mean_from, *probability).col(0) / std::sqrt(1 + 1 / n));
  }
  return result;
}

py::dict attained_dict(const Verification& found) {
  py::dict claims;
  for (const Claim& claim : found.claims) claims[py::str(claim.what)] = claim.difference;
  return py::dict("samples"_a = found.samples, "total_weight"_a = found.total_weight,
                  "constraint_residuals"_a = tuple_of(found.constraint_residuals),
                  "mean_residuals"_a = tuple_of(found.mean_residuals), "objective"_a = found.objective,
                  "covariance_trace"_a = found.covariance_trace, "best_objective"_a = found.best_objective,
                  "certified"_a = found.certified, "gap"_a = found.gap, "proof"_a = found.proof, "claims"_a = claims);
}

// R² of the translation to each domain.
struct AllR2 {
  std::vector<MeasuredR2> domains;
  void add(const MatchedSamples& X, const Vector& weights = {}) {
    for (MeasuredR2& one : domains) one.add(X, weights);
  }
};

py::tuple r2_on(const FittedModel& self, const py::sequence& arrays, const py::object& sample_weight) {
  AllR2 all;
  for (const Domain domain : all_domains(self.model.count())) all.domains.emplace_back(self.model, domain);
  const Matched samples(arrays, sample_weight);
  if (samples.domains.front().count() < 2) throw TooFewSamples("R² needs at least 2 matched samples");
  add_blocks(all, samples);
  return tuple_of(all.domains, [](const MeasuredR2& one) {
    const TranslationR2 r2 = one.value();
    return py::make_tuple(to_array(r2.features), r2.variance, r2.standardized);
  });
}

// Samples of a diagnosis have no weights.
struct Unweighted {
  explicit Unweighted(const Model& model) : diagnoser(model) {}
  Diagnoser diagnoser;
  void add(const MatchedSamples& X, const Vector& = {}) { diagnoser.add(X); }
};

py::dict diagnosis_of(const FittedModel& self, const py::sequence& arrays, double rate) {
  const auto diagnoser = std::make_shared<Unweighted>(self.model);
  add_blocks(*diagnoser, Matched(arrays, py::none()));
  const auto found = interruptibly<Diagnosis>([diagnoser, rate](const Report& report) {
    DiagnoseOptions how;
    how.false_discovery_rate = rate;
    how.progress = report;
    return diagnoser->diagnoser.diagnosis(how);
  });
  const auto domains = tuple_of(found.domains, [](const DomainDiagnosis& one) {
    return py::make_tuple(to_array(one.t_squared), to_array(one.t_squared_p), to_array(one.residual),
                          to_array(one.residual_p), to_array(one.distance), to_array(one.distance_p),
                          to_array(one.evidence), to_array(one.evidence_p), py::array(py::cast(one.rank)),
                          py::array(py::cast(one.likeliest)));
  });
  const auto suspects = tuple_of(found.suspects, [](const Suspect& one) {
    return py::make_tuple(one.sample, name(one.suspicion), number(one.domain), one.p, one.q,
                          one.partner < 0 ? py::object(py::none()) : py::object(py::int_(one.partner)));
  });
  return py::dict("domains"_a = domains, "pair_p"_a = to_array(found.pair_p), "suspects"_a = suspects,
                  "remarks"_a = found.remarks);
}

py::tuple contributions_of(const FittedModel& self, const py::sequence& arrays, const std::string& statistic,
                           int number) {
  const Domain domain = self.domain(number);
  Statistic which = Statistic::distance;
  if (statistic == "T2") which = Statistic::t_squared;
  if (statistic == "Q") which = Statistic::residual;
  if (statistic != "T2" && statistic != "Q" && statistic != "distance") {
    throw InvalidInput(fmt::format("there is no statistic '{}'; give T2, Q or distance", statistic));
  }
  const Matched given(arrays, py::none());
  std::vector<Matrix> own;
  for (const Samples& one : given.domains) {
    py::object keep;
    own.emplace_back(one.block(0, one.count(), keep));
  }
  return tuple_of(contributions(self.model, which, domain, {own.begin(), own.end()}),
                  [](const Matrix& part) { return to_rows(Matrix(part)); });
}

py::dict attained_on(const FittedModel& self, const py::sequence& arrays, const py::object& sample_weight) {
  const auto verifier = std::make_shared<Verifier>(self.model);
  add_blocks(*verifier, Matched(arrays, sample_weight));
  return attained_dict(interruptibly<Verification>([verifier](const Report&) { return verifier->verification(); }));
}

py::dict attained_on_incomplete(const FittedModel& self, const IncompleteSummary& summary) {
  return attained_dict(
      interruptibly<Verification>([model = self.model, summary](const Report&) { return verify(model, summary); }));
}

}  // namespace

void bind_maps(py::class_<FittedModel>& model) {
  const auto none = py::none();
  model.def("apply", &apply_to, py::arg("domain"), py::arg("X"))
      .def("translate", &translate_with, py::arg("source"), py::arg("target"), py::arg("X"), py::arg("method"),
           py::arg("iterations") = none, py::arg("tolerance") = none)
      .def("errors", &errors_of, py::arg("source"), py::arg("target"), py::arg("X"), py::arg("probability") = none)
      .def("invert", &invert_with, py::arg("domain"), py::arg("Z"), py::arg("method"), py::arg("iterations") = none,
           py::arg("tolerance") = none)
      .def("fuse", &fuse_with, py::arg("domains"), py::arg("arrays"), py::arg("method"))
      .def("estimate", &estimate_from, py::arg("sources"), py::arg("arrays"), py::arg("target"),
           py::arg("with_errors") = false, py::arg("probability") = none)
      .def("translation", &translation_of, py::arg("sources"), py::arg("target"), py::arg("probability") = none)
      .def("diagnosis", &diagnosis_of, py::arg("arrays"), py::arg("rate"))
      .def("contributions", &contributions_of, py::arg("arrays"), py::arg("statistic"), py::arg("domain"))
      .def("pairing_notes", [](const FittedModel& self) { return pairing_notes(self.model); })
      .def("measured_r2", &r2_on, py::arg("arrays"), py::arg("sample_weight") = none)
      .def("attained_incomplete", &attained_on_incomplete, py::arg("summary"))
      .def("attained", &attained_on, py::arg("arrays"), py::arg("sample_weight") = none);
}

}  // namespace cgmca::python
