// What fits cost, in counted floating point operations: a guard against slower ways that no clock of a shared machine
// would tell. Each budget is what the mathematics needs (docs/benchmarks.md) and a tenth.
#include "core/linalg/linalg.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::Pairs;
using testing::Random;
using testing::random_pairs;

double cube(double x) { return x * x * x; }

template <class Work>
double cost_of(const Work& work) {
  const double before = linalg::operations();
  work();
  return linalg::operations() - before;
}

Model fit_summary(const Pairs& pairs, const Covariance& C, Accumulate accumulate) {
  Summary summary({pairs.X1.rows(), pairs.X2.rows()}, accumulate);
  summary.add(pairs.X1, pairs.X2);
  return fit(summary, C, C);
}

// d features each, n samples, the covariance of domain 1 to rank t: the frame of the first 2p samples, all samples in
// it, a triangle K P for each domain; then one SVD of a domain, B from the sums, one SVD of B.
TEST(Cost, OfTheFitAtPaperShape) {
  Random random(1);
  const double d = 90, n = 560, t = 60, p = 2 * d;
  const Pairs pairs = random_pairs(random, 90, 90, 560);
  const Covariance C = Covariance::data(Domain::one, 60);
  const double svd = 26 * cube(d);
  const double maps = 8 * d * d * t, proof = 2 * (2 * t * d * d + t * t * d + d * t * d) + 10 * d * t * t;
  const double frame = 4 * d * d * (2 * p - d / 3), in_frame = 2 * d * d * n + p * p * n, triangle = 4 * cube(d) / 3;
  const double condition = 300 * d * d;
  const double by_qr =
      frame + in_frame + 2 * triangle + svd + 2 * d * d * d + 2 * d * d * d + condition + svd + maps + proof;
  const double by_gram = p * p * n + cube(d) + svd + 8 * cube(d) + svd + maps + proof;
  EXPECT_LT(cost_of([&] { fit_summary(pairs, C, Accumulate::qr); }), 1.1 * by_qr);
  EXPECT_LT(cost_of([&] { fit_summary(pairs, C, Accumulate::gram); }), 1.1 * by_gram);
}

// Few directions of Gram summaries: Cholesky factors, B, and an eigenproblem in place of its SVD.
TEST(Cost, OfAFewDirectionsOfAGramSummary) {
  Random random(6);
  const double d = 90, n = 560, p = 2 * d, k = 5;
  Pairs pairs = random_pairs(random, 90, 90, 560);
  pairs.X1.bottomRows(10) = pairs.X1.topRows(10);
  const double gram = p * p * n, cholesky = cube(d), qr = 8.0 / 3 * cube(d), B = 4 * cube(d), eigen = 10 * cube(d),
               condition = 200 * d * d, maps = 8 * d * d * k, proof = 6 * d * d * k;
  EXPECT_LT(cost_of([&] { fit_summary(pairs, Covariance::identity(5), Accumulate::gram); }),
            1.1 * (gram + cholesky + qr + B + eigen + condition + maps + proof));
}

// Few directions: nothing is spent on the others. Only the triangles of the domains, B, and a tridiagonal BBᵀ.
TEST(Cost, OfAFewDirectionsWithoutTheOthers) {
  Random random(7);
  const double d = 200, n = 1300, p = 2 * d, k = 5;
  const Pairs pairs = random_pairs(random, 200, 200, 1300);
  const double frame = 4 * d * d * (2 * p - d / 3), in_frame = 2 * d * d * n + p * p * n, triangles = 8 * cube(d) / 3,
               B = 2 * cube(d), square = cube(d), tridiagonal = 4 * cube(d) / 3, condition = 400 * d * d,
               maps = 8 * d * d * k, proof = 8 * d * p * k;
  EXPECT_LT(cost_of([&] { fit_summary(pairs, Covariance::identity(5), Accumulate::qr); }),
            1.1 * (frame + in_frame + triangles + B + square + tridiagonal + condition + maps + proof));
}

