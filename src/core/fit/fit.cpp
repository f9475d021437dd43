#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "core/fit/assemble.hpp"
#include "core/fit/certify.hpp"
#include "core/fit/multi.hpp"
#include "core/fit/nuisance.hpp"
#include "core/fit/solve.hpp"
#include "core/fit/whitened_data.hpp"
#include "core/linalg/device.hpp"
#include "core/model/regularization.hpp"
#include "core/summary/state.hpp"

namespace cgmca {
namespace {

void require_two_domains(const Summary& summary) {
  if (matched_domains(summary) == 2) return;
  throw InvalidInput(
      fmt::format("a fit of two covariances needs a summary of 2 domains; this one has {}", matched_domains(summary)));
}

// One covariance for each domain, from a list of one for all or one each.
std::vector<Covariance> one_per_domain(const std::vector<Covariance>& covariances, Index domains) {
  if (domains < 2) throw InvalidInput("a fit needs a summary of at least 2 domains; this one has 1");
  if (covariances.size() == 1) return std::vector<Covariance>(domains, covariances.front());
  if (std::ssize(covariances) == domains) return covariances;
  throw InvalidInput(
      fmt::format("{} covariances for {} domains; give one for all, or one for each", covariances.size(), domains));
}

// The summary on the requested device. `moved` holds the copy if the summary is on another device.
const Summary& placed(const Summary& summary, const std::optional<Device>& device, std::optional<Summary>& moved) {
  if (!device || &backend_of(*device) == summary.state().on) return summary;
  return moved.emplace(summary.on(*device));
}

void check_towards(Towards towards, const WhitenedData& whitened, bool scale) {
  if (towards == Towards::zero) return;
  if (scale) throw InvalidInput("translations towards identity need features in their own units; leave out scale");
  if (whitened.count() == 2 && whitened.domains[0].features == whitened.domains[1].features) return;
  throw InvalidInput(
      fmt::format("translations towards identity are for two domains of the same features; {}. Shrink towards zero",
                  whitened.count() == 2
                      ? fmt::format("these have {} and {}", whitened.domains[0].features, whitened.domains[1].features)
                      : fmt::format("there are {} domains", whitened.count())));
}

// Steps 2 to 6 of Algorithm 1.
Model finish(const WhitenedData& whitened, const std::vector<Covariance>& covariances, const MatchingOptions& options,
             const std::vector<DomainInfo>& domains) {
  const Matrix edge_weights = weights_of(options.graph, whitened.count());
  check_feasible(covariances, whitened);

  // 2. - 4. The maps: of two domains in closed form, of more by a search. 5. The proof.
  Model model;
  if (whitened.count() == 2) {
    const CrossSvd cross = svd_of_cross_matrix(whitened, covariances[0], covariances[1]);
    const Solution solution = solve(whitened, cross.svd, covariances[0], covariances[1]);
    model = assemble(solution, whitened);
    model.certificate = certify(solution, whitened, edge_weights);
    model.certificate.route = fmt::format("{}; {}", whitened.route(), cross.route);
  } else {
    const multi::MatchedDomains matched = multi::match_domains(whitened, covariances, edge_weights, options);
    model = assemble(matched.solution, whitened);
    model.certificate = certify(matched.solution, whitened, edge_weights);
    multi::state_proof(model.certificate, matched, whitened.total_weight);
    model.certificate.route = fmt::format("{}; {} starts", whitened.route(), model.certificate.starts.size());
  }

  // 6. The proof is checked, and the domains get their names.
  check_finished(model, whitened);
  for (std::size_t i = 0; i < domains.size(); ++i) {
    model.domains[i]->name = domains[i].name;
    model.domains[i]->feature_names = domains[i].feature_names;
  }
  return model;
}

// The name and number of a covariance. Of covariances given by their entries only I has a name.
std::pair<std::string, Index> named(const Covariance& covariance) {
  const Matrix& U = covariance.U();
  if (covariance.kind() == Covariance::Kind::entries && U.rows() == U.cols() && U.isIdentity(0) &&
      (covariance.s().array() == 1).all()) {
    return {"identity", U.rows()};
  }
  return {covariance.name(), covariance.number()};
}

FitSettings settings_of(const std::vector<Covariance>& covariances, const Regularization& options,
                        const DataOptions& data, const MatchingOptions& matching) {
  FitSettings settings(std::ssize(covariances));
  for (std::size_t i = 0; i < covariances.size(); ++i) {
    std::tie(settings.covariance[i], settings.components[i]) = named(covariances[i]);
    settings.max_rank[i] = options.max_rank[i];
    settings.ridge[i] = options.ridge[i];
  }
  settings.rank_tol = data.rank_tol;
  settings.scale = data.scale;
  settings.towards = options.towards;
  if (covariances.size() > 2) {
    settings.seed = matching.seed;
    settings.random_starts = matching.random_starts;
    settings.max_sweeps = matching.max_sweeps;
    settings.max_seconds = std::isfinite(matching.max_seconds) ? matching.max_seconds : 0;
  }
  return settings;
}

}  // namespace

struct PreparedFit::Impl {
  std::vector<DomainInfo> domains;
  WhitenedData whitened;
  DataOptions data;                        // without the extra samples
  std::optional<WithoutNuisance> without;  // what the data are, if there is a nuisance
};

PreparedFit::PreparedFit(const Summary& summary, const DataOptions& options) {
  if (matched_domains(summary) < 2) throw InvalidInput("a fit needs a summary of at least 2 domains; this one has 1");
  std::optional<WithoutNuisance> without;
  if (has_nuisance(summary)) without = without_nuisance(summary, options);
  const std::optional<Summary> left = without ? std::optional(without->summary()) : std::nullopt;
  const Summary& used = left ? *left : summary;
  // 1. S_i = U_i Σ_i V_iᵀ and B_ij = V_iᵀ V_j.
  const std::vector<bool> spectrum(used.domains(), true);
  std::optional<Summary> moved;
  WhitenedData whitened = whiten_domains(placed(used, options.device, moved), options, spectrum);
  impl_ = std::make_unique<const Impl>(Impl{used.state().info,
                                            std::move(whitened),
                                            {options.rank_tol, {}, {}, options.scale, options.nuisance_unknown},
                                            std::move(without)});
}
PreparedFit::~PreparedFit() = default;
PreparedFit::PreparedFit(PreparedFit&&) noexcept = default;
PreparedFit& PreparedFit::operator=(PreparedFit&&) noexcept = default;

Model PreparedFit::fit(const std::vector<Covariance>& covariances, const Regularization& options,
                       const MatchingOptions& matching) const {
  const std::vector<Covariance> C = one_per_domain(covariances, impl_->whitened.count());
  check_towards(options.towards, impl_->whitened, impl_->data.scale);
  const WhitenedData whitened = regularize(impl_->whitened, options);
  Model model = finish(whitened, C, matching, impl_->domains);
  if (options.towards == Towards::identity) model.difference_variance = difference_variance(impl_->whitened);
  model.settings = settings_of(C, options, impl_->data, matching);
  if (impl_->without) add_nuisance(model, *impl_->without);
  return model;
}

Model PreparedFit::fit(const Covariance& c1, const Covariance& c2, const Regularization& options) const {
  return fit({c1, c2}, options);
}

Model fit(const Summary& summary, const std::vector<Covariance>& covariances, const FitOptions& options) {
  if (has_nuisance(summary)) {
    const WithoutNuisance without = without_nuisance(summary, options.data());
    FitOptions plain = options;
    plain.device = options.device.value_or(summary.device());
    plain.nuisance_unknown = false;
    Model model = fit(without.summary(), covariances, plain);
    add_nuisance(model, without);
    return model;
  }
  if (options.nuisance_unknown) throw InvalidInput("nuisance_unknown needs a summary with a nuisance");
  const std::vector<Covariance> C = one_per_domain(covariances, summary.domains());
  const Regularization regularization = options.regularization();
  check(regularization, summary.domains());
  // Truncation, ridge and a covariance taken from a domain need its spectrum; otherwise a triangle may do. An automatic
  // ridge needs those of the other domains too.
  bool automatic = false;
  for (std::size_t i = 0; i < C.size(); ++i) automatic = automatic || options.ridge[i].automatic;
  std::vector<bool> spectrum;
  for (std::size_t i = 0; i < C.size(); ++i) {
    const auto of_it = [i](const Covariance& covariance) {
      return uses_spectrum(covariance) && covariance.domain() == domain_at(i);
    };
    spectrum.push_back(options.max_rank[i] != 0 || options.ridge[i] != Ridge(0) || automatic ||
                       std::any_of(C.begin(), C.end(), of_it));
  }
  // 1. Roots and couplings, whitening, B.
  std::optional<Summary> moved;
  const WhitenedData plain = whiten_domains(placed(summary, options.device, moved), options.data(), spectrum);
  check_towards(options.towards, plain, options.scale);
  const WhitenedData whitened = regularize(plain, regularization);
  Model model = finish(whitened, C, options.matching, summary.state().info);
  if (options.towards == Towards::identity) model.difference_variance = difference_variance(plain);
  model.settings = settings_of(C, regularization, options.data(), options.matching);
  return model;
}

Model fit(const Summary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options) {
  require_two_domains(summary);
  return fit(summary, {c1, c2}, options);
}

Model fit(const MatchedSamples& X, const std::vector<Covariance>& covariances, const FitOptions& options) {
  std::vector<DomainInfo> domains;
  for (const SampleView& samples : X) domains.emplace_back(samples.rows());
  Summary summary(std::move(domains), Accumulate::automatic, options.device.value_or(Device::cpu));
  summary.expect(X.empty() ? 0 : X.front().cols());
  summary.add(X);
  return fit(summary, covariances, options);
}

Model fit(const SampleView& X1, const SampleView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options) {
  return fit(MatchedSamples{X1, X2}, {c1, c2}, options);
}

}  // namespace cgmca
