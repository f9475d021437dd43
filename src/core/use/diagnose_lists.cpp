#include "core/use/diagnose_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/discovery.hpp"

namespace cgmca {
namespace {

constexpr double kClearly = 0.99;  // of two domains both p are the same, but for rounding: the first one is named

}  // namespace

const char* name(Suspicion suspicion) {
  switch (suspicion) {
    case Suspicion::mispaired:
      return "mispaired";
    case Suspicion::swapped:
      return "swapped";
    case Suspicion::far_out:
      return "far out";
    case Suspicion::unlike_fit:
      return "unlike the fit";
  }
  return "?";
}

std::string Suspect::text() const {
  std::string what = fmt::format("{} (domain {})", name(suspicion), number(domain));
  if (suspicion == Suspicion::swapped) what = fmt::format("swapped with sample {}", partner);
  if (suspicion == Suspicion::mispaired && partner >= 0) {
    what = fmt::format("mispaired; sample {} of domain {} would fit better", partner, number(domain));
  }
  return fmt::format("{}, q {:.2g}", what, q);
}

void list_pairs(Diagnosis& found, const Vector& law, double rate) {
  const Vector q = false_discovery_rates(found.pair_p), law_q = false_discovery_rates(law);
  // k and l are swapped if each is the likeliest partner of the other's partners, in any of the domains.
  const auto fits = [&](Index k, Index l) {
    return std::any_of(found.domains.begin(), found.domains.end(),
                       [&](const DomainDiagnosis& of_domain) { return of_domain.likeliest[k] == l; });
  };
  std::vector<Index> suspicious;
  for (Index k = 0; k < q.size(); ++k) {
    if (std::min(q(k), law_q(k)) <= rate) suspicious.push_back(k);
  }
  for (const Index k : suspicious) {
    const auto other =
        std::find_if(suspicious.begin(), suspicious.end(), [&](Index l) { return l != k && fits(k, l) && fits(l, k); });
    const bool swapped = other != suspicious.end();
    if (!swapped && q(k) > rate) continue;
    Suspect one{k, Suspicion::mispaired, Domain::one, found.pair_p(k), q(k), -1};
    if (q(k) > rate) {
      one.p = law(k);
      one.q = law_q(k);
    }
    for (std::size_t i = 1; i < found.domains.size(); ++i) {
      if (found.domains[i].evidence_p(k) < kClearly * found.domains[one.domain].evidence_p(k)) {
        one.domain = domain_at(i);
      }
    }
    one.partner = swapped ? *other : found.domains[one.domain].likeliest[k];
    if (swapped) one.suspicion = Suspicion::swapped;
    if (one.partner == k) one.partner = -1;
    found.suspects.push_back(one);
  }
}

void list_outliers(Diagnosis& found, double rate) {
  const Index n = found.pair_p.size();
  Vector least = Vector::Ones(n);
  std::vector<Suspect> kinds(n);
  double tests = 0;
  for (std::size_t i = 0; i < found.domains.size(); ++i) {
    for (const auto suspicion : {Suspicion::far_out, Suspicion::unlike_fit}) {
      const Vector& p = suspicion == Suspicion::far_out ? found.domains[i].t_squared_p : found.domains[i].residual_p;
      if (std::isnan(p(0))) continue;
      ++tests;
      for (Index k = 0; k < n; ++k) {
        if (!(p(k) < least(k))) continue;
        least(k) = p(k);
        kinds[k] = {k, suspicion, domain_at(i), p(k), 1, -1};
      }
    }
  }
  const Vector q = false_discovery_rates((tests * least).cwiseMin(1));
  for (Index k = 0; k < n; ++k) {
    if (!(q(k) <= rate)) continue;
    Suspect one = kinds[k];
    one.p = std::min(1.0, tests * least(k));
    one.q = q(k);
    found.suspects.push_back(one);
  }
}

}  // namespace cgmca
