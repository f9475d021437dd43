#include "core/linalg/linalg.hpp"

#include <cmath>
#include <limits>

#include "fail_lapack.hpp"
#include "testing.hpp"

namespace cgmca::linalg {
namespace {

using testing::FailLapack;
using testing::Random;
using testing::relative;

constexpr double kRounding = 1e-13;

void expect_orthonormal(const Matrix& U) {
  EXPECT_LE((U.transpose() * U - Matrix::Identity(U.cols(), U.cols())).norm(),
            kRounding * static_cast<double>(1 + U.cols()));
}

// A = U diag(s) Vᵀ for every routine, shape and rank, thin and full.
void expect_svd(const Matrix& A, const Svd& svd, Index u_columns, Index v_columns) {
  const Index least = std::min(A.rows(), A.cols());
  ASSERT_EQ(svd.U.cols(), u_columns);
  ASSERT_EQ(svd.V.cols(), v_columns);
  expect_orthonormal(svd.U);
  expect_orthonormal(svd.V);
  EXPECT_TRUE(std::is_sorted(svd.s.begin(), svd.s.end(), std::greater<>()));
  EXPECT_LE((svd.U.leftCols(least) * svd.s.asDiagonal() * svd.V.leftCols(least).transpose() - A).norm(),
            kRounding * (1 + A.norm()));
}

class SvdTest : public ::testing::TestWithParam<SvdRoutine> {};

TEST_P(SvdTest, ReconstructsTheMatrix) {
  Random random(1);
  const std::pair<Index, Index> shapes[] = {{1, 1}, {7, 3}, {3, 7}, {20, 20}, {60, 9}, {9, 60}};
  for (const auto& [m, n] : shapes) {
    for (Index rank : {Index{0}, Index{1}, std::min(m, n)}) {
      const Matrix A = random.matrix(m, rank) * random.matrix(rank, n);
      SCOPED_TRACE(std::to_string(m) + "×" + std::to_string(n) + " of rank " + std::to_string(rank));
      expect_svd(A, thin_svd(A, GetParam()), std::min(m, n), std::min(m, n));
      expect_svd(A, full_svd(A, GetParam()), m, n);
      EXPECT_EQ(thin_svd(A, GetParam()).routine, GetParam());
    }
  }
}

TEST_P(SvdTest, AgreesOnSingularValues) {
  Random random(2);
  const Matrix A = random.matrix(30, 12);
  EXPECT_LE(relative(thin_svd(A, GetParam()).s, thin_svd(A).s), kRounding);
}

INSTANTIATE_TEST_SUITE_P(Routines, SvdTest, ::testing::Values(SvdRoutine::gesdd, SvdRoutine::gesvd, SvdRoutine::jacobi),
                         [](const auto& instance) { return name(instance.param); });

// gesdd fails to converge on real data: then gesvd answers, then Jacobi, thin and full, tall and wide.
TEST(Fallback, AnSvdThatFailsIsTriedByTheNextRoutine) {
  Random random(13);
  for (const Matrix& A : {random.matrix(9, 4), random.matrix(4, 9)}) {
    const Index least = std::min(A.rows(), A.cols());
    const FailLapack no_gesdd("gesdd");
    expect_svd(A, thin_svd(A), least, least);
    expect_svd(A, full_svd(A), A.rows(), A.cols());
    EXPECT_EQ(thin_svd(A).routine, SvdRoutine::gesvd);
    EXPECT_EQ(full_svd(A).routine, SvdRoutine::gesvd);
    const FailLapack no_gesvd("gesvd");
    expect_svd(A, thin_svd(A), least, least);
    expect_svd(A, full_svd(A), A.rows(), A.cols());
    EXPECT_EQ(thin_svd(A).routine, SvdRoutine::jacobi);
    EXPECT_EQ(full_svd(A).routine, SvdRoutine::jacobi);
    const FailLapack no_gesvj("gesvj");
    EXPECT_THROW(thin_svd(A), NumericalFailure);
    EXPECT_THROW(full_svd(A), NumericalFailure);
  }
}

TEST(Fallback, OneFailureIsForgottenAtTheNextCall) {
  Random random(14);
  const Matrix A = random.matrix(6, 6);
  const FailLapack once("gesdd", 1);
  EXPECT_EQ(thin_svd(A).routine, SvdRoutine::gesvd);
  EXPECT_EQ(thin_svd(A).routine, SvdRoutine::gesdd);
}

TEST(Fallback, EigenvaluesThatFailAreTriedByQrIteration) {
  Random random(15);
  const Matrix L = random.matrix(7, 7), A = L + L.transpose();
  const Vector expected = symmetric_eigenvalues(A);
  const FailLapack no_syevd("syevd");
  const auto [values, Q] = symmetric_eigen(A);
  EXPECT_LE(relative(Q * values.asDiagonal() * Q.transpose(), A), kRounding);
  EXPECT_LE(relative(values, expected), kRounding);
  EXPECT_LE(relative(symmetric_eigenvalues(A), expected), kRounding);
  const FailLapack no_syev("syev");
  EXPECT_THROW(symmetric_eigen(A), NumericalFailure);
  EXPECT_THROW(symmetric_eigenvalues(A), NumericalFailure);
}

// A negative info code: no other routine is tried, because the call itself was wrong.
TEST(Fallback, AnIllegalArgumentIsOurOwnMistake) {
  Random random(16);
  const Matrix A = random.matrix(5, 3), G = A * A.transpose();
  for (const SvdRoutine first : {SvdRoutine::gesdd, SvdRoutine::gesvd, SvdRoutine::jacobi}) {
    const FailLapack failing(first == SvdRoutine::jacobi ? "gesvj" : name(first), 1, -4);
    EXPECT_THROW(thin_svd(A, first), InternalError) << name(first);
  }
  {
    const FailLapack failing("syevd", 1, -4);
    EXPECT_THROW(symmetric_eigen(G), InternalError);
  }
  const FailLapack failing("syevd"), again("syev", 1, -4);
  EXPECT_THROW(symmetric_eigen(G), InternalError);
}

TEST(Linalg, SingularValuesAloneAreThoseOfTheSvd) {
  Random random(3);
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {30, 12}, {12, 30}, {5, 0}}) {
    const Matrix A = random.matrix(m, n);
    EXPECT_LE((singular_values(A) - thin_svd(A).s).norm(), kRounding * (1 + A.norm()));
  }
}

