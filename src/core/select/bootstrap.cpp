#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/discovery.hpp"
#include "core/fit/assemble.hpp"
#include "core/linalg/linalg.hpp"
#include "core/select/bootstrap_numbers.hpp"

namespace cgmca {
namespace {

constexpr Index kFewestUnits = 4;

Model fit_to(const BootstrapSamples::State& state, const Drawn& drawn, const std::vector<Covariance>& covariances,
             const FitOptions& options) {
  const WeightedRows rows = rows_of(state, drawn);
  Summary summary(state.domains);
  summary.expect(rows.weights.size());
  summary.add(MatchedSamples(rows.X.begin(), rows.X.end()), rows.weights);
  return fit(summary, covariances, options);
}

// Turns a replica's directions by the orthogonal Q that makes Σ_i ‖t_i - Q t_i,replica‖ over the samples least: with
// M = Σ_i Cov(t_i, t_i,replica) that of the largest tr(M Qᵀ). Without `rotate` Q only has signs.
void align(Numbers& replica, const Model& whole, Index c, bool rotate) {
  Matrix M = Matrix::Zero(c, c);
  for (const Domain domain : all_domains(whole.count())) {
    M += linalg::AtB(whole.domain(domain).loadings.leftCols(c), replica.weights[domain]);
  }
  const Vector signs = (M.diagonal().array() < 0).select(Vector::Constant(c, -1), 1.0);
  const Matrix Q = rotate ? linalg::polar(M) : Matrix(signs.asDiagonal());
  for (Matrix& R : replica.R) R = Q * R * Q.transpose();
  for (std::size_t i = 0; i < replica.weights.size(); ++i) {
    replica.weights[i] = replica.weights[i] * Q.transpose();
    Matrix& spread = replica.spread[i];
    const Vector before = spread.diagonal().cwiseSqrt();
    spread = Q * spread * Q.transpose();
    replica.structure[i] = replica.structure[i] * before.asDiagonal() * Q.transpose() *
                           spread.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
  }
}

// A column for each pair of domains.
Matrix correlations_of(const Numbers& numbers) {
  Matrix all(numbers.R.front().rows(), std::ssize(numbers.R));
  for (Index pair = 0; pair < all.cols(); ++pair) all.col(pair) = numbers.R[pair].diagonal();
  return all;
}

struct Replica {
  bool fitted = false;
  Numbers numbers;
  Matrix correlations, held_out;  // a column for each pair of domains
};

// What all replicas are made with.
struct Plan {
  const BootstrapSamples::State& state;
  const Model& whole;
  const std::vector<Covariance>& covariances;
  const FitOptions& options;
  Index c;
  bool rotate;
  std::optional<QuickReplicas> quick;
};

Replica replica_of(const Plan& plan, const Drawn& in, const Drawn& out) {
  Replica result;
  std::optional<Numbers> numbers = plan.quick ? (*plan.quick)(in) : std::nullopt;
  if (!numbers) {
    try {
      const Model model = fit_to(plan.state, in, plan.covariances, plan.options);
      for (const Domain domain : all_domains(model.count())) {
        if (model.domain(domain).scores() < plan.c) return result;
      }
      numbers = numbers_of(model, plan.c);
    } catch (const InvalidInput&) {  // too few samples that differ, for instance
      return result;
    }
  }
  result.held_out = held_out_correlations(plan.state, numbers->weights, out);
  result.numbers = std::move(*numbers);
  align(result.numbers, plan.whole, plan.c, plan.rotate);
  result.correlations = correlations_of(result.numbers);
  result.fitted = true;
  return result;
}

double fisher_z(double r) { return std::atanh(std::clamp(r, -1 + 1e-12, 1 - 1e-12)); }
double spread_of(const Vector& values) {
  return std::sqrt((values.array() - values.mean()).square().sum() / static_cast<double>(values.size() - 1));
}

enum class Kind { number, correlation, canonical };

// False discovery rates among all numbers of one kind.
Matrix discovery_rates(const Matrix& p) { return false_discovery_rates(p.reshaped()).reshaped(p.rows(), p.cols()); }

// Percentile intervals, and p of estimate/spread by the normal distribution, for correlations on Fisher's scale. A fit
// overestimates a canonical correlation, and a replica overestimates it even more. So the lower end of its interval is
// that of the replicas, moved down by twice that bias.
template <class Get>
Bootstrapped summed_up(const Matrix& estimate, const std::vector<Replica>& replicas, double level, Kind kind,
                       const Get& get) {
  Bootstrapped found{estimate, estimate, estimate, estimate, estimate, {}};
  const double tail = (1 - level) / 2;
  Vector values(std::ssize(replicas));
  for (Index i = 0; i < estimate.size(); ++i) {
    for (Index b = 0; b < values.size(); ++b) values(b) = get(replicas[b]).data()[i];
    found.standard_error.data()[i] = spread_of(values);
    const double here = estimate.data()[i];
    const Vector z = kind == Kind::number ? values : Vector(values.unaryExpr(&fisher_z));
    const double ratio = (kind == Kind::number ? here : fisher_z(here)) / spread_of(z);
    found.p.data()[i] = std::erfc(std::abs(ratio) / std::sqrt(2.0));
    std::sort(values.begin(), values.end());
    found.lower.data()[i] = quantile_of_sorted(values, tail);
    found.upper.data()[i] = quantile_of_sorted(values, 1 - tail);
    if (kind != Kind::canonical) continue;
    const double bias = z.mean() - fisher_z(here);
    found.lower.data()[i] = std::max(0.0, std::tanh(fisher_z(found.lower.data()[i]) - 2 * std::max(bias, 0.0)));
  }
  if (kind != Kind::canonical) found.q = discovery_rates(found.p);
  return found;
}

// The part of the replicas in which a feature is among the q strongest of each direction.
Matrix selection(const std::vector<Replica>& replicas, std::size_t domain, Index strongest) {
  const Matrix& like = replicas.front().numbers.structure[domain];
  Matrix count = Matrix::Zero(like.rows(), like.cols());
  const Index q = std::min(strongest, like.rows());
  std::vector<Index> order(like.rows());
  for (const Replica& replica : replicas) {
    for (Index j = 0; j < like.cols(); ++j) {
      const Vector size = replica.numbers.structure[domain].col(j).cwiseAbs();
      std::iota(order.begin(), order.end(), Index{0});
      std::partial_sort(order.begin(), order.begin() + q, order.end(), [&](Index a, Index b) {
        const double at_a = std::isnan(size(a)) ? -1 : size(a), at_b = std::isnan(size(b)) ? -1 : size(b);
        return at_a != at_b ? at_a > at_b : a < b;
      });
      for (Index k = 0; k < q; ++k) count(order[k], j) += 1;
    }
  }
  return count / static_cast<double>(replicas.size());
}

void check(const BootstrapSamples& samples, const FitOptions& options, const BootstrapOptions& how) {
  if (how.replicas < 10) throw InvalidInput(fmt::format("{} replicas; at least 10 are needed", how.replicas));
  if (!(how.level > 0 && how.level < 1)) {
    throw InvalidInput(fmt::format("intervals that cover {}; a number between 0 and 1 is needed", how.level));
  }
  if (how.directions < 1 || how.strongest < 1) throw InvalidInput("at least 1 direction and 1 feature are needed");
  if (!options.extra.empty()) throw InvalidInput("a bootstrap takes no extra samples without partners");
  if (samples.groups() < kFewestUnits) {
    throw TooFewSamples(fmt::format("{} groups of samples that can be resampled; at least {} are needed",
                                    samples.groups(), kFewestUnits));
  }
}

}  // namespace

Bootstrap bootstrap(const BootstrapSamples& samples, const std::vector<Covariance>& covariances,
                    const FitOptions& options, const BootstrapOptions& how) {
  check(samples, options, how);
  const BootstrapSamples::State& state = samples.state();
  const Model whole = fit_to(state, all_samples(state), covariances, options);
  Index c = how.directions;
  for (const Domain domain : all_domains(whole.count())) c = std::min(c, whole.domain(domain).scores());
  const Numbers estimate = numbers_of(whole, c);
  const Plan plan{state, whole, covariances, options, c, how.rotate, QuickReplicas::of(state, whole, options, c)};
  std::vector<Replica> replicas(how.replicas);
  std::mutex telling;
  Index done = 0;
  for_each_replica(state, how.replicas, how.seed, [&](Index b, const Drawn& in, const Drawn& out) {
    replicas[b] = replica_of(plan, in, out);
    const std::lock_guard lock(telling);
    if (how.progress) how.progress(static_cast<double>(++done) / static_cast<double>(how.replicas));
  });
  Bootstrap found;
  std::erase_if(replicas, [](const Replica& one) { return !one.fitted; });
  found.replicas = std::ssize(replicas);
  found.failed = how.replicas - found.replicas;
  found.groups = samples.groups();
  if (2 * found.replicas < how.replicas) {
    throw InvalidInput(
        fmt::format("only {} of {} replicas could be fitted: samples drawn again have fewer that differ; "
                    "prescribe a covariance of lower rank, or give a ridge",
                    found.replicas, how.replicas));
  }
  found.correlations = summed_up(correlations_of(estimate), replicas, how.level, Kind::canonical,
                                 [](const Replica& one) -> const Matrix& { return one.correlations; });
  Matrix above =
      Matrix::Ones(c, found.correlations.estimate.cols());  // p: the part of replicas without held-out correlation
  for (const Replica& one : replicas) above += (one.held_out.array() > 0).select(Matrix::Zero(c, above.cols()), 1.0);
  found.correlations.p = above / static_cast<double>(found.replicas + 1);
  found.correlations.q = discovery_rates(found.correlations.p);
  for (std::size_t i = 0; i < state.domains.size(); ++i) {
    DomainBootstrap domain;
    domain.weights = summed_up(estimate.weights[i], replicas, how.level, Kind::number,
                               [i](const Replica& one) -> const Matrix& { return one.numbers.weights[i]; });
    domain.structure = summed_up(estimate.structure[i], replicas, how.level, Kind::correlation,
                                 [i](const Replica& one) -> const Matrix& { return one.numbers.structure[i]; });
    domain.selected = selection(replicas, i, how.strongest);
    found.domains.push_back(std::move(domain));
  }
  return found;
}

Bootstrap bootstrap(const BootstrapSamples& samples, const Model& model, const BootstrapOptions& how) {
  if (model.nuisance) {
    throw InvalidInput("the model was fitted with a nuisance, of which the samples to be drawn again tell nothing");
  }
  if (!model.patterns.empty() || !model.additions.empty()) {
    throw InvalidInput(
        fmt::format("the model {}, and a bootstrap refits complete samples of all domains at once",
                    model.patterns.empty() ? "has domains that were added" : "is of incomplete samples"));
  }
  for (const Domain domain : all_domains(model.count())) {
    if (model.certificate.constrained[index(domain)].samples > model.samples) {
      throw InvalidInput(fmt::format(
          "domain {} of the model was fitted with extra samples, which a bootstrap does not have", number(domain)));
    }
  }
  auto [covariances, options] = asked_of(model);
  options.matching.random_starts = 0;  // the starts that the data suggest will do for a replica
  options.matching.max_seconds = std::numeric_limits<double>::infinity();
  return bootstrap(samples, covariances, options, how);
}

}  // namespace cgmca
