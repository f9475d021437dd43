#include "core/use/pair_relation.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "core/base/discovery.hpp"
#include "core/base/distributions.hpp"
#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {
namespace {

constexpr double kLargest = 1 - 1e-6, kLeast = 1e-3;  // correlations that densities can hold; that matter in a tail

}  // namespace

void check_covariances_known(const Model& model) {
  for (const Domain domain : all_domains(model.count())) {
    model.domain(domain);
    if (model.certificate.constrained[domain].data > 0) continue;
    throw InvalidInput(
        fmt::format("the fit whitened domain {} with a multiple of the identity, so the model does not hold the "
                    "covariances that diagnostics need; give a ridge by number",
                    number(domain)));
  }
}

MatchedSamples without_nuisance(const Model& model, const MatchedSamples& X, std::vector<Matrix>& own) {
  if (model.nuisance_values() == 0) return X;
  for (Index i = 0; i < std::ssize(X); ++i) own.push_back(model.without_nuisance(domain_at(i), *X[i].doubles()));
  return {own.begin(), own.end()};
}

ByDomain<Matrix> centred_scores(const Model& model, const MatchedSamples& X) {
  if (std::ssize(X) != model.count()) {
    throw WrongDimension(fmt::format("samples of {} domains; the model has {}", X.size(), model.count()));
  }
  ByDomain<Matrix> scores;
  for (const Domain domain : all_domains(model.count())) {
    const auto view = X[domain].doubles();
    const MatrixView& own = *view;
    const DomainMap& map = model.domain(domain);
    map.check_features(domain, own.rows());
    if (own.cols() != X.front().cols()) {
      throw UnequalSamples(fmt::format("{} samples of domain 1, {} of domain {}; they must match one to one",
                                       X.front().cols(), own.cols(), number(domain)));
    }
    if (!own.allFinite()) throw NotFinite(fmt::format("domain {} holds NaN or infinity", number(domain)), 0, 0);
    scores.push_back(linalg::AB(map.weights, own.colwise() - map.mean));
  }
  return scores;
}

Matrix scores_of_others(const ByDomain<Matrix>& scores, Domain domain) {
  Matrix all(0, scores.front().cols());
  for (const Domain j : all_domains(std::ssize(scores))) {
    if (j == domain) continue;
    all.conservativeResize(all.rows() + scores[j].rows(), Eigen::NoChange);
    all.bottomRows(scores[j].rows()) = scores[j];
  }
  return all;
}

// R K^-½ = U diag(s) Vᵀ,   a = Uᵀ t,   b = Vᵀ K^-½ t_J
PairRelation relation_to_others(const Model& model, Domain domain) {
  const std::vector<Domain> J = model.others(domain);
  const Matrix K = joint_covariance(model, J);
  const auto [values, Q] = linalg::symmetric_eigen(K);
  const Vector inverse = (values.array() > thresholds::kSingularScores * values(0)).select(values.array().rsqrt(), 0.0);
  const Matrix root = linalg::ABt(Q * inverse.asDiagonal(), Q);
  Matrix R(model.domain(domain).scores(), K.rows());
  Index column = 0;
  for (const Domain j : J) {
    const Matrix own = model.score_covariance(domain, j);
    R.middleCols(column, own.cols()) = own;
    column += own.cols();
  }
  const linalg::Svd svd = linalg::full_svd(linalg::AB(R, root));
  PairRelation relation;
  relation.s = svd.s.cwiseMin(kLargest);
  relation.to_a = svd.U.transpose();
  relation.to_b = linalg::AtB(svd.V.leftCols(relation.s.size()), root);
  return relation;
}

// K(r) = -½ Σ log(1 - 4 s² r²); at the r with K'(r) = x, w = √(2 (r x - K)), u = r √K'':
// P = 1 - Φ(w) + φ(w) (1/u - 1/w)
double evidence_tail(double x, const Vector& s) {
  const double most = s.size() > 0 ? s.maxCoeff() : 0;
  if (!(most > kLeast)) return 0.5;
  const double size = std::abs(x), spread = 2 * s.norm();
  if (size < 1e-2 * spread) return 0.5 - x / spread * 0.3989;  // the normal density there
  const Eigen::ArrayXd squares = 4 * s.array().square();
  double low = 0, high = (1 - 1e-13) / (2 * most);
  for (int step = 0; step < 60; ++step) {
    const double r = (low + high) / 2;
    ((squares * r / (1 - squares * r * r)).sum() < size ? low : high) = r;
  }
  const double r = (low + high) / 2;
  const Eigen::ArrayXd q = squares * r * r;
  const double K = -0.5 * (-q).log1p().sum(), curvature = (squares * (1 + q) / (1 - q).square()).sum();
  const double w = std::sqrt(std::max(2 * (r * size - K), 1e-30)), u = r * std::sqrt(curvature);
  const double tail =
      0.5 * std::erfc(w / std::sqrt(2.0)) + 0.39894228040143267 * std::exp(-w * w / 2) * (1 / u - 1 / w);
  return x > 0 ? std::max(tail, 0.0) : 1 - tail;
}