TEST(Linalg, TheBidiagonalFormHasOrthonormalBases) {
  Random random(31);
  for (const auto& [m, n] : {std::pair<Index, Index>{9, 9}, {60, 41}, {5, 1}, {4, 0}}) {
    const Matrix A = random.matrix(m, n);
    const linalg::Bidiagonal form = linalg::bidiagonal(A);
    Matrix B = form.diagonal.asDiagonal();
    for (Index j = 0; j + 1 < n; ++j) B(j, j + 1) = form.above(j);
    EXPECT_LE((form.U.transpose() * form.U - Matrix::Identity(n, n)).norm(), 1e-13);
    EXPECT_LE((form.V.transpose() * form.V - Matrix::Identity(n, n)).norm(), 1e-13);
    EXPECT_LE((form.U * B * form.V.transpose() - A).norm(), 1e-13 * (1 + A.norm()));
  }
}

// tr(AᵀX) of X = polar(A) is the sum of the singular values, which no matrix with orthonormal rows exceeds.
TEST(Linalg, PolarFactorHasTheLargestTrace) {
  Random random(4);
  for (const auto& [m, n] : {std::pair<Index, Index>{3, 8}, {8, 3}, {4, 4}}) {
    const Matrix A = random.matrix(m, n), X = polar(A);
    expect_orthonormal(m < n ? Matrix(X.transpose()) : X);
    EXPECT_NEAR(X.cwiseProduct(A).sum(), singular_values(A).sum(), kRounding * A.norm() * 10);
  }
  const Matrix deficient = random.matrix(4, 1) * random.matrix(1, 9);
  expect_orthonormal(polar(deficient).transpose());
}

