#include <cgmca/correlation_tests.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/distributions.hpp"
#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

// The test of the remaining correlations once the first k are taken to be real.
struct Left {
  double P, Q, S;  // ranks less k, and the smaller of them
  double N;        // n - k, n less the rank of a nuisance
};

FTest by_F(double value, double F, double df1, double df2) {
  FTest test{value, F, df1, df2, std::numeric_limits<double>::quiet_NaN()};
  if (df1 > 0 && df2 > 0) test.p = fisher_tail(F, df1, df2);
  return test;
}

// Rao 1951
FTest wilks(double log_lambda, const Left& left) {
  const auto [P, Q, S, N] = left;
  const double t = P * Q > 2 ? std::sqrt((P * P * Q * Q - 4) / (P * P + Q * Q - 5)) : 1;
  const double df1 = P * Q, df2 = (N - (P + Q + 3) / 2) * t - P * Q / 2 + 1;
  return by_F(std::exp(log_lambda), std::expm1(-log_lambda / t) * df2 / df1, df1, df2);
}

FTest pillai(double V, const Left& left) {
  const auto [P, Q, S, N] = left;
  const double m = (std::abs(P - Q) - 1) / 2, v = (N - P - Q - 2) / 2;
  const double df1 = S * (2 * m + S + 1), df2 = S * (2 * v + S + 1);
  return by_F(V, V / (S - V) * df2 / df1, df1, df2);
}

// McKeon 1974
FTest hotelling(double U, const Left& left) {
  const auto [P, Q, S, N] = left;
  const double v = (N - P - Q - 2) / 2;
  if (v <= 1) {  // too few pairs for McKeon's: Pillai's first approximation
    const double m = (std::abs(P - Q) - 1) / 2, df1 = S * (2 * m + S + 1), df2 = 2 * (S * v + 1);
    return by_F(U, U * df2 / (S * df1), df1, df2);
  }
  const double b = (P + 2 * v) * (Q + 2 * v) / (2 * (2 * v + 1) * (v - 1));
  const double df1 = P * Q, df2 = 4 + (P * Q + 2) / (b - 1), c = (df2 - 2) / (2 * v);
  return by_F(U, U / c * df2 / df1, df1, df2);
}

FTest roy(double theta, const Left& left) {
  const double df1 = std::max(left.P, left.Q), df2 = left.N - 1 - df1;
  return by_F(theta, theta * df2 / df1, df1, df2);
}

// The reason why the theory does not hold for this model; empty if it holds.
std::string obstacle(const Model& model) {
  const Certificate& certificate = model.certificate;
  if (model.count() != 2) return fmt::format("the model has {} domains", model.count());
  for (std::size_t i = 0; i < 2; ++i) {
    if (!certificate.constrained[i].plain()) return fmt::format("domain {} was fitted with a ridge", i + 1);
    if (model.settings.max_rank[i] > 0) return fmt::format("domain {} was fitted with max_rank", i + 1);
    if (certificate.constrained[i].samples > model.samples) {
      return fmt::format("domain {} has extra samples without partners", i + 1);
    }
  }
  if (const double W = model.total_weight; W < static_cast<double>(model.samples) || W != std::round(W)) {
    return fmt::format("the weights sum to {:.6g}, so they do not count samples", W);
  }
  const Index p = certificate.ranks[0], q = certificate.ranks[1];
  if (static_cast<double>(p + q) > model.free_weight() - 1) {
    return fmt::format("{} samples are too few for ranks of {} and {}: correlations of 1 arise by chance",
                       model.samples, p, q);
  }
  return {};
}

}  // namespace

std::vector<CorrelationTest> correlation_tests(const Model& model) {
  if (const std::string why = obstacle(model); !why.empty()) {
    throw InvalidInput(why + "; the theory of these tests is not valid then, so use permutation_test instead");
  }
  const double p = static_cast<double>(model.certificate.ranks[0]), q = static_cast<double>(model.certificate.ranks[1]);
  const Index s = std::min(model.certificate.ranks[0], model.certificate.ranks[1]);
  const Vector& sigma = model.certificate.singular_B;
  if (sigma.size() < s) {
    throw InvalidInput(fmt::format(
        "the model holds {} of {} correlations, and these tests need all; fit with more components", sigma.size(), s));
  }
  const double n = model.free_weight();
  std::vector<CorrelationTest> tests(s);
  double log_lambda = 0, V = 0, U = 0;
  for (Index k = s - 1; k >= 0; --k) {  // sums over j > k
    // 1 - σ² as (1-σ)(1+σ), which loses nothing near 1. A correlation that is 1 to rounding counts as the largest below 1.
    const double correlation = std::min(sigma(k), 1 - thresholds::kEpsilon);
    const double square = correlation * correlation, rest = (1 - correlation) * (1 + correlation);
    log_lambda += std::log(rest);
    V += square;
    U += square / rest;
    const double kk = static_cast<double>(k);
    const Left left{p - kk, q - kk, std::min(p, q) - kk, n - kk};
    CorrelationTest& test = tests[k];
    test.first = k + 1;
    test.correlation = sigma(k);
    test.wilks = wilks(log_lambda, left);
    test.pillai = pillai(V, left);
    test.hotelling = hotelling(U, left);
    test.roy = roy(square / rest, left);
    const double factor = n - kk - (p + q + 3) / 2 + sigma.head(k).array().square().inverse().sum();
    test.chi_squared = -factor * log_lambda;
    test.chi_df = left.P * left.Q;
    test.chi_p = chi_squared_tail(test.chi_squared, test.chi_df);
  }
  return tests;
}

Index significant_correlations(const std::vector<CorrelationTest>& tests, double level) {
  Index count = 0;
  for (const CorrelationTest& test : tests) {
    if (!(test.wilks.p <= level)) break;
    ++count;
  }
  return count;
}

}  // namespace cgmca
