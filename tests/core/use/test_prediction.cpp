// Error bars on new samples, and fusion (docs/method.md section 5): each against its definition.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "core/base/distributions.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::centred;
using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;
using testing::sample_covariance;

// Values of printed tables (Abramowitz and Stegun 26.10), and closed forms: of one degree tan(π(p - 1/2)), of two
// (2p-1)/√(2p(1-p)).
TEST(Student, QuantilesAreThoseOfTables) {
  EXPECT_NEAR(student_quantile(0.95, 1), 6.313751514675041, 1e-11);
  EXPECT_NEAR(student_quantile(0.975, 2), 0.95 / std::sqrt(2 * 0.975 * 0.025), 1e-12);
  EXPECT_NEAR(student_quantile(0.95, 10), 1.812461122811676, 1e-12);
  EXPECT_NEAR(student_quantile(0.975, 29), 2.045229642132703, 1e-12);
  EXPECT_NEAR(student_quantile(0.995, 100), 2.625890521, 1e-9);
  EXPECT_NEAR(student_quantile(0.975, std::numeric_limits<double>::infinity()), 1.959963984540054, 1e-12);
  EXPECT_NEAR(student_quantile(0.95, 0.999e6), student_quantile(0.95, 1.001e6), 1e-8);
  EXPECT_NEAR(student_quantile(0.9, 4.5), -student_quantile(0.1, 4.5), 1e-12);
  EXPECT_EQ(student_quantile(0.5, 7), 0);
}

// With all directions of domain 2, lmmse is the regression of X1 on X2 with an intercept: the textbook's prediction
// intervals, by normal equations.
TEST(ErrorBars, OfAllDirectionsAreThoseOfLinearRegression) {
  Random random(1);
  const Index n = 40, p = 6;
  const Pairs pairs = random_pairs(random, 8, p, n), fresh = random_pairs(random, 8, p, 3);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(p), Covariance::identity(p));
  const Translation lmmse = translation(model, Domain::two, Domain::one);
  const Matrix C1 = centred(pairs.X1), C2 = centred(pairs.X2), gram = C2 * C2.transpose();
  const Matrix residual = C1 - C1 * C2.transpose() * gram.ldlt().solve(C2);
  const Vector s = (residual.rowwise().squaredNorm() / static_cast<double>(n - 1 - p)).cwiseSqrt();
  const Matrix x = fresh.X2.colwise() - pairs.X2.rowwise().mean();
  const Matrix errors = lmmse.standard_errors(fresh.X2), widths = lmmse.half_widths(fresh.X2, 0.9);
  for (Index j = 0; j < x.cols(); ++j) {
    const double h = 1.0 / static_cast<double>(n) + x.col(j).dot(gram.ldlt().solve(x.col(j)));
    EXPECT_LT(relative(errors.col(j), s * std::sqrt(1 + h)), 1e-11);
    EXPECT_LT(relative(widths.col(j), student_quantile(0.95, n - 1 - p) * errors.col(j)), 1e-13);
  }
  EXPECT_EQ(lmmse.errors.degrees, n - 1 - p);
  EXPECT_FALSE(lmmse.errors.calibrated);
}

