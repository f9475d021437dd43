// Whitening by triangles and by spectra (docs/method.md section 2): the same maps, whichever is taken.
#include <cmath>

#include "testing.hpp"

namespace cgmca {
namespace {

using testing::centred;
using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;

// fit whitens with a triangle where it may, Factorization always with the spectrum: the same maps, certificate and all.
TEST(Whitening, ByTriangleAndBySpectrumAgree) {
  Random random(15);
  struct Shape {
    Index d1, d2, n;
    Accumulate accumulate;
    const char* route;
    bool dependent = false;  // whether some features of domain 1 are functions of others
  };
  for (const Shape& shape : {Shape{12, 9, 20, Accumulate::qr, "rows: geqrf, geqrf; B gesdd"},
                             Shape{12, 9, 300, Accumulate::qr, "qr: triangle, triangle; B gesdd"},
                             Shape{12, 9, 300, Accumulate::qr, "qr: triangle, triangle; B gesdd", true},
                             Shape{12, 9, 300, Accumulate::gram, "gram: potrf, potrf; B syevd"},
                             Shape{200, 150, 30, Accumulate::qr, "rows: potrf, potrf; B = I"},
                             Shape{60, 12, 30, Accumulate::qr, "rows: potrf, geqrf; B gesdd"},
                             Shape{12, 9, 300, Accumulate::gram, "gram: pstrf geqrf, potrf; B syevd", true},
                             Shape{9, 12, 300, Accumulate::gram, "gram: pstrf geqrf, potrf; B ", true}}) {
    Pairs pairs = random_pairs(random, shape.d1, shape.d2, shape.n, 1.0);
    pairs.X1.row(3).setConstant(7);  // a feature that never varies
    if (shape.dependent) {
      pairs.X1.row(5) = pairs.X1.row(1) - 2 * pairs.X1.row(0);
      pairs.X1.row(6) = pairs.X1.row(2);
    }
    Summary summary({shape.d1, shape.d2}, shape.accumulate);
    summary.add(pairs.X1, pairs.X2);
    for (const Covariance& C : {Covariance::identity(4), Covariance::correlation(3)}) {
      const Model triangle = fit(summary, C, C), spectrum = Factorization(summary).fit(C, C);
      EXPECT_TRUE(triangle.certificate.route.starts_with(shape.route)) << triangle.certificate.route;
      EXPECT_FALSE(spectrum.certificate.route.starts_with(shape.route)) << spectrum.certificate.route;
      const Certificate& certificate = triangle.certificate;
      EXPECT_LT(certificate.constraint_residuals[0], 1e-11);
      EXPECT_LT(certificate.constraint_residuals[1], 1e-11);
      EXPECT_NEAR(certificate.objective, certificate.bound, 1e-11 * certificate.covariance_trace);
      for (Domain domain : kDomains) {
        EXPECT_LT(relative(triangle.domain(domain).matrix(), spectrum.domain(domain).matrix()), 1e-9) << shape.route;
        EXPECT_LT(relative(triangle.domain(domain).loadings, spectrum.domain(domain).loadings), 1e-9) << shape.route;
        EXPECT_LT(relative(triangle.domain(domain).variance, spectrum.domain(domain).variance), 1e-12);
      }
      EXPECT_EQ(triangle.certificate.ranks, spectrum.certificate.ranks);
      EXPECT_LT(relative(triangle.certificate.singular_B, spectrum.certificate.singular_B), 1e-10);
    }
  }
}

// A domain whose features nearly determine each other gets its spectrum, whatever is asked. Small features alone do no
// harm to a triangle, whose errors are relative to each feature's size.
TEST(Whitening, ByTriangleOnlyWhereItIsSafe) {
  Random random(16);
  Pairs pairs = random_pairs(random, 6, 5, 100, 1.0);
  const Covariance I = Covariance::identity(5);
  const auto fitted = [&] {
    Summary summary({6, 5}, Accumulate::qr);
    summary.add(pairs.X1, pairs.X2);
    return fit(summary, I, I);
  };
  pairs.X1.row(0) *= 1e-6;
  const Model small = fitted();
  EXPECT_EQ(small.certificate.route, "qr: triangle, triangle; B gesdd");
  EXPECT_LT(small.certificate.constraint_residuals[0], 1e-13);

  pairs.X1.row(0) = pairs.X1.row(1) + pairs.X1.row(0);
  const Model alike = fitted();
  EXPECT_EQ(alike.certificate.route, "qr: gesdd, triangle; B gesdd");
  EXPECT_LT(alike.certificate.constraint_residuals[0], 1e-8);  // eps·κ, of either way
}

// Features of very different sizes, the smallest first: each direction is as accurate as its features are.
TEST(Whitening, BySpectrumErrsRelativeToTheSizesOfFeatures) {
  Random random(21);
  Pairs pairs = random_pairs(random, 60, 40, 3000, 1.0);
  for (Index j = 0; j < 60; ++j) pairs.X1.row(j) *= std::pow(10, -6.0 * (1 - static_cast<double>(j) / 59));
  for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr}) {
    Summary summary({60, 40}, accumulate);
    summary.add(pairs.X1, pairs.X2);
    const Covariance C = Covariance::data(Domain::one, 30);
    const Model model = fit(summary, C, C);
    EXPECT_TRUE(model.certificate.route.starts_with("qr: gesdd")) << model.certificate.route;
    EXPECT_LE(model.certificate.constraint_residuals[0], 3e-13);
  }
}

// Features that others determine, in any unit: the maps are those of the spectrum, or the spectrum is taken.
TEST(Whitening, OfDeterminedFeaturesDoesNotDependOnTheirUnits) {
  Random random(18);
  const Covariance I = Covariance::identity(2);
  for (const double unit : {1.0, 1e3, 1e5, 1e9, 1e-5}) {
    Pairs pairs = random_pairs(random, 6, 5, 200, 1.0);
    pairs.X1.row(3) = unit * pairs.X1.row(1);
    pairs.X1.row(4) = unit * (pairs.X1.row(1) + 0.3 * pairs.X1.row(0));
    pairs.X1.row(5) = 2 * unit * pairs.X1.row(1);
    Summary summary({6, 5}, Accumulate::qr);
    summary.add(pairs.X1, pairs.X2);
    const Model triangle = fit(summary, I, I), spectrum = Factorization(summary).fit(I, I);
    EXPECT_EQ(triangle.certificate.ranks, spectrum.certificate.ranks) << unit;
    const Matrix found = triangle.domain(Domain::one).matrix(), wanted = spectrum.domain(Domain::one).matrix();
    const Vector sizes = centred(pairs.X1).rowwise().norm();
    EXPECT_LT(relative(found * sizes.asDiagonal(), wanted * sizes.asDiagonal()), 1e-8) << unit;
  }
}

// The rank is that of the spectrum where a feature is nearly determined, but not to the tolerance.
TEST(Whitening, OfNearlyDeterminedFeaturesKeepsTheRank) {
  Random random(19);
  const Covariance I = Covariance::identity(2);
  for (const double own : {1e-6, 1e-10, 5e-13, 1e-17}) {
    Pairs pairs = random_pairs(random, 4, 3, 100, 1.0);
    pairs.X1.row(2) = pairs.X1.row(0) + pairs.X1.row(1) + own * pairs.X1.row(2);
    Summary summary({4, 3}, Accumulate::qr);
    summary.add(pairs.X1, pairs.X2);
    EXPECT_EQ(fit(summary, I, I).certificate.ranks, Factorization(summary).fit(I, I).certificate.ranks) << own;
  }
}

}  // namespace
}  // namespace cgmca
