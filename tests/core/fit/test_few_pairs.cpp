// Truncation, ridge and extra samples (docs/method.md section 6): each against its definition, and at its limits.
#include <sys/resource.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>
#include <tuple>

#include "testing.hpp"

namespace cgmca {
namespace {

using testing::centred;
using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;
using testing::sample_covariance;

FitOptions truncated(Index rank) {
  FitOptions options;
  options.max_rank = {rank, rank};
  return options;
}

FitOptions ridged(const Ridge& one, const Ridge& two) {
  FitOptions options;
  options.ridge = {one, two};
  return options;
}

Matrix cross_covariance(const Matrix& X1, const Matrix& X2) {
  return centred(X1) * centred(X2).transpose() / static_cast<double>(X1.cols() - 1);
}

// Θ + ridge tr(Θ)/d I
Matrix with_ridge(const Matrix& theta, double ridge) {
  const Index d = theta.rows();
  return theta + ridge * theta.trace() / static_cast<double>(d) * Matrix::Identity(d, d);
}

Matrix mapped_covariance(const Model& model, Domain domain, const Matrix& theta) {
  const Matrix A = model.domain(domain).matrix();
  return A * theta * A.transpose();
}

void expect_certified(const Model& model) {
  const Certificate& certificate = model.certificate;
  for (double residual : certificate.constraint_residuals) EXPECT_LT(residual, 1e-11);
  EXPECT_NEAR(certificate.objective, certificate.bound, 1e-11 * certificate.covariance_trace);
}

TEST(Truncation, KeepsTheConstraintAndTheLeadingDirections) {
  Random random(1);
  const Pairs pairs = random_pairs(random, 30, 25, 20);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(4), Covariance::identity(4), truncated(6));
  expect_certified(model);
  EXPECT_EQ(model.certificate.ranks, (std::vector<Index>{6, 6}));
  for (Domain domain : kDomains) {
    const Matrix& X = domain == Domain::one ? pairs.X1 : pairs.X2;
    EXPECT_LT(relative(mapped_covariance(model, domain, sample_covariance(X)), Matrix::Identity(4, 4)), 1e-11);
    // Nothing of a sample counts but its place along the first six principal directions.
    const Eigen::JacobiSVD<Matrix> svd(centred(X), Eigen::ComputeThinU);
    const Matrix U = svd.matrixU().leftCols(6), A = model.domain(domain).matrix();
    EXPECT_LT(relative(A * U * U.transpose(), A), 1e-10);
  }
  EXPECT_TRUE(model.warnings().empty());
  const Attained attained = verify(model, pairs.X1, pairs.X2);
  EXPECT_LT(attained.constraint_residuals[0], 1e-11);
  EXPECT_NEAR(attained.objective, model.certificate.objective, 1e-11);
}

TEST(Truncation, IsThePlainFitOfTheProjectedData) {
  Random random(2);
  const Pairs pairs = random_pairs(random, 9, 7, 60);
  FitOptions options;
  options.max_rank = {4, 0};
  const Eigen::JacobiSVD<Matrix> svd(centred(pairs.X1), Eigen::ComputeThinU);
  const Matrix U = svd.matrixU().leftCols(4);
  const Model direct =
      fit(pairs.X1, pairs.X2, Covariance::data(Domain::two, 3), Covariance::data(Domain::two, 3), options);
  const Model projected =
      fit(U * (U.transpose() * pairs.X1), pairs.X2, Covariance::data(Domain::two, 3), Covariance::data(Domain::two, 3));
  for (Domain domain : kDomains) {
    EXPECT_LT(relative(direct.domain(domain).matrix(), projected.domain(domain).matrix()), 1e-9);
  }
  EXPECT_NEAR(direct.certificate.objective, projected.certificate.objective, 1e-11);
}

TEST(TheRidge, HoldsTheConstraintForTheRegularizedCovariance) {
  Random random(3);
  for (Index n : {12, 200}) {
    const Pairs pairs = random_pairs(random, 15, 18, n);
    const Matrix theta1 = with_ridge(sample_covariance(pairs.X1), 0.3);
    const Matrix theta2 = with_ridge(sample_covariance(pairs.X2), 0.02);
    for (Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
      Summary summary({15, 18}, accumulate);
      summary.add(pairs.X1, pairs.X2);
      const Model model = fit(summary, Covariance::identity(5), Covariance::identity(5), ridged(0.3, 0.02));
      expect_certified(model);
      EXPECT_LT(relative(mapped_covariance(model, Domain::one, theta1), Matrix::Identity(5, 5)), 1e-11);
      EXPECT_LT(relative(mapped_covariance(model, Domain::two, theta2), Matrix::Identity(5, 5)), 1e-11);
      // The objective with Θ̃ in place of Θ: 5 + 5 - 2 tr(A1 Θ12 A2ᵀ).
      const Matrix A1 = model.domain(Domain::one).matrix(), A2 = model.domain(Domain::two).matrix();
      const double samples = static_cast<double>(n);
      const double expected =
          (samples - 1) / samples * (10 - 2 * (A1 * cross_covariance(pairs.X1, pairs.X2) * A2.transpose()).trace());
      EXPECT_NEAR(model.certificate.objective, expected, 1e-11);
      EXPECT_NEAR(verify(model, pairs.X1, pairs.X2).objective, expected, 1e-11);
      EXPECT_LT(verify(model, pairs.X1, pairs.X2).constraint_residuals[1], 1e-11);
      EXPECT_TRUE(model.warnings().empty());
      EXPECT_LT(model.certificate.singular_B(0), 1);
    }
  }
}

TEST(TheRidge, TendsToThePlainFitAsItVanishes) {
  Random random(4);
  const Pairs pairs = random_pairs(random, 6, 5, 80);
  const Model plain = fit(pairs.X1, pairs.X2, Covariance::identity(3), Covariance::identity(3));
  double last = 0;
  for (double ridge : {1e-3, 1e-5, 1e-7}) {
    const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(3), Covariance::identity(3), ridged(ridge, ridge));
    const double distance = relative(model.domain(Domain::one).matrix(), plain.domain(Domain::one).matrix());
    EXPECT_LT(distance, 100 * ridge);
    if (last > 0) {
      EXPECT_NEAR(distance / last, 1e-2, 3e-3);  // in proportion
    }
    last = distance;
  }
  const Model zero = fit(pairs.X1, pairs.X2, Covariance::identity(3), Covariance::identity(3), ridged(0, 0));
  EXPECT_EQ(zero.domain(Domain::one).matrix(), plain.domain(Domain::one).matrix());  // to the bit
}

