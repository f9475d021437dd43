// Cases small enough to work out on paper; each comment derives the numbers the test expects.
#include "core/linalg/linalg.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

constexpr double kRounding = 1e-13;

// One feature each, three pairs: x1 = (-1, 0, 1), x2 = (3, 5, 7) = 5 + 2 x1.
//   μ = (0, 5), Θ1 = (1+0+1)/2 = 1, Θ2 = (4+0+4)/2 = 4, Θ12 = (2+0+2)/2 = 2, correlation 2/√(1·4) = 1.
//   C = 9 for both: A1 = √(9/1) = 3, A2 = √(9/4) = 1.5. Both map the pairs to (-3, 0, 3): objective 0.
TEST(HandCase, OneFeatureAndPerfectCorrelation) {
  const Matrix X1{{-1, 0, 1}}, X2{{3, 5, 7}};
  const Covariance nine = Covariance::matrix(Matrix{{9}});
  const Model model = fit(X1, X2, nine, nine);
  EXPECT_NEAR(model.domain(Domain::one).matrix()(0, 0), 3, kRounding);
  EXPECT_NEAR(model.domain(Domain::two).matrix()(0, 0), 1.5, kRounding);
  EXPECT_NEAR(model.domain(Domain::two).offset()(0), -7.5, kRounding);
  EXPECT_NEAR(model.certificate.singular_B(0), 1, kRounding);
  EXPECT_NEAR(model.certificate.singular_A(0), 9, kRounding);
  EXPECT_NEAR(model.certificate.objective, 0, kRounding);
  // Any translation from 2 to 1 is x1 = (x2 - 5)/2.
  for (Method method : {Method::lmmse, Method::exact, Method::mahalanobis, Method::lsqr}) {
    EXPECT_NEAR(translate(model, Domain::two, Domain::one, Matrix{{9}}, method)(0, 0), 2, 1e-12) << name(method);
  }
}

// One feature each, four pairs: x1 = (-1, -1, 1, 1), x2 = (-1, 1, -1, 3).
//   μ = (0, 0.5), Θ1 = 4/3, x2 - μ2 = (-1.5, 0.5, -1.5, 2.5): Θ2 = (2.25+0.25+2.25+6.25)/3 = 11/3,
//   Θ12 = (1.5-0.5-1.5+2.5)/3 = 2/3, correlation ρ = (2/3)/√(44/9) = 1/√11.
//   C1 = C2 = 1: A1 = √(3/4), A2 = √(3/11); objective 3/4 · (1 + 1 - 2ρ) = 1.5 (1 - 1/√11).
//   lmmse of x1 = 2 given g2 = A2 (x2 - 0.5): slope Θ12/Θ2 = 2/11, so at x2 = 6 it is 2/11 · 5.5 = 1;
//   its variance is Θ1 (1 - ρ²) = 4/3 · 10/11 = 40/33.
TEST(HandCase, OneFeatureAndPartialCorrelation) {
  const Matrix X1{{-1, -1, 1, 1}}, X2{{-1, 1, -1, 3}};
  const Model model = fit(X1, X2, Covariance::identity(1), Covariance::identity(1));
  EXPECT_NEAR(model.domain(Domain::one).matrix()(0, 0), std::sqrt(0.75), kRounding);
  EXPECT_NEAR(model.domain(Domain::two).matrix()(0, 0), std::sqrt(3.0 / 11), kRounding);
  EXPECT_NEAR(model.certificate.objective, 1.5 * (1 - 1 / std::sqrt(11)), kRounding);
  EXPECT_NEAR(model.certificate.bound, 1.5 * (1 - 1 / std::sqrt(11)), kRounding);
  const Translation lmmse = translation(model, Domain::two, Domain::one);
  EXPECT_NEAR(lmmse(Matrix{{6}})(0, 0), 1, kRounding);
  EXPECT_NEAR(lmmse.standard_error(0), std::sqrt(40.0 / 33), kRounding);
}

