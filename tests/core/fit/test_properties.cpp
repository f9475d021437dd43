// Identities that hold for every problem, checked on hundreds of random ones.
#include <Eigen/LU>
#include <Eigen/SVD>

#include "testing.hpp"

namespace cgmca {
namespace {

using testing::centred;
using testing::Random;
using testing::relative;
using testing::sample_covariance;

constexpr int kProblems = 300;

struct Problem {
  Matrix X1, X2;
  Covariance c1, c2;
  Matrix C1, C2;  // the prescribed covariances in full
  double mean_over_spread;
};

// A random covariance of rank c in k dimensions, given in one of the ways a user may give it.
std::pair<Covariance, Matrix> random_covariance(Random& random, Index k, Index c) {
  if (c == k && random.integer(0, 3) == 0) return {Covariance::identity(k), Matrix::Identity(k, k)};
  if (random.integer(0, 3) == 0) {
    Vector sd = Vector::Zero(k);
    for (Index j = 0; j < c; ++j) sd(j) = 0.2 + std::abs(random.normal());
    return {Covariance::diagonal(sd), Matrix(sd.cwiseAbs2().asDiagonal())};
  }
  const Matrix F = random.matrix(k, c), C = F * F.transpose();
  return {random.coin() ? Covariance::matrix(C) : Covariance::factor(F), C};
}

// d1 ≠ d2, n below and above d, rank-deficient data, constant features, c1 ≠ c2, k above all ranks, large means.
Problem random_problem(std::uint64_t seed) {
  Random random(seed);
  const Index d1 = random.integer(1, 12), d2 = random.integer(1, 12), n = random.integer(3, 40);
  auto [X1, X2] = testing::random_pairs(random, d1, d2, n);
  if (random.integer(0, 3) == 0) {  // rank-deficient domain 1
    const Index rank = random.integer(1, d1);
    X1 = random.matrix(d1, rank) * random.matrix(rank, d1) * X1;
  }
  if (random.integer(0, 3) == 0 && d2 > 1) X2.row(random.integer(0, d2 - 1)).setConstant(0.1);
  const double shift = random.integer(0, 3) == 0 ? 1e6 : 0;
  X1.array() += shift;
  X2.array() -= shift;

  const auto rank = [](const Matrix& X) {
    Eigen::JacobiSVD<Matrix> svd(centred(X));
    const Vector& s = svd.singularValues();
    return std::max<Index>(1, (s.array() > 1e-8 * s(0)).count());
  };
  const Index c1 = random.integer(1, rank(X1)), c2 = random.integer(1, rank(X2));
  const Index k = std::max(c1, c2) + random.integer(0, 6);
  auto [p1, C1] = random_covariance(random, k, c1);
  auto [p2, C2] = random_covariance(random, k, c2);
  return {X1, X2, p1, p2, C1, C2, shift};
}

// The sample covariance of data with a mean 1e6 times its spread is itself known only to 1e-10 or so.
double tolerance(const Problem& problem) { return problem.mean_over_spread > 0 ? 1e-8 : 1e-10; }
FitOptions options(const Problem& problem) {
  FitOptions result;
  if (problem.mean_over_spread > 0) result.rank_tol = 1e-9;
  return result;
}

class Property : public ::testing::Test {
 protected:
  template <class Check>
  static void for_each_problem(const Check& check) {
    for (int seed = 1; seed <= kProblems && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const Problem problem = random_problem(static_cast<std::uint64_t>(seed));
      check(problem, fit(problem.X1, problem.X2, problem.c1, problem.c2, options(problem)));
    }
  }
};

TEST_F(Property, TheMapsHaveThePrescribedCovarianceAndMeanZero) {
  for_each_problem([](const Problem& problem, const Model& model) {
    const Matrix Z1 = apply(model, Domain::one, problem.X1), Z2 = apply(model, Domain::two, problem.X2);
    EXPECT_LE((sample_covariance(Z1) - problem.C1).norm(), tolerance(problem) * problem.C1.norm());
    EXPECT_LE((sample_covariance(Z2) - problem.C2).norm(), tolerance(problem) * problem.C2.norm());
    EXPECT_LE(Z1.rowwise().mean().norm(), tolerance(problem) * std::sqrt(problem.C1.trace()));
    EXPECT_LE(model.certificate.constraint_residuals[0], 1e-10);
    EXPECT_LE(model.certificate.constraint_residuals[1], 1e-10);
  });
}

TEST_F(Property, TheObjectiveAttainsItsBound) {
  for_each_problem([](const Problem& problem, const Model& model) {
    const Certificate& certificate = model.certificate;
    EXPECT_NEAR(certificate.objective, certificate.bound, 1e-11 * certificate.covariance_trace);
    const double attained =
        testing::mean_squared_distance(apply(model, Domain::one, problem.X1), apply(model, Domain::two, problem.X2));
    EXPECT_NEAR(attained, certificate.objective, tolerance(problem) * certificate.covariance_trace);
    EXPECT_LE(certificate.singular_B.maxCoeff(), 1 + 1e-12);
  });
}

// Feasible pairs are A_i = F_i D_i W_i with any D_i of orthonormal rows.
TEST_F(Property, NoRandomFeasiblePairBeatsIt) {
  for_each_problem([](const Problem& problem, const Model& model) {
    if (problem.mean_over_spread > 0) return;
    Random random(99);
    const auto random_feasible = [&](const Matrix& X, const Matrix& C) {
      const Matrix S = centred(X) / std::sqrt(static_cast<double>(X.cols() - 1));
      Eigen::JacobiSVD<Matrix> svd(S, Eigen::ComputeThinU | Eigen::ComputeThinV);
      const Index r = (svd.singularValues().array() > 1e-10 * svd.singularValues()(0)).count();
      Eigen::JacobiSVD<Matrix> of_C(C, Eigen::ComputeThinU);
      const Index c = (of_C.singularValues().array() > 1e-10 * of_C.singularValues()(0)).count();
      const Matrix F = of_C.matrixU().leftCols(c) * of_C.singularValues().head(c).cwiseSqrt().asDiagonal();
      const Matrix W = svd.singularValues().head(r).cwiseInverse().asDiagonal() * svd.matrixU().leftCols(r).transpose();
      return Matrix(F * random.orthonormal(r, c).transpose() * W * centred(X));
    };
    for (int trial = 0; trial < 20; ++trial) {
      const double theirs = testing::mean_squared_distance(random_feasible(problem.X1, problem.C1),
                                                           random_feasible(problem.X2, problem.C2));
      EXPECT_GE(theirs, model.certificate.objective - 1e-10 * model.certificate.covariance_trace);
    }
  });
}

// For C1 = C2 of rank t and MCA with k = t, pinv(A1) A2 is the same matrix: the exact translation does not depend on
// the covariance. docs/method.md section 5.
TEST_F(Property, ExactTranslationsOfMcaAndCgmcaCoincideForEqualCovariances) {
  for (int seed = 1; seed <= kProblems && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(static_cast<std::uint64_t>(seed));
    const Index d1 = random.integer(2, 10), d2 = random.integer(2, 10), n = random.integer(30, 60);
    const auto [X1, X2] = testing::random_pairs(random, d1, d2, n);
    const Index t = random.integer(1, std::min(d1, d2)), k = t + random.integer(0, 4);
    const Matrix F = random.matrix(k, t);
    const Model mca = fit(X1, X2, Covariance::identity(t), Covariance::identity(t));
    const Model cgmca = fit(X1, X2, Covariance::factor(F), Covariance::factor(F));
    for (Method method : {Method::exact, Method::mahalanobis, Method::lmmse}) {
      EXPECT_LE(relative(translation(cgmca, Domain::two, Domain::one, method).matrix(),
                         translation(mca, Domain::two, Domain::one, method).matrix()),
                1e-8)
          << name(method);
    }
  }
}

TEST_F(Property, LmmseIsTheLeastSquaresRegressionOnTheOtherDomainsMap) {
  for_each_problem([](const Problem& problem, const Model& model) {
    if (problem.mean_over_spread > 0) return;
    const Matrix Z = apply(model, Domain::two, problem.X2);
    // X1 - mean = β Z in the least-squares sense; Z may have dependent rows, hence the minimum-norm solution.
    Eigen::JacobiSVD<Matrix> svd(Z.transpose(), Eigen::ComputeThinU | Eigen::ComputeThinV);
    svd.setThreshold(1e-9);
    const Matrix fitted = Z.transpose() * svd.solve(centred(problem.X1).transpose());
    const Matrix expected = fitted.transpose().colwise() + problem.X1.rowwise().mean();
    const Translation lmmse = translation(model, Domain::two, Domain::one);
    const Matrix found = lmmse(problem.X2);
    EXPECT_LE((found - expected).norm(), 1e-9 * problem.X1.norm());
    EXPECT_LE((invert(model, Domain::one, Z, Method::lmmse) - found).norm(), 1e-8 * problem.X1.norm());
    // The mean square of what is left, over n-1, is the squared standard error.
    const Vector variance = (problem.X1 - found).rowwise().squaredNorm() / static_cast<double>(problem.X1.cols() - 1);
    EXPECT_LE((variance - lmmse.standard_error.cwiseAbs2()).norm(), 1e-9 * sample_covariance(problem.X1).norm());
  });
}

TEST_F(Property, ExactInversesAreMappedBackToWhereTheyCameFrom) {
  for_each_problem([](const Problem& problem, const Model& model) {
    if (problem.mean_over_spread > 0) return;
    const Matrix Z = apply(model, Domain::one, problem.X1);
    for (Method method : {Method::exact, Method::mahalanobis}) {
      const Matrix X = invert(model, Domain::one, Z, method);
      EXPECT_LE(relative(apply(model, Domain::one, X), Z), 1e-9) << name(method);
    }
    // Euclidean: no other solution is nearer to the mean; Mahalanobis: none is more likely under Θ1.
    const Vector mean = model.domain(Domain::one).mean;
    const Matrix exact = invert(model, Domain::one, Z).colwise() - mean;
    const Matrix likely = invert(model, Domain::one, Z, Method::mahalanobis).colwise() - mean;
    Eigen::JacobiSVD<Matrix> theta(sample_covariance(problem.X1), Eigen::ComputeThinU | Eigen::ComputeThinV);
    theta.setThreshold(1e-12);
    const auto mahalanobis = [&](const Matrix& X) { return X.cwiseProduct(theta.solve(X)).sum(); };
    EXPECT_LE(exact.norm(), likely.norm() * (1 + 1e-9));
    EXPECT_LE(mahalanobis(likely), mahalanobis(centred(problem.X1)) * (1 + 1e-7));
  });
}

// Run long enough, LSQR from zero ends at the solution of least norm, A⁺ (z + A μ).
TEST_F(Property, LsqrConvergesToTheSolutionOfLeastNorm) {
  for_each_problem([](const Problem& problem, const Model& model) {
    if (problem.mean_over_spread > 0) return;
    const Matrix A = model.domain(Domain::one).matrix();
    Eigen::JacobiSVD<Matrix> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
    svd.setThreshold(1e-9);
    if (svd.singularValues()(0) > 1e3 * svd.singularValues()(svd.rank() - 1)) return;  // would take too many steps
    const Matrix Z = apply(model, Domain::two, problem.X2);
    const Matrix Y = Z.colwise() + Vector(A * model.domain(Domain::one).mean);
    const Matrix expected = svd.solve(Y);
    const Matrix found =
        translate(model, Domain::two, Domain::one, problem.X2, Method::lsqr, {.tolerance = 1e-14, .iterations = 200});
    EXPECT_LE(relative(found, expected), 1e-6);
  });
}

}  // namespace
}  // namespace cgmca