TEST(TheRidge, TendsToTheSingularVectorsOfTheCrossCovarianceAsItGrows) {
  Random random(5);
  const Pairs pairs = random_pairs(random, 8, 6, 50);
  const Eigen::JacobiSVD<Matrix> pls(cross_covariance(pairs.X1, pairs.X2), Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(4), Covariance::identity(4), ridged(1e9, 1e9));
  for (Index j = 0; j < 4; ++j) {
    const Vector t1 = model.domain(Domain::one).weights.row(j), t2 = model.domain(Domain::two).weights.row(j);
    EXPECT_NEAR(std::abs(t1.normalized().dot(pls.matrixU().col(j))), 1, 1e-8);
    EXPECT_NEAR(std::abs(t2.normalized().dot(pls.matrixV().col(j))), 1, 1e-8);
  }
}

// (25) by dense algebra: the residual of the ridge regression of Y on X, and the trace of its hat matrix.
double cross_validation_error(const Matrix& X, const Matrix& Y, double ridge) {
  const Index n = X.cols();
  const Matrix theta = with_ridge(sample_covariance(X), ridge);
  const Matrix hat = centred(X).transpose() * theta.ldlt().solve(centred(X)) / static_cast<double>(n - 1);
  const double kept = 1 - 1.2 * hat.trace() / static_cast<double>(n - 1);
  return kept > 0 ? (centred(Y) - centred(Y) * hat).squaredNorm() / (kept * kept) : INFINITY;
}

double chosen_ridge(const Model& model, std::size_t domain, const Matrix& theta) {
  return model.certificate.constrained[domain].ridge / theta.trace() * static_cast<double>(theta.rows());
}

