#include "core/use/verify_nuisance.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/fit/nuisance.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;

// The model that a fit to these samples alone would have given.
Model of_samples(const Model& model, const WithoutNuisance& without, double factor) {
  Model plain = model;
  const Nuisance nuisance = *std::exchange(plain.nuisance, std::nullopt);
  plain.total_weight = model.free_weight();
  plain.samples = without.X.front().cols();
  plain.calibration_folds = 0;  // held-out errors are measured on the samples themselves
  for (double* value : {&plain.certificate.objective, &plain.certificate.bound, &plain.certificate.covariance_trace}) {
    *value /= factor;
  }
  for (std::size_t i = 0; i < plain.domains.size(); ++i) {
    plain.certificate.constrained[i].samples = plain.samples;
    if (!nuisance.unknown) continue;
    DomainMap& map = *plain.domains[i];
    map.variance -= added_variance(without, i);
    for (Matrix& cross : map.cross_loadings) {
      if (cross.size() > 0) cross -= AB(without.range[i], linalg::AtB(without.range[i], cross));
    }
    if (plain.count() == 2) map.cross_loadings.clear();
  }
  return plain;
}

// How far a is from b, as a part of `size`; a claim of another shape is infinitely far.
double apart(const Matrix& a, const Matrix& b, double size) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  const double distance = (a - b).norm();
  return distance == 0 ? 0 : distance / size;
}

void add_claims(Verification& result, const Model& model, const WithoutNuisance& without) {
  const Nuisance &claimed = *model.nuisance, &found = without.nuisance;
  const Vector& size = without.spread;
  const auto add = [&](std::string what, double difference) { result.claims.push_back({std::move(what), difference}); };
  add("nuisance mean", apart(claimed.mean, found.mean, size.norm() + found.mean.norm()));
  add("nuisance rank", claimed.rank == found.rank ? 0 : std::numeric_limits<double>::infinity());
  const auto scaled = [&](const Matrix& inverse) { return Matrix(size.asDiagonal() * inverse * size.asDiagonal()); };
  const Matrix unit = scaled(found.inverse);
  add("nuisance inverse", claimed.inverse.rows() == size.size() ? apart(scaled(claimed.inverse), unit, unit.norm() + 1)
                                                                : std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < found.effects.size(); ++i) {
    const double spread = std::sqrt(model.domain(static_cast<Domain>(i + 1)).variance.sum());
    const Matrix own = found.effects[i] * size.asDiagonal();
    add(fmt::format("nuisance effects {}", i + 1),
        claimed.effects[i].cols() == size.size()
            ? apart(claimed.effects[i] * size.asDiagonal(), own, spread + own.norm())
            : std::numeric_limits<double>::infinity());
    add(fmt::format("explained by the nuisance {}", i + 1), std::abs(claimed.explained[i] - found.explained[i]));
    if (!claimed.unknown) continue;
    const Matrix& T = model.domain(static_cast<Domain>(i + 1)).weights;
    add(fmt::format("blindness {}", i + 1), AB(T, own).norm() / (T.norm() * (spread + own.norm())));
    const std::size_t j = i == 0 ? 1 : 0;
    const Matrix cross =
        cross_covariance(without, i, AB(model.domain(static_cast<Domain>(j + 1)).weights, without.E[j]));
    add(fmt::format("cross loadings {}", i + 1),
        apart(model.domain(static_cast<Domain>(i + 1)).cross_loadings[j], cross, spread));
  }
}

}  // namespace

Verification verify_without_nuisance(const Model& model, const Summary& samples) {
  DataOptions options;
  options.nuisance_unknown = model.nuisance->unknown;
  const WithoutNuisance without = without_nuisance(samples, options);
  const double n = without.total_weight, left = n - static_cast<double>(without.nuisance.rank);
  const double factor = (n - 1) / n * left / (left - 1);
  Verifier verifier(of_samples(model, without, factor));
  const MatchedSamples X(without.X.begin(), without.X.end());
  without.weights.size() == 0 ? verifier.add(X) : verifier.add(X, without.weights);
  Verification result = verifier.verification();
  result.samples = without.samples;
  result.total_weight = n;
  result.all_samples.assign(without.X.size(), without.samples);
  for (double* value : {&result.objective, &result.best_objective, &result.covariance_trace}) *value *= factor;
  add_claims(result, model, without);
  return result;
}

}  // namespace cgmca