// Two uncorrelated features each, four pairs at the corners of a rectangle:
//   x1 = (±1, ±2), x2 = (first coordinate of x1, 0·second) + a feature of its own.
//   X1 = [1 1 -1 -1; 2 -2 2 -2], X2 = [3 3 -3 -3; 1 -1 -1 1].
//   Θ1 = diag(4, 16)/3, Θ2 = diag(36, 4)/3, cross products: (1,1): 12/3 = 4, all others 0.
//   σ(B) = (4/√(4/3·12), 0) = (1, 0).
//   C1 = diag(4, 1), C2 = diag(1, 9): A = C1^½ C2^½ = diag(2·1, 1·3) has σ = (3, 2), u = v = e2 then e1: the
//   correlated pair goes to the second coordinate, where the product of standard deviations is larger.
//   A1 = [0 2·√(3/16); √(3/4) 0], A2 = [0 √(3/4); 3·√(3/36) 0] (all entries positive by the sign rule).
//   Objective 3/4 · (5 + 10 - 2·(3·1 + 2·0)) = 6.75.
TEST(HandCase, TheCorrelatedPairGoesWhereTheCovariancesAreLargest) {
  const Matrix X1{{1, 1, -1, -1}, {2, -2, 2, -2}}, X2{{3, 3, -3, -3}, {1, -1, -1, 1}};
  const Model model = fit(X1, X2, Covariance::matrix(Matrix{{4, 0}, {0, 1}}), Covariance::diagonal(Vector{{1, 3}}));
  const Matrix A1{{0, 2 * std::sqrt(3.0 / 16)}, {std::sqrt(0.75), 0}};
  const Matrix A2{{0, std::sqrt(0.75)}, {3 * std::sqrt(3.0 / 36), 0}};
  EXPECT_LE((model.domain(Domain::one).matrix() - A1).norm(), kRounding);
  EXPECT_LE((model.domain(Domain::two).matrix() - A2).norm(), kRounding);
  EXPECT_NEAR(model.certificate.singular_A(0), 3, kRounding);
  EXPECT_NEAR(model.certificate.singular_A(1), 2, kRounding);
  EXPECT_NEAR(model.certificate.singular_B(0), 1, kRounding);
  EXPECT_NEAR(model.certificate.singular_B(1), 0, kRounding);
  EXPECT_NEAR(model.certificate.objective, 6.75, kRounding);
}

// Two pairs fix a line: n - 1 = 1, so both domains have rank 1 however many features they have.
//   x1 = (0,0), (3,4): Θ1 = (3,4)ᵀ(3,4)/2, σ = 5/√2, U = (0.6, 0.8). x2 = (1,1,1), (1,1,3): third feature only.
//   k = 1, C = 1: A1 = (0.6, 0.8)·√2/5, A2 = (0, 0, 1)·√2/2; the constant features get zero columns.
//   Rank 1 is the largest feasible one.
TEST(HandCase, TwoPairsDetermineOneDirection) {
  const Matrix X1{{0, 3}, {0, 4}}, X2{{1, 1}, {1, 1}, {1, 3}};
  const Model model = fit(X1, X2, Covariance::identity(1), Covariance::identity(1));
  EXPECT_LE((model.domain(Domain::one).matrix() - Matrix{{0.6, 0.8}} * std::sqrt(2) / 5).norm(), kRounding);
  EXPECT_LE((model.domain(Domain::two).matrix() - Matrix{{0, 0, 1}} * std::sqrt(2) / 2).norm(), kRounding);
  EXPECT_EQ(model.certificate.ranks, (std::vector<Index>{1, 1}));
  EXPECT_NEAR(model.certificate.objective, 0, kRounding);
  try {
    fit(X1, X2, Covariance::identity(2), Covariance::identity(2));
    FAIL() << "rank 2 from two pairs";
  } catch (const Infeasible& error) {
    EXPECT_EQ(error.data_rank, 1);
    EXPECT_EQ(error.covariance_rank, 2);
  }
}