TEST(AutomaticRidge, HasTheLeastGeneralizedCrossValidationError) {
  Random random(31);
  for (const auto& [d1, d2, n] : {std::tuple<Index, Index, Index>{12, 9, 40}, {30, 25, 16}, {6, 40, 300}}) {
    const Pairs pairs = random_pairs(random, d1, d2, n);
    for (Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
      Summary summary({d1, d2}, accumulate);
      summary.add(pairs.X1, pairs.X2);
      const Ridge automatic = Ridge::from_data();
      const Model model = fit(summary, Covariance::identity(2), Covariance::identity(2), ridged(automatic, automatic));
      for (const bool first : {true, false}) {
        const Matrix &X = first ? pairs.X1 : pairs.X2, &Y = first ? pairs.X2 : pairs.X1;
        const double found = chosen_ridge(model, first ? 0 : 1, sample_covariance(X));
        const double least = cross_validation_error(X, Y, found);
        for (int step = -160; step <= 100; step += 3) {
          EXPECT_GE(cross_validation_error(X, Y, std::pow(10, step / 20.0)), least * (1 - 2e-4));
        }
      }
      expect_certified(model);
      EXPECT_LE(model.certificate.singular_B(0), 1);
      EXPECT_TRUE(model.warnings().empty());
    }
  }
}

TEST(AutomaticRidge, LeavesTheJointCovarianceOfSeveralDomainsPositiveDefinite) {
  Random random(32);
  const Pairs pairs = random_pairs(random, 30, 25, 12), more = random_pairs(random, 20, 30, 12);
  const std::vector<Matrix> X{pairs.X1, pairs.X2, more.X1 + pairs.X1.topRows(20), more.X2 + pairs.X1};
  FitOptions options;
  options.ridge = Ridge::from_data();
  const Model model = fit(MatchedSamples(X.begin(), X.end()), {Covariance::identity(5)}, options);
  Matrix joint = Matrix::Identity(20, 20);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      if (i == j) continue;
      const auto one = static_cast<Domain>(i + 1), two = static_cast<Domain>(j + 1);
      joint.block(5 * i, 5 * j, 5, 5) = model.score_covariance(one, two);
    }
  }
  EXPECT_GT(joint.selfadjointView<Eigen::Upper>().eigenvalues()(0), 0);
}

// What the certificate says of the regression of one side of a translation must not be more than the pairs hold.
TEST(AutomaticRidge, DoesNotOvershoot) {
  Random random(33);
  const Pairs pairs = random_pairs(random, 60, 50, 10);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::largest_identity(), Covariance::largest_identity(),
                          ridged(Ridge::from_data(), Ridge::from_data()));
  const Matrix estimate = centred(translate(model, Domain::two, Domain::one, pairs.X2));
  EXPECT_LE(estimate.cwiseProduct(centred(pairs.X1)).sum() / centred(pairs.X1).squaredNorm(), 1);
}

// Spectra of two instruments on one grid. x̂_1 = μ_1 + (x_2 - μ_2) + Cov(x_1 - x_2, x_2) Θ̃_2⁻¹ (x_2 - μ_2)           (67)
TEST(TowardsIdentity, TranslatesTheDifference) {
  Random random(34);
  for (const Index n : {8, 60}) {
    const Matrix X2 = random.matrix(20, n), X1 = (X2 + 0.3 * random.matrix(20, n)).array() + 1;
    const Matrix new2 = random.matrix(20, 5);
    for (const Ridge& ridge : {Ridge(0.2), Ridge::from_data(), Ridge(1e9)}) {
      FitOptions options = ridged(ridge, ridge);
      options.towards = Towards::identity;
      const Covariance C = Covariance::largest_identity();
      const Model model = fit(X1, X2, C, C, options);
      const Matrix theta = sample_covariance(X2) + model.certificate.constrained[1].ridge * Matrix::Identity(20, 20);
      const Matrix R = cross_covariance(X1 - X2, X2) * theta.inverse();
      const Vector mean1 = X1.rowwise().mean(), mean2 = X2.rowwise().mean();
      const Matrix moved = new2.colwise() - mean2, expected = (moved + R * moved).colwise() + mean1;
      const Translation found = translation(model, Domain::two, Domain::one);
      EXPECT_LT(relative(found(new2), expected), 1e-9);
      EXPECT_LT(relative(found.matrix(), Matrix::Identity(20, 20) + R), 1e-9);
      Vector one(20);
      found.translate_into(new2.col(3), one);
      EXPECT_LT(relative(one, expected.col(3)), 1e-9);
      if (ridge == Ridge(1e9)) {
        EXPECT_LT(relative(expected, moved.colwise() + mean1), 1e-6);
      }
      const Matrix difference = centred(X1 - X2);
      const Vector variance = difference.rowwise().squaredNorm() / static_cast<double>(n - 1);
      EXPECT_LT(relative(model.difference_variance, variance), 1e-11);
      EXPECT_THROW(invert(model, Domain::one, apply(model, Domain::two, new2), Method::lmmse), InvalidInput);
      const Model same = Model::from_bytes(model.to_bytes());
      EXPECT_EQ(same.settings.towards, Towards::identity);
      EXPECT_EQ(translate(same, Domain::two, Domain::one, new2), found(new2));
      for (const Claim& claim : verify(same, X1, X2).claims) EXPECT_LT(claim.difference, 1e-8) << claim.what;
    }
  }
  const Matrix X1 = random.matrix(5, 20), X2 = random.matrix(4, 20);
  FitOptions options;
  options.towards = Towards::identity;
  EXPECT_THROW(fit(X1, X2, Covariance::identity(2), Covariance::identity(2), options), InvalidInput);
}

