#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>

#include <fmt/format.h>

#include <tuple>
#include <utility>
#include <vector>

#include "assemble.hpp"
#include "certify.hpp"
#include "regularization.hpp"
#include "solve.hpp"
#include "summary/state.hpp"
#include "whitening/factors.hpp"

namespace cgmca {
namespace {

void require_two_domains(const Summary& summary) {
  if (summary.domains() == 2) return;
  throw InvalidInput(
      fmt::format("a fit of two covariances needs a summary of 2 domains; this one has {}", summary.domains()));
}

// Steps 2 to 5 of Algorithm 1.
Model finish(const Factors& factors, const Covariance& c1, const Covariance& c2) {
  // 2. - 4. The maps.
  const CrossSvd cross = svd_of_cross_matrix(factors, c1, c2);
  const Solution solution = solve(factors, cross.svd, c1, c2);
  Model model = assemble(solution, factors);

  // 5. The proof.
  model.certificate = certify(solution, factors);
  model.certificate.route = fmt::format("{}; {}", factors.route(), cross.route);
  return model;
}

Model named(Model model, const std::vector<DomainInfo>& domains) {
  for (std::size_t i = 0; i < domains.size(); ++i) {
    model.domains[i]->name = domains[i].name;
    model.domains[i]->feature_names = domains[i].feature_names;
  }
  return model;
}

// Name and number of a covariance. One that the fit finds is described by just these, NAME or NAME:NUMBER; of those
// given by their entries only I has a name.
std::pair<std::string, Index> kind_of(const Covariance& covariance) {
  if (const auto* factor = std::get_if<Covariance::Factor>(&covariance.value())) {
    const auto& [U, s] = *factor;
    if (U.rows() == U.cols() && U.isIdentity(0) && (s.array() == 1).all()) return {"identity", s.size()};
    return {"matrix", 0};
  }
  const std::string& words = covariance.description();
  const auto colon = words.find(':');
  return {words.substr(0, colon), colon == std::string::npos ? 0 : std::stol(words.substr(colon + 1))};
}

FitSettings settings_of(const Covariance& c1, const Covariance& c2, const Regularization& options,
                        std::optional<double> rank_tol) {
  FitSettings settings;
  for (const std::size_t i : {0U, 1U}) {
    std::tie(settings.covariance[i], settings.components[i]) = kind_of(i == 0 ? c1 : c2);
    settings.max_rank[i] = options.max_rank[i];
    settings.ridge[i] = options.ridge[i];
  }
  settings.rank_tol = rank_tol;
  return settings;
}

}  // namespace

struct Factorization::Inside {
  std::vector<DomainInfo> domains;
  Factors factors;
  std::optional<double> rank_tol;
};

Factorization::Factorization(const Summary& summary, const DataOptions& options) {
  require_two_domains(summary);
  // 1. S_i = U_i Σ_i V_iᵀ and B = V1ᵀ V2.
  inside_ = std::make_unique<const Inside>(
      Inside{summary.state().info, factorize(summary, options, {true, true}), options.rank_tol});
}
Factorization::~Factorization() = default;
Factorization::Factorization(Factorization&&) noexcept = default;
Factorization& Factorization::operator=(Factorization&&) noexcept = default;

Model Factorization::fit(const Covariance& c1, const Covariance& c2, const Regularization& options) const {
  Model model = named(finish(regularize(inside_->factors, options), c1, c2), inside_->domains);
  model.settings = settings_of(c1, c2, options, inside_->rank_tol);
  return model;
}

Model fit(const Summary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options) {
  require_two_domains(summary);
  check(options.regularization(), summary.domains());
  // Truncation, ridge and a covariance taken from a domain need its spectrum; otherwise a triangle may do.
  const auto needs_spectrum = [&](Domain domain) {
    const auto of_it = [domain](const Covariance& covariance) {
      const auto* data = std::get_if<Covariance::OfData>(&covariance.value());
      return data != nullptr && data->domain == domain;
    };
    return options.max_rank[slot(domain)] != 0 || options.ridge[slot(domain)] != Ridge(0) || of_it(c1) || of_it(c2);
  };
  const std::vector<bool> spectrum = {needs_spectrum(Domain::one), needs_spectrum(Domain::two)};
  const Regularization regularization = options.regularization();
  Model model = named(finish(regularize(factorize(summary, options.data(), spectrum), regularization), c1, c2),
                      summary.state().info);
  model.settings = settings_of(c1, c2, regularization, options.rank_tol);
  return model;
}

Model fit(const SampleView& X1, const SampleView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options) {
  Summary summary({X1.rows(), X2.rows()});
  summary.add(X1, X2);
  return fit(summary, c1, c2, options);
}

}  // namespace cgmca
