// Few pairs, extra samples and units of features (docs/method.md section 6).
#include <sys/resource.h>

#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>

#include "few_pairs.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using few_pairs::cross_covariance;
using few_pairs::expect_certified;
using few_pairs::mapped_covariance;
using few_pairs::ridged;
using few_pairs::truncated;
using few_pairs::with_ridge;
using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;
using testing::sample_covariance;

TEST(ExtraSamples, NoneChangeNothing) {
  Random random(6);
  const Pairs pairs = random_pairs(random, 7, 6, 30);
  Summary summary({7, 6});
  summary.add(pairs.X1, pairs.X2);
  const Summary none({7});
  FitOptions options;
  options.extra = {&none, nullptr};
  const Model with = fit(summary, Covariance::identity(3), Covariance::identity(3), options);
  const Model without = fit(summary, Covariance::identity(3), Covariance::identity(3));
  EXPECT_EQ(with.domain(Domain::one).matrix(), without.domain(Domain::one).matrix());
  EXPECT_EQ(with.domain(Domain::two).mean, without.domain(Domain::two).mean);
  EXPECT_EQ(with.certificate.objective, without.certificate.objective);
}

TEST(ExtraSamples, BetterTheMeanAndTheCovarianceOfTheirDomain) {
  Random random(7);
  const Pairs pairs = random_pairs(random, 7, 6, 40), more = random_pairs(random, 7, 6, 300);
  Matrix all(7, 340);
  all << pairs.X1, (more.X1.array() + 0.5).matrix();
  const Matrix extra = all.rightCols(300);
  for (Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
    Summary summary({7, 6}, accumulate);
    summary.add(pairs.X1, pairs.X2);
    Summary samples({7}, accumulate), second({7}, accumulate);
    samples.add(extra.leftCols(120));
    second.add(extra.rightCols(180));
    samples.merge(second);
    EXPECT_EQ(samples.samples(), 300);
    FitOptions options;
    options.extra = {&samples, nullptr};
    const Model model = fit(summary, Covariance::identity(3), Covariance::identity(3), options);
    expect_certified(model);
    EXPECT_LT(relative(model.domain(Domain::one).mean, all.rowwise().mean()), 1e-13);
    EXPECT_LT(relative(mapped_covariance(model, Domain::one, sample_covariance(all)), Matrix::Identity(3, 3)), 1e-10);
    EXPECT_LT(relative(mapped_covariance(model, Domain::two, sample_covariance(pairs.X2)), Matrix::Identity(3, 3)),
              1e-10);
    EXPECT_EQ(model.certificate.constrained[0].samples, 340);
    EXPECT_EQ(model.certificate.constrained[1].samples, 40);
    // The correlations are those of the cross-covariance of the pairs, whitened by the covariances of all.
    const auto inverse_root = [](const Matrix& theta) -> Matrix {
      const Eigen::JacobiSVD<Matrix> svd(theta, Eigen::ComputeFullU);
      return svd.matrixU() * svd.singularValues().cwiseSqrt().cwiseInverse().asDiagonal() * svd.matrixU().transpose();
    };
    const Eigen::JacobiSVD<Matrix> B(inverse_root(sample_covariance(all)) * cross_covariance(pairs.X1, pairs.X2) *
                                     inverse_root(sample_covariance(pairs.X2)));
    EXPECT_LT(relative(model.certificate.singular_B, B.singularValues()), 1e-9);
    // What verify finds with the extra samples, and what it finds without them.
    Verifier verifier(model);
    verifier.add({pairs.X1, pairs.X2});
    EXPECT_GT(verifier.verification().constraint_residuals[0], 1e-3);
    verifier.add_extra(Domain::one, extra);
    const Verification attained = verifier.verification();
    EXPECT_LT(attained.constraint_residuals[0], 1e-10);
    EXPECT_LT(attained.mean_residuals[0], 1e-10);
    EXPECT_NEAR(attained.objective, model.certificate.objective, 1e-10);
    EXPECT_EQ(attained.all_samples, (std::vector<Index>{340, 40}));
  }
}

