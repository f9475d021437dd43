#include <cgmca/diagnose.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/discovery.hpp"
#include "core/base/distributions.hpp"
#include "core/linalg/linalg.hpp"
#include "core/use/diagnose_lists.hpp"
#include "core/use/pair_relation.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;

constexpr Index kFewestDiagnosed = 8;  // samples that quartiles can be taken of
constexpr double kNothingLeft = 1e-9;  // a median Q of this much per feature is rounding: all variance is in the scores

// p by the distribution g χ²_h, Box's approximation of a sum of squares. g and h are chosen so that its median and ninth
// decile are those of the samples, which a few outliers hardly change. Heavy tails give a small h.
Vector fitted_tails(const Vector& values) {
  const double median = quantile_of(values, 0.5), ratio = quantile_of(values, 0.9) / median;
  double low = std::log(0.05), high = std::log(1e6);
  for (int step = 0; step < 50; ++step) {
    const double h = std::exp((low + high) / 2);
    (chi_squared_quantile(0.9, h) / chi_squared_quantile(0.5, h) > ratio ? low : high) = std::log(h);
  }
  const double h = std::exp((low + high) / 2), g = median / chi_squared_quantile(0.5, h);
  return values.unaryExpr([&](double value) { return chi_squared_tail(value / g, h); });
}

// The larger p of theory and of the samples' own distribution, because theory alone takes heavy tails for outliers.
template <class Theory>
Vector cautious_tails(const Vector& values, const Theory& theory) {
  return fitted_tails(values).cwiseMax(values.unaryExpr(theory));
}

// n (n - c) / (c (n² - 1)) T² ~ F of c and n - c for a new sample of normal data.
double t_squared_tail(double value, double n, double c) {
  if (n <= c) return 0;  // then p is that of the samples' own distribution
  return fisher_tail(value * n * (n - c) / (c * (n * n - 1)), c, n - c);
}

// The blocks joined: matrices side by side, vectors one below the other.
Matrix joined(const std::vector<Matrix>& blocks) {
  Index columns = 0;
  for (const Matrix& one : blocks) columns += one.cols();
  Matrix all(blocks.front().rows(), columns);
  columns = 0;
  for (const Matrix& one : blocks) {
    all.middleCols(columns, one.cols()) = one;
    columns += one.cols();
  }
  return all;
}
Vector joined(const std::vector<Vector>& blocks) {
  std::vector<double> all;
  for (const Vector& one : blocks) all.insert(all.end(), one.begin(), one.end());
  return Vector::Map(all.data(), std::ssize(all));
}

// For each sample k, the rank of its own evidence among the evidence against (l, partners of k) of all samples l, and
// the l of least evidence. Up to a term of k alone, the evidence is Σ (s²a_l² - 2 s a_l b_k) / (1 - s²).
void compare_partners(DomainDiagnosis& found, const Matrix& a, const Matrix& b, const Vector& s,
                      const std::function<void(double)>& progress) {
  constexpr Index block = 512;
  const Index n = a.cols(), common = s.size();
  const Vector rest = 1 - s.array().square();
  const Matrix scaled = (s.array() / rest.array()).matrix().asDiagonal() * a.topRows(common);
  const Vector own = a.topRows(common).cwiseAbs2().transpose() * (s.array().square() / rest.array()).matrix();
  for (Index first = 0; first < n; first += block) {
    const Index count = std::min(block, n - first);
    Matrix evidence = -2 * AtB(scaled, b.middleCols(first, count));
    evidence.colwise() += own;
    for (Index k = 0; k < count; ++k) {
      const auto of_partner = evidence.col(k);
      found.rank[first + k] = 1 + (of_partner.array() < of_partner(first + k)).count();
      Index likeliest = 0;
      of_partner.minCoeff(&likeliest);
      found.likeliest[first + k] = likeliest;
    }
    if (progress) progress(static_cast<double>(first + count) / static_cast<double>(n));
  }
}

// The share of pairs shuffled by one place that have p < .01.
double share_noticed(const Matrix& a, const Matrix& b, const Vector& s, const Vector& evidence, const Vector& p) {
  double limit = std::numeric_limits<double>::infinity();  // the least evidence with p < .01
  for (Index j = 0; j < p.size(); ++j) {
    if (p(j) < 0.01) limit = std::min(limit, evidence(j));
  }
  if (!std::isfinite(limit)) limit = evidence.maxCoeff();
  const Index n = a.cols();
  Index noticed = 0;
  for (Index k = 0; k < n; ++k) {
    const auto a_l = a.col((k + 1) % n).head(s.size()).array();
    const auto b_k = b.col(k).array();
    const double value = ((a_l - s.array() * b_k).square() / (1 - s.array().square()) - a_l.square()).sum();
    if (value > limit) ++noticed;
  }
  return static_cast<double>(noticed) / static_cast<double>(n);
}

// T² and Q of one domain's scores and residuals. `features`: the number of features that vary.
void judge_alone(DomainDiagnosis& found, const Model& model, Domain domain, const Matrix& t, Vector residuals,
                 double features) {
  const double n = model.total_weight, c = static_cast<double>(t.rows());
  const Matrix G = sample_covariance(model, {domain});
  found.t_squared = t.cwiseProduct(divided_by(G, t)).colwise().sum().transpose();
  found.t_squared_p = cautious_tails(found.t_squared, [&](double value) { return t_squared_tail(value, n, c); });
  found.residual = std::move(residuals);
  found.residual_p = quantile_of(found.residual, 0.5) > kNothingLeft * features
                         ? fitted_tails(found.residual)
                         : Vector(Vector::Constant(t.cols(), std::nan("")));
}

