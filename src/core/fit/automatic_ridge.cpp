#include "core/fit/automatic_ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

// Ridges are tried from 1e-8 to 1e5, twenty a decade.
constexpr int kStepsADecade = 20, kLowest = -8 * kStepsADecade, kHighest = 5 * kStepsADecade;
// How much a degree of freedom counts. 1 is ordinary generalized cross-validation, which sometimes chooses a ridge that
// is far too small if there are few samples.
constexpr double kDegreeCounts = 1.2;
// The logarithm of the error is known to about this. The largest ridge whose error is this close to the least is taken.
constexpr double kAlike = 1e-4;

// The shares of the other domains' variances that each principal direction of domain i explains, summed over domains.
Vector explained_by(const WhitenedData& plain, std::size_t i) {
  Vector energy = Vector::Zero(plain.domains[i].rank());
  for (std::size_t j = 0; j < plain.domains.size(); ++j) {
    if (j == i) continue;
    const WhitenedDomain& target = plain.domains[j];
    const Matrix B = linalg::download(i < j ? plain.cross[i][j] : plain.cross[j][i]);
    const Vector variances = target.spectrum()->s.cwiseAbs2() / target.trace;
    if (i < j) {
      energy += B.cwiseAbs2() * variances;
    } else {
      energy += B.cwiseAbs2().transpose() * variances;
    }
  }
  return energy;
}

}  // namespace

// With the eigenvalues s_k² of Θ in units of its mean variance, e_k what direction k explains and h_k = s_k²/(s_k² + λ):
//   GCV(λ) = [ total - Σ e_k + Σ e_k (1 - h_k)² ] / (1 - 1.2 Σ h_k/(n-1))²
double automatic_ridge(const WhitenedData& plain, std::size_t i, Index rank) {
  const WhitenedDomain& domain = plain.domains[i];
  const double mean_variance = domain.trace / static_cast<double>(domain.features);
  const double total = static_cast<double>(plain.count()) - 1, freedom = plain.total_weight - 1;
  const Vector variances = domain.spectrum()->s.head(rank).cwiseAbs2() / mean_variance;
  const Vector energy = explained_by(plain, i).head(rank);
  const double unexplained = std::max(total - energy.sum(), thresholds::kEpsilon * total);
  const auto ridge_of = [](int step) { return std::pow(10.0, static_cast<double>(step) / kStepsADecade); };
  const auto log_error = [&](double ridge) {
    const Vector kept = variances.array() / (variances.array() + ridge);
    const double left = 1 - kDegreeCounts * kept.sum() / freedom;
    if (!(left > 0)) return std::numeric_limits<double>::infinity();
    return std::log(unexplained + energy.dot((1 - kept.array()).square().matrix())) - 2 * std::log(left);
  };
  double least = std::numeric_limits<double>::infinity(), best = ridge_of(kHighest);
  for (int step = kHighest; step >= kLowest; --step) {
    const double ridge = ridge_of(step), error = log_error(ridge);
    if (error < least - kAlike) {
      least = error;
      best = ridge;
    }
  }
  return best;
}

std::vector<double> chosen_ridges(const WhitenedData& plain, const PerDomain<Ridge>& given,
                                  const std::vector<Index>& ranks) {
  std::vector<double> ridges;
  double logs = 0, automatic = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ridges.push_back(given[i].automatic ? automatic_ridge(plain, i, ranks[i]) : given[i].value);
    if (!given[i].automatic) continue;
    logs += std::log(ridges[i]);
    automatic += 1;
  }
  if (ranks.size() == 2) return ridges;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (given[i].automatic) ridges[i] = std::max(ridges[i], std::exp(logs / automatic));
  }
  return ridges;
}

}  // namespace cgmca
