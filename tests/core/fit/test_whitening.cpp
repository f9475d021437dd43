// Whitening by triangles and by spectra (docs/method.md section 2): the same maps, whichever is taken.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "testing.hpp"

namespace cgmca {
namespace {

using testing::centred;
using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;

// fit whitens with a triangle where it may, PreparedFit always with the spectrum: the same maps, certificate and all.
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
                             Shape{12, 9, 300, Accumulate::gram, "gram: triangle, triangle; B syevd"},
                             Shape{200, 150, 30, Accumulate::qr, "rows: potrf, potrf; B = I"},
                             Shape{60, 12, 30, Accumulate::qr, "rows: potrf, geqrf; B gesdd"},
                             Shape{12, 9, 300, Accumulate::gram, "gram: triangle, triangle; B syevd", true},
                             Shape{9, 12, 300, Accumulate::gram, "gram: triangle, triangle; B ", true}}) {
    Pairs pairs = random_pairs(random, shape.d1, shape.d2, shape.n, 1.0);
    pairs.X1.row(3).setConstant(7);  // a feature that never varies
    if (shape.dependent) {
      pairs.X1.row(5) = pairs.X1.row(1) - 2 * pairs.X1.row(0);
      pairs.X1.row(6) = pairs.X1.row(2);
    }
    Summary summary({shape.d1, shape.d2}, shape.accumulate);
    summary.add(pairs.X1, pairs.X2);
    for (const Covariance& C : {Covariance::identity(4), Covariance::correlation(3)}) {
      const Model triangle = fit(summary, C, C), spectrum = PreparedFit(summary).fit(C, C);
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
    const Model triangle = fit(summary, I, I), spectrum = PreparedFit(summary).fit(I, I);
    EXPECT_EQ(triangle.certificate.ranks, spectrum.certificate.ranks) << unit;
    const Matrix found = triangle.domain(Domain::one).matrix(), wanted = spectrum.domain(Domain::one).matrix();
    const Vector sizes = centred(pairs.X1).rowwise().norm();
    EXPECT_LT(relative(found * sizes.asDiagonal(), wanted * sizes.asDiagonal()), 1e-8) << unit;
  }
}

// A copy of a feature, among features whose units are far apart: both count alike, as in the pseudo-inverse.
TEST(Whitening, TreatsCopiesOfAFeatureAlikeWhateverTheUnits) {
  Random random(23);
  const Covariance I = Covariance::identity(2);
  for (const Index n : {80, 3000}) {
    for (const double exponent : {2.0, 5.0, 8.0}) {
      const Matrix causes = random.matrix(3, n), X1 = random.matrix(4, 3) * causes + random.matrix(4, n);
      Matrix X2 = random.matrix(10, 3) * causes + random.matrix(10, n);
      for (Index f = 0; f < 10; ++f)
        X2.row(f) *= std::pow(10, exponent * (f % 2 == 0 ? 1 : -1) * static_cast<double>(f) / 9);
      X2.row(9) = X2.row(4);
      const Vector sizes = testing::sample_covariance(X2).diagonal().cwiseSqrt();
      for (const Accumulate accumulate : kAccumulates) {
        Summary summary({4, 10}, accumulate);
        summary.add(X1, X2);
        for (const Model& model : {fit(summary, I, I), PreparedFit(summary).fit(I, I)}) {
          SCOPED_TRACE(fmt::format("{} samples, 10^±{}, {}", n, exponent, model.certificate.route));
          EXPECT_EQ(model.certificate.ranks[1], 9);
          const Matrix T = model.domain(Domain::two).weights * sizes.asDiagonal();
          EXPECT_LT((T.col(9) - T.col(4)).norm(), 1e-8 * T.norm());
          const Verification found = verify(model, {X1, X2});
          EXPECT_LT(found.worst_claim().difference, 1e-8) << found.worst_claim().what;
          EXPECT_LT(found.constraint_residuals[1], 1e-8);
        }
      }
    }
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
    EXPECT_EQ(fit(summary, I, I).certificate.ranks, PreparedFit(summary).fit(I, I).certificate.ranks) << own;
  }
}

