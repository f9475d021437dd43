#include "core/model/regularization.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace cgmca {

void check(const Regularization& options, Index domains) {
  const auto m = static_cast<std::size_t>(domains);
  for (const std::size_t given : {options.max_rank.size(), options.ridge.size()}) {
    if (given != 1 && given != m) {
      throw InvalidInput(fmt::format("settings for {} domains; there are {}. Give one for all, or one each", given, m));
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    if (options.max_rank[i] < 0) {
      throw InvalidInput(fmt::format("a max_rank of {} for domain {}; give at least 1, or 0 for no limit",
                                     options.max_rank[i], i + 1));
    }
    const Ridge& ridge = options.ridge[i];
    if (!ridge.automatic && !(ridge.value >= 0 && std::isfinite(ridge.value))) {
      throw InvalidInput(
          fmt::format("a ridge of {} for domain {}; it is a multiple of the mean variance of a feature, 0 or more",
                      ridge.value, i + 1));
    }
  }
}

std::string units_decide(Domain domain, const Vector& variance) {
  Vector sorted = variance.cwiseMax(0);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const double total = sorted.sum();
  const Index d = (sorted.array() > 0).count();
  Index few = 0;
  for (double held = 0; few < d && held < 0.99 * total; ++few) held += sorted(few);
  if (d < 2 || static_cast<double>(few * few) > static_cast<double>(d)) return "";
  return fmt::format(
      "{} of the {} features of domain {} hold{} 99 % of its variance, so that a ridge or max_rank leaves hardly "
      "anything "
      "of the others. If they have different units, use the option scale, which divides each feature by its standard "
      "deviation",
      few, d, number(domain), few == 1 ? "s" : "");
}

Regularized regularized(const Ridge& ridge, double trace, double concentration, Index features, Index samples,
                        double n) {
  const double mean_variance = trace / static_cast<double>(features);
  if (!ridge.automatic) return {1, ridge.value * mean_variance, samples};
  const double rho = oas_shrinkage(1, concentration, features, n);
  return {1 - rho, rho * mean_variance, samples};
}

// ρ = min(1, (tr Θ²/d² + μ²) / ((n+1) (tr Θ²/d² - μ²/d))),   μ = tr Θ/d
double oas_shrinkage(double trace, double trace_of_square, Index features, double n) {
  const double d = static_cast<double>(features);
  const double mu = trace / d, alpha = trace_of_square / (d * d);
  const double denominator = (n + 1) * (alpha - mu * mu / d);
  return denominator > 0 ? std::min((alpha + mu * mu) / denominator, 1.0) : 1.0;
}

const char* name(Towards towards) { return towards == Towards::zero ? "zero" : "identity"; }

std::string name(const Ridge& ridge) { return ridge.automatic ? "auto" : fmt::format("{:.6g}", ridge.value); }

}  // namespace cgmca