// A rank-1 covariance in three dimensions, C1 = C2 = (1,2,2)ᵀ(1,2,2): F = (1,2,2)/3 · 3.
//   One feature each as in the first case (ρ = 1): A1 = (1,2,2)ᵀ · 1, A2 = (1,2,2)ᵀ/2, k = 3 above both ranks.
TEST(HandCase, TheCommonSpaceMayHaveMoreDimensionsThanTheData) {
  const Matrix X1{{-1, 0, 1}}, X2{{3, 5, 7}};
  const Vector direction{{1, 2, 2}};
  const Covariance c = Covariance::matrix(direction * direction.transpose());
  const Model model = fit(X1, X2, c, c);
  EXPECT_EQ(model.common_dimension, 3);
  EXPECT_LE((model.domain(Domain::one).matrix() - direction).norm(), kRounding);
  EXPECT_LE((model.domain(Domain::two).matrix() - direction / 2).norm(), kRounding);
}

// The four pairs of partial correlation, ρ² = 1/11: for likelihood2 C1 = ρ²/(1-ρ²) = 1/10 and C2 = 1/(1-ρ²) = 11/10, so
//   A1 = √(1/10 · 3/4), A2 = √(11/10 · 3/11) = √(3/10). Queries of domain 1 exchange the two covariances.
TEST(HandCase, LikelihoodSpreadsTheQueryMoreThanTheReference) {
  const Matrix X1{{-1, -1, 1, 1}}, X2{{-1, 1, -1, 3}};
  const Model two = fit(X1, X2, Covariance::likelihood(Domain::two), Covariance::likelihood(Domain::two));
  EXPECT_NEAR(two.domain(Domain::one).matrix()(0, 0), std::sqrt(0.075), kRounding);
  EXPECT_NEAR(two.domain(Domain::two).matrix()(0, 0), std::sqrt(0.3), kRounding);
  EXPECT_EQ(two.covariances[0], "likelihood2");
  const Model one = fit(X1, X2, Covariance::likelihood(Domain::one), Covariance::likelihood(Domain::one));
  EXPECT_NEAR(one.domain(Domain::one).matrix()(0, 0), std::sqrt(1.1 * 0.75), kRounding);
  EXPECT_NEAR(one.domain(Domain::two).matrix()(0, 0), std::sqrt(0.1 * 3 / 11), kRounding);
}

// Θ = diag(16/3, 4/3): principal1:1 is the variance 16/3 in one dimension, and principal1:2 has the distances of data1:2.
TEST(HandCase, PrincipalPrescribesTheEigenvaluesOfADomain) {
  const Matrix X1{{2, 2, -2, -2}, {1, -1, 1, -1}}, X2{{1, 2, -3, 4}, {1, -1, 2, -5}, {0, 1, 1, -1}};
  const Covariance one = Covariance::principal(Domain::one, 1), both = Covariance::parse("principal1:2");
  const Matrix Z = apply(fit(X1, X2, one, one), Domain::two, X2);
  EXPECT_NEAR(Z.squaredNorm() / 3, 16.0 / 3, kRounding);
  const Covariance data = Covariance::parse("data1:2");
  const Model small = fit(X1, X2, both, both), large = fit(X1, X2, data, data);
  EXPECT_EQ(small.covariances[0], "principal1:2");
  const Matrix S = apply(small, Domain::one, X1) - apply(small, Domain::two, X2);
  const Matrix L = apply(large, Domain::one, X1) - apply(large, Domain::two, X2);
  EXPECT_LE((S.transpose() * S - L.transpose() * L).norm(), 10 * kRounding);
  EXPECT_THROW(fit(X1, X2, one, Covariance::principal(Domain{3}, 1)), InvalidInput);
  EXPECT_THROW(fit(X1, X2, one, Covariance::principal(Domain::one, 3)), Infeasible);
}

