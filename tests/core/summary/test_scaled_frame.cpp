// Frames made by products (src/core/summary/scaled.hpp): as accurate as Householder's triangles, at a lower cost.
#include <cmath>

#include "core/linalg/linalg.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::Pairs;
using testing::Random;
using testing::relative;

// 40 + 24 features whose sizes differ by 10⁸, of which some depend on others and one never varies: κ(Θ) is 10¹⁶ and
// more, but features at unit size are nearly independent.
Pairs graded_pairs(Random& random, Index n) {
  Pairs pairs = testing::random_pairs(random, 40, 24, n, 2.0);
  for (Index j = 0; j < 40; ++j) pairs.X1.row(j) *= std::pow(10, -8.0 * static_cast<double>(j) / 39);
  for (Index j = 0; j < 24; ++j) pairs.X2.row(j) *= std::pow(10, 4.0 * static_cast<double>(j) / 23);
  pairs.X1.row(7) = 2 * pairs.X1.row(3) - 1e3 * pairs.X1.row(20);
  pairs.X1.row(30) = pairs.X1.row(31);
  pairs.X1.row(12).setConstant(0.1);
  return pairs;
}

Pairs part(const Pairs& pairs, Index first, Index count) {
  return {pairs.X1.middleCols(first, count), pairs.X2.middleCols(first, count)};
}

void add(Summary& summary, const Pairs& pairs) { summary.add(pairs.X1, pairs.X2); }

Summary summarized(const Pairs& pairs, Accumulate accumulate = Accumulate::automatic) {
  Summary summary({pairs.X1.rows(), pairs.X2.rows()}, accumulate);
  add(summary, pairs);
  return summary;
}

bool is_scaled(const Summary& summary) { return summary.to_bytes().find("diagonal1") != std::string::npos; }

// The same model, proven by the data themselves.
void expect_same_fit(const Summary& found, const Summary& expected, const Pairs& pairs) {
  for (const Covariance& C : {Covariance::identity(5), Covariance::data(Domain::one, 6)}) {
    const Model one = fit(found, C, C), two = fit(expected, C, C);
    EXPECT_EQ(one.certificate.ranks, two.certificate.ranks);
    EXPECT_LE(relative(one.certificate.singular_B, two.certificate.singular_B), 1e-10);
    EXPECT_LE(one.certificate.constraint_residuals[0], 1e-10);
    for (const Domain domain : {Domain::one, Domain::two}) {
      const Matrix& X = domain == Domain::one ? pairs.X1 : pairs.X2;
      const Matrix Z = apply(one, domain, X);
      EXPECT_LE(relative(Z, apply(two, domain, X)), 1e-8);
    }
  }
}

TEST(ScaledFrame, IsAsAccurateAsATriangle) {
  Random random(1);
  const Pairs pairs = graded_pairs(random, 9000);
  const Summary scaled = summarized(pairs), triangle = summarized(pairs, Accumulate::qr);
  EXPECT_TRUE(is_scaled(scaled));
  EXPECT_FALSE(is_scaled(triangle));
  EXPECT_EQ(fit(scaled, Covariance::identity(5), Covariance::identity(5)).certificate.ranks[0], 37);
  expect_same_fit(scaled, triangle, pairs);
}

// One that others explain but for 1e-9 of its norm counts as a direction; one that they explain but for rounding does
// not. A Gram matrix cannot tell the two apart.
TEST(ScaledFrame, KeepsWhatAFeatureHasOfItsOwn) {
  Random random(2);
  Pairs pairs = graded_pairs(random, 5000);
  const Matrix noise = random.matrix(1, 5000);
  for (const double own : {1e-9, 0.0}) {
    pairs.X1.row(1) = pairs.X1.row(0) + own * pairs.X1.row(0).norm() / noise.norm() * noise;
    const Summary scaled = summarized(pairs);
    EXPECT_TRUE(is_scaled(scaled));
    for (const Summary& summary : {scaled, summarized(pairs, Accumulate::qr)}) {
      const Covariance I = Covariance::identity(5);
      EXPECT_EQ(fit(summary, I, I).certificate.ranks[0], own > 0 ? 37 : 36);
    }
  }
}

TEST(ScaledFrame, ContinuesAfterSavingAsIfNeverStopped) {
  Random random(3);
  const Pairs pairs = graded_pairs(random, 14000);
  Summary whole = summarized(part(pairs, 0, 6000));
  Summary loaded = Summary::from_bytes(whole.to_bytes());
  EXPECT_TRUE(is_scaled(loaded));
  add(whole, part(pairs, 6000, 8000));
  add(loaded, part(pairs, 6000, 8000));
  EXPECT_EQ(whole.to_bytes(), loaded.to_bytes());
}

