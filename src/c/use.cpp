// Maps, translations, fusion, and the verification of a model.
#include <cgmca/error.hpp>
#include <cgmca/fuse.hpp>
#include <cgmca/into.hpp>
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

// What a call of cgmca_translate gives that cannot go by one map: lsqr, and samples that lack domains.
Estimate translated(const cgmca_translation& translation, const cgmca_view* X, bool errors,
                    std::optional<double> probability) {
  const std::vector<Columns> samples = columns_of(X, static_cast<int>(translation.from.size()));
  if (translation.by_lsqr) {
    if (errors || probability) throw InvalidInput("lsqr has no standard errors; leave them out, or use lmmse");
    return {translate(*translation.model, translation.from.front(), translation.to, samples[0], Method::lsqr,
                      translation.lsqr),
            {},
            {}};
  }
  std::vector<DomainSamples> present;
  for (std::size_t i = 0; i < samples.size(); ++i) present.push_back({translation.from[i], samples[i].map()});
  if (!errors && !probability) return {translate(*translation.model, present, translation.to), {}, {}};
  return estimate(*translation.model, present, translation.to, probability);
}

// The sources' samples first … first + count - 1, one above the other, in the order of the map.
ConstTile stacked(const cgmca_translation& translation, const Translation& map, const cgmca_view* X, Index first,
                  Index count) {
  if (map.from.size() == 1) return samples_of(0, checked(X[0]), first, count);
  Tile all = tile_of(1, map.mean_from.size(), count);
  Index row = 0;
  for (std::size_t i = 0; i < map.from.size(); ++i) {
    const auto place = std::find(translation.from.begin(), translation.from.end(), map.from[i]);
    const cgmca_view view = checked(X[place - translation.from.begin()]);
    all.middleRows(row, map.features_from[i]) = samples_of(0, view, first, count);
    row += map.features_from[i];
  }
  return {all.data(), all.rows(), all.cols(), Eigen::OuterStride<>(all.outerStride())};
}

// Whether every sample has every domain. Samples of one domain are not asked.
bool all_present(const cgmca_translation& translation, const cgmca_view* X) {
  if (translation.from.size() == 1) return true;
  bool finite = true;
  for (std::size_t i = 0; i < translation.from.size(); ++i) {
    const cgmca_view view = checked(X[i]);
    if (view.columns != translation.map.features_from[i] || view.rows != X[0].rows) return false;
    in_blocks(view.rows,
              [&](Index first, Index count) { finite = finite && samples_of(0, view, first, count).allFinite(); });
  }
  return finite;
}

// Writes one result of a block of samples by work(room).
template <class Work>
void write_block(const cgmca_buffer& buffer, Index first, Index count, const Work& work) {
  const Tile room = room_in(2, buffer, first, count);
  work(room);
  hand_over(room, buffer, first);
}

// The translation by one map, without allocation. Margins come first, because only they can fail, before any is written.
void translate_blocks(const cgmca_translation& translation, const cgmca_view* X, const cgmca_buffer* Y,
                      const cgmca_buffer* errors, double probability, const cgmca_buffer* margins) {
  const Translation& map = translation.from.size() == 1 ? translation.map : translation.sorted;
  const Index n = X[0].rows, d = map.mean_to.size();
  const cgmca_buffer to = checked(Y, n, d);
  if (errors != nullptr) checked(errors, n, d);
  if (margins != nullptr) checked(margins, n, d);
  in_blocks(n, [&](Index first, Index count) {
    const ConstTile samples = stacked(translation, map, X, first, count);
    if (margins != nullptr) {
      write_block(checked(margins, n, d), first, count,
                  [&](const Tile& room) { half_widths_block_into(map, samples, probability, room); });
    }
    if (errors != nullptr) {
      write_block(checked(errors, n, d), first, count,
                  [&](const Tile& room) { standard_errors_block_into(map, samples, room); });
    }
    write_block(to, first, count, [&](const Tile& room) { translate_block_into(map, samples, room); });
  });
}

cgmca_verification described(const Verification& found) {
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
    const Domain of = domain_of(model->model, domain);
    const cgmca_view samples = checked(*X);
    model->model.check_features(of, samples.columns);
    const cgmca_buffer to = checked(Z, samples.rows, model->model.common_dimension);
    in_blocks(samples.rows, [&](Index first, Index count) {
      const ConstTile block = samples_of(0, samples, first, count);
      write_block(to, first, count, [&](const Tile& room) { apply_block_into(model->model, of, block, room); });
    });
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
    if (count > 1) {
      std::vector<Domain> ascending = result->from;
      std::sort(ascending.begin(), ascending.end());
      result->sorted = translation(model->model, ascending, result->to, how);
    }
    *made = result.release();
  });
}

cgmca_status cgmca_translate(const cgmca_translation* translation, const cgmca_view* X, const cgmca_buffer* Y,
                             const cgmca_buffer* errors, double probability, const cgmca_buffer* margins) {
  return guarded([&] {
    need(translation, "translation"), need(X, "X");
    if (!translation->by_lsqr && all_present(*translation, X)) {
      return translate_blocks(*translation, X, Y, errors, probability, margins);
    }
    const Estimate found =
        translated(*translation, X, errors != nullptr, margins != nullptr ? std::optional(probability) : std::nullopt);
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
    const auto request = std::make_shared<const Request>(X, domains, options);
    const bool incomplete = keeps_incomplete(request->given);
    const Verification attained = stoppable<Verification>(request->given, [=, copy = model->model](const Report&) {
      if (incomplete) {
        IncompleteSummary summary(request->domains, request->accumulate);
        request->add_to(summary);
        return verify(copy, summary);
      }
      Verifier verifier(copy);
      const MatchedSamples views = matched(request->samples);
      request->weights.size() > 0 ? verifier.add(views, request->weights) : verifier.add(views);
      return verifier.verification();
    });
    if (residuals != nullptr) {
      std::copy(attained.constraint_residuals.begin(), attained.constraint_residuals.end(), residuals);
    }
    write_result(described(attained), found);
  });
}