// Errors of translations of new samples, relative to those promised, have a mean square of one.
TEST(TowardsIdentity, PromisesTheErrorsOfNewSamples) {
  Random random(35);
  FitOptions options = ridged(0.1, 0.1);
  options.towards = Towards::identity;
  double squares = 0, count = 0;
  for (int draw = 0; draw < 20; ++draw) {
    const Matrix X2 = random.matrix(10, 240), X1 = X2 + 0.3 * X2.colwise().reverse() + 0.4 * random.matrix(10, 240);
    const Covariance C = Covariance::largest_identity();
    const Model model = fit(X1.leftCols(40), X2.leftCols(40), C, C, options);
    const Translation back = translation(model, Domain::two, Domain::one);
    const Matrix missed = back(X2.rightCols(200)) - X1.rightCols(200);
    squares += missed.cwiseQuotient(back.standard_errors(X2.rightCols(200))).squaredNorm();
    count += static_cast<double>(missed.size());
  }
  EXPECT_NEAR(squares / count, 1, 0.1);
}

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
    verifier.add(pairs.X1, pairs.X2);
    EXPECT_GT(verifier.attained().constraint_residuals[0], 1e-3);
    verifier.add_extra(Domain::one, extra);
    const Attained attained = verifier.attained();
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
            EXPECT_LT(relative(scaled.sample_score_covariance(static_cast<Domain>(i + 1)),
                               plain.sample_score_covariance(static_cast<Domain>(i + 1))),
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
  const Attained found = verify(model, X1, pairs.X2);
  EXPECT_TRUE(found.certified);
  EXPECT_LT(found.worst_claim().difference, 1e-10) << found.worst_claim().what;
  model.domains[0]->scale(1) *= 1.01;
  EXPECT_GT(verify(model, X1, pairs.X2).worst_claim().difference, 1e-3);
  model.domains[0]->scale = {};
  model.settings.scale = false;
  EXPECT_GT(verify(model, X1, pairs.X2).worst_claim().difference, 1e-3);
}

