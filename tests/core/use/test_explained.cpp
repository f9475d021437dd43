// Shares of variance, structure correlations, importance: what a model says of its features.
#include <Eigen/LU>
#include <cgmca/correlation_tests.hpp>
#include <cgmca/explained.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "testing.hpp"

namespace cgmca {
namespace {

double correlation(const Vector& x, const Vector& y) {
  const Vector xc = x.array() - x.mean(), yc = y.array() - y.mean();
  return xc.dot(yc) / (xc.norm() * yc.norm());
}

// The plain fit, and one whose covariance α Θ + β I the model must take apart again: in other units each.
std::vector<FitOptions> fits() { return {{}, {.ridge = Ridge(0.3)}, {.ridge = {Ridge::from_data(), Ridge(0.1)}}}; }

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
      measured.add({X1.leftCols(13), X2.leftCols(13)});
      measured.add({X1.rightCols(27), X2.rightCols(27)});
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
  measured.add({X1, moved});
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

// Rohwer's 69 children, five learning tasks beside three tests of ability (Timm 1975, heplots). candisc prints
// redundancies .173424 .042113 .007966 (sum .223503) and .22491 .03688 .01564 (.27743), Wilks .44011 and F 3.8961 of 15
// and 168.8; further digits are those of cca-zoo 4.0.1's redundancy_index.
TEST(Explained, OfRohwerIsWhatCandiscAndCcaZooPublish) {
  Matrix tasks(5, 69), ability(3, 69);
  // clang-format off
  tasks <<
      1, 5, 0, 0, 2, 2, 0, 0, 0, 3, 8, 5, 1, 2, 3, 0, 7, 0, 12, 3, 0, 4, 4, 0, 0, 3, 1, 2, 0, 8, 2, 7, 2, 0, 1, 6,
      0, 0, 7, 7, 6, 20, 4, 6, 5, 3, 16, 5, 2, 1, 11, 0, 5, 1, 1, 0, 4, 4, 1, 5, 4, 5, 0, 4, 5, 4, 4, 2, 5,
      2, 14, 10, 2, 7, 15, 1, 0, 0, 2, 16, 4, 12, 1, 12, 2, 12, 6, 8, 9, 7, 6, 9, 2, 1, 8, 18, 11, 10, 10, 12, 11,
      5, 1, 0, 4, 6, 10, 3, 9, 11, 7, 11, 7, 2, 5, 12, 3, 11, 4, 5, 0, 8, 6, 9, 13, 6, 5, 6, 8, 5, 7, 4, 17, 8, 7,
      7, 6, 10,
      6, 14, 21, 5, 11, 21, 20, 10, 7, 21, 15, 7, 13, 12, 20, 5, 21, 6, 19, 15, 9, 20, 14, 4, 16, 18, 19, 9, 7,
      28, 5, 18, 10, 14, 10, 23, 6, 8, 21, 17, 16, 21, 18, 17, 11, 14, 16, 17, 10, 14, 18, 3, 11, 10, 12, 13, 14,
      16, 15, 14, 11, 17, 8, 21, 20, 19, 10, 14, 18,
      12, 30, 16, 17, 26, 34, 23, 19, 16, 26, 35, 15, 27, 20, 26, 14, 35, 14, 27, 18, 14, 26, 23, 11, 15, 28, 34,
      23, 12, 32, 25, 29, 23, 19, 18, 31, 15, 21, 28, 31, 27, 28, 32, 26, 22, 24, 27, 25, 26, 25, 27, 16, 12, 28,
      30, 19, 27, 21, 23, 25, 16, 26, 16, 27, 28, 20, 23, 25, 27,
      16, 27, 16, 8, 17, 25, 18, 14, 13, 25, 24, 14, 21, 17, 22, 8, 27, 16, 26, 10, 18, 26, 23, 8, 17, 21, 23, 11,
      8, 32, 14, 21, 24, 12, 18, 26, 14, 22, 21, 30, 25, 16, 29, 23, 23, 20, 30, 24, 22, 19, 22, 11, 15, 23, 18,
      16, 19, 24, 28, 24, 22, 15, 14, 31, 26, 13, 19, 17, 26;
  ability <<
      49, 47, 11, 9, 69, 35, 6, 8, 49, 8, 47, 6, 14, 30, 4, 24, 19, 45, 22, 16, 32, 37, 47, 5, 6, 60, 58, 6, 16,
      45, 9, 69, 35, 19, 58, 58, 79, 24, 8, 88, 82, 90, 77, 58, 14, 1, 98, 8, 88, 4, 14, 38, 4, 64, 88, 14, 99,
      50, 36, 88, 14, 24, 24, 24, 50, 8, 98, 98, 50,
      48, 76, 40, 52, 63, 82, 71, 68, 74, 70, 70, 61, 54, 55, 54, 40, 66, 54, 64, 47, 48, 52, 74, 57, 57, 80, 78,
      70, 47, 94, 63, 76, 59, 55, 74, 71, 54, 68, 82, 82, 91, 82, 100, 100, 96, 63, 91, 87, 105, 87, 76, 66, 74,
      68, 98, 63, 94, 82, 89, 80, 61, 102, 71, 102, 96, 55, 96, 74, 78,
      8, 13, 13, 9, 15, 14, 21, 8, 11, 15, 15, 11, 12, 13, 10, 14, 13, 10, 14, 16, 16, 14, 19, 12, 10, 11, 13, 16,
      14, 19, 11, 16, 11, 8, 14, 17, 14, 15, 11, 13, 18, 13, 15, 13, 12, 10, 18, 10, 21, 14, 16, 14, 15, 13, 16,
      15, 16, 18, 15, 19, 11, 20, 12, 16, 13, 16, 18, 15, 19;
  // clang-format on
  const Model model = fit(tasks, ability, Covariance::identity(3), Covariance::identity(3));
  const Vector sigma = model.certificate.singular_B.head(3);
  EXPECT_LT((sigma - Vector{{0.67033, 0.38366, 0.25065}}).cwiseAbs().maxCoeff(), 5e-6);
  const FTest wilks = correlation_tests(model).front().wilks;
  EXPECT_NEAR(wilks.value, 0.44011, 5e-6);
  EXPECT_NEAR(wilks.F, 3.8961, 5e-5);
  EXPECT_EQ(wilks.df1, 15);
  EXPECT_NEAR(wilks.df2, 168.8, 0.05);
  EXPECT_NEAR(wilks.p, 5.535e-06, 5e-10);
  const Shares of_tasks = explained(model, Domain::one, Domain::two).standardized;
  const Shares of_ability = explained(model, Domain::two, Domain::one).standardized;
  EXPECT_LT((of_tasks.alone - Vector{{0.173424031752731, 0.042112687065566, 0.007966130765258}}).norm(), 1e-12);
  EXPECT_LT((of_ability.alone - Vector{{0.224906922711529, 0.036884014002633, 0.015636155384646}}).norm(), 1e-12);
  EXPECT_NEAR(of_tasks.total(), 0.223502849583555, 1e-12);
  EXPECT_NEAR(of_ability.total(), 0.277427092098808, 1e-12);
  const Vector adequacy = explained(model, Domain::one, Domain::one).standardized.alone;
  EXPECT_LT((adequacy - Vector{{0.3859561333339, 0.286105932440824, 0.126799168600724}}).norm(), 1e-12);
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
  ByDomain<Matrix> X;
  for (const Index d : {5, 4, 6}) X.push_back(random.matrix(d, 3) * causes + 0.5 * random.matrix(d, 50));
  FitOptions options;
  options.ridge = {0.2, 0.0, Ridge(1.5)};
  const Model model = fit({X[0], X[1], X[2]}, {Covariance::identity(3)}, options);
  for (const Domain of : all_domains(3)) {
    const Matrix& features = X[of];
    const Matrix centred_features = testing::centred(features);
    for (const Domain by : all_domains(3)) {
      const Matrix scores = model.domain(by).weights * testing::centred(X[by]);
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

// 300 pairs of 8 + 6 features with 4 common causes.
testing::Pairs related_pairs(testing::Random& random, Index n = 300) {
  const Matrix causes = random.matrix(4, n);
  return {random.matrix(8, 4) * causes + 0.7 * random.matrix(8, n),
          random.matrix(6, 4) * causes + 0.7 * random.matrix(6, n)};
}

TEST(Diagnose, ContributionsSumToTheirStatistics) {
  testing::Random random(3);
  auto [X1, X2] = related_pairs(random, 60);
  const Matrix X3 = X1.topRows(5) + random.matrix(5, 60);
  const Model model = fit({X1, X2, X3}, {Covariance::identity(3)}, {.ridge = Ridge(0.2)});
  const MatchedSamples X{X1, X2, X3};
  const Diagnosis found = diagnose(model, X);
  const Matrix t = model.domain(Domain::two).weights * testing::centred(X2);
  const Vector by_hand = (t.transpose() * testing::sample_covariance(t).inverse() * t).diagonal();
  EXPECT_LT(testing::relative(found.domains[1].t_squared, by_hand), 1e-10);
  for (const Domain domain : all_domains(3)) {
    const DomainDiagnosis& own = found.domains[domain];
    for (const auto& [statistic, values] :
         std::vector<std::pair<Statistic, Vector>>{{Statistic::t_squared, own.t_squared},
                                                   {Statistic::residual, own.residual},
                                                   {Statistic::distance, own.distance}}) {
      Vector sum = Vector::Zero(60);
      for (const Matrix& part : contributions(model, statistic, domain, X)) {
        if (part.size() > 0) sum += part.colwise().sum().transpose();
      }
      EXPECT_LT(testing::relative(sum, values), 1e-9);
    }
    EXPECT_EQ(*std::min_element(own.rank.begin(), own.rank.end()), 1);
  }
}

// -2 log p(x_2 | x_1) of the model's own normal law, by its covariance.
TEST(Diagnose, DistanceIsMinusTwoLogTheConditionalDensity) {
  testing::Random random(4);
  const auto [X1, X2] = related_pairs(random, 80);
  const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
  const Vector s = model.certificate.singular_B.head(3);
  const Matrix t1 = model.domain(Domain::one).weights * testing::centred(X1);
  const Matrix t2 = model.domain(Domain::two).weights * testing::centred(X2);
  const Matrix missed = t2 - s.asDiagonal() * t1;
  const Vector expected = missed.cwiseAbs2().transpose() * (1 - s.array().square()).inverse().matrix();
  const Diagnosis found = diagnose(model, {X1, X2});
  EXPECT_LT(testing::relative(found.domains[1].distance, expected), 1e-10);
  EXPECT_LT(testing::relative(found.domains[0].evidence, found.domains[1].evidence), 1e-10);
}

// 5 % of 300 pairs have each other's partners. T² alone sees nothing of it.
TEST(Diagnose, FindsPairsThatWereSwapped) {
  Index right = 0, listed = 0, clean = 0, swapped = 0, far_out = 0;
  for (int seed = 0; seed < 10; ++seed) {
    testing::Random random(static_cast<std::uint64_t>(20 + seed));
    auto [X1, X2] = related_pairs(random);
    const auto C = Covariance::identity(4);
    for (const Suspect& one : diagnose(fit(X1, X2, C, C), {X1, X2}).suspects)
      clean += one.suspicion <= Suspicion::swapped;
    for (Index k = 0; k < 14; k += 2) X2.col(k).swap(X2.col(k + 1));
    for (const Suspect& one : diagnose(fit(X1, X2, C, C), {X1, X2}).suspects) {
      if (one.suspicion == Suspicion::far_out) far_out += one.sample < 14;
      if (one.suspicion > Suspicion::swapped) continue;
      ++listed;
      right += one.sample < 14;
      swapped += one.suspicion == Suspicion::swapped && one.partner == (one.sample ^ 1);
    }
  }
  EXPECT_GE(right, 55);           // of 140
  EXPECT_LE(listed - right, 10);  // wrongly accused
  EXPECT_GE(swapped, right / 8);  // and with the right partner
  EXPECT_LE(clean, 3);            // of 3,000 pairs
  EXPECT_LE(far_out, 3);
}

// Tails of Student's t with 3 degrees of freedom, and no wrong pair: the law of normal data would list some in most sets.
TEST(Diagnose, AccusesNoPairsOfHeavyTails) {
  int sets = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    testing::Random random(300 + seed);
    const auto heavy = [&](Index rows) -> Matrix {
      const Matrix chi = random.matrix(rows, 400).cwiseAbs2() + random.matrix(rows, 400).cwiseAbs2() +
                         random.matrix(rows, 400).cwiseAbs2();
      return random.matrix(rows, 400).cwiseQuotient((chi / 3).cwiseSqrt());
    };
    const Matrix causes = heavy(4);
    const Matrix X1 = random.matrix(8, 4) * causes + heavy(8), X2 = random.matrix(6, 4) * causes + heavy(6);
    const auto C = Covariance::identity(4);
    const std::vector<Suspect> found = diagnose(fit(X1, X2, C, C), {X1, X2}).suspects;
    sets +=
        std::any_of(found.begin(), found.end(), [](const Suspect& one) { return one.suspicion <= Suspicion::swapped; });
  }
  EXPECT_LE(sets, 3);
}

TEST(Diagnose, FindsSamplesOutsideTheSpaceOfTheFit) {
  testing::Random random(9);
  auto [X1, X2] = related_pairs(random);
  const auto C = Covariance::identity(4);
  const Model model = fit(X1, X2, C, C);
  X2.col(7) += 12 * random.matrix(6, 1);
  const Diagnosis found = diagnose(model, {X1, X2});
  const bool listed = std::any_of(found.suspects.begin(), found.suspects.end(), [](const Suspect& one) {
    return one.sample == 7 && one.suspicion >= Suspicion::far_out && one.domain == Domain::two;
  });
  EXPECT_TRUE(listed);
  EXPECT_THROW(diagnose(model, {X1.leftCols(4), X2.leftCols(4)}), TooFewSamples);
  EXPECT_THROW(diagnose(model, {X1, X2}, {.false_discovery_rate = 0}), InvalidInput);
  EXPECT_THROW(diagnose(model, {X1, X2.leftCols(20)}), UnequalSamples);
}

TEST(Diagnose, NotesPairsInAnotherOrder) {
  testing::Random random(10);
  const auto [X1, X2] = related_pairs(random);
  const auto C = Covariance::identity(2);
  EXPECT_TRUE(pairing_notes(fit(X1, X2, C, C)).empty());
  EXPECT_NE(pairing_notes(fit(X1, Matrix(X2.rowwise().reverse()), C, C)).at(0).find("above chance"), std::string::npos);
  const Matrix turned = random.matrix(8, 8) * X1;
  EXPECT_NE(pairing_notes(fit(X1, turned, C, C)).at(0).find("every correlation is 1"), std::string::npos);
}

// More samples than 2p are dealt to groups, of which only products are kept; in units far apart and with a repeated
// feature.
TEST(Bootstrap, OfGroupsIsAboutTheFitOfTheSamples) {
  testing::Random random(12);
  auto [X1, X2] = related_pairs(random, 400);
  X1.row(0) = X1.row(0).array() * 1e6 + 1e7;
  X1.row(7) = X1.row(6) - X1.row(5);
  BootstrapSamples samples({8, 6});
  samples.add({X1.leftCols(150), X2.leftCols(150)});
  samples.add({X1.rightCols(250), X2.rightCols(250)});
  EXPECT_EQ(samples.samples(), 400);
  EXPECT_LE(samples.groups(), 200);
  const auto C = Covariance::identity(3);
  const Bootstrap found = bootstrap(samples, {C}, {}, {.replicas = 20});
  const Model model = fit(X1, X2, C, C);
  EXPECT_LT(testing::relative(found.correlations.estimate, model.certificate.singular_B.head(3)), 1e-9);
  for (const Domain domain : kDomains) {
    const Matrix structure = score_correlations(model, domain, domain).leftCols(3);
    EXPECT_LT(testing::relative(found.domains[domain].structure.estimate, structure), 1e-7);
    EXPECT_NEAR(found.domains[domain].selected.sum(), static_cast<double>(3 * std::min<Index>(10, structure.rows())),
                1e-9);
  }
  EXPECT_EQ(found.replicas, 20);
}

// The spread of a correlation of two variables is (1 - ρ²)/√n; by samples, by groups, and by units of copies.
TEST(Bootstrap, ErrorsOfACorrelationAreThoseOfTheory) {
  testing::Random random(13);
  const Matrix X1 = random.matrix(1, 2000), X2 = 0.75 * X1 + std::sqrt(1 - 0.75 * 0.75) * random.matrix(1, 2000);
  const auto C = Covariance::identity(1);
  const double expected = (1 - 0.75 * 0.75) / std::sqrt(2000.0);
  const auto error = [&](const MatchedSamples& X, const std::vector<std::int64_t>& units) {
    BootstrapSamples samples({1, 1});
    samples.add(X, {}, units);
    return bootstrap(samples, {C}, {}, {.replicas = 400}).correlations.standard_error(0, 0);
  };
  EXPECT_NEAR(error({X1, X2}, {}) / expected, 1, 0.25);  // 200 groups: 5 %; 400 replicas: 4 %
  Matrix twice1(1, 4000), twice2(1, 4000);
  twice1 << X1, X1;
  twice2 << X2, X2;
  std::vector<std::int64_t> units;
  for (Index j = 0; j < 4000; ++j) units.push_back(j % 2000);
  EXPECT_NEAR(error({twice1, twice2}, units) / expected, 1, 0.25);  // as if each were there once
}

TEST(Bootstrap, IsTheSameOnAnyNumberOfThreadsAndForAModel) {
  testing::Random random(14);
  const auto [X1, X2] = related_pairs(random, 60);
  const Matrix X3 = X1.topRows(3) + random.matrix(3, 60);
  FitOptions options;
  options.ridge = Ridge(0.5);
  const Model model = fit({X1, X2, X3}, {Covariance::identity(2)}, options);
  for (const Index n : {25, 60}) {  // fewer samples than 2p, and more
    BootstrapSamples samples({8, 6, 3});
    samples.add({X1.leftCols(n), X2.leftCols(n), X3.leftCols(n)});
    const int threads = worker_count();
    set_threads(1);
    const Bootstrap one = bootstrap(samples, model, {.replicas = 12});
    set_threads(2);
    const Bootstrap two = bootstrap(samples, model, {.replicas = 12});
    set_threads(threads);
    EXPECT_EQ(one.domains[2].weights.lower, two.domains[2].weights.lower);
    EXPECT_EQ(one.correlations.p, two.correlations.p);
    EXPECT_EQ(one.correlations.estimate.cols(), 3);
    EXPECT_TRUE((one.correlations.lower.array() <= one.correlations.upper.array()).all());
  }
  BootstrapSamples few({8, 6});
  few.add({X1.leftCols(3), X2.leftCols(3)});
  EXPECT_THROW(bootstrap(few, {Covariance::identity(1)}), TooFewSamples);
  EXPECT_THROW(few.add({X1, X2}, {}, {1, 2}), UnequalSamples);
}

// The closed form of replicas shares no code with the fit, which any option sends them to that it does not know.
TEST(Bootstrap, ReplicasInClosedFormAreThoseOfFits) {
  testing::Random random(17);
  auto [X1, X2] = related_pairs(random, 300);
  X1.row(0) = X1.row(0).array() * 1e5 + 3e6;
  for (const bool wider_first : {true, false}) {
    BootstrapSamples samples(wider_first ? std::vector<DomainInfo>{8, 6} : std::vector<DomainInfo>{6, 8});
    wider_first ? samples.add({X1, X2}) : samples.add({X2, X1});
    for (const double ridge : {0.0, 0.3}) {
      FitOptions closed, fitted;
      closed.ridge = ridge;
      closed.scale = ridge > 0 && wider_first;
      fitted = closed;
      fitted.device = Device::cpu;
      const auto C = Covariance::identity(3);
      const Bootstrap one = bootstrap(samples, {C}, closed, {.replicas = 30});
      const Bootstrap two = bootstrap(samples, {C}, fitted, {.replicas = 30});
      EXPECT_LT(testing::relative(one.correlations.lower, two.correlations.lower), 1e-9);
      EXPECT_LT(testing::relative(one.correlations.standard_error, two.correlations.standard_error), 1e-9);
      EXPECT_EQ(one.correlations.p, two.correlations.p);
      for (const std::size_t i : {0, 1}) {
        EXPECT_LT(testing::relative(one.domains[i].weights.upper, two.domains[i].weights.upper), 1e-8);
        EXPECT_LT(testing::relative(one.domains[i].structure.upper, two.domains[i].structure.upper), 1e-8);
        EXPECT_EQ(one.domains[i].selected, two.domains[i].selected);
      }
    }
  }
}

// Two equal correlations leave open which direction is which, but not their plane.
TEST(Bootstrap, TurnedTogetherDirectionsAreAsSureAsTheirSpace) {
  testing::Random random(18);
  const Matrix X1 = random.matrix(4, 300), X2 = 0.7 * X1.topRows(2) + 0.7 * random.matrix(2, 300);
  BootstrapSamples samples({4, 2});
  samples.add({X1, X2});
  for (const double ridge : {0.0, 0.2}) {
    FitOptions options;
    options.ridge = ridge;
    const auto error = [&](bool rotate, Index directions) {
      const BootstrapOptions how{.replicas = 100, .directions = directions, .rotate = rotate};
      return bootstrap(samples, {Covariance::identity(2)}, options, how).domains[0].structure.standard_error;
    };
    EXPECT_LT(error(true, 2).topRows(2).norm(), 0.3 * error(false, 2).topRows(2).norm());
    EXPECT_LT(testing::relative(error(true, 1), error(false, 1)), 1e-12);
  }
}

// Its ridge is one of scaled features; without that the intervals would be those of another fit.
TEST(Bootstrap, OfAModelOfScaledFeaturesScalesThem) {
  testing::Random random(15);
  auto [X1, X2] = related_pairs(random, 60);
  X1.row(0) *= 1e3;
  FitOptions options;
  options.ridge = Ridge(0.5);
  options.scale = true;
  const Model model = fit(X1, X2, Covariance::identity(2), Covariance::identity(2), options);
  BootstrapSamples samples({8, 6});
  samples.add({X1, X2});
  const Matrix estimate = bootstrap(samples, model, {.replicas = 10}).correlations.estimate;
  const Vector expected = model.certificate.singular_B.head(2);
  EXPECT_LE(testing::relative(estimate.reshaped().head(2), expected), 1e-8);
}

TEST(Bootstrap, OfIncompleteSamplesOrAddedDomainsIsRefused) {
  testing::Random random(16);
  const auto [X1, X2] = related_pairs(random, 60);
  IncompleteSummary summary({8, 6});
  Matrix gaps = X2;
  gaps.rightCols(20).setConstant(std::nan(""));
  summary.add({X1, gaps});
  BootstrapSamples samples({8, 6});
  samples.add({X1, X2});
  EXPECT_THROW(bootstrap(samples, fit(summary, {Covariance::identity(2)}), {.replicas = 10}), InvalidInput);
  // Nor do these fits know what a ridge in EM would have to shrink.
  FitOptions options;
  options.scale = true;
  EXPECT_THROW(fit(summary, {Covariance::identity(2)}, options), InvalidInput);
  options = {};
  options.towards = Towards::identity;
  EXPECT_THROW(fit(summary, {Covariance::identity(2)}, options), InvalidInput);
}

}  // namespace
}  // namespace cgmca
