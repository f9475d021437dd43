// Maps, translations, fusion, and the verification of a model.
#include <cgmca/error.hpp>
#include <cgmca/fuse.hpp>
#include <cgmca/verify.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "c/inside.hpp"
#include "support/choice.hpp"

namespace cgmca::c {
namespace {

Method method_of(const char* name, Method usual) {
  return name == nullptr ? usual : need_choice(name, kMethods, "method");
}

template <class Scalar>
using Column = Eigen::Map<const Eigen::VectorX<Scalar>>;
template <class Scalar>
using MutableColumn = Eigen::Map<Eigen::VectorX<Scalar>>;

template <class Scalar>
cgmca_status apply_one(const cgmca_model* model, int domain, const Scalar* x, Scalar* z) {
  return guarded([&] {
    need(model, "model"), need(x, "x"), need(z, "z");
    const Domain of = domain_of(model->model, domain);
    apply_into(model->model, of, Column<Scalar>(x, model->model.domain(of).features()),
               MutableColumn<Scalar>(z, model->model.common_dimension));
  });
}

template <class Scalar>
cgmca_status translate_one(const cgmca_translation* translation, const Scalar* x, Scalar* y, Scalar* errors) {
  return guarded([&] {
    need(translation, "translation"), need(x, "x"), need(y, "y");
    if (translation->by_lsqr) throw InvalidInput("lsqr takes many samples at once; use cgmca_translate");
    const Translation& map = translation->map;
    const Column<Scalar> sample(x, map.mean_from.size());
    if (errors != nullptr) map.standard_errors_into(sample, MutableColumn<Scalar>(errors, map.mean_to.size()));
    map.translate_into(sample, MutableColumn<Scalar>(y, map.mean_to.size()));
  });
}

// What a call of cgmca_translate gives: empty where it was not asked for.
Estimate translated(const cgmca_translation& translation, const std::vector<Columns>& X, bool errors,
                    std::optional<double> probability) {
  if (translation.by_lsqr) {
    if (errors || probability) throw InvalidInput("lsqr has no standard errors; leave them out, or use lmmse");
    return {
        translate(*translation.model, translation.from.front(), translation.to, X[0], Method::lsqr, translation.lsqr),
        {},
        {}};
  }
  const Translation& map = translation.map;
  if (translation.from.size() == 1) {
    return {map(X[0]), errors ? map.standard_errors(X[0]) : Matrix(),
            probability ? map.half_widths(X[0], *probability) : Matrix()};
  }
  std::vector<DomainSamples> present;
  for (std::size_t i = 0; i < X.size(); ++i) present.push_back({translation.from[i], X[i].map()});
  if (!errors && !probability) return {translate(*translation.model, present, translation.to), {}, {}};
  return estimate(*translation.model, present, translation.to, probability);
}

void copy_text(const std::string& text, char* to, std::size_t room) {
  const std::size_t length = std::min(text.size(), room - 1);
  std::copy_n(text.begin(), length, to);
  to[length] = '\0';
}

cgmca_verification described(const Attained& found) {
  cgmca_verification result = {};
  result.samples = found.samples;
  result.total_weight = found.total_weight;
  result.objective = found.objective;
  result.best_objective = found.best_objective;
  result.covariance_trace = found.covariance_trace;
  result.gap = found.gap;
  result.certified = found.certified ? 1 : 0;
  const Claim& worst = found.worst_claim();
  result.worst_claim = worst.difference;
  copy_text(worst.what, result.worst_claim_name, sizeof result.worst_claim_name);
  copy_text(found.proof, result.proof, sizeof result.proof);
  return result;
}

}  // namespace
}  // namespace cgmca::c

using namespace cgmca;
using namespace cgmca::c;

cgmca_status cgmca_apply(const cgmca_model* model, int domain, const cgmca_view* X, const cgmca_buffer* Z) {
  return guarded([&] {
    need(model, "model"), need(X, "X");
    write(apply(model->model, domain_of(model->model, domain), Columns(*X)), Z);
  });
}

cgmca_status cgmca_apply_one(const cgmca_model* model, int domain, const double* x, double* z) {
  return apply_one(model, domain, x, z);
}

