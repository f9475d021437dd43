// Truncation, ridges and what they shrink towards (docs/method.md section 6): each against its definition, and at its
// limits.
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>
#include <tuple>

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
using testing::centred;
using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;
using testing::sample_covariance;

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
  const Verification attained = verify(model, {pairs.X1, pairs.X2});
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
      EXPECT_NEAR(verify(model, {pairs.X1, pairs.X2}).objective, expected, 1e-11);
      EXPECT_LT(verify(model, {pairs.X1, pairs.X2}).constraint_residuals[1], 1e-11);
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
      const auto one = domain_at(i), two = domain_at(j);
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
      for (const Claim& claim : verify(same, {X1, X2}).claims) EXPECT_LT(claim.difference, 1e-8) << claim.what;
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

}  // namespace
}  // namespace cgmca
