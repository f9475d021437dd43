#include "core/use/translate_scores.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

// Whether sample s has this domain. A sample with NaN lacks it. Infinity is an error in the data.
bool is_present(const DomainSamples& samples, Index s) {
  const auto x = samples.X().col(s);
  if (x.hasNaN()) return false;
  if (x.allFinite()) return true;
  Index feature = 0;
  x.cwiseAbs().maxCoeff(&feature);
  throw NotFinite(fmt::format("domain {} holds infinity at sample {}, feature {} (counted from 0)",
                              number(samples.domain), s, feature),
                  s, feature);
}

}  // namespace

Matrix joint_covariance(const Model& model, const std::vector<Domain>& J) {
  Index height = 0;
  for (const Domain j : J) height += model.domain(j).scores();
  Matrix K(height, height);
  Index row = 0;
  for (const Domain j : J) {
    Index column = 0;
    const Index c = model.domain(j).scores();
    for (const Domain l : J) {
      K.block(row, column, c, model.domain(l).scores()) = model.score_covariance(j, l);
      column += model.domain(l).scores();
    }
    row += c;
  }
  return K;
}

Matrix sample_covariance(const Model& model, const std::vector<Domain>& J) {
  Matrix G = joint_covariance(model, J);
  Index row = 0;
  for (const Domain j : J) {
    const Index c = model.domain(j).scores();
    if (!model.certificate.constrained[j].plain()) G.block(row, row, c, c) = model.sample_score_covariance(j);
    row += c;
  }
  return G;
}

Vector sample_variance(const Model& model, Domain domain) {
  const Vector variance = model.sample_variance(domain);
  return (variance.array() > 0).select(variance, std::nan(""));
}

// For a domain's own scores, Θ Tᵀ = (P - β D² Tᵀ)/α follows from P = Θ̃ Tᵀ.
Matrix sample_loadings(const Model& model, Domain features, Domain scores) {
  Matrix C = model.cross_loadings(features, scores);
  const Regularized& covariance = model.certificate.constrained[features];
  if (features != scores || covariance.plain()) return C;
  Matrix T = model.domain(scores).weights;
  if (const Vector& D = model.domain(scores).scale; D.size() > 0) T *= D.cwiseAbs2().asDiagonal();
  return (C - covariance.ridge * T.transpose()) / covariance.data;
}

Matrix divided_by(const Matrix& K, const Matrix& X) {
  const auto [values, Q] = linalg::symmetric_eigen(K);
  const Vector inverse = (values.array() > thresholds::kSingularScores * values(0)).select(values.array().inverse(), 0);
  return linalg::AB(Q, inverse.asDiagonal() * linalg::AtB(Q, X));
}

void check_present(const Model& model, const std::vector<DomainSamples>& given) {
  std::vector<bool> seen(model.domains.size());
  for (const DomainSamples& samples : given) {
    if (number(samples.domain) < 1 || number(samples.domain) > model.count()) {
      throw MissingDomain(fmt::format("the model has no domain {}", number(samples.domain)));
    }
    if (seen[index(samples.domain)])
      throw InvalidInput(fmt::format("domain {} is given twice", number(samples.domain)));
    seen[index(samples.domain)] = true;
    model.check_features(samples.domain, samples.X().rows());
    if (samples.X().cols() == given.front().X().cols()) continue;
    throw UnequalSamples(fmt::format("{} samples of domain {}, {} of domain {}; they must match one to one",
                                     given.front().X().cols(), number(given.front().domain), samples.X().cols(),
                                     number(samples.domain)));
  }
}

std::map<std::vector<Domain>, std::vector<Index>> by_presence(const std::vector<DomainSamples>& given) {
  std::map<std::vector<Domain>, std::vector<Index>> groups;
  for (Index s = 0; s < given.front().X().cols(); ++s) {
    std::vector<Domain> present;
    for (const DomainSamples& samples : given) {
      if (is_present(samples, s)) present.push_back(samples.domain);
    }
    std::sort(present.begin(), present.end());
    groups[present].push_back(s);
  }
  const auto absent = groups.find({});
  if (absent == groups.end()) return groups;
  const std::vector<Index>& columns = absent->second;
  throw InvalidInput(fmt::format("{} sample{} no domain without NaN; the first is sample {} (counted from 0)",
                                 columns.size(), columns.size() == 1 ? " has" : "s have", columns.front()));
}

}  // namespace cgmca