TEST(ExtraSamples, OfAnotherSizeAreRefused) {
  Random random(8);
  const Pairs pairs = random_pairs(random, 7, 6, 40);
  Summary wrong({6});
  wrong.add(pairs.X2);
  FitOptions options;
  options.extra = {&wrong, nullptr};
  EXPECT_THROW(fit(pairs.X1, pairs.X2, Covariance::identity(2), Covariance::identity(2), options), WrongDimension);
}

TEST(CorrelationCovariance, SpreadsEachDirectionAsItsPairIsCorrelated) {
  Random random(9);
  const Pairs pairs = random_pairs(random, 8, 6, 70);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::correlation(4), Covariance::correlation(4));
  expect_certified(model);
  const Matrix expected = model.certificate.singular_B.head(4).cwiseAbs2().asDiagonal();
  EXPECT_LT(relative(mapped_covariance(model, Domain::one, sample_covariance(pairs.X1)), expected), 1e-11);
  EXPECT_LT(relative(mapped_covariance(model, Domain::two, sample_covariance(pairs.X2)), expected), 1e-11);
  EXPECT_EQ(model.covariances[0], "correlation:4");
  EXPECT_THROW(Covariance::correlation(0), InvalidInput);
  try {
    fit(pairs.X1, pairs.X2, Covariance::correlation(7), Covariance::correlation(7));
    FAIL();
  } catch (const Infeasible& problem) {
    EXPECT_NE(std::string(problem.what()).find("correlation:6"), std::string::npos) << problem.what();
  }
}

TEST(FewPairs, AreWarnedOfWhereTheFitIsSaturated) {
  Random random(10);
  const Pairs pairs = random_pairs(random, 40, 30, 12);
  const auto I = Covariance::identity(3);
  const Model plain = fit(pairs.X1, pairs.X2, I, I);
  ASSERT_EQ(plain.warnings().size(), 1U);
  EXPECT_NE(plain.warnings()[0].find("saturated"), std::string::npos);
  EXPECT_TRUE(fit(pairs.X1, pairs.X2, I, I, truncated(5)).warnings().empty());
  EXPECT_TRUE(fit(pairs.X1, pairs.X2, I, I, ridged(0.1, 0.1)).warnings().empty());
  EXPECT_TRUE(fit(pairs.X1, pairs.X2, I, I, ridged(Ridge::from_data(), Ridge::from_data())).warnings().empty());
}

// Centring leaves rounding of the mean's size, which may be above the tolerance of the rank; n samples have rank n - 1.
// 30 pairs of 20 + 20 features of noise: 20 + 20 - 29 correlations are 1.
TEST(FewPairs, AreWarnedOfWhereTheFitIsHalfSaturated) {
  Random random(11);
  const std::vector<Matrix> X = {random.matrix(20, 30), random.matrix(20, 30), random.matrix(4, 30)};
  const Covariance I = Covariance::identity(3);
  const Model model = fit(X[0], X[1], I, I);
  EXPECT_GT(model.certificate.singular_B(10), 1 - 1e-8);
  EXPECT_LT(model.certificate.singular_B(11), 1 - 1e-3);
  ASSERT_EQ(model.warnings().size(), 1U);
  const std::string text = model.warnings()[0];
  for (const char* part : {"half saturated", "11 of their 20 canonical correlations", "max_rank", "ridge"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  const Model three = fit({X[0], X[2], X[1]}, {I});
  ASSERT_FALSE(three.warnings().empty());
  EXPECT_NE(three.warnings()[0].find("domains 1 and 3 add up"), std::string::npos) << three.warnings()[0];
  EXPECT_TRUE(fit(X[0], X[1], I, I, truncated(14)).warnings().empty());
  EXPECT_TRUE(fit(X[0], X[1], I, I, ridged(0.1, 0.1)).warnings().empty());
  EXPECT_TRUE(fit(X[0], X[2], I, I).warnings().empty());
}

// As a table of wine has them: one feature a thousand times larger than the others.
TEST(FewPairs, AreToldOfUnitsThatDecideWhatARidgeLeaves) {
  Random random(12);
  Pairs pairs = random_pairs(random, 7, 6, 100);
  const Covariance I = Covariance::identity(2);
  EXPECT_TRUE(fit(pairs.X1, pairs.X2, I, I, ridged(0.1, 0.1)).warnings().empty());
  pairs.X1.row(3) *= 1000;
  EXPECT_TRUE(fit(pairs.X1, pairs.X2, I, I).warnings().empty());  // units do not matter here
  for (FitOptions options : {ridged(0.1, 0), truncated(3)}) {
    const auto warnings = fit(pairs.X1, pairs.X2, I, I, options).warnings();
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0].rfind("1 of the 7 features of domain 1 holds 99 % of its variance", 0), 0U) << warnings[0];
    EXPECT_NE(warnings[0].find("the option scale, which"), std::string::npos);
    options.scale = true;
    EXPECT_TRUE(fit(pairs.X1, pairs.X2, I, I, options).warnings().empty());
  }
}