TEST(Linalg, EigenvaluesOfAnIntervalAreThoseOfTheWholeSpectrum) {
  Random random(5);
  const Matrix X = random.matrix(40, 40), A = X + X.transpose();
  const SymmetricEigen all = symmetric_eigen(A), some = symmetric_eigen_between(A, -3, 4);
  const Index above = (all.values.array() > 4).count(), count = (all.values.array() > -3).count() - above;
  ASSERT_EQ(some.values.size(), count);
  EXPECT_LE((some.values - all.values.segment(above, count)).norm(), kRounding * A.norm());
  expect_orthonormal(some.Q);
  EXPECT_LE((A * some.Q - some.Q * some.values.asDiagonal()).norm(), kRounding * 10 * A.norm());
  EXPECT_EQ(symmetric_eigen_between(A, 1000, 2000).values.size(), 0);
}

TEST(Linalg, SvdOfInfinityIsRefusedNotLoopedOver) {
  Matrix A = Matrix::Ones(3, 3);
  A(1, 2) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(thin_svd(A), NumericalFailure);
  EXPECT_THROW(symmetric_eigen(A), NumericalFailure);
}

TEST(Linalg, ProductsAreThoseTheyAreNamedAfter) {
  Random random(3);
  const Matrix A = random.matrix(4, 6), B = random.matrix(6, 5), C = random.matrix(5, 3);
  EXPECT_LE(relative(AB(A, B), A * B), kRounding);
  EXPECT_LE(relative(AtB(A.transpose(), B), A * B), kRounding);
  EXPECT_LE(relative(ABt(A, B.transpose()), A * B), kRounding);
  Matrix sum = Matrix::Ones(4, 5);
  linalg::add_ABt(sum, A, B.transpose());
  EXPECT_LE(relative(sum, A * B + Matrix::Ones(4, 5)), kRounding);
  EXPECT_LE(relative(ABC(A, B, C), A * B * C), kRounding);
  EXPECT_LE(relative(ABC(A, B, random.matrix(5, 0)), Matrix::Zero(4, 0)), 0);
  EXPECT_EQ(AB(Matrix(2, 0), Matrix(0, 3)), Matrix::Zero(2, 3));
}

// Not "bad data": the public functions have checked that before anything arrives here.
TEST(Linalg, ShapesThatDoNotFitAreOurOwnMistake) {
  Random random(12);
  const Matrix A = random.matrix(4, 6);
  EXPECT_THROW(AB(A, A), InternalError);
  EXPECT_THROW(symmetric_eigen(A), InternalError);
  EXPECT_THROW(thin_qr(A), InternalError);
}

TEST(Linalg, ProductsTakeBlocksOfLargerMatrices) {
  Random random(4);
  const Matrix A = random.matrix(9, 9);
  EXPECT_LE(relative(AB(A.block(1, 2, 3, 4), A.block(0, 5, 4, 2)), A.block(1, 2, 3, 4) * A.block(0, 5, 4, 2)),
            kRounding);
}

TEST(Linalg, SizesBeyondLapacksIntegersAreRefused) {
  // Refused before anything is read, so one number can stand for the 64 GB column.
  double value = 1;
  const Eigen::Map<const Matrix> column(&value, Index{1} << 33, 1);
  EXPECT_THROW(AtB(column, column), InvalidInput);
}

TEST(Linalg, EigenvaluesComeLargestFirst) {
  // [2 1; 1 2] has (1,1)/√2 with 3 and (1,-1)/√2 with 1.
  const Matrix A{{2, 1}, {1, 2}};
  const auto [values, Q] = symmetric_eigen(A);
  EXPECT_NEAR(values(0), 3, kRounding);
  EXPECT_NEAR(values(1), 1, kRounding);
  EXPECT_LE(relative(Q * values.asDiagonal() * Q.transpose(), A), kRounding);
  EXPECT_LE(relative(symmetric_eigenvalues(A), values), kRounding);
}