cgmca_status cgmca_apply_one_float(const cgmca_model* model, int domain, const float* x, float* z) {
  return apply_one(model, domain, x, z);
}

cgmca_status cgmca_translation_new(const cgmca_model* model, const int* from, int count, int to, const char* method,
                                   int64_t iterations, cgmca_translation** made) {
  return guarded([&] {
    need(model, "model"), need(from, "from"), need(made, "translation");
    auto result = std::make_unique<cgmca_translation>();
    for (int i = 0; i < count; ++i) result->from.push_back(domain_of(model->model, from[i]));
    result->to = domain_of(model->model, to);
    const Method how = method_of(method, Method::lmmse);
    result->by_lsqr = how == Method::lsqr;
    result->lsqr.iterations = iterations;
    if (result->by_lsqr && count != 1)
      throw InvalidInput(fmt::format("lsqr translates from one domain, not {}", count));
    if (result->by_lsqr || count > 1) result->model = model->model;
    if (!result->by_lsqr) result->map = translation(model->model, result->from, result->to, how);
    *made = result.release();
  });
}

cgmca_status cgmca_translate(const cgmca_translation* translation, const cgmca_view* X, const cgmca_buffer* Y,
                             const cgmca_buffer* errors, double probability, const cgmca_buffer* margins) {
  return guarded([&] {
    need(translation, "translation");
    const std::vector<Columns> samples = columns_of(X, static_cast<int>(translation->from.size()));
    const Estimate found = translated(*translation, samples, errors != nullptr,
                                      margins != nullptr ? std::optional(probability) : std::nullopt);
    write(found.X, Y);
    if (errors != nullptr) write(found.standard_errors, errors);
    if (margins != nullptr) write(found.half_widths, margins);
  });
}

cgmca_status cgmca_translate_one(const cgmca_translation* translation, const double* x, double* y, double* errors) {
  return translate_one(translation, x, y, errors);
}

cgmca_status cgmca_translate_one_float(const cgmca_translation* translation, const float* x, float* y, float* errors) {
  return translate_one(translation, x, y, errors);
}

void cgmca_translation_free(cgmca_translation* translation) { delete translation; }

cgmca_status cgmca_invert(const cgmca_model* model, int domain, const cgmca_view* Z, const char* method,
                          int64_t iterations, const cgmca_buffer* X) {
  return guarded([&] {
    need(model, "model"), need(Z, "Z");
    write(invert(model->model, domain_of(model->model, domain), Columns(*Z), method_of(method, Method::exact),
                 {.iterations = iterations}),
          X);
  });
}

cgmca_status cgmca_fuse(const cgmca_model* model, const int* domains, int count, const cgmca_view* X, const char* how,
                        const cgmca_buffer* Z) {
  return guarded([&] {
    need(model, "model"), need(domains, "domains");
    const std::vector<Columns> samples = columns_of(X, count);
    std::vector<DomainSamples> present;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      present.push_back({domain_of(model->model, domains[i]), samples[i].map()});
    }
    write(fuse(model->model, present, how == nullptr ? Fusion::estimate : need_choice(how, kFusions, "fusion")), Z);
  });
}

cgmca_status cgmca_verify(const cgmca_model* model, const cgmca_view* X, int domains, const cgmca_fit_options* options,
                          cgmca_verification* found, double* residuals) {
  return guarded([&] {
    need(model, "model"), need(found, "found");
    const cgmca_fit_options given = read_options(options);
    const std::vector<Columns> samples = columns_of(X, domains, hold_for(given));
    const Vector weights = sample_weights(given.weights, samples[0].cols());
    const auto attained = std::make_shared<std::optional<Attained>>();
    run_stoppable(given, [=, copy = model->model](const Report&) {
      Verifier verifier(copy);
      const std::vector<MatrixView> views(samples.begin(), samples.end());
      weights.size() > 0 ? verifier.add(views, weights) : verifier.add(views);
      *attained = verifier.attained();
    });
    if (residuals != nullptr)
      std::copy((*attained)->constraint_residuals.begin(), (*attained)->constraint_residuals.end(), residuals);
    write_result(described(**attained), found);
  });
}