// Ridge regression: x̂ = Θ12 (Θ2 + β I)⁻¹ (x2 - μ2). With hat matrix H, the residuals' degrees of freedom are
// n - 1 - tr(2H - HHᵀ) and the leverage of a new sample is its own share in x̂.
TEST(ErrorBars, OfARidgeCountItsEffectiveDegreesOfFreedom) {
  Random random(2);
  const Index n = 30, p = 5;
  const Pairs pairs = random_pairs(random, 7, p, n), fresh = random_pairs(random, 7, p, 2);
  FitOptions options;
  options.ridge = {0.2, 0.4};
  const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(p), Covariance::identity(p), options);
  const Translation lmmse = translation(model, Domain::two, Domain::one);
  const Matrix C1 = centred(pairs.X1), C2 = centred(pairs.X2), theta = sample_covariance(pairs.X2);
  const Matrix ridged = theta + 0.4 * theta.trace() / static_cast<double>(p) * Matrix::Identity(p, p);
  const double one_less = static_cast<double>(n - 1);
  const Matrix H = C2.transpose() * ridged.ldlt().solve(C2) / one_less;
  const double degrees = one_less - (2 * H - H * H.transpose()).trace();
  EXPECT_NEAR(lmmse.errors.degrees, degrees, 1e-10);
  const Vector s = ((C1 - C1 * H).rowwise().squaredNorm() / degrees).cwiseSqrt();
  const Matrix x = fresh.X2.colwise() - pairs.X2.rowwise().mean();
  const Matrix weights = ridged.ldlt().solve(x);  // x̂ = μ1 + C1 C2ᵀ weights/(n-1)
  const Matrix errors = lmmse.standard_errors(fresh.X2);
  for (Index j = 0; j < x.cols(); ++j) {
    const double h = 1.0 / static_cast<double>(n) + (C2.transpose() * weights.col(j) / one_less).squaredNorm();
    EXPECT_LT(relative(errors.col(j), s * std::sqrt(1 + h)), 1e-10);
  }
}

TEST(ErrorBars, AreNotGivenWhereSamplesAreTooFew) {
  Random random(3);
  const Pairs pairs = random_pairs(random, 30, 20, 15);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(14), Covariance::identity(14));
  const Translation lmmse = translation(model, Domain::two, Domain::one);
  EXPECT_EQ(lmmse.errors.scale.size(), 0);
  EXPECT_THROW(lmmse.standard_errors(pairs.X2), InvalidInput);
  EXPECT_THROW(lmmse.half_widths(pairs.X2, 0.9), InvalidInput);
  EXPECT_THROW(translation(model, Domain::two, Domain::one, Method::exact).standard_errors(pairs.X2), InvalidInput);
  const Model small = fit(pairs.X1, pairs.X2, Covariance::identity(3), Covariance::identity(3));
  EXPECT_THROW(translation(small, Domain::two, Domain::one).half_widths(pairs.X2, 1), InvalidInput);
}

// Sample by sample, with a fit of its own for each fold.
TEST(Calibrate, IsTheErrorOfHeldOutSamples) {
  Random random(4);
  const Index n = 60;
  const Pairs pairs = random_pairs(random, 9, 7, n, 1.0);
  const Covariance C = Covariance::identity(3);
  for (const double ridge : {0.0, 0.3}) {
    FitOptions options;
    options.ridge = {ridge, ridge};
    Folds folds({9, 7}, {.folds = 4, .seed = 7});
    folds.add(pairs.X1, pairs.X2);
    double reported = 0;
    const Model model =
        calibrate(fit(folds.all(), C, C, options), folds, C, C, options, [&](double done) { reported = done; });
    EXPECT_EQ(reported, 1);
    EXPECT_EQ(model.calibration_folds, 4);
    Vector squares = Vector::Zero(9);
    for (Index fold = 0; fold < 4; ++fold) {
      std::vector<Index> in, out;
      for (Index j = 0; j < n; ++j) (folds.fold_of(0, j) == fold ? out : in).push_back(j);
      const Model part = fit(Matrix(pairs.X1(Eigen::all, in)), Matrix(pairs.X2(Eigen::all, in)), C, C, options);
      const Translation lmmse = translation(part, Domain::two, Domain::one);
      const Matrix X2 = pairs.X2(Eigen::all, out);
      const double fitted = static_cast<double>(in.size());
      const Matrix e = pairs.X1(Eigen::all, out) - lmmse(X2);
      const Matrix t = lmmse.right * (X2.colwise() - lmmse.mean_from);
      const Matrix V = Matrix::Identity(e.cols(), e.cols()) + t.transpose() * lmmse.errors.G * t / (fitted - 1) +
                       Matrix::Constant(e.cols(), e.cols(), 1 / fitted);
      squares += (e * V.inverse()).cwiseProduct(e).rowwise().sum();
    }
    const Vector expected = (squares / static_cast<double>(n)).cwiseSqrt();
    EXPECT_LT(relative(model.domain(Domain::one).held_out_error, expected), 1e-10);
    const Model again = Model::from_bytes(model.to_bytes());
    const Translation lmmse = translation(again, Domain::two, Domain::one);
    EXPECT_TRUE(lmmse.errors.calibrated);
    EXPECT_EQ(again.calibration_folds, 4);
    EXPECT_EQ(lmmse.errors.degrees, n - 1);
    EXPECT_EQ(lmmse.errors.scale, model.domain(Domain::one).held_out_error);
  }
}

