#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>

#include <fmt/format.h>

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

}  // namespace

struct Factorization::Inside {
  std::vector<DomainInfo> domains;
  Factors factors;
};

Factorization::Factorization(const Summary& summary, const DataOptions& options) {
  require_two_domains(summary);
  // 1. S_i = U_i Σ_i V_iᵀ and B = V1ᵀ V2.
  inside_ = std::make_unique<const Inside>(Inside{summary.state().info, factorize(summary, options, {true, true})});
}
Factorization::~Factorization() = default;
Factorization::Factorization(Factorization&&) noexcept = default;
Factorization& Factorization::operator=(Factorization&&) noexcept = default;

Model Factorization::fit(const Covariance& c1, const Covariance& c2, const Regularization& options) const {
  return named(finish(regularize(inside_->factors, options), c1, c2), inside_->domains);
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
  return named(finish(regularize(factorize(summary, options.data(), spectrum), options.regularization()), c1, c2),
               summary.state().info);
}

Model fit(const SampleView& X1, const SampleView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options) {
  Summary summary({X1.rows(), X2.rows()});
  summary.add(X1, X2);
  return fit(summary, c1, c2, options);
}

}  // namespace cgmca