// Distance and evidence of one domain and its partners. Returns the share of shuffled pairs that would be noticed. `law`
// becomes the least p by the law of the evidence so far.
double judge_pairs(DomainDiagnosis& found, const Model& model, Domain domain, const ByDomain<Matrix>& scores,
                   double rate, Vector& law, const std::function<void(double)>& progress) {
  const PairRelation relation = relation_to_others(model, domain);
  const Matrix a = AB(relation.to_a, scores[domain]), b = AB(relation.to_b, scores_of_others(scores, domain));
  const Vector& s = relation.s;
  const Index common = s.size();
  const Matrix missed = a.topRows(common) - s.asDiagonal() * b;
  const Vector conditional = missed.cwiseAbs2().transpose() * (1 - s.array().square()).inverse().matrix();
  found.distance = conditional + a.bottomRows(a.rows() - common).colwise().squaredNorm().transpose();
  const double c = static_cast<double>(a.rows());
  const double left = model.total_weight - 1 - static_cast<double>(relation.to_b.cols());  // of the regression
  found.distance_p = cautious_tails(found.distance, [&](double value) {
    const double df = left - c + 1;
    return df > 0 ? fisher_tail(value * df / (left * c), c, df) : chi_squared_tail(value, c);
  });
  found.evidence = conditional - a.topRows(common).colwise().squaredNorm().transpose();
  EvidenceTails tails = evidence_tails(found.evidence, s, rate);
  found.evidence_p = std::move(tails.p);
  law = law.cwiseMin(tails.law);
  found.rank.resize(a.cols());
  found.likeliest = found.rank;
  compare_partners(found, a, b, s, progress);
  return share_noticed(a, b, s, found.evidence, found.evidence_p);
}

}  // namespace

Diagnoser::Diagnoser(const Model& model) : model_(model) {
  check_covariances_known(model);
  for (const Domain domain : all_domains(model.count())) {
    const Vector variance = sample_variance(model, domain);
    const Matrix G = sample_covariance(model, {domain}), C = sample_loadings(model, domain, domain);
    parts_.push_back({divided_by(G, C.transpose()).transpose(),
                      (variance.array() > 0).select(variance.array().inverse(), 0.0),
                      {},
                      {}});
  }
}

void Diagnoser::add(const MatchedSamples& given) {
  std::vector<Matrix> own;
  const MatchedSamples X = without_nuisance(model_, given, own);
  ByDomain<Matrix> scores = centred_scores(model_, X);
  for (const Domain domain : all_domains(model_.count())) {
    Part& part = parts_[domain];
    Matrix& t = scores[domain];
    const Matrix left = (X[domain].doubles()->colwise() - model_.domain(domain).mean) - AB(part.regression, t);
    part.residuals.emplace_back(left.cwiseAbs2().transpose() * part.weights);
    part.scores.push_back(std::move(t));
  }
  samples_ += X.front().cols();
}

Diagnosis Diagnoser::diagnosis(const DiagnoseOptions& options) const {
  if (samples_ < kFewestDiagnosed) {
    throw TooFewSamples(fmt::format("{} matched samples; diagnostics need at least {}", samples_, kFewestDiagnosed));
  }
  if (!(options.false_discovery_rate > 0 && options.false_discovery_rate < 1)) {
    throw InvalidInput(
        fmt::format("a false discovery rate of {}; it lies between 0 and 1", options.false_discovery_rate));
  }
  const double m = static_cast<double>(model_.count());
  ByDomain<Matrix> scores;
  for (const Part& part : parts_) scores.push_back(joined(part.scores));
  Diagnosis result;
  result.pair_p = Vector::Ones(samples_);
  Vector law = result.pair_p;
  double noticed = 0;
  for (const Domain domain : all_domains(model_.count())) {
    const Part& part = parts_[domain];
    DomainDiagnosis found;
    judge_alone(found, model_, domain, scores[domain], joined(part.residuals),
                (part.weights.array() > 0).cast<double>().sum());
    const double rate = options.false_discovery_rate / (m > 2 ? m : 1);
    const double shuffled = judge_pairs(found, model_, domain, scores, rate, law, [&](double done) {
      if (options.progress) options.progress((static_cast<double>(index(domain)) + done) / m);
    });
    noticed = std::max(noticed, shuffled);
    result.pair_p = result.pair_p.cwiseMin(found.evidence_p);
    result.domains.push_back(std::move(found));
  }
  if (model_.count() > 2) {  // of two domains both have the same evidence
    result.pair_p = (m * result.pair_p).cwiseMin(1);
    law = (m * law).cwiseMin(1);
  }
  list_pairs(result, law, options.false_discovery_rate);
  list_outliers(result, options.false_discovery_rate);
  std::stable_sort(result.suspects.begin(), result.suspects.end(),
                   [](const Suspect& one, const Suspect& two) { return one.q < two.q; });
  if (noticed < 0.5) {
    result.remarks.push_back(fmt::format(
        "of samples with strangers as partners only {:.0f} % would have p < .01: the domains tell too little "
        "of each other to find wrong pairs",
        100 * noticed));
  }
  return result;
}

Diagnosis diagnose(const Model& model, const MatchedSamples& X, const DiagnoseOptions& options) {
  Diagnoser diagnoser(model);
  diagnoser.add(X);
  return diagnoser.diagnosis(options);
}

}  // namespace cgmca