// x = D y with D the standard deviations of all samples: T_x = T_y D⁻¹, P_x = D P_y, everything else is the same.    (62)
TEST(Scale, IsTheFitOfFeaturesAtUnitVarianceUndone) {
  Random random(13);
  for (const Index n : {300, 12}) {
    std::vector<Matrix> X, more;
    const Matrix causes = random.matrix(3, n);
    for (const Index d : {8, 9, 10}) {
      const Vector units = Vector::NullaryExpr(d, [&] { return std::pow(10.0, random.integer(-6, 6)); });
      X.push_back(units.asDiagonal() * (random.matrix(d, 3) * causes + random.matrix(d, n)));
      X.back().colwise() += 3 * units;
      more.push_back(units.asDiagonal() * random.matrix(d, 20));
    }
    X[0].row(2).setConstant(7);
    more[0].row(2).setConstant(7);
    for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr, Accumulate::gram}) {
      for (const std::size_t m : {2, 3}) {
        for (const bool extra : {false, true}) {
          Summary raw({8, 9, 10}, accumulate), unit({8, 9, 10}, accumulate), raw_more({8}), unit_more({8});
          if (m == 2) raw = unit = Summary({8, 9}, accumulate);
          std::vector<Matrix> Y;
          std::vector<Vector> D;
          for (std::size_t i = 0; i < m; ++i) {
            Matrix all = X[i];
            if (extra && i == 0) {
              all.conservativeResize(all.rows(), n + 20);
              all.rightCols(20) = more[0];
            }
            const Vector variance = sample_covariance(all).diagonal();
            D.push_back((variance.array() > 0).select(variance.cwiseSqrt(), variance.cwiseSqrt().maxCoeff()));
            Y.push_back(D[i].cwiseInverse().asDiagonal() * X[i]);
          }
          raw.add(MatchedSamples(X.begin(), X.begin() + static_cast<std::ptrdiff_t>(m)));
          unit.add(MatchedSamples(Y.begin(), Y.end()));
          FitOptions options;
          options.ridge = 0.2;
          options.max_rank = 6;
          if (extra) {
            raw_more.add(MatchedSamples{more[0]});
            unit_more.add(MatchedSamples{Matrix(D[0].cwiseInverse().asDiagonal() * more[0])});
            options.extra.assign(m, nullptr);
          }
          const auto fitted = [&](const Summary& summary, const Summary& of_one, bool scale) {
            FitOptions asked = options;
            asked.scale = scale;
            if (extra) asked.extra[0] = &of_one;
            return fit(summary, {Covariance::data(Domain::two, 3)}, asked);
          };
          const Model scaled = fitted(raw, raw_more, true), plain = fitted(unit, unit_more, false);
          expect_certified(plain);
          EXPECT_NEAR(scaled.certificate.objective, plain.certificate.objective, 1e-8);
          for (std::size_t i = 0; i < m; ++i) {
            const DomainMap &x = *scaled.domains[i], &y = *plain.domains[i];
            EXPECT_LT(relative(x.scaled_weights(), y.weights), 1e-6) << n << name(accumulate) << m << extra;
            EXPECT_LT(relative(x.scale, D[i]), 1e-9);
            EXPECT_LT(relative(D[i].cwiseInverse().asDiagonal() * x.loadings, y.loadings), 1e-6);
            EXPECT_LT(relative(x.variance.cwiseQuotient(D[i].cwiseAbs2()), y.variance), 1e-9);
            EXPECT_LT(
                relative(scaled.sample_score_covariance(domain_at(i)), plain.sample_score_covariance(domain_at(i))),
                1e-6);
          }
          const Model loaded = Model::from_bytes(scaled.to_bytes());
          EXPECT_TRUE(loaded.settings.scale);
          EXPECT_EQ(loaded.domains[0]->scale, scaled.domains[0]->scale);
        }
      }
    }
  }
}

