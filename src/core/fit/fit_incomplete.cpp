// The fit to samples that lack whole domains.                                              docs/method.md section 13
#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>
#include <cgmca/incomplete.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/fit/em.hpp"
#include "core/fit/representatives.hpp"
#include "core/linalg/linalg.hpp"
#include "core/model/regularization.hpp"
#include "core/summary/compare.hpp"
#include "core/summary/moments.hpp"

namespace cgmca {
namespace {

using linalg::AB;

// The samples of one pattern: their mean and a root of their cross-products, H_i H_jᵀ, domain by domain.
struct PatternRoots {
  std::vector<Domain> domains;
  double weight;
  std::vector<Vector> mean;
  std::vector<Matrix> H;  // d_i×columns
};

// Statistics of one domain over all patterns that have it.
struct DomainStatistics {
  Vector mean;
  double weight = 0;  // n_i
  Index samples = 0;
  double beta = 0;  // β_i
  Matrix basis;     // of its samples' span, d_i×r_i; features are reduced to basisᵀ (x - mean)
  Index first = 0;  // where its reduced features begin
  Matrix theta;     // Θ_i of the reduced features
};

// The same with the residual of the samples' sketches.
struct Collected {
  std::vector<PatternRoots> patterns;
  ByDomain<DomainStatistics> domains;
  std::optional<double> residual = 0;
  double weight = 0;
};

PatternRoots roots_of(const std::vector<Domain>& domains, const Summary& summary, std::optional<double>& residual) {
  PatternRoots result{domains, summary.total_weight(), {}, {}};
  for (std::size_t k = 0; k < domains.size(); ++k) result.mean.push_back(summary.mean(domain_at(k)));
  if (summary.samples() < 2) {
    for (const Vector& mean : result.mean) result.H.emplace_back(mean.size(), 0);
    return result;
  }
  const auto apart = distance_from_samples(summary, moments(summary, SmallWeights::allow));
  residual = residual && apart ? std::max(residual, apart) : std::nullopt;
  result.H = roots_about(result.mean, summary);
  return result;
}

// β = λ tr Θ_i/d_i. The automatic λ is ρ/(1 - ρ) with the shrinkage ρ of (25).
double penalty_of(const Ridge& ridge, const Matrix& theta, Index features, double n) {
  const double trace = theta.trace(), mean = trace / static_cast<double>(features);
  if (!ridge.automatic) return ridge.value * mean;
  const double rho = oas_shrinkage(trace, theta.squaredNorm(), features, n);
  return rho / std::max(1 - rho, thresholds::kEpsilon) * mean;
}

DomainStatistics statistics_of(Domain domain, Index features, const Collected& all, const Ridge& ridge) {
  DomainStatistics result;
  result.mean = Vector::Zero(features);
  Index columns = 0;
  const auto place = [&](const PatternRoots& pattern) {
    return std::find(pattern.domains.begin(), pattern.domains.end(), domain) - pattern.domains.begin();
  };
  for (const PatternRoots& pattern : all.patterns) {
    const auto k = static_cast<std::size_t>(place(pattern));
    if (k == pattern.domains.size()) continue;
    result.weight += pattern.weight;
    result.mean += pattern.weight * pattern.mean[k];
    columns += pattern.H[k].cols() + 1;
  }
  if (!(result.weight > 1 + thresholds::kSameWeight)) {
    throw TooFewSamples(fmt::format("domain {} has samples of the weight {:.6g}; a covariance needs more than 1",
                                    number(domain), result.weight));
  }
  result.mean /= result.weight;
  Matrix root(features, columns);  // root rootᵀ = (n_i - 1) Θ_i
  columns = 0;
  for (const PatternRoots& pattern : all.patterns) {
    const auto k = static_cast<std::size_t>(place(pattern));
    if (k == pattern.domains.size()) continue;
    root.middleCols(columns, pattern.H[k].cols()) = pattern.H[k];
    columns += pattern.H[k].cols();
    root.col(columns++) = std::sqrt(pattern.weight) * (pattern.mean[k] - result.mean);
  }
  const Vector sizes = root.rowwise().norm();
  if (!(sizes.maxCoeff() > 0)) throw NoVariance(fmt::format("every feature of domain {} is constant", number(domain)));
  if (columns <= features) {
    const linalg::Svd svd = linalg::thin_svd(root);
    const double least = static_cast<double>(features) * thresholds::kEpsilon * svd.s(0);
    result.basis = svd.U.leftCols((svd.s.array() > least).count());
  } else {  // the features that vary
    std::vector<Index> vary;
    for (Index f = 0; f < features; ++f) {
      if (sizes(f) > 0) vary.push_back(f);
    }
    result.basis = Matrix::Identity(features, features)(Eigen::all, vary);
  }
  const Matrix reduced = linalg::AtB(result.basis, root);
  result.theta = linalg::ABt(reduced, reduced) / (result.weight - 1);
  result.beta = penalty_of(ridge, result.theta, features, result.weight);
  return result;
}

Collected collect(const IncompleteSummary& summary, const PerDomain<Ridge>& ridge) {
  check(Regularization{0, ridge}, summary.domains());
  Collected all;
  for (const auto& [domains, own] : summary.patterns()) {
    if (own.samples() == 0) continue;
    all.patterns.push_back(roots_of(domains, own, all.residual));
    all.weight += own.total_weight();
  }
  Index first = 0;
  for (const Domain domain : all_domains(summary.domains())) {
    DomainStatistics found = statistics_of(domain, summary.domain(domain).features, all, ridge[domain]);
    for (const auto& [domains, own] : summary.patterns()) {
      if (std::find(domains.begin(), domains.end(), domain) != domains.end()) found.samples += own.samples();
    }
    found.first = first;
    first += found.basis.cols();
    all.domains.push_back(std::move(found));
  }
  return all;
}

EmProblem problem_of(const Collected& all) {
  const DomainStatistics& last = all.domains.back();
  const Index p = last.first + last.basis.cols();
  EmProblem problem{{}, Matrix::Zero(p, p), Vector::Zero(p), Vector(p), all.weight};
  for (const DomainStatistics& domain : all.domains) {
    const auto own = Eigen::seqN(domain.first, domain.basis.cols());
    problem.start(own, own) = domain.theta;
    problem.start(own, own).diagonal().array() += domain.beta;
    problem.penalty(own).setConstant(domain.beta * (domain.weight - 1));
  }
  for (const PatternRoots& pattern : all.patterns) {
    SeenMoments seen{{}, pattern.weight, {}, {}};
    Index rows = 0;
    for (const Domain domain : pattern.domains) rows += all.domains[domain].basis.cols();
    seen.mean.resize(rows);
    Matrix H(rows, pattern.H.front().cols());
    rows = 0;
    for (std::size_t k = 0; k < pattern.domains.size(); ++k) {
      const DomainStatistics& domain = all.domains[pattern.domains[k]];
      const auto own = Eigen::seqN(rows, domain.basis.cols());
      seen.mean(own) = linalg::AtB(domain.basis, pattern.mean[k] - domain.mean);
      H(own, Eigen::all) = linalg::AtB(domain.basis, pattern.H[k]);
      for (Index f = 0; f < domain.basis.cols(); ++f) seen.seen.push_back(domain.first + f);
      rows += domain.basis.cols();
    }
    seen.products = linalg::ABt(H, H);
    problem.patterns.push_back(std::move(seen));
  }
  return problem;
}

// β_i (n_i - 1)/(N - 1): what the ridge adds to the diagonal of Θ.
double added_ridge(const Collected& all, std::size_t i) {
  return all.domains[i].beta * (all.domains[i].weight - 1) / (all.weight - 1);
}

void check_linked(const IncompleteSummary& summary) {
  for (const Domain domain : all_domains(summary.domains())) {
    const bool linked = std::any_of(summary.patterns().begin(), summary.patterns().end(), [&](const auto& one) {
      return one.first.size() > 1 && std::find(one.first.begin(), one.first.end(), domain) != one.first.end();
    });
    if (linked) continue;
    throw InvalidInput(
        fmt::format("no sample has domain {} together with another: nothing relates it to the others", number(domain)));
  }
}

std::vector<Pattern> patterns_of(const IncompleteSummary& summary) {
  std::vector<Pattern> result;
  for (const auto& [domains, own] : summary.patterns()) {
    if (own.samples() > 0) result.push_back({domains, own.samples(), own.total_weight()});
  }
  return result;
}

std::vector<DomainInfo> domains_of(const IncompleteSummary& summary) {
  std::vector<DomainInfo> info;
  for (const Domain domain : all_domains(summary.domains())) info.push_back(summary.domain(domain));
  return info;
}

// The part of each feature's variance that the ridge adds outside the span of the samples, of β_i (n_i - 1)/(N - 1).
Vector outside_of(const DomainStatistics& domain) { return (1 - domain.basis.rowwise().squaredNorm().array()).max(0); }

}  // namespace

Representatives representatives_of(const IncompleteSummary& summary, const PerDomain<Ridge>& ridge) {
  const Collected all = collect(summary, ridge);
  const EmResult found = expectation_maximization(problem_of(all));
  const Index p = found.mean.size();
  const Matrix R = linalg::cholesky(found.covariance);
  if (R.size() == 0) throw NumericalFailure("the covariance that EM has found is not positive definite");
  const double N = all.weight, a = std::sqrt(static_cast<double>(p) * (N - 1) / N);
  Representatives result;
  result.weights = Vector::Constant(2 * p, N / static_cast<double>(2 * p));
  result.steps = found.steps;
  result.samples_residual = all.residual;
  for (std::size_t i = 0; i < all.domains.size(); ++i) {
    const DomainStatistics& domain = all.domains[i];
    const auto own = Eigen::seqN(domain.first, domain.basis.cols());
    const Matrix L = a * AB(domain.basis, Matrix(R(Eigen::all, own).transpose()));
    const Vector mean = domain.mean + domain.basis * found.mean(own);
    Matrix X(L.rows(), 2 * p);
    X << L, -L;
    result.X.emplace_back(X.colwise() + mean);
    result.ridge.push_back(added_ridge(all, i));
    result.unseen_variance.push_back(result.ridge[i] * outside_of(domain));
    result.samples.push_back(domain.samples);
  }
  return result;
}

IncompleteEstimate estimate_incomplete(const IncompleteSummary& summary, const PerDomain<Ridge>& ridge) {
  const Collected all = collect(summary, ridge);
  const EmResult found = expectation_maximization(problem_of(all));
  IncompleteEstimate result;
  result.steps = found.steps;
  result.change = found.change;
  result.criterion = found.criterion;
  bool whole = true;
  for (std::size_t i = 0; i < all.domains.size(); ++i) {
    const DomainStatistics& domain = all.domains[i];
    const auto own = Eigen::seqN(domain.first, domain.basis.cols());
    const Matrix spread = AB(domain.basis, Matrix(found.covariance(own, own)));
    result.means.push_back(domain.mean + domain.basis * found.mean(own));
    result.variance.push_back(spread.cwiseProduct(domain.basis).rowwise().sum() +
                              added_ridge(all, i) * outside_of(domain));
    whole = whole && domain.basis.rows() == domain.basis.cols() && domain.basis.isIdentity(0);
  }
  if (whole) result.covariance = found.covariance;
  return result;
}

Model fit(const IncompleteSummary& summary, const std::vector<Covariance>& covariances, const FitOptions& options) {
  if (std::any_of(options.extra.begin(), options.extra.end(), [](const Summary* extra) { return extra != nullptr; })) {
    throw InvalidInput("extra samples are incomplete samples of one domain: add them to the summary");
  }
  if (options.scale || options.towards != Towards::zero) {
    throw InvalidInput(fmt::format(
        "a fit of incomplete samples has its ridge in EM, in the units of the features; leave out {}, and divide the "
        "features yourself if their units differ",
        options.scale ? "scale" : "towards identity"));
  }
  check_linked(summary);
  const Representatives samples = representatives_of(summary, options.ridge);
  Summary estimated(domains_of(summary), Accumulate::automatic, options.device.value_or(Device::cpu));
  estimated.expect(samples.weights.size());
  estimated.add({samples.X.begin(), samples.X.end()}, samples.weights);
  FitOptions plain = options;
  plain.ridge = {};
  plain.extra.clear();
  Model model = fit(estimated, covariances, plain);
  model.samples = summary.samples();
  model.patterns = patterns_of(summary);
  model.certificate.samples_residual = samples.samples_residual;
  model.certificate.route =
      fmt::format("em of {} patterns, {} steps; {}", model.patterns.size(), samples.steps, model.certificate.route);
  for (std::size_t i = 0; i < samples.X.size(); ++i) {
    model.settings.ridge[i] = options.ridge[i];
    model.certificate.constrained[i] = {1, samples.ridge[i], samples.samples[i]};
    model.domains[i]->variance += samples.unseen_variance[i];
  }
  return model;
}

}  // namespace cgmca