// 90 % intervals of 400 new samples each, 40 draws: all of domain 2's directions by the closed form, and five of them,
// which were chosen, by cross-fitting.
TEST(Calibrate, IntervalsHoldOnNewSamples) {
  Random random(5);
  double closed = 0, crossed = 0;
  const int draws = 40;
  for (int draw = 0; draw < draws; ++draw) {
    const Index n = 100;
    const Pairs all = random_pairs(random, 20, 15, n + 400, 1.0);
    const Matrix X1 = all.X1.leftCols(n), X2 = all.X2.leftCols(n), new1 = all.X1.rightCols(400),
                 new2 = all.X2.rightCols(400);
    const auto covered = [&](const Model& model) {
      const Translation lmmse = translation(model, Domain::two, Domain::one);
      const Matrix missed = (new1 - lmmse(new2)).cwiseAbs(), widths = lmmse.half_widths(new2, 0.9);
      return static_cast<double>((missed.array() <= widths.array()).count()) / static_cast<double>(missed.size());
    };
    closed += covered(fit(X1, X2, Covariance::identity(15), Covariance::identity(15))) / draws;
    Folds folds({20, 15}, {.folds = 10});
    folds.add(X1, X2);
    const Covariance five = Covariance::identity(5);
    crossed += covered(calibrate(fit(folds.all(), five, five), folds, five, five)) / draws;
  }
  EXPECT_GT(closed, 0.89);
  EXPECT_LT(closed, 0.91);
  EXPECT_GT(crossed, 0.88);
  EXPECT_LT(crossed, 0.92);
}

TEST(Calibrate, RefusesFoldsOfOtherSamples) {
  Random random(6);
  const Pairs pairs = random_pairs(random, 4, 4, 30);
  Folds folds({4, 4});
  folds.add(pairs.X1.leftCols(20), pairs.X2.leftCols(20));
  const Covariance C = Covariance::identity(2);
  EXPECT_THROW(calibrate(fit(pairs.X1, pairs.X2, C, C), folds, C, C), InvalidInput);
}

// Folds of one pair, and of none.
TEST(Calibrate, LeavesPairsOutOneAtATimeWhereTheyAreFewerThanTheFolds) {
  Random random(6);
  const Pairs pairs = random_pairs(random, 4, 5, 15);
  const Covariance C = Covariance::identity(2);
  Vector squares = Vector::Zero(4);
  for (Index j = 0; j < 15; ++j) {
    std::vector<Index> others;
    for (Index i = 0; i < 15; ++i) {
      if (i != j) others.push_back(i);
    }
    const Model training = fit(Matrix(pairs.X1(Eigen::all, others)), Matrix(pairs.X2(Eigen::all, others)), C, C);
    const Translation lmmse = translation(training, Domain::two, Domain::one);
    const Vector t = lmmse.right * (pairs.X2.col(j) - lmmse.mean_from), e = pairs.X1.col(j) - lmmse(pairs.X2.col(j));
    squares += e.cwiseAbs2() / (1 + 1.0 / 14 + t.dot(lmmse.errors.G * t) / 13);
  }
  for (const Index count : {15, 40}) {
    Folds folds({4, 5}, {.folds = count});
    folds.add(pairs.X1, pairs.X2);
    const Model model = calibrate(fit(folds.all(), C, C), folds, C, C);
    EXPECT_LT(relative(model.domain(Domain::one).held_out_error, (squares / 15).cwiseSqrt()), 1e-9);
    EXPECT_EQ(model.calibration_folds, 15);
  }
  Folds ten({4, 5}, {.folds = 10});
  ten.add(pairs.X1, pairs.X2);
  EXPECT_GT(calibrate(fit(ten.all(), C, C), ten, C, C).domain(Domain::two).held_out_error.minCoeff(), 0);
}