TEST(Scale, IsVerified) {
  Random random(14);
  const Pairs pairs = random_pairs(random, 6, 5, 60);
  const Matrix X1 = Vector::LinSpaced(6, 1, 1e6).asDiagonal() * pairs.X1;
  FitOptions options;
  options.ridge = 0.5;
  options.scale = true;
  Model model = fit(X1, pairs.X2, Covariance::identity(3), Covariance::correlation(3), options);
  const Verification found = verify(model, {X1, pairs.X2});
  EXPECT_TRUE(found.certified);
  EXPECT_LT(found.worst_claim().difference, 1e-10) << found.worst_claim().what;
  model.domains[0]->scale(1) *= 1.01;
  EXPECT_GT(verify(model, {X1, pairs.X2}).worst_claim().difference, 1e-3);
  model.domains[0]->scale = {};
  model.settings.scale = false;
  EXPECT_GT(verify(model, {X1, pairs.X2}).worst_claim().difference, 1e-3);
}

TEST(FewPairs, HaveRankOneLessThanTheirNumberHoweverLargeTheMean) {
  Random random(21);
  const Matrix X1 = random.matrix(20, 7).array() + 1e4, X2 = random.matrix(16, 7).array() - 300;
  Summary summary({20, 16});
  summary.add(X1, X2);
  const Covariance all = Covariance::largest_identity();
  for (const Model& model : {fit(summary, all, all), PreparedFit(summary).fit(all, all)}) {
    EXPECT_EQ(model.certificate.ranks[0], 6);
    EXPECT_EQ(model.certificate.ranks[1], 6);
    EXPECT_EQ(model.common_dimension, 6);
  }
}

TEST(FewPairs, RefuseOptionsThatMeanNothing) {
  Random random(11);
  const Pairs pairs = random_pairs(random, 4, 4, 12);
  const auto I = Covariance::identity(2);
  EXPECT_THROW(fit(pairs.X1, pairs.X2, I, I, truncated(-1)), InvalidInput);
  EXPECT_THROW(fit(pairs.X1, pairs.X2, I, I, ridged(-0.1, 0)), InvalidInput);
  EXPECT_THROW(fit(pairs.X1, pairs.X2, I, I, ridged(0, std::nan(""))), InvalidInput);
  EXPECT_THROW(fit(pairs.X1, pairs.X2, I, I, truncated(1)), Infeasible);
}

TEST(FewPairs, KeepTheirRegularizationInTheModelFile) {
  Random random(12);
  const Pairs pairs = random_pairs(random, 14, 9, 10);
  const Model model =
      fit(pairs.X1, pairs.X2, Covariance::identity(2), Covariance::identity(2), ridged(0.25, Ridge::from_data()));
  const testing::TemporaryFolder folder;
  model.save(folder / "m");
  const Model loaded = Model::load(folder / "m");
  for (auto i : {0U, 1U}) {
    EXPECT_EQ(loaded.certificate.constrained[i].data, model.certificate.constrained[i].data);
    EXPECT_EQ(loaded.certificate.constrained[i].ridge, model.certificate.constrained[i].ridge);
    EXPECT_EQ(loaded.certificate.constrained[i].samples, 10);
  }
  EXPECT_LT(verify(loaded, {pairs.X1, pairs.X2}).constraint_residuals[1], 1e-11);
}

// The textbook estimate of x1 from z2 with the regularized covariance of z2, within the kept directions of domain 1.
TEST(FewPairs, LmmseUsesTheRegularizedCovariance) {
  Random random(13);
  const Pairs pairs = random_pairs(random, 6, 5, 40);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(3), Covariance::identity(3), ridged(0.2, 0.4));
  const Matrix A2 = model.domain(Domain::two).matrix();
  const Matrix theta2 = with_ridge(sample_covariance(pairs.X2), 0.4);
  const Matrix expected =
      cross_covariance(pairs.X1, pairs.X2) * A2.transpose() * (A2 * theta2 * A2.transpose()).inverse() * A2;
  const Translation found = translation(model, Domain::two, Domain::one);
  EXPECT_LT(relative(found.matrix(), expected), 1e-11);
}