TEST(FewPairs, HaveRankOneLessThanTheirNumberHoweverLargeTheMean) {
  Random random(21);
  const Matrix X1 = random.matrix(20, 7).array() + 1e4, X2 = random.matrix(16, 7).array() - 300;
  Summary summary({20, 16});
  summary.add(X1, X2);
  const Covariance all = Covariance::largest_identity();
  for (const Model& model : {fit(summary, all, all), Factorization(summary).fit(all, all)}) {
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
  EXPECT_LT(verify(loaded, pairs.X1, pairs.X2).constraint_residuals[1], 1e-11);
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
  const Matrix error = with_ridge(sample_covariance(pairs.X1), 0.2) - expected * theta2 * expected.transpose();
  EXPECT_LT(relative(found.standard_error.cwiseAbs2(), error.diagonal()), 1e-11);
}

// In the Gram form few directions come from the eigenvectors of BBᵀ, in the QR form from the SVD of B.
TEST(LeadingDirections, AreThoseOfTheWholeSvd) {
  Random random(17);
  for (const auto& [d1, d2] : {std::pair<Index, Index>{14, 9}, {9, 14}, {10, 10}}) {
    const Pairs pairs = random_pairs(random, d1, d2, 500);
    Summary gram({d1, d2}, Accumulate::gram), qr({d1, d2}, Accumulate::qr);
    for (Summary* summary : {&gram, &qr}) summary->add(pairs.X1, pairs.X2);
    for (const Covariance& C : {Covariance::identity(1), Covariance::identity(3), Covariance::correlation(4)}) {
      const Model few = fit(gram, C, C), whole = fit(qr, C, C);
      expect_certified(few);
      for (Domain domain : kDomains) {
        EXPECT_LT(relative(few.domain(domain).matrix(), whole.domain(domain).matrix()), 1e-9);
      }
      EXPECT_LT(relative(few.certificate.singular_B, whole.certificate.singular_B), 1e-12);
    }
  }
}

// Three equal correlations of which two are asked for: the rule that settles ties sees all three.
TEST(LeadingDirections, IncludeThoseEqualToThem) {
  Random random(18);
  const Index n = 400;
  const Matrix shared = random.matrix(3, n);
  Pairs pairs = {random.matrix(8, n), random.matrix(9, n)};
  pairs.X1.topRows(3) = shared;
  pairs.X2.topRows(3) = 2 * shared;
  Summary gram({8, 9}, Accumulate::gram), qr({8, 9}, Accumulate::qr);
  for (Summary* summary : {&gram, &qr}) summary->add(pairs.X1, pairs.X2);
  const Covariance I = Covariance::identity(2);
  const Model few = fit(gram, I, I), whole = fit(qr, I, I);
  for (Domain domain : kDomains) {
    EXPECT_LT(relative(few.domain(domain).matrix(), whole.domain(domain).matrix()), 1e-8);
  }
}

// The factors of a design are not correlated at all: B = 0.
TEST(LeadingDirections, OfUncorrelatedDomainsAreABasisStill) {
  Matrix X1(2, 16), X2(2, 16);
  for (Index j = 0; j < 16; ++j) {
    const Index run = 7 * j % 16;
    X1.col(j) << (run & 1 ? 1 : -1), (run & 2 ? 1 : -1);
    X2.col(j) << (run & 4 ? 1 : -1), (run & 8 ? 1 : -1);
  }
  for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::gram, Accumulate::qr}) {
    Summary summary({2, 2}, accumulate);
    summary.add(X1, X2);
    const Model model = fit(summary, Covariance::identity(1), Covariance::identity(1));
    expect_certified(model);
    EXPECT_LT(model.certificate.singular_B(0), 1e-15);
  }
}

// One domain a function of the other: all correlations are 1, to the eps·κ of a Gram matrix.
TEST(LeadingDirections, DoNotDependOnTheOrderOfTheSamples) {
  const Index n = 400;
  int gram = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Matrix X1 = random.matrix(6, n), X2 = random.matrix(6, 6) * X1;
    Summary forwards({6, 6}), backwards({6, 6});
    forwards.add(X1, X2);
    backwards.add(X1.rowwise().reverse(), X2.rowwise().reverse());
    gram += forwards.form() == SummaryForm::gram && backwards.form() == SummaryForm::gram;
    for (const Index k : {2, 5}) {
      const Model one = fit(forwards, Covariance::identity(k), Covariance::identity(k));
      const Model two = fit(backwards, Covariance::identity(k), Covariance::identity(k));
      for (Domain domain : kDomains) {
        EXPECT_LT(relative(one.domain(domain).matrix(), two.domain(domain).matrix()), 1e-9) << "seed " << seed;
      }
      EXPECT_GE(one.certificate.min_gap, 0);
    }
  }
  EXPECT_GT(gram, 5);
}

// Of a correlation of 1e-7 beside one near 1 BBᵀ has lost half of the digits.
TEST(LeadingDirections, OfAWeakCorrelationComeFromTheSvd) {
  const Index n = 512;
  Matrix X1(4, n), X2(4, n);
  const auto wave = [](Index feature, Index sample) { return (sample >> feature) % 2 == 0 ? 1.0 : -1.0; };
  for (Index j = 0; j < n; ++j) {  // eight features without any correlation
    for (Index i = 0; i < 4; ++i) {
      X1(i, j) = wave(i, j);
      X2(i, j) = wave(4 + i, j);
    }
    X2(0, j) = X1(0, j) + 0.1 * X2(0, j);
    X2(1, j) += 1e-7 * X1(1, j);
  }
  Random random(19);
  const Matrix mixing = random.matrix(4, 4);
  X1 = mixing * X1;
  X2 = random.matrix(4, 4) * X2;
  Summary gram({4, 4}, Accumulate::gram);
  gram.add(X1, X2);
  const Covariance I = Covariance::identity(2);
  const Model model = fit(gram, I, I);
  EXPECT_NEAR(model.certificate.singular_B(1), 1e-7, 1e-13);
  const Matrix direction = model.domain(Domain::one).weights.row(1) * mixing;
  EXPECT_LT(relative(direction.cwiseAbs() / direction.norm(), Matrix::Identity(4, 4).row(1)), 1e-6);
}