TEST(ScaledFrame, MergesWithOthersAndWithTriangles) {
  Random random(4);
  const Pairs pairs = graded_pairs(random, 9000);
  Summary merged = summarized(part(pairs, 0, 4000));
  merged.merge(summarized(part(pairs, 4000, 3000)));
  merged.merge(summarized(part(pairs, 7000, 2000), Accumulate::qr));
  EXPECT_TRUE(is_scaled(merged));
  expect_same_fit(merged, summarized(pairs, Accumulate::qr), pairs);
}

// A summary that asks for QR, and takes over a scaled one, makes triangles from then on.
TEST(ScaledFrame, IsReplacedByATriangleWhereQrIsAskedFor) {
  Random random(10);
  const Pairs pairs = graded_pairs(random, 5000);
  Summary asked({40, 24}, Accumulate::qr);
  asked.merge(summarized(part(pairs, 0, 2500)));
  EXPECT_TRUE(is_scaled(asked));
  asked.merge(summarized(part(pairs, 2500, 2500)));
  EXPECT_FALSE(is_scaled(asked));
  expect_same_fit(asked, summarized(pairs, Accumulate::qr), pairs);
}

// Features that did not vary or depended on others at first, samples of another size and another mean.
TEST(ScaledFrame, KeepsSamplesUnlikeItsOwn) {
  Random random(5);
  const Index n = 30000;
  Pairs pairs = testing::random_pairs(random, 40, 24, n, 2.0);
  for (Index j = 0; j < 40; ++j) pairs.X1.row(j) *= std::pow(10, -5.0 * static_cast<double>(j) / 39);
  for (Index j = 0; j < n; ++j) {
    if (j < 10000) pairs.X1(7, j) = 3;
    if (j < 20000) pairs.X1(6, j) = pairs.X1(5, j) * 2;
    if (j % 5000 == 4999) pairs.X1.col(j) *= 1e3;
    if (j >= 25000) pairs.X1.col(j).array() += 50;
  }
  const Summary scaled = summarized(pairs);
  EXPECT_EQ(scaled.form(), SummaryForm::qr);
  EXPECT_EQ(scaled.samples(), n);
  expect_same_fit(scaled, summarized(pairs, Accumulate::qr), pairs);
}

// Blocks go into the frame from where they lie, or wait until they are complete; the outcome is the same to the bit. Some
// samples fit into no frame and wait among the others, also in a file.
TEST(ScaledFrame, IsTheSameBitsHoweverTheSamplesAreCut) {
  Random random(15);
  const Index n = 14000;
  Pairs pairs = graded_pairs(random, n);
  for (Index j = 900; j < n; j += 1300) pairs.X1.col(j) *= 1e3;
  const auto in_blocks = [&](Accumulate accumulate, Index block, Index saved_after) {
    Summary summary({40, 24}, accumulate);
    for (Index first = 0; first < n; first += block) {
      const Pairs some = part(pairs, first, std::min(block, n - first));
      summary.add(some.X1, some.X2);
      if (saved_after > first && saved_after <= first + block) summary = Summary::from_bytes(summary.to_bytes());
    }
    EXPECT_EQ(is_scaled(summary), accumulate == Accumulate::automatic);
    EXPECT_EQ(summary.samples(), n);
    const Covariance I = Covariance::identity(5);
    return Matrix(fit(summary, I, I).domain(Domain::one).matrix());
  };
  for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr}) {
    const Matrix whole = in_blocks(accumulate, n, 0);
    for (const Index block : {100, 1000, 4096, 13999}) EXPECT_EQ(in_blocks(accumulate, block, 0), whole) << block;
    for (const Index saved : {3000, 4096, 9000}) EXPECT_EQ(in_blocks(accumulate, 100, saved), whole) << saved;
  }
}

// Smooth functions explain each other at any size: that takes a triangle.
TEST(ScaledFrame, IsNotMadeWhereFeaturesDependAtUnitSize) {
  Random random(6);
  Pairs pairs = graded_pairs(random, 3000);
  const Matrix causes = random.matrix(40, 3000);
  for (Index j = 1; j < 40; ++j) pairs.X1.row(j) = pairs.X1.row(j - 1) + 0.05 * causes.row(j);
  pairs.X1.row(39) *= 1e-6;
  const Summary summary = summarized(pairs);
  EXPECT_EQ(summary.form(), SummaryForm::qr);
  expect_same_fit(summary, summarized(pairs, Accumulate::qr), pairs);
}

TEST(ScaledFrame, WeighsSamples) {
  Random random(7);
  const Pairs pairs = graded_pairs(random, 4000);
  const Vector weights = random.matrix(4000, 1).cwiseAbs().array() + 0.5;
  Summary scaled({40, 24}), triangle({40, 24}, Accumulate::qr);
  scaled.add(MatchedSamples{SampleView(pairs.X1), SampleView(pairs.X2)}, weights);
  triangle.add(MatchedSamples{SampleView(pairs.X1), SampleView(pairs.X2)}, weights);
  EXPECT_TRUE(is_scaled(scaled));
  expect_same_fit(scaled, triangle, pairs);
}

