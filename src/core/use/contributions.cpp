#include <cgmca/diagnose.hpp>

#include "core/linalg/linalg.hpp"
#include "core/use/pair_relation.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {

// T² = Σ_f x_f (Tᵀ G⁻¹ t)_f;  distance eᵀ V⁻¹ e = Σ x_f (Tᵀ V⁻¹ e)_f over the domain itself and, with e's part of them,
// over its partners.
ByDomain<Matrix> contributions(const Model& model, Statistic statistic, Domain domain, const MatchedSamples& given) {
  check_covariances_known(model);
  std::vector<Matrix> own;
  const MatchedSamples X = without_nuisance(model, given, own);
  const ByDomain<Matrix> scores = centred_scores(model, X);
  ByDomain<Matrix> parts(X.size());
  const auto times = [&](Domain of, const Matrix& weight) {  // x_f (Tᵀ weight)_f
    const DomainMap& map = model.domain(of);
    parts[of] = (X[of].doubles()->colwise() - map.mean).cwiseProduct(linalg::AtB(map.weights, weight));
  };
  const Matrix& t = scores[domain];
  if (statistic == Statistic::t_squared) {
    times(domain, divided_by(sample_covariance(model, {domain}), t));
  } else if (statistic == Statistic::residual) {
    const Vector variance = sample_variance(model, domain);
    const Matrix C = sample_loadings(model, domain, domain);
    const Matrix regression = divided_by(sample_covariance(model, {domain}), C.transpose()).transpose();
    const Matrix left = (X[domain].doubles()->colwise() - model.domain(domain).mean) - linalg::AB(regression, t);
    const Vector weights = (variance.array() > 0).select(variance.array().inverse(), 0.0);
    parts[domain] = weights.asDiagonal() * left.cwiseAbs2();
  } else {
    const PairRelation relation = relation_to_others(model, domain);
    const Matrix a = linalg::AB(relation.to_a, t), b = linalg::AB(relation.to_b, scores_of_others(scores, domain));
    const Vector& s = relation.s;
    Matrix e = a;  // V⁻¹ e
    e.topRows(s.size()) -= s.asDiagonal() * b;
    e.topRows(s.size()) = (1 - s.array().square()).inverse().matrix().asDiagonal() * e.topRows(s.size());
    times(domain, linalg::AtB(relation.to_a, e));
    const Matrix partners = -linalg::AtB(relation.to_b, s.asDiagonal() * e.topRows(s.size()));
    Index row = 0;
    for (const Domain j : model.others(domain)) {
      times(j, partners.middleRows(row, scores[j].rows()));
      row += scores[j].rows();
    }
  }
  return parts;
}

}  // namespace cgmca
