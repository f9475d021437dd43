// Shares of variance, structure correlations, importance: what a model says of its features.
#include <Eigen/LU>
#include <cgmca/explained.hpp>

#include <cmath>
#include <vector>

#include "testing.hpp"

namespace cgmca {
namespace {

double correlation(const Vector& x, const Vector& y) {
  const Vector xc = x.array() - x.mean(), yc = y.array() - y.mean();
  return xc.dot(yc) / (xc.norm() * yc.norm());
}

// The plain fit, and one whose covariance α Θ + β I the model must take apart again: in other units each.
std::vector<FitOptions> fits() { return {{}, {.ridge = Ridge(0.3)}, {.ridge = {Ridge::oas(), Ridge(0.1)}}}; }

testing::Pairs pairs_in_units() {
  testing::Random random(5);
  testing::Pairs pairs = testing::random_pairs(random, 6, 4, 40);
  pairs.X1.row(2) *= 100;
  pairs.X1.row(3).setConstant(7);
  pairs.X2.row(1) = pairs.X2.row(1).array() * 0.01 + 50;
  return pairs;
}

TEST(Explained, CorrelationsWithADirectionAreThoseOfTheSamples) {
  const auto [X1, X2] = pairs_in_units();
  for (const FitOptions& options : fits()) {
    const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3), options);
    for (Domain domain : kDomains) {
      const Matrix& X = domain == Domain::one ? X1 : X2;
      const Matrix scores = model.domain(domain).weights * testing::centred(X);
      const Matrix found = score_correlations(model, domain, domain);
      ASSERT_EQ(found.rows(), X.rows());
      for (Index f = 0; f < X.rows(); ++f) {
        for (Index j = 0; j < 3; ++j) {
          if (domain == Domain::one && f == 3) {
            EXPECT_TRUE(std::isnan(found(f, j)));  // it is constant
          } else {
            EXPECT_NEAR(found(f, j), correlation(X.row(f), scores.row(j)), 1e-12);
          }
        }
      }
    }
  }
}

TEST(Explained, R2OfEachFeatureIsThatOfItsTranslation) {
  const auto [X1, X2] = pairs_in_units();
  for (const FitOptions& options : fits()) {
    const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3), options);
    for (Domain to : kDomains) {
      const Matrix& X = to == Domain::one ? X1 : X2;
      const Matrix error = X - translate(model, other(to), to, to == Domain::one ? X2 : X1);
      MeasuredR2 measured(model, to);
      measured.add(X1.leftCols(13), X2.leftCols(13));
      measured.add(X1.rightCols(27), X2.rightCols(27));
      const Vector found = measured.value().features, claimed = translation_r2(model, to).features;
      for (Index f = 0; f < X.rows(); ++f) {
        if (to == Domain::one && f == 3) {
          EXPECT_TRUE(std::isnan(found(f)) && std::isnan(claimed(f)));
          continue;
        }
        const double expected = 1 - error.row(f).squaredNorm() / testing::centred(X).row(f).squaredNorm();
        EXPECT_NEAR(found(f), expected, 1e-12);
        EXPECT_NEAR(claimed(f), expected, 1e-11);
      }
    }
  }
}

TEST(Explained, AFeatureThatTheRidgeHidesHasNoNumbers) {
  auto [X1, X2] = pairs_in_units();
  X1.row(0) *= 1e-8;
  const Model ridge = fit(X1, X2, Covariance::identity(2), Covariance::identity(2), {.ridge = Ridge(0.3)});
  EXPECT_TRUE(score_correlations(ridge, Domain::one, Domain::one).row(0).array().isNaN().all());
  EXPECT_TRUE(std::isnan(translation_r2(ridge, Domain::one).features(0)));
  const Model plain = fit(X1, X2, Covariance::identity(2), Covariance::identity(2));
  const Vector score = (plain.domain(Domain::one).weights * testing::centred(X1)).row(0);
  EXPECT_NEAR(score_correlations(plain, Domain::one, Domain::one)(0, 0), correlation(X1.row(0), score), 1e-8);
}

// About the mean of the pairs themselves, which need not be those of the fit.
TEST(Explained, R2OfOtherPairsMayBeNegative) {
  const auto [X1, X2] = pairs_in_units();
  const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
  const Matrix moved = X2.array() + 1e4;
  MeasuredR2 measured(model, Domain::two);
  measured.add(X1, moved);
  const Matrix error = moved - translate(model, Domain::one, Domain::two, X1);
  const double expected = 1 - error.row(0).squaredNorm() / testing::centred(moved).row(0).squaredNorm();
  EXPECT_LT(expected, -1e3);
  EXPECT_NEAR(measured.value().features(0) / expected, 1, 1e-9);
}