TEST(Fuse, OfBothDomainsIsTheMeanOfTheirPoints) {
  Random random(7);
  const Pairs pairs = random_pairs(random, 6, 5, 50);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::diagonal(Vector{{1, 2, 3}}), Covariance::identity(3));
  const Matrix Z1 = apply(model, Domain::one, pairs.X1), Z2 = apply(model, Domain::two, pairs.X2);
  for (const Fusion how : kFusions) {
    const Matrix Z = fuse(model, {{Domain::one, pairs.X1}, {Domain::two, pairs.X2}}, how);
    EXPECT_LT(relative(Z, (Z1 + Z2) / 2), 1e-12) << name(how);
  }
  EXPECT_LT(relative(fuse(model, {{Domain::two, pairs.X2}}, Fusion::mean), Z2), 1e-13);
}

// The regression of the mean of both domains' points on the one point at hand, by normal equations.
TEST(Fuse, OfOneDomainIsTheRegressionOfTheMeanOfBoth) {
  Random random(8);
  const Pairs pairs = random_pairs(random, 6, 5, 80, 1.0);
  const Covariance three = Covariance::identity(3), C = Covariance::matrix(Matrix{{2, 1, 0}, {1, 2, 0}, {0, 0, 1}});
  const Model model = fit(pairs.X1, pairs.X2, C, three);
  const Matrix Z1 = apply(model, Domain::one, pairs.X1), Z2 = apply(model, Domain::two, pairs.X2), mean = (Z1 + Z2) / 2;
  for (const Domain domain : kDomains) {
    const Matrix& Z = domain == Domain::one ? Z1 : Z2;
    const Matrix slope = (Z * Z.transpose()).ldlt().solve(Z * mean.transpose()).transpose();
    const Matrix found = fuse(model, {{domain, domain == Domain::one ? pairs.X1 : pairs.X2}});
    EXPECT_LT(relative(found, slope * Z), 1e-10);
  }
}

TEST(Fuse, UsesTheOtherDomainWhereOneIsMissing) {
  Random random(9);
  Pairs pairs = random_pairs(random, 6, 5, 30, 1.0);
  const Model model = fit(pairs.X1, pairs.X2, Covariance::identity(3), Covariance::identity(3));
  const Matrix both = fuse(model, {{Domain::one, pairs.X1}, {Domain::two, pairs.X2}});
  const Matrix alone = fuse(model, {{Domain::two, pairs.X2}});
  pairs.X1(2, 4) = std::numeric_limits<double>::quiet_NaN();
  const Matrix some = fuse(model, {{Domain::one, pairs.X1}, {Domain::two, pairs.X2}});
  EXPECT_LT(relative(some.col(4), alone.col(4)), 1e-13);
  EXPECT_LT(relative(some.col(5), both.col(5)), 1e-13);
  pairs.X2(0, 4) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(fuse(model, {{Domain::one, pairs.X1}, {Domain::two, pairs.X2}}), NotFinite);
  pairs.X2(0, 4) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(fuse(model, {{Domain::one, pairs.X1}, {Domain::two, pairs.X2}}), InvalidInput);
  EXPECT_THROW(fuse(model, {}), InvalidInput);
  EXPECT_THROW(fuse(model, {{Domain::one, pairs.X1}, {Domain::one, pairs.X1}}), InvalidInput);
  EXPECT_THROW(fuse(model, {{Domain::one, pairs.X2}}), WrongDimension);
  EXPECT_THROW(fuse(model, {{Domain::one, pairs.X1}, {Domain::two, pairs.X2.leftCols(3)}}), UnequalSamples);
}

}  // namespace
}  // namespace cgmca
