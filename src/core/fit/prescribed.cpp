#include "core/fit/prescribed.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "core/base/thresholds.hpp"
#include "core/fit/align.hpp"

namespace cgmca {

using linalg::Backend;

namespace {

// "7 and 5", "7, 5 and 4"
std::string ranks_of(const WhitenedData& whitened) {
  std::string text;
  for (std::size_t i = 0; i < whitened.domains.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == whitened.domains.size() ? " and " : ", ";
    text += fmt::format("{}{}", before, whitened.domains[i].rank());
  }
  return text;
}

// The domains, those of lower ranks first.
std::vector<Domain> lowest_first(const WhitenedData& whitened) {
  std::vector<Domain> order;
  for (int i = 1; i <= static_cast<int>(whitened.count()); ++i) order.push_back(Domain{i});
  std::stable_sort(order.begin(), order.end(),
                   [&](Domain a, Domain b) { return whitened[a].rank() < whitened[b].rank(); });
  return order;
}

PrescribedCovariance correlations_as_covariance(const Covariance& covariance, Index k, const WhitenedData& whitened,
                                                const Vector& correlations) {
  const Index most = paired(correlations, tie_tolerance(whitened));
  if (k > most) {
    throw Infeasible(fmt::format("{} asks for {} correlated directions, but the domains have ranks {} and {} "
                                 "correlations above rounding; the largest feasible is correlation:{}",
                                 covariance.description(), k, ranks_of(whitened), most, most),
                     lowest_first(whitened).front(), most, k);
  }
  return {whitened.B().on().identity(k, k), correlations.head(k), covariance.description(), kAlongAxes};
}

// diag(1/(1-σ²)) for the query's domain, diag(σ²/(1-σ²)) for the other.                                           (28)
PrescribedCovariance likelihood_as_covariance(const Covariance& covariance, Domain query, Domain domain,
                                              const WhitenedData& whitened, const Vector& correlations) {
  if (whitened.count() != 2) {
    throw InvalidInput(
        fmt::format("{} compares the samples of two domains; there are {}. Prescribe correlation:K, "
                    "identity:K or a matrix",
                    covariance.description(), whitened.count()));
  }
  const Index k = paired(correlations, tie_tolerance(whitened));
  if (k == 0) {
    throw InvalidInput(fmt::format("{} needs correlated domains; every correlation of these is zero to rounding",
                                   covariance.description()));
  }
  const Vector s = correlations.head(k);
  const Vector unexplained = (1 - s.array()) * (1 + s.array());
  if (!(s(0) < 1 - thresholds::kSaturated)) {
    throw Saturated(fmt::format(
        "{} needs correlations below 1; the largest of {} matched samples, with ranks {} and {}, is {:.9g}. "
        "Give a ridge (0.1 to 10 serve most data) or more samples than features",
        covariance.description(), whitened.samples, whitened[Domain::one].rank(), whitened[Domain::two].rank(), s(0)));
  }
  const Vector sd = unexplained.cwiseSqrt().cwiseInverse();
  return {whitened.B().on().identity(k, k), domain == query ? sd : s.cwiseProduct(sd), covariance.description(),
          kAlongAxes};
}

// The T largest principal directions of a domain: U diag(s²) Uᵀ of data, diag(s²) of principal.                   (28')
PrescribedCovariance spectrum_as_covariance(const Covariance& covariance, const WhitenedData& whitened) {
  const Domain domain = covariance.domain();
  const Index rank = covariance.number();
  if (number(domain) > whitened.count()) {
    throw InvalidInput(fmt::format("{}: there are only {} domains", covariance.description(), whitened.count()));
  }
  const SpectrumWhitening& data = *whitened[domain].spectrum();
  if (rank > data.rank()) {
    throw Infeasible(
        fmt::format("{} asks for rank {}, but domain {} has rank {}; the largest feasible is {}:{}",
                    covariance.description(), rank, number(domain), data.rank(), covariance.name(), data.rank()),
        domain, data.rank(), rank);
  }
  if (covariance.kind() == Covariance::Kind::principal) {
    return {whitened.B().on().identity(rank, rank), data.s.head(rank), covariance.description(), kAlongAxes};
  }
  return {data.U.left(rank), data.s.head(rank), covariance.description()};
}

void check_common_dimension(const ByDomain<PrescribedCovariance>& C) {
  for (std::size_t i = 1; i < C.size(); ++i) {
    const Index k1 = C[0].U.rows(), k2 = C[i].U.rows();
    if (k1 == k2) continue;
    throw CommonDimension(fmt::format("the covariances live in spaces of different dimension: {} is {}×{}, {} is {}×{}",
                                      C[0].description, k1, k1, C[i].description, k2, k2));
  }
}

void check_rank(Domain domain, Index wanted, const std::string& description, const WhitenedData& whitened) {
  const Index rank = whitened[domain].rank();
  if (wanted <= rank) return;
  const std::string others = whitened.count() == 2 ? fmt::format("domain {} has rank {}", number(other(domain)),
                                                                 whitened[other(domain)].rank())
                                                   : fmt::format("the domains have ranks {}", ranks_of(whitened));
  throw Infeasible(
      fmt::format("domain {} has rank {}, but the covariance prescribed for it ({}) has rank {}; prescribe "
                  "one of rank {} at most ({})",
                  number(domain), rank, description, wanted, rank, others),
      domain, rank, wanted);
}

}  // namespace

double tie_tolerance(const WhitenedData& whitened) {
  double errors = 0;
  for (const WhitenedDomain& domain : whitened.domains) {
    errors = std::max(errors, static_cast<double>(domain.rank()));
    if (whitened.form == SummaryForm::gram) {
      errors = std::max(errors, std::min(domain.condition * domain.condition, thresholds::kLargestTieCondition));
    }
  }
  return thresholds::kTie * errors * thresholds::kEpsilon;
}

Index smallest_rank(const WhitenedData& whitened) {
  Index rank = whitened.domains.front().rank();
  for (const WhitenedDomain& domain : whitened.domains) rank = std::min(rank, domain.rank());
  return rank;
}

PrescribedCovariance resolve(const Covariance& covariance, Domain of, const WhitenedData& whitened,
                             const Vector& correlations) {
  const Backend& on = whitened.B().on();
  switch (covariance.kind()) {
    case Covariance::Kind::entries:
      return {on.upload(covariance.U()), covariance.s(), covariance.description()};
    case Covariance::Kind::identity: {
      const Index k = rank_of(covariance, whitened);
      return {on.identity(k, k), Vector::Ones(k), covariance.description(), kAlongAxes};
    }
    case Covariance::Kind::correlation:
      return correlations_as_covariance(covariance, covariance.number(), whitened, correlations);
    case Covariance::Kind::likelihood:
      return likelihood_as_covariance(covariance, covariance.domain(), of, whitened, correlations);
    case Covariance::Kind::data:
    case Covariance::Kind::principal:
      break;
  }
  return spectrum_as_covariance(covariance, whitened);
}

bool uses_spectrum(const Covariance& covariance) {
  return covariance.kind() == Covariance::Kind::data || covariance.kind() == Covariance::Kind::principal;
}

Index rank_of(const Covariance& covariance, const WhitenedData& whitened) {
  if (covariance.kind() == Covariance::Kind::entries) return covariance.s().size();
  return covariance.number() > 0 ? covariance.number() : smallest_rank(whitened);
}

// The domain of the lowest rank first, which is then the largest that suits all.
void check_feasible(const std::vector<Covariance>& covariances, const WhitenedData& whitened) {
  for (const Domain domain : lowest_first(whitened)) {
    const Covariance& asked = covariances[index(domain)];
    const bool given = asked.kind() == Covariance::Kind::entries || asked.kind() == Covariance::Kind::identity;
    if (given) check_rank(domain, rank_of(asked, whitened), asked.description(), whitened);
  }
}

void check_feasible(const ByDomain<PrescribedCovariance>& C, const WhitenedData& whitened) {
  for (const Domain domain : lowest_first(whitened)) {
    check_rank(domain, C[domain].s.size(), C[domain].description, whitened);
  }
  check_common_dimension(C);
}

}  // namespace cgmca