// Then G is singular, but neither domain's part of it, and the frame stays.
TEST(ScaledFrame, StaysWhereOneDomainIsAFunctionOfTheOther) {
  Random random(9);
  Pairs pairs = graded_pairs(random, 30000);
  const Matrix M = random.matrix(24, 5);
  for (Index j = 0; j < 24; ++j) pairs.X2.row(j) = pairs.X1.row(j / 4) * M(j, 0) + 1e-3 * pairs.X2.row(j);
  pairs.X2.row(0) = 3 * pairs.X1.row(0);
  Summary summary = summarized(part(pairs, 0, 1000));
  ASSERT_TRUE(is_scaled(summary));
  const double before = linalg::operations();
  add(summary, part(pairs, 1000, 28672));
  EXPECT_LT(linalg::operations() - before, 1.5 * 64.0 * 64.0 * 28672);
  EXPECT_TRUE(is_scaled(summary));
}

// Samples enter at the cost of the Gram matrix and little more; a triangle adds d² a sample and domain.
TEST(ScaledFrame, CostsAsMuchAsAGramMatrix) {
  Random random(8);
  const Pairs first = graded_pairs(random, 1000), later = graded_pairs(random, 40960);
  const auto cost = [&](Accumulate accumulate) {
    Summary summary = summarized(first, accumulate);
    const double before = linalg::operations();
    add(summary, later);
    return linalg::operations() - before;
  };
  const double gram = 64.0 * 64.0 * 40960;
  EXPECT_LT(cost(Accumulate::automatic), 1.35 * gram);
  EXPECT_GT(cost(Accumulate::qr), 1.45 * gram);
}

// Every feature depends on all others: x = Q diag(…) z with singular values from 1 to `smallest`.
Pairs mixed_pairs(Random& random, Index n, double smallest) {
  Pairs pairs = testing::random_pairs(random, 40, 24, n, 2.0);
  for (Matrix* X : {&pairs.X1, &pairs.X2}) {
    const Index d = X->rows();
    const linalg::Svd svd = linalg::thin_svd(random.matrix(d, d));
    const Vector s = (std::log(smallest) * Vector::LinSpaced(d, 0, 1).array()).exp();
    *X = svd.U * s.asDiagonal() * svd.V.transpose() * *X;
  }
  return pairs;
}

double householder_work() { return linalg::cost(linalg::Work::qr).operations; }

// The Cholesky factor of products errs by eps κ = 1e-8 here, the summary in its frame does not.
TEST(CholeskyFrame, IsAsAccurateAsHouseholders) {
  Random random(11);
  for (const double smallest : {1e-3, 1e-4}) {
    const Pairs pairs = mixed_pairs(random, 5000, smallest);
    const double before = householder_work();
    Summary quick = summarized(part(pairs, 0, 200));
    EXPECT_EQ(householder_work(), before);
    EXPECT_EQ(quick.form(), SummaryForm::qr);
    EXPECT_FALSE(is_scaled(quick));
    add(quick, part(pairs, 200, 4800));
    const Summary slow = summarized(pairs, Accumulate::qr);
    expect_same_fit(quick, slow, pairs);
    const Covariance I = Covariance::identity(5);
    EXPECT_LE(fit(quick, I, I).certificate.constraint_residuals[0],
              10 * fit(slow, I, I).certificate.constraint_residuals[0] + 1e-13);
  }
}

TEST(CholeskyFrame, IsNotMadeWhereProductsCannotTellTheRank) {
  Random random(12);
  Pairs pairs = mixed_pairs(random, 5000, 1e-3);
  pairs.X1.row(8) = pairs.X1.row(9) + pairs.X1.row(10) - 1e-9 * pairs.X1.row(11);
  const double before = householder_work();
  const Summary summary = summarized(pairs);
  EXPECT_GT(householder_work(), before);
  expect_same_fit(summary, summarized(pairs, Accumulate::qr), pairs);
}

TEST(CholeskyFrame, ContinuesAfterSavingAsIfNeverStopped) {
  Random random(13);
  const Pairs pairs = mixed_pairs(random, 14000, 1e-4);
  Summary whole = summarized(part(pairs, 0, 6000));
  Summary loaded = Summary::from_bytes(whole.to_bytes());
  add(whole, part(pairs, 6000, 8000));
  add(loaded, part(pairs, 6000, 8000));
  EXPECT_EQ(whole.to_bytes(), loaded.to_bytes());
}

}  // namespace
}  // namespace cgmca