TEST(Covariance, IsReadFromWhatItIsCalledAndComparedByWhatItIs) {
  for (const CovarianceKind& kind : covariance_kinds()) {
    if (kind.takes == CovarianceTakes::file) continue;
    const std::string spec =
        std::string(kind.name) + (kind.of_domain ? "2" : "") + (kind.takes == CovarianceTakes::nothing ? "" : ":7");
    const Covariance covariance = Covariance::parse(spec);
    EXPECT_EQ(covariance.description(), spec);
    EXPECT_EQ(covariance.kind(), kind.kind);
    EXPECT_EQ(covariance.number(), kind.takes == CovarianceTakes::nothing ? 0 : 7);
    EXPECT_EQ(covariance.domain(), kind.of_domain ? Domain::two : Domain::one);
    EXPECT_EQ(covariance, Covariance::parse(spec));
    EXPECT_FALSE(covariance == Covariance::identity(8));
  }
  EXPECT_EQ(Covariance::parse("identity"), Covariance::largest_identity());
  const Matrix F{{1, 2}, {3, 4}}, other{{1, 2}, {3, 5}};
  EXPECT_EQ(Covariance::parse("factor:F", [&](const std::string&) { return F; }), Covariance::factor(F));
  EXPECT_FALSE(Covariance::factor(F) == Covariance::factor(other));
  EXPECT_FALSE(Covariance::factor(F) == Covariance::factor(F.row(0)));
  for (const char* wrong : {"", "data", "data0:3", "data1", "data1:", "data1:0", "data1:3x", "likelihood3",
                            "likelihood2:3", "identity:-1", "file:C.npy", "principle1:2"}) {
    EXPECT_THROW(Covariance::parse(wrong), InvalidInput) << wrong;
  }
}

// Identical isotropic domains: every canonical correlation is 1 and no direction has more variance than another, so
// all that is left to choose by is the order of the features: A1 = A2 = √(3/4)·I for the corners (±1, ±1) of a square
// (Θ = 4/3 I).
TEST(HandCase, CompleteTiesFollowTheOrderOfTheFeatures) {
  const Matrix X{{1, 1, -1, -1}, {1, -1, 1, -1}};
  const Model model = fit(X, X, Covariance::identity(2), Covariance::identity(2));
  const Matrix expected = std::sqrt(0.75) * Matrix::Identity(2, 2);
  EXPECT_LE((model.domain(Domain::one).matrix() - expected).norm(), kRounding);
  EXPECT_LE((model.domain(Domain::two).matrix() - expected).norm(), kRounding);
  EXPECT_NEAR(model.certificate.min_gap, 0, kRounding);
}

// LSQR on A = diag(2, 1), y = (2, 1): β1 = √5, u = (2,1)/√5, Aᵀu = (4,1)/√5, α1 = √(17/5), v = (4,1)/√17.
// One step gives x = v · (uᵀ... ) = the best multiple of v: argmin ‖y - t A v‖ with A v = (8,1)/√17:
//   t = y·Av/‖Av‖² = (17/√17)/(65/17) = 17√17/65, x = (4,1)·17/65 = (68, 17)/65.
// Two steps end at the solution (1, 1).
TEST(HandCase, LsqrTakesTheStepsOfPaigeAndSaunders) {
  const Matrix A{{2, 0}, {0, 1}}, y{{2}, {1}};
  const LsqrResult one = lsqr(A, y, {.tolerance = 1e-6, .iterations = 1});
  EXPECT_LE((one.X - Matrix{{68.0 / 65}, {17.0 / 65}}).norm(), kRounding);
  EXPECT_EQ(one.iterations[0], 1);
  EXPECT_FALSE(one.converged[0]);
  const LsqrResult two = lsqr(A, y);
  EXPECT_LE((two.X - Matrix{{1}, {1}}).norm(), kRounding);
  EXPECT_EQ(two.iterations[0], 2);
  EXPECT_TRUE(two.converged[0]);
  EXPECT_EQ(lsqr(A, Matrix::Zero(2, 1)).X, Matrix::Zero(2, 1));
}

}  // namespace
}  // namespace cgmca