// The same of many features: a Gram summary whose conditioning six Cholesky factors prove, two more and B, a basis of
// some 200 dimensions, and one product and one factor for the proof. No eigenvalues, no singular values.
TEST(Cost, OfAFewDirectionsOfMany) {
  Random random(8);
  const double d = 1200, n = 5000, p = 2 * d, k = 4, basis = 200;
  const Matrix causes = random.matrix(10, 5000);
  const Pairs pairs = {random.matrix(1200, 10) * causes + random.matrix(1200, 5000),
                       random.matrix(1200, 10) * causes + random.matrix(1200, 5000)};
  const double gram = p * p * n, factors = 8 * cube(d) / 3, B = 2 * cube(d),
               lanczos = 4 * d * d * basis + 16 * d * basis * basis, proof = 4 * cube(d) / 3, products = 400 * d * d,
               maps = 16 * d * d * k;
  const double eigen = linalg::cost(linalg::Work::eigen).operations;
  EXPECT_LT(cost_of([&] { fit_summary(pairs, Covariance::identity(4), Accumulate::automatic); }),
            1.1 * (gram + factors + B + lanczos + proof + products + maps));
  EXPECT_EQ(linalg::cost(linalg::Work::eigen).operations, eigen);
}

// A feature that never varies costs nothing.
TEST(Cost, OfConstantFeatures) {
  Random random(2);
  Pairs pairs = random_pairs(random, 60, 60, 500);
  const Covariance I = Covariance::identity(5);
  const double all = cost_of([&] { fit_summary(pairs, I, Accumulate::qr); });
  pairs.X1.topRows(30).setConstant(1);
  pairs.X2.topRows(30).setConstant(2);
  const double half = cost_of([&] { fit_summary(pairs, I, Accumulate::qr); });
  EXPECT_LT(half, 0.35 * all);
}

// n samples of d > n features: two n×n Gram matrices, one eigenproblem for the ties, and products with k columns.
TEST(Cost, OfWideData) {
  Random random(3);
  const double d = 2000, n = 60, k = 5;
  const Pairs pairs = {random.matrix(2000, 60), random.matrix(2000, 60)};
  const Covariance I = Covariance::identity(5);
  const double gram = 2 * d * n * n, ties = 9 * cube(n) + 14 * cube(n), maps = 2 * 2 * 2 * d * n * k,
               proof = 4 * d * n * k;
  EXPECT_LT(cost_of([&] { fit_summary(pairs, I, Accumulate::qr); }), 1.1 * (gram + ties + maps + proof) + 1e6);
}

// Adding n samples grows with n alone.
TEST(Cost, OfSummarizingIsLinear) {
  Random random(4);
  const auto cost = [&](Index n) {
    const Matrix X1 = random.matrix(20, n), X2 = random.matrix(15, n);
    return cost_of([&] {
      Summary summary({20, 15}, Accumulate::qr);
      summary.add(X1, X2);
      summary.mean(Domain::one);
    });
  };
  const double once = cost(81920), twice = cost(163840);  // the last block, up to 4096, is not compressed yet
  EXPECT_NEAR(twice / once, 2, 0.1);
  EXPECT_LT(once, 1.1 * (35 * 35 + 20 * 20 + 15 * 15) * 81920.0);
}

// Two summaries of like samples merge in the frame of one of them: R = K P of the other, which enters as p samples do.
TEST(Cost, OfAMergeIsThatOfPSamples) {
  Random random(9);
  const double d = 90, p = 2 * d;
  const Pairs pairs = random_pairs(random, 90, 90, 1200);
  Summary one({90, 90}, Accumulate::qr), two({90, 90}, Accumulate::qr);
  one.add(pairs.X1.leftCols(600), pairs.X2.leftCols(600));
  two.add(pairs.X1.rightCols(600), pairs.X2.rightCols(600));
  for (Summary* summary : {&one, &two}) summary->compress();
  const double triangle = cube(p) / 3 + cube(p), enter = 2 * d * d * p + cube(p);
  EXPECT_LT(cost_of([&] { one.merge(two); }), 1.1 * (triangle + enter));
}

// Twenty steps of LSQR on many samples: one SVD of the map, then a few operations a number.
TEST(Cost, OfLsqrDoesNotGrowWithItsSteps) {
  Random random(5);
  const Pairs pairs = random_pairs(random, 60, 60, 400);
  const Covariance C = Covariance::data(Domain::one, 40);
  const Model model = fit(pairs.X1, pairs.X2, C, C);
  const Matrix X = random.matrix(60, 300);
  const auto cost = [&](Index steps) {
    LsqrOptions options;
    options.iterations = steps;
    options.tolerance = 0;
    return cost_of([&] { translate(model, Domain::two, Domain::one, X, Method::lsqr, options); });
  };
  EXPECT_LT(cost(40), 1.01 * cost(20));
}

}  // namespace
}  // namespace cgmca
