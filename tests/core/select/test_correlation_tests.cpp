// The tests of canonical correlations by theory, and the distributions they rest on.
#include <cgmca/correlation_tests.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/distributions.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::Random;
using testing::random_pairs;

// A model of two domains that has only what the tests read.
Model model_of(const Vector& correlations, Index n, Index p, Index q) {
  Model model(2);
  model.samples = n;
  model.total_weight = static_cast<double>(n);
  model.certificate.singular_B = correlations;
  model.certificate.ranks = {p, q};
  model.certificate.constrained = {{1, 0, n}, {1, 0, n}};
  return model;
}

// Rohwer's 69 children, five tasks beside three tests (Timm 1975); published with the R package candisc: Wilks .44011,
// F 3.8961 of 15 and 168.8 degrees of freedom. The other statistics are those of statsmodels' CanCorr.corr_test.
TEST(CorrelationTests, GiveThePublishedFiguresOfRohwer) {
  const Model model = model_of(Vector{{0.6703253842753598, 0.38365692803199025, 0.2506487323894264}}, 69, 5, 3);
  const auto tests = correlation_tests(model);
  ASSERT_EQ(tests.size(), 3);
  const CorrelationTest& all = tests[0];
  EXPECT_EQ(all.first, 1);
  const auto expect = [](const FTest& found, double value, double F, double df1, double df2, double p) {
    EXPECT_NEAR(found.value / value, 1, 1e-12);
    EXPECT_NEAR(found.F / F, 1, 1e-12);
    EXPECT_NEAR(found.df1 / df1, 1, 1e-12);
    EXPECT_NEAR(found.df2 / df2, 1, 1e-12);
    EXPECT_NEAR(found.p / p, 1, 1e-10);
  };
  expect(all.wilks, 0.44010704849613325, 3.8961416938614417, 15, 168.79553862568483, 5.534893078460713e-06);
  expect(all.pillai, 0.6593535462792789, 3.549384688111544, 15, 189, 2.13107649244397e-05);
  expect(all.hotelling, 1.0556239100672342, 4.228944338789932, 15, 110.09489051094877, 4.001666510734156e-06);
  expect(all.roy, 0.8159898220669389, 10.28147175804343, 5, 63, 3.0920497183032265e-07);
  EXPECT_EQ(significant_correlations(tests), 1);
  EXPECT_NEAR(tests[1].wilks.value, 0.7992299206888986, 1e-14);
  EXPECT_NEAR(tests[2].wilks.value, 0.9371752129515737, 1e-14);
}

// For one feature beside q it is the F test of a linear regression, exactly, by all four statistics.
TEST(CorrelationTests, OfOneFeatureAreThoseOfARegression) {
  const Index n = 23, q = 4;
  const double r = 0.71, squared = r * r, F = squared / (1 - squared) * static_cast<double>(n - 1 - q) / q;
  const auto tests = correlation_tests(model_of(Vector{{r}}, n, 1, q));
  ASSERT_EQ(tests.size(), 1);
  for (const FTest* test : {&tests[0].wilks, &tests[0].pillai, &tests[0].hotelling, &tests[0].roy}) {
    EXPECT_NEAR(test->F, F, 1e-12 * F);
    EXPECT_NEAR(test->df1, q, 1e-9);
    EXPECT_NEAR(test->df2, n - 1 - q, 1e-9);
    EXPECT_NEAR(test->p, fisher_tail(F, q, n - 1 - q), 1e-12);
  }
}

// Of n pairs from which k perfectly correlated features have been removed, n - k pairs are left.
TEST(CorrelationTests, GoOnAfterPerfectCorrelationsWithFewerPairs) {
  const Vector rest{{0.5, 0.2}};
  const auto whole = correlation_tests(model_of(Vector{{1, 1, 0.5, 0.2}}, 60, 4, 6));
  const auto left = correlation_tests(model_of(rest, 58, 2, 4));
  for (const std::size_t k : {0, 1}) {
    EXPECT_NEAR(whole[k + 2].wilks.p, left[k].wilks.p, 1e-13);
    EXPECT_NEAR(whole[k + 2].pillai.p, left[k].pillai.p, 1e-13);
    EXPECT_NEAR(whole[k + 2].hotelling.p, left[k].hotelling.p, 1e-13);
    EXPECT_NEAR(whole[k + 2].roy.p, left[k].roy.p, 1e-13);
  }
  EXPECT_LT(whole[0].wilks.p, 1e-50);
  EXPECT_TRUE(std::isfinite(whole[0].hotelling.F));
}