Pairs in_units(Pairs pairs, double exponent) {
  pairs.X1.row(1) *= std::pow(10, -exponent / 2);
  pairs.X1.row(2) *= std::pow(10, exponent / 2);
  pairs.X2.row(0) *= std::pow(10, -exponent);
  return pairs;
}

// Farad, ohm and hertz in one table: of a plain fit only weights and loadings know the units.
TEST(Whitening, KeepsAllDirectionsWhateverTheUnits) {
  struct Way {
    double exponent;
    Index n;
    Accumulate accumulate;
    Index parts = 1;
  };
  for (const Way& way :
       {Way{14, 9, Accumulate::automatic}, Way{10, 9, Accumulate::automatic}, Way{10, 300, Accumulate::automatic},
        Way{7, 9, Accumulate::automatic}, Way{14, 300, Accumulate::automatic}, Way{14, 300, Accumulate::qr},
        Way{14, 300, Accumulate::automatic, 3}, Way{12, 5000, Accumulate::automatic},
        Way{18, 9000, Accumulate::automatic, 2}, Way{12, 9000, Accumulate::qr, 2}, Way{8, 5000, Accumulate::gram},
        Way{14, 5000, Accumulate::gram, 2}, Way{14, 300, Accumulate::gram}}) {
    SCOPED_TRACE(fmt::format("10^{}, {} samples, {}, {} parts", way.exponent, way.n, name(way.accumulate), way.parts));
    Random random(50);
    const Pairs unit = random_pairs(random, 3, 2, way.n, 1.0), pairs = in_units(unit, way.exponent);
    const auto summarized = [&](const Pairs& all) {
      Summary sum({3, 2}, way.accumulate);
      for (Index part = 0; part < way.parts; ++part) {
        const Index first = part * way.n / way.parts, count = (part + 1) * way.n / way.parts - first;
        Summary one({3, 2}, way.accumulate);
        one.add(all.X1.middleCols(first, count), all.X2.middleCols(first, count));
        sum.merge(one);
      }
      return sum;
    };
    const Summary summary = summarized(pairs);
    const Covariance I = Covariance::identity(2);
    const Model expected = fit(summarized(unit), I, I);
    const Model plain = fit(summary, I, I), spectrum = PreparedFit(summary).fit(I, I);
    Regularization most;
    most.max_rank = Index{3};
    const Model truncated = PreparedFit(summary).fit({I}, most);
    for (const Model& model : {plain, spectrum, truncated}) {
      EXPECT_EQ(model.certificate.ranks, (std::vector<Index>{3, 2})) << model.certificate.route;
      EXPECT_LE(relative(model.certificate.singular_B, expected.certificate.singular_B), 1e-10)
          << model.certificate.route;
      for (const Domain domain : kDomains) {
        const Matrix &X = domain == Domain::one ? pairs.X1 : pairs.X2, &X0 = domain == Domain::one ? unit.X1 : unit.X2;
        const Matrix Z = apply(model, domain, X), Z0 = apply(expected, domain, X0);
        const Vector signs = Z.cwiseProduct(Z0).rowwise().sum().cwiseSign();  // they are chosen in raw units
        EXPECT_LE(relative(signs.asDiagonal() * Z, Z0), 1e-9) << model.certificate.route;
        EXPECT_LE((testing::sample_covariance(Z) - Matrix::Identity(2, 2)).norm(), 1e-10);
        EXPECT_LE(model.certificate.constraint_residuals[domain], 1e-10);
        // P_i = Cov(x_i, t_i), relative to the size of each feature
        const Matrix P =
            centred(X) * (model.domain(domain).weights * centred(X)).transpose() / static_cast<double>(way.n - 1);
        const Vector size = testing::sample_covariance(X).diagonal().cwiseSqrt();
        const Matrix wrong = size.cwiseInverse().asDiagonal() * (model.domain(domain).loadings.leftCols(2) - P);
        EXPECT_LE(wrong.norm(), 1e-9) << model.certificate.route;
      }
    }
    // In raw units, as asked: the spectrum of Θ_1, all of it.
    const Covariance C = Covariance::data(Domain::one, 3);
    const Model raw = fit(summary, C, Covariance::data(Domain::one, 2));
    const Eigen::SelfAdjointEigenSolver<Matrix> theta(testing::sample_covariance(pairs.X1));
    EXPECT_NEAR(raw.domain(Domain::one).covariance_spectrum()(0) / theta.eigenvalues()(2), 1, 1e-10);
    EXPECT_LE(raw.certificate.constraint_residuals[0], 1e-10);
  }
}