// -2 log p(x_2 | x_1) of the normal distribution with the samples' covariances, but for a constant.
double conditional(const Pairs& pairs, const Vector& x1, const Vector& x2) {
  const Vector mean1 = pairs.X1.rowwise().mean(), mean2 = pairs.X2.rowwise().mean();
  const Matrix theta12 = cross_covariance(pairs.X1, pairs.X2);
  const Matrix slope = sample_covariance(pairs.X1).ldlt().solve(theta12).transpose();
  const Matrix left = sample_covariance(pairs.X2) - slope * theta12;
  const Vector missed = x2 - mean2 - slope * (x1 - mean1);
  return missed.dot(left.ldlt().solve(missed));
}

TEST(Likelihood, DistancesAreMinusTwoLogLikelihoodsOfTheQuery) {
  Random random(20);
  for (const auto& [d1, d2] : {std::pair<Index, Index>{6, 4}, {4, 6}, {5, 5}}) {
    const Pairs pairs = random_pairs(random, d1, d2, 80, 1.0);
    const Covariance C = Covariance::likelihood(Domain::two);
    const Model model = fit(pairs.X1, pairs.X2, C, C);
    expect_certified(model);
    EXPECT_EQ(model.common_dimension, std::min(d1, d2));
    const Matrix Z1 = apply(model, Domain::one, pairs.X1), Z2 = apply(model, Domain::two, pairs.X2);
    for (const Index query : {0, 7, 33}) {
      for (const Index other : {1, 50}) {
        const double near = (Z1.col(0) - Z2.col(query)).squaredNorm();
        const double far = (Z1.col(other) - Z2.col(query)).squaredNorm();
        const double expected = conditional(pairs, pairs.X1.col(0), pairs.X2.col(query)) -
                                conditional(pairs, pairs.X1.col(other), pairs.X2.col(query));
        EXPECT_NEAR(near - far, expected, 1e-9 * (near + far));
      }
    }
    // Queries of domain 1 are the same with the domains exchanged.
    const Covariance D = Covariance::likelihood(Domain::one);
    const Model exchanged = fit(pairs.X2, pairs.X1, D, D);
    const Matrix Y1 = apply(exchanged, Domain::one, pairs.X2), Y2 = apply(exchanged, Domain::two, pairs.X1);
    EXPECT_NEAR((Z1.col(3) - Z2.col(9)).norm(), (Y2.col(3) - Y1.col(9)).norm(), 1e-9);
  }
}

TEST(Likelihood, NeedsCorrelationsBelowOne) {
  Random random(21);
  const Pairs pairs = random_pairs(random, 30, 25, 20);
  const Covariance C = Covariance::likelihood(Domain::two);
  try {
    fit(pairs.X1, pairs.X2, C, C);
    FAIL() << "a saturated fit was taken";
  } catch (const InvalidInput& problem) {
    EXPECT_NE(std::string(problem.what()).find("Give a ridge"), std::string::npos) << problem.what();
  }
  const Model model = fit(pairs.X1, pairs.X2, C, C, ridged(1, 1));
  expect_certified(model);
  const Attained attained = verify(model, pairs.X1, pairs.X2);
  EXPECT_LT(attained.constraint_residuals[0], 1e-10);
  EXPECT_LT(attained.constraint_residuals[1], 1e-10);
  const Model again = Model::from_bytes(model.to_bytes());
  EXPECT_EQ(again.covariances[1], "likelihood2");
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
    EXPECT_LT(verify(model, X1, X2).constraint_residuals[0], 1e-10);
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
    verifier.add(std::vector<MatrixView>{pairs.X1, pairs.X2});
    verifier.add_extra(Domain::one, more);
    const Attained attained = verifier.attained();
    EXPECT_LE(attained.constraint_residuals[0], error);
    EXPECT_LE(std::abs(attained.objective - attained.best_objective), error);
  }
}

}  // namespace
}  // namespace cgmca