namespace {

constexpr Index kSeveral = 3;                       // outliers of right pairs come one or two at a time
constexpr double kLightest = 300, kHeaviest = 1.2;  // degrees of freedom of a tail

// The evidence has median m and the law of evidence_tail, widened so that quartiles and first decile of the samples are
// inside: some samples that do not belong together only move its upper part.
Vector tails_of_law(const Vector& evidence, const Vector& s) {
  const auto of_law = [&](double probability) {
    double low = 0, high = 50 * (s.norm() + 1e-300);
    for (int step = 0; step < 60; ++step) {
      const double x = (low + high) / 2;
      (evidence_tail(x, s) > probability ? low : high) = x;
    }
    return (low + high) / 2;
  };
  const double median = quantile_of(evidence, 0.5), quarter = of_law(0.25), tenth = of_law(0.1);
  const double scale =
      std::max({(quantile_of(evidence, 0.75) - median) / quarter, (median - quantile_of(evidence, 0.25)) / quarter,
                (median - quantile_of(evidence, 0.1)) / tenth});
  if (!(scale > 0)) return Vector::Ones(evidence.size());
  return evidence.unaryExpr([&](double value) { return evidence_tail((value - median) / scale, s); });
}

double upper_student(double probability, double df) { return -student_quantile(probability, df); }

// The t distribution through two upper quantiles of z - median, no narrower than the lower ones.
Vector tails_through(const Vector& z, Vector rest, double near, double far) {
  std::sort(rest.begin(), rest.end());
  const double median = quantile_of_sorted(rest, 0.5);
  const auto above = [&](double probability) { return quantile_of_sorted(rest, 1 - probability) - median; };
  const auto below = [&](double probability) { return median - quantile_of_sorted(rest, probability); };
  if (!(above(near) > 0)) return Vector::Zero(z.size());
  const double ratio = above(far) / above(near);
  double low = std::log(kHeaviest), high = std::log(kLightest);
  for (int step = 0; step < 40; ++step) {
    const double df = std::exp((low + high) / 2);
    (upper_student(far, df) / upper_student(near, df) > ratio ? low : high) = std::log(df);
  }
  const double df = std::exp((low + high) / 2);
  const double scale = std::max({above(near) / upper_student(near, df), below(0.25) / upper_student(0.25, df),
                                 below(0.1) / upper_student(0.1, df)});
  return z.unaryExpr([&](double value) { return student_tail((value - median) / scale, df); });
}

}  // namespace

// Without the pairs that the law would list, a t distribution through quantiles of the others tells how heavy their tail
// is. Whether any pair is wrong is judged by the heaviest of three, unless the middle one lists several; which are, by the
// middle one.
EvidenceTails evidence_tails(const Vector& evidence, const Vector& s, double false_discovery_rate) {
  const Vector law = tails_of_law(evidence, s), q = false_discovery_rates(law);
  const double median = quantile_of(evidence, 0.5);
  const Vector z = evidence.unaryExpr([&](double value) { return normal_score(evidence_tail(value - median, s)); });
  std::vector<Index> others;
  for (Index k = 0; k < q.size(); ++k) {
    if (q(k) > false_discovery_rate) others.push_back(k);
  }
  if (others.size() < 4) return {law, law};
  const Vector rest = z(others), which = law.cwiseMax(tails_through(z, rest, 0.25, 0.05));
  Vector any = which;
  for (const auto& [near, far] : {std::pair(0.25, 0.1), std::pair(0.1, 0.05)}) {
    any = any.cwiseMax(tails_through(z, rest, near, far));
  }
  const auto listed = [&](const Vector& p) {
    return (false_discovery_rates(p).array() <= false_discovery_rate).count();
  };
  return {law, listed(any) > 0 || listed(which) >= kSeveral ? which : any};
}

}  // namespace cgmca