// A ridge in raw units counts weights as they are, those of small features too.
TEST(Whitening, MeetsTheRegularizedCovarianceWhateverTheUnits) {
  Random random(52);
  for (const Index n : {60, 1000}) {
    for (const bool repeated : {false, true}) {
      const Matrix causes = random.matrix(3, n);
      Matrix X1 = random.matrix(3, 3) * causes, X2 = random.matrix(14, 3) * causes + 1e-5 * random.matrix(14, n);
      X1 += 1e-5 * random.matrix(3, n);
      for (Index f = 0; f < 14; ++f) X2.row(f) *= std::pow(10, f - 7);
      if (repeated) X2.row(3) = 1e-3 * X2.row(9);
      for (const Accumulate accumulate : kAccumulates) {
        Summary summary({3, 14}, accumulate);
        summary.add(X1, X2);
        for (const double ridge : {1e-9, 1e-3, 1.0, 30.0}) {
          SCOPED_TRACE(fmt::format("{} samples, {}, ridge {}, repeated {}", n, name(accumulate), ridge, repeated));
          FitOptions options;
          options.ridge = ridge;
          const Model model = fit(summary, Covariance::identity(2), Covariance::identity(2), options);
          const double allowed = 1e-15 * (1 + 1 / ridge) + 1e-11;
          for (const Domain domain : kDomains) {
            const Matrix A = model.domain(domain).matrix(),
                         Z = centred(apply(model, domain, domain == Domain::one ? X1 : X2));
            const double beta = model.certificate.constrained[domain].ridge;
            const Matrix C = Z * Z.transpose() / static_cast<double>(n - 1) + beta * A * A.transpose();
            EXPECT_LE((C - Matrix::Identity(2, 2)).norm(), allowed) << model.certificate.route;
          }
          const Certificate& certificate = model.certificate;
          EXPECT_LE(std::abs(certificate.objective - certificate.bound), allowed * certificate.covariance_trace);
          EXPECT_LE(verify(model, {X1, X2}).worst_claim().difference, 1e-8)
              << verify(model, {X1, X2}).worst_claim().what;
        }
      }
    }
  }
}

// Sums that should be 1 differ in their last bit: that is no direction.
TEST(Whitening, TakesNoRoundingForADirection) {
  Random random(51);
  for (const Index n : {10, 300}) {
    Pairs pairs = random_pairs(random, 4, 3, n, 1.0);
    for (Index j = 0; j < n; ++j) pairs.X1(2, j) = random.coin() ? 1.0 : std::nextafter(1.0, 2.0);
    for (const Accumulate accumulate : kAccumulates) {
      Summary summary({4, 3}, accumulate);
      summary.add(pairs.X1, pairs.X2);
      const Covariance I = Covariance::identity(2);
      EXPECT_EQ(fit(summary, I, I).certificate.ranks[0], 3) << n << " " << name(accumulate);
      EXPECT_EQ(PreparedFit(summary).fit(I, I).certificate.ranks[0], 3) << n << " " << name(accumulate);
    }
  }
}

}  // namespace
}  // namespace cgmca