// P values of a true hypothesis are uniform: of the first correlation without any, of the third with two.
TEST(CorrelationTests, HaveUniformPValuesWhereTheHypothesisIsTrue) {
  Random random(11);
  constexpr int sets = 400;
  std::vector<double> none, after_two, chi;
  int right = 0;
  for (int i = 0; i < sets; ++i) {
    const Matrix X1 = random.matrix(4, 60);
    Matrix X2 = random.matrix(3, 60);
    const auto plain = correlation_tests(fit(X1, X2, Covariance::identity(1), Covariance::identity(1)));
    none.push_back(plain[0].wilks.p);
    chi.push_back(plain[0].chi_p);
    X2.topRows(2) = X1.topRows(2) + 0.3 * X2.topRows(2);
    const auto tests = correlation_tests(fit(X1, X2, Covariance::identity(1), Covariance::identity(1)));
    after_two.push_back(tests[2].wilks.p);
    if (significant_correlations(tests) == 2) ++right;
  }
  // Kolmogorov and Smirnov: sup |F_n - F| exceeds 1.63/√n with probability .01.
  for (std::vector<double>* p : {&none, &after_two, &chi}) {
    std::sort(p->begin(), p->end());
    double distance = 0;
    for (int i = 0; i < sets; ++i) {
      const double value = (*p)[i];
      distance = std::max({distance, value - static_cast<double>(i) / sets, static_cast<double>(i + 1) / sets - value});
    }
    EXPECT_LT(distance, 1.63 / std::sqrt(sets));
  }
  EXPECT_NEAR(static_cast<double>(right) / sets, 0.95, 0.035);
}

std::string refusal(const Model& model) {
  try {
    correlation_tests(model);
  } catch (const InvalidInput& problem) {
    EXPECT_NE(std::string(problem.what()).find("permutation_test"), std::string::npos);
    return problem.what();
  }
  return "";
}

TEST(CorrelationTests, AreRefusedWhereTheTheoryDoesNotHold) {
  Random random(5);
  const auto [X1, X2] = random_pairs(random, 5, 4, 40);
  const auto C = Covariance::identity(2);
  EXPECT_EQ(refusal(fit(X1, X2, C, C)), "");
  EXPECT_NE(refusal(fit({X1, X2, X1}, {C})).find("3 domains"), std::string::npos);
  FitOptions ridge, truncated, extra;
  ridge.ridge = {0, 0.1};
  EXPECT_NE(refusal(fit(X1, X2, C, C, ridge)).find("domain 2 was fitted with a ridge"), std::string::npos);
  truncated.max_rank = 3;
  EXPECT_NE(refusal(fit(X1, X2, C, C, truncated)).find("max_rank"), std::string::npos);
  Summary more({5});
  more.add(Matrix(random.matrix(5, 9)));
  extra.extra = {&more, nullptr};
  EXPECT_NE(refusal(fit(X1, X2, C, C, extra)).find("extra samples"), std::string::npos);
  Summary weighted({5, 4});
  weighted.add({X1, X2}, Vector(Vector::Constant(40, 1.23)));
  EXPECT_NE(refusal(fit(weighted, C, C)).find("do not count"), std::string::npos);
  EXPECT_NE(refusal(fit(X1.leftCols(9), X2.leftCols(9), C, C)).find("too few"), std::string::npos);
}

// Weights that count samples give what the samples written out give.
TEST(CorrelationTests, CountWeights) {
  Random random(6);
  const auto [X1, X2] = random_pairs(random, 3, 2, 30);
  Summary counted({3, 2}), written({3, 2});
  counted.add({X1, X2}, Vector(Vector::Constant(30, 2)));
  written.add({X1, X2});
  written.add({X1, X2});
  const auto C = Covariance::identity(1);
  const auto one = correlation_tests(fit(counted, C, C)), two = correlation_tests(fit(written, C, C));
  EXPECT_NEAR(one[0].wilks.p, two[0].wilks.p, 1e-12);
  EXPECT_NEAR(one[1].chi_p, two[1].chi_p, 1e-12);
}

// Values by mpmath with 40 digits.
TEST(Distributions, AreAccurateFarOutAndForManyDegreesOfFreedom) {
  const auto expect = [](double found, double value) { EXPECT_NEAR(found / value, 1, 2e-13); };
  expect(chi_squared_tail(700, 3), 2.0991308534204088e-151);
  expect(chi_squared_tail(0.5, 7.5), 0.99972634090910747);
  expect(fisher_tail(30, 3, 900), 1.7248668371386786e-18);
  expect(fisher_tail(3.5, 15, 168.25), 3.1712012582979787e-5);
  expect(student_quantile(0.975, 9e5), 1.9599666204004614);
  expect(student_quantile(0.9999, 2.5), 34.867969321114773);
  expect(student_quantile(0.95, 3e6), 1.6448541348746797);
}

}  // namespace
}  // namespace cgmca
