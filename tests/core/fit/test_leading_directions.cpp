// A few leading directions in place of a whole SVD, and likelihood covariances, which need all of them.
#include <Eigen/SVD>

#include "few_pairs.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using few_pairs::cross_covariance;
using few_pairs::expect_certified;
using few_pairs::ridged;
using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;
using testing::sample_covariance;

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
  const Verification attained = verify(model, {pairs.X1, pairs.X2});
  EXPECT_LT(attained.constraint_residuals[0], 1e-10);
  EXPECT_LT(attained.constraint_residuals[1], 1e-10);
  const Model again = Model::from_bytes(model.to_bytes());
  EXPECT_EQ(again.covariances[1], "likelihood2");
}

}  // namespace
}  // namespace cgmca