TEST(Linalg, AZeroColumnStaysExactlyZero) {
  Random random(6);
  Matrix X = random.matrix(50, 5);
  X.col(2).setZero();
  EXPECT_EQ(triangular_factor(X).col(2).norm(), 0);
}

TEST(Linalg, CholeskyTellsAnIndefiniteMatrix) {
  EXPECT_EQ(cholesky(Matrix{{1, 2}, {2, 1}}).size(), 0);
  EXPECT_LE(relative(cholesky(Matrix{{4, 2}, {2, 5}}), Matrix{{2, 1}, {0, 2}}), kRounding);
}

TEST(Linalg, PivotedCholeskyBearsASingularMatrix) {
  Random random(9);
  const Matrix L = random.matrix(12, 5), G = L * L.transpose();
  const PivotedCholesky found = pivoted_cholesky(G, 1e-13);
  EXPECT_EQ(found.R.rows(), 5);
  EXPECT_LE(relative(found.R.transpose() * found.R, G(found.order, found.order)), kRounding);
}

// Larger than what is left to BLAS in one piece, with as few and as many columns.
TEST(Linalg, TriangularSystemsAreSolvedByHalves) {
  Random random(10);
  const Index n = 301;
  Matrix R = random.matrix(n, n).triangularView<Eigen::Upper>();
  R.diagonal().array() += 30;
  for (Index columns : {1, 63, 64, 200}) {
    const Matrix B = random.matrix(n, columns);
    EXPECT_LE(relative(R * solve_upper(R, B), B), kRounding);
    EXPECT_LE(relative(R.transpose() * solve_upper_transposed(R, B), B), kRounding);
  }
  const Matrix L = random.matrix(n, n).triangularView<Eigen::Upper>();
  EXPECT_LE(relative(upper_times_upper(L, R), L * R), kRounding);
}

TEST(Linalg, TheConditionOfATriangleIsToldToWithinAFifth) {
  Random random(11);
  for (double wanted : {3.0, 1e2, 1e4, 1e6}) {
    Vector s(80);
    for (Index j = 0; j < 80; ++j) s(j) = std::pow(wanted, -static_cast<double>(j) / 79);
    const Matrix A = random.orthonormal(80, 80) * s.asDiagonal() * random.orthonormal(80, 80);
    EXPECT_NEAR(condition(triangular_factor(A)) / wanted, 1, 0.2);
  }
}

TEST(Linalg, ABasisIsCompletedAroundTheVectorsGiven) {
  Random random(7);
  const Matrix U = random.orthonormal(8, 3), Q = complete_basis(U, 6);
  EXPECT_EQ(Q.leftCols(3), U);
  expect_orthonormal(Q);
}

TEST(Linalg, TheLeftInverseUndoesAGradedMatrix) {
  Random random(8);
  const Vector grades{{1, 1e-3, 1e-6, 1e-9}};
  const Matrix M = random.orthonormal(9, 4) * grades.asDiagonal();
  const Matrix error = left_inverse(M) * M - Matrix::Identity(4, 4);
  EXPECT_LE((grades.asDiagonal() * error * grades.cwiseInverse().asDiagonal()).norm(), kRounding);
}

// The certificate says what ran, fallbacks too.
TEST(Route, TellsTheRoutineThatSucceededAndThoseThatFailed) {
  testing::Random random(31);
  const auto [X1, X2] = testing::random_pairs(random, 5, 4, 30);
  const Covariance C = Covariance::data(Domain::one, 3);
  EXPECT_EQ(fit(X1, X2, C, C).certificate.route, "gram: gesdd, triangle; B gesdd");
  const FailLapack failing("gesdd");
  EXPECT_EQ(fit(X1, X2, C, C).certificate.route, "gram: gesvd (gesdd failed), triangle; B gesvd (gesdd failed)");
}

}  // namespace
}  // namespace cgmca::linalg
