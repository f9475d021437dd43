#include <cgmca/tune.hpp>

#include <fmt/format.h>

namespace cgmca {

const char* name(Family family) {
  switch (family) {
    case Family::identity:
      return "identity";
    case Family::correlation:
      return "correlation";
    case Family::data1:
      return "data1";
    case Family::data2:
      return "data2";
    case Family::likelihood1:
      return "likelihood1";
    case Family::likelihood2:
      return "likelihood2";
  }
  return "?";
}

bool has_rank(Family family) { return family != Family::likelihood1 && family != Family::likelihood2; }

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

Covariance Candidate::covariance() const {
  switch (family) {
    case Family::identity:
      return Covariance::identity(rank);
    case Family::correlation:
      return Covariance::correlation(rank);
    case Family::data1:
      return Covariance::data(Domain::one, rank);
    case Family::data2:
      return Covariance::data(Domain::two, rank);
    case Family::likelihood1:
      return Covariance::likelihood(Domain::one);
    case Family::likelihood2:
      break;
  }
  return Covariance::likelihood(Domain::two);
}

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
