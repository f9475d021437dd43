#include <cgmca/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace cgmca {

const char* name(Family family) {
  constexpr std::array names = {"identity", "correlation", "data1", "data2", "likelihood1", "likelihood2"};
  static_assert(names.size() == kFamilies.size());
  return names.at(static_cast<std::size_t>(family));
}

// As the table of covariances says.
bool has_rank(Family family) {
  return std::none_of(covariance_kinds().begin(), covariance_kinds().end(), [family](const CovarianceKind& kind) {
    return kind.takes == CovarianceTakes::nothing && std::string_view(name(family)).starts_with(kind.name);
  });
}

const char* name(Criterion criterion) {
  switch (criterion) {
    case Criterion::distance:
      return "distance";
    case Criterion::translation:
      return "translation";
    case Criterion::translation_to2:
      return "translation-to-2";
    case Criterion::classification:
      return "classification";
    case Criterion::likelihood:
      return "likelihood";
    case Criterion::partner:
      return "partner";
    case Criterion::downstream:
      return "downstream";
  }
  return "?";
}

Covariance Candidate::covariance() const { return Covariance::parse(covariance_name()); }

std::string Candidate::covariance_name() const {
  return has_rank(family) ? fmt::format("{}:{}", name(family), rank) : name(family);
}

Regularization Candidate::regularization() const { return {max_rank, ridge, towards}; }

FitOptions Candidate::options(const DataOptions& data) const {
  return {data.rank_tol, max_rank, ridge, data.extra, {}, data.device, data.scale, towards};
}

std::string Candidate::description() const {
  return fmt::format("{}, {}, ridge {}{}", covariance_name(),
                     max_rank == 0 ? "all ranks" : fmt::format("max rank {}", max_rank), name(ridge),
                     towards == Towards::identity ? " towards identity" : "");
}

Model fit(const Summary& summary, const Candidate& candidate, const DataOptions& data,
          const MatchingOptions& matching) {
  FitOptions options = candidate.options(data);
  options.matching = matching;
  return fit(summary, {candidate.covariance()}, options);
}

}  // namespace cgmca