// The fitness club's 20 men, physiological measurements beside exercises (Linnerud), as SAS prints their canonical
// redundancy analysis: standardized variance carried by the own scores, and explained by the opposite ones.
TEST(Explained, RedundancyIsThePublishedOneOfLinnerud) {
  Matrix body(3, 20), exercises(3, 20);
  body << 191, 189, 193, 162, 189, 182, 211, 167, 176, 154, 169, 166, 154, 247, 193, 202, 176, 157, 156, 138,  //
      36, 37, 38, 35, 35, 36, 38, 34, 31, 33, 34, 33, 34, 46, 36, 37, 37, 32, 33, 33,                          //
      50, 52, 58, 62, 46, 56, 56, 60, 74, 56, 50, 52, 64, 50, 46, 62, 54, 52, 54, 68;
  exercises << 5, 2, 12, 12, 13, 4, 8, 6, 15, 17, 17, 13, 14, 1, 6, 12, 4, 11, 15, 2,                   //
      162, 110, 101, 105, 155, 101, 101, 125, 200, 251, 120, 210, 215, 50, 70, 210, 60, 230, 225, 110,  //
      60, 60, 101, 37, 58, 42, 38, 40, 40, 250, 38, 115, 105, 50, 31, 120, 25, 80, 73, 43;
  const Model model = fit(body, exercises, Covariance::identity(3), Covariance::identity(3));
  const auto expect = [&](Domain of, Domain by, const Vector& published, double total) {
    const Shares found = explained(model, of, by).standardized;
    EXPECT_LT((found.alone - published).cwiseAbs().maxCoeff(), 6e-5);
    EXPECT_NEAR(found.total(), total, 6e-5);
  };
  expect(Domain::one, Domain::one, Vector{{0.4508, 0.2470, 0.3022}}, 1);
  expect(Domain::one, Domain::two, Vector{{0.2854, 0.0099, 0.0016}}, 0.2969);
  expect(Domain::two, Domain::two, Vector{{0.4081, 0.4345, 0.1574}}, 1);
  expect(Domain::two, Domain::one, Vector{{0.2584, 0.0175, 0.0008}}, 0.2767);
}

// All scores of a domain carry all of it; those of another domain explain what a regression on it explains.
TEST(Explained, SharesOfAllDirectionsSumAsTheyShould) {
  const auto [X1, X2] = pairs_in_units();
  const Model model = fit(X1, X2, Covariance::identity(4), Covariance::identity(4));
  const Explained own = explained(model, Domain::two, Domain::two);
  EXPECT_NEAR(own.variance.total(), 1, 1e-12);
  EXPECT_NEAR(own.standardized.total(), 1, 1e-12);
  for (const Domain to : kDomains) {
    const Explained cross = explained(model, to, other(to));
    const TranslationR2 r2 = translation_r2(model, to);
    EXPECT_NEAR(cross.variance.total(), r2.variance, 1e-12);
    EXPECT_NEAR(cross.standardized.total(), r2.standardized, 1e-12);
    const Vector sigma = model.certificate.singular_B.head(4);
    const Explained carried = explained(model, to, to);
    EXPECT_LT(testing::relative(cross.variance.alone, sigma.cwiseAbs2().cwiseProduct(carried.variance.alone)), 1e-12);
    EXPECT_NEAR(importance(model, to).sum(), 1, 1e-12);
  }
  EXPECT_EQ(importance(model, Domain::one)(3), 0);  // it is constant
  const Matrix shared = shared_correlations(model, Domain::one, Domain::two);
  for (const Index f : {0, 1, 2}) EXPECT_NEAR(shared(f, 1), correlation(X1.row(f), X2.row(1)), 1e-12);
}

// By regression on the scores themselves, for three domains with ridges.
TEST(Explained, SharesOfSeveralDomainsWithRidgesAreThoseOfRegressions) {
  testing::Random random(8);
  const Matrix causes = random.matrix(3, 50);
  std::vector<Matrix> X;
  for (const Index d : {5, 4, 6}) X.push_back(random.matrix(d, 3) * causes + 0.5 * random.matrix(d, 50));
  FitOptions options;
  options.ridge = {0.2, 0.0, Ridge(1.5)};
  const Model model = fit({X[0], X[1], X[2]}, {Covariance::identity(3)}, options);
  for (const Domain of : all_domains(3)) {
    const Matrix& features = X[slot(of)];
    const Matrix centred_features = testing::centred(features);
    for (const Domain by : all_domains(3)) {
      const Matrix scores = model.domain(by).weights * testing::centred(X[slot(by)]);
      const Explained found = explained(model, of, by);
      const Matrix correlations = score_correlations(model, of, by);
      for (Index j = 0; j < 3; ++j) {
        const Matrix some = scores.topRows(j + 1);
        const Matrix fitted = centred_features * some.transpose() * (some * some.transpose()).inverse() * some;
        EXPECT_NEAR(found.variance.cumulative(j), fitted.squaredNorm() / centred_features.squaredNorm(), 1e-12);
        const Vector r2 = fitted.rowwise().squaredNorm().cwiseQuotient(centred_features.rowwise().squaredNorm());
        EXPECT_NEAR(found.standardized.cumulative(j), r2.mean(), 1e-12);
        EXPECT_NEAR(correlations(2, j), correlation(features.row(2), scores.row(j)), 1e-12);
        EXPECT_NEAR(found.standardized.alone(j),
                    correlations.col(j).squaredNorm() / static_cast<double>(features.rows()), 1e-12);
      }
    }
    MeasuredR2 measured(model, of);
    measured.add({X[0], X[1], X[2]});
    EXPECT_LT(testing::relative(translation_r2(model, of).features, measured.value().features), 1e-11);
    EXPECT_NEAR(translation_r2(model, of).variance, measured.value().variance, 1e-11);
  }
}

}  // namespace
}  // namespace cgmca