// With a ridge too the standard error is that of the samples fitted, of each feature.
TEST(FewPairs, StandardErrorsAreThoseOfTheSamplesFitted) {
  Random random(19);
  const Pairs pairs = random_pairs(random, 6, 5, 40);
  const Matrix X3 = random.matrix(4, 6) * pairs.X1 + random.matrix(4, 40);
  const Covariance I = Covariance::identity(3);
  const auto expect_measured = [&](const Translation& map, const Matrix& from) {
    const Vector measured = ((pairs.X1 - map(from)).rowwise().squaredNorm() / 39).cwiseSqrt();
    EXPECT_LT(relative(map.standard_error, measured), 1e-11);
  };
  Matrix others(9, 40);
  others << pairs.X2, X3;
  for (const double ridge : {0.0, 0.3, 10.0}) {
    FitOptions options = ridged(ridge, 2 * ridge), of_three;
    of_three.ridge = ridge;
    expect_measured(translation(fit(pairs.X1, pairs.X2, I, I, options), Domain::two, Domain::one), pairs.X2);
    options.scale = true;
    expect_measured(translation(fit(pairs.X1, pairs.X2, I, I, options), Domain::two, Domain::one), pairs.X2);
    const Model three = fit(MatchedSamples{pairs.X1, pairs.X2, X3}, {I}, of_three);
    expect_measured(translation(three, {Domain::two, Domain{3}}, Domain::one), others);
  }
  FitOptions towards = ridged(0.5, 0.5);
  towards.towards = Towards::identity;
  const Matrix same = pairs.X1 + 0.3 * random.matrix(6, 40);
  expect_measured(translation(fit(pairs.X1, same, I, I, towards), Domain::two, Domain::one), same);
}

TEST(FewPairs, OfManyFeaturesNeedLittleMemory) {
  Random random(14);
  const Index d = 16384, n = 134;
  const Matrix causes = random.matrix(20, n);
  const Matrix X1 = Matrix::Random(d, 20) * causes + Matrix::Random(d, n);
  const Matrix X2 = Matrix::Random(d, 20) * causes + Matrix::Random(d, n);
  for (const Covariance& C : {Covariance::correlation(20), Covariance::data(Domain::two, 20)}) {
    const Model model = fit(X1, X2, C, C, truncated(50));
    expect_certified(model);
    EXPECT_LT(verify(model, {X1, X2}).constraint_residuals[0], 1e-10);
    EXPECT_EQ(translate(model, Domain::two, Domain::one, X2).rows(), d);
  }
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(usage.ru_maxrss, 1'000'000);  // kB
#endif
}

// The Gram form is proven to be safe of the pairs alone. Extra samples whose mean is far away make Θ_1 ill-conditioned:
// κ(S_1) is about the offset, and that times eps is the error that rounding of the maps alone makes.
TEST(ExtraSamples, FarAwayDoNotSpoilTheFit) {
  Random random(41);
  const Pairs pairs = random_pairs(random, 4, 3, 500);
  Summary summary({4, 3});
  summary.add(pairs.X1, pairs.X2);
  ASSERT_EQ(summary.form(), SummaryForm::gram);
  for (const double offset : {0.0, 1e3, 1e7, 1e8}) {
    SCOPED_TRACE(offset);
    const Matrix more = random.matrix(4, 200).array() + offset;
    Summary extra({4});
    extra.add(more);
    FitOptions options;
    options.extra = {&extra, nullptr};
    const Covariance I = Covariance::identity(3);
    const Model model = fit(summary, I, I, options);
    const double error = 1e-13 * (1 + 100 * offset);
    EXPECT_EQ(model.certificate.ranks[0], 4);
    EXPECT_LE(model.certificate.constraint_residuals[0], error);
    EXPECT_LE(std::abs(model.certificate.objective - model.certificate.bound), error);
    Verifier verifier(model);
    verifier.add({pairs.X1, pairs.X2});
    verifier.add_extra(Domain::one, more);
    const Verification attained = verifier.verification();
    EXPECT_LE(attained.constraint_residuals[0], error);
    EXPECT_LE(std::abs(attained.objective - attained.best_objective), error);
  }
}

}  // namespace
}  // namespace cgmca
