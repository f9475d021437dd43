#include <numeric>

#include "core/linalg/linalg.hpp"
#include "core/summary/moments.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::centred;
using testing::Random;
using testing::relative;

// Θ of both domains together, from whatever the summary holds.
Matrix covariance_of(const Summary& summary) {
  const Moments held = moments(summary);
  const std::vector<Matrix> H =
      roots_about({summary.mean(Domain::one), summary.mean(Domain::two)}, summary);  // in common coordinates
  Matrix S(H[0].rows() + H[1].rows(), H[0].cols());
  S << H[0], H[1];
  const Matrix theta = S * S.transpose() / held.freedom;
  // The same in the coordinates of each domain; rounding is relative to the features' sizes.
  const Matrix T12 = linalg::download(held.theta(0, 1));
  Matrix linked(theta.rows(), theta.cols());
  linked << linalg::download(held.theta(0, 0)), T12, T12.transpose(), linalg::download(held.theta(1, 1));
  const Vector scales = theta.diagonal().cwiseSqrt().cwiseMax(1e-140).cwiseInverse();
  EXPECT_LE((scales.asDiagonal() * (linked - theta) * scales.asDiagonal()).cwiseAbs().maxCoeff(), 1e-11);
  return theta;
}

Matrix joint_covariance(const testing::Pairs& pairs) {
  Matrix X(pairs.X1.rows() + pairs.X2.rows(), pairs.X1.cols());
  X << pairs.X1, pairs.X2;
  return testing::sample_covariance(X);
}

Summary summarize(const testing::Pairs& pairs, Accumulate accumulate, Index block) {
  Summary summary({pairs.X1.rows(), pairs.X2.rows()}, accumulate);
  for (Index first = 0; first < pairs.X1.cols(); first += block) {
    const Index count = std::min(block, pairs.X1.cols() - first);
    summary.add(pairs.X1.middleCols(first, count), pairs.X2.middleCols(first, count));
  }
  return summary;
}

class SummaryForms : public ::testing::TestWithParam<Accumulate> {};
INSTANTIATE_TEST_SUITE_P(Forms, SummaryForms,
                         ::testing::Values(Accumulate::automatic, Accumulate::qr, Accumulate::gram),
                         [](const auto& instance) { return name(instance.param); });

TEST_P(SummaryForms, HoldMeansAndCovariances) {
  Random random(1);
  for (Index n : {2, 17, 18, 19, 500, 3000}) {  // 2p = 18
    SCOPED_TRACE(n);
    auto pairs = testing::random_pairs(random, 5, 4, n);
    pairs.X1.array() += 1e4;
    const Summary summary = summarize(pairs, GetParam(), 7);
    EXPECT_EQ(summary.samples(), n);
    EXPECT_EQ(summary.form() == SummaryForm::rows, n <= 18);
    EXPECT_LE(relative(summary.mean(Domain::one), pairs.X1.rowwise().mean()), 1e-14);
    EXPECT_LE(relative(summary.mean(Domain::two), pairs.X2.rowwise().mean()), 1e-12);
    EXPECT_LE(relative(covariance_of(summary), joint_covariance(pairs)), 1e-11);
  }
}

TEST_P(SummaryForms, AreTheSameBitsHoweverTheSamplesAreCut) {
  Random random(2);
  const auto pairs = testing::random_pairs(random, 5, 4, 5000);
  const Matrix whole = covariance_of(summarize(pairs, GetParam(), 5000));
  for (Index block : {1, 13, 1024, 1025, 4999}) EXPECT_EQ(covariance_of(summarize(pairs, GetParam(), block)), whole);
}

// Enough for blocks of few features, which a Gram matrix adds in lanes side by side.
TEST_P(SummaryForms, AreTheSameBitsInLanesHoweverTheSamplesAreCut) {
  Random random(12);
  const auto pairs = testing::random_pairs(random, 6, 5, 20000);
  const int before = threads();
  set_threads(2);
  const Matrix whole = covariance_of(summarize(pairs, GetParam(), 20000));
  for (Index block : {37, 4096, 19999}) EXPECT_EQ(covariance_of(summarize(pairs, GetParam(), block)), whole) << block;
  set_threads(1);
  const Matrix by_one = covariance_of(summarize(pairs, GetParam(), 20000));
  set_threads(std::max(before, 1));
  EXPECT_LE(relative(by_one, whole), 1e-14);
  EXPECT_LE(relative(whole, joint_covariance(pairs)), 1e-12);
}

// Samples that are all there will be are compressed together if they are few; otherwise nothing changes.
TEST_P(SummaryForms, OfAllSamplesAtOnceAreTheSame) {
  Random random(14);
  for (const Index n : {12, 30, 44, 45, 500}) {  // p = 11
    const auto pairs = testing::random_pairs(random, 6, 5, n);
    Summary all({6, 5}, GetParam());
    all.expect(n);
    all.add(pairs.X1, pairs.X2);
    const Matrix whole = covariance_of(summarize(pairs, GetParam(), n));
    if (n <= 22 || n > 44) {
      EXPECT_EQ(covariance_of(all), whole) << n;
    }
    EXPECT_LE(relative(covariance_of(all), whole), 1e-13) << n;
    EXPECT_EQ(all.samples(), n);
    Summary doubled({6, 5}, GetParam());
    doubled.expect(n);
    doubled.add({pairs.X1, pairs.X2}, Vector::Constant(n, 2));
    EXPECT_EQ(doubled.total_weight(), 2.0 * static_cast<double>(n));
    all.add(pairs.X1, pairs.X2);  // more may follow all the same
    EXPECT_LE(relative((2.0 * static_cast<double>(n) - 1) * covariance_of(doubled),
                       (2.0 * static_cast<double>(n) - 1) * covariance_of(all)),
              1e-13)
        << n;
  }
}

// What lanes would add may make the Gram form unsafe; then nothing of it has been added.
TEST(Summary, LanesThatWouldNotBeSafeAreGivenUp) {
  Random random(13);
  auto pairs = testing::random_pairs(random, 6, 5, 30000, 1.0);
  pairs.X1.row(0).rightCols(20000) *= 1e9;
  const Summary summary = summarize(pairs, Accumulate::automatic, 30000);
  EXPECT_EQ(summarize({pairs.X1.leftCols(10000), pairs.X2.leftCols(10000)}, Accumulate::automatic, 10000).form(),
            SummaryForm::gram);
  EXPECT_EQ(summary.form(), SummaryForm::qr);
  EXPECT_EQ(summary.samples(), 30000);
  const Covariance I = Covariance::identity(5);
  EXPECT_LE(relative(fit(summary, I, I).certificate.singular_B,
                     fit(summarize(pairs, Accumulate::qr, 30000), I, I).certificate.singular_B),
            1e-9);
}

TEST_P(SummaryForms, MergeInAnyOrderAndState) {
  Random random(3);
  const auto pairs = testing::random_pairs(random, 5, 4, 3000);
  const Matrix expected = joint_covariance(pairs);
  // Parts that are still rows, just compressed, and compressed with rows waiting.
  const std::vector<Index> cuts = {0, 3, 13, 200, 201, 1500, 3000};
  std::vector<Summary> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Index count = cuts[i + 1] - cuts[i];
    parts.push_back(
        summarize({pairs.X1.middleCols(cuts[i], count), pairs.X2.middleCols(cuts[i], count)}, GetParam(), 100));
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), 0U);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(order.begin(), order.end(), random.generator());
    Summary merged = parts[order[0]];
    for (std::size_t i = 1; i < order.size(); ++i) merged.merge(parts[order[i]]);
    EXPECT_EQ(merged.samples(), 3000);
    EXPECT_LE(relative(covariance_of(merged), expected), 1e-12);
  }
}

TEST_P(SummaryForms, ContinueAfterSavingAsIfNeverStopped) {
  Random random(4);
  const testing::TemporaryFolder folder;
  const auto pairs = testing::random_pairs(random, 5, 4, 4000);
  const Matrix uninterrupted = covariance_of(summarize(pairs, GetParam(), 4000));
  for (Index stop : {1, 18, 19, 1500}) {
    Summary first = summarize({pairs.X1.leftCols(stop), pairs.X2.leftCols(stop)}, GetParam(), 100);
    first.save(folder / "s");
    Summary resumed = Summary::load(folder / "s");
    EXPECT_EQ(resumed.accumulate(), GetParam());
    EXPECT_EQ(resumed.form(), first.form());
    resumed.add(pairs.X1.rightCols(4000 - stop), pairs.X2.rightCols(4000 - stop));
    EXPECT_EQ(covariance_of(resumed), uninterrupted) << "stopped after " << stop;
  }
}

// Whole numbers with a feature and its complement: P has zeros that tell nothing about the order of the frame's
// features.
TEST_P(SummaryForms, AreTheSameAfterSavingWhateverTheFrameLooksLike) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Index n = 60 + 7 * static_cast<Index>(seed);
    auto pairs = testing::random_pairs(random, 3 + seed % 8, 3 + seed % 5, n);
    pairs.X1 = (pairs.X1.array() > 0).cast<double>();
    pairs.X1.row(1) = 1 - pairs.X1.row(0).array();
    const Summary summary = summarize(pairs, GetParam(), n);
    const Summary loaded = Summary::from_bytes(summary.to_bytes());
    EXPECT_EQ(covariance_of(loaded), covariance_of(summary)) << "seed " << seed;
    const Covariance I = Covariance::identity(1);
    EXPECT_EQ(fit(loaded, I, I).certificate.singular_B, fit(summary, I, I).certificate.singular_B) << "seed " << seed;
  }
}

TEST_P(SummaryForms, KeepAConstantFeatureExactlyConstant) {
  Random random(5);
  auto pairs = testing::random_pairs(random, 5, 4, 3000);
  pairs.X1.row(2).setConstant(0.1);  // not a binary fraction: a plain sum would not return it
  Summary summary = summarize(pairs, GetParam(), 500);
  summary.merge(summarize(pairs, GetParam(), 77));
  EXPECT_EQ(summary.mean(Domain::one)(2), 0.1);
  EXPECT_EQ(covariance_of(summary)(2, 2), 0);
  const Model model = fit(summary, Covariance::identity(2), Covariance::identity(2));
  EXPECT_EQ(model.certificate.ranks[0], 4);
  EXPECT_EQ(model.domain(Domain::one).matrix().col(2).norm(), 0);
}

TEST_P(SummaryForms, CompressTheSamplesThatWait) {
  Random random(25);
  const auto pairs = testing::random_pairs(random, 5, 4, 3000);
  const Matrix expected =
      covariance_of(summarize({pairs.X1.replicate(1, 2), pairs.X2.replicate(1, 2)}, GetParam(), 500));
  Summary summary = summarize(pairs, GetParam(), 500);
  const std::size_t before = summary.to_bytes().size();
  summary.compress();
  EXPECT_LT(summary.to_bytes().size(), before / 10);
  EXPECT_EQ(summary.samples(), 3000);
  EXPECT_LE(relative(covariance_of(summary), covariance_of(summarize(pairs, GetParam(), 500))), 1e-12);
  const std::string bytes = summary.to_bytes();
  summary.compress();  // none wait
  EXPECT_EQ(summary.to_bytes(), bytes);
  summary.add(pairs.X1, pairs.X2);
  EXPECT_LE(relative(covariance_of(summary), expected), 1e-12);

  Summary few = summarize({pairs.X1.leftCols(10), pairs.X2.leftCols(10)}, GetParam(), 10);
  few.compress();
  EXPECT_EQ(few.form(), SummaryForm::rows);
}

TEST(Summary, ChoosesGramWhereItIsSafeAndQrWhereItIsNot) {
  Random random(6);
  auto pairs = testing::random_pairs(random, 5, 4, 2000, 1.0);
  EXPECT_EQ(summarize(pairs, Accumulate::automatic, 100).form(), SummaryForm::gram);
  EXPECT_EQ(summarize(pairs, Accumulate::qr, 100).form(), SummaryForm::qr);
  // κ(Θ) = 1e6 told by the diagonal …
  auto scaled = pairs;
  scaled.X1.row(0) *= 1e-4;
  EXPECT_EQ(summarize(scaled, Accumulate::automatic, 100).form(), SummaryForm::qr);
  // … and one that only the eigenvalues tell: two features nearly equal.
  auto parallel = pairs;
  parallel.X2.row(0) = parallel.X2.row(1) + 1e-4 * parallel.X2.row(0);
  EXPECT_EQ(summarize(parallel, Accumulate::automatic, 100).form(), SummaryForm::qr);
}

// Samples come well conditioned, then one direction grows a thousandfold: the Gram form must be left before it harms.
TEST(Summary, LeavesGramForQrWhenLaterSamplesMakeItUnsafe) {
  Random random(7);
  auto pairs = testing::random_pairs(random, 5, 4, 6000, 1.0);
  for (Index j = 3000; j < 6000; ++j) pairs.X1.col(j) += Vector::Ones(5) * 1e3 * random.normal();
  EXPECT_EQ(summarize({pairs.X1.leftCols(3000), pairs.X2.leftCols(3000)}, Accumulate::automatic, 100).form(),
            SummaryForm::gram);
  const Summary summary = summarize(pairs, Accumulate::automatic, 100);
  EXPECT_EQ(summary.form(), SummaryForm::qr);
  const Model model = fit(summary, Covariance::identity(3), Covariance::identity(3));
  const Model reference = fit(summarize(pairs, Accumulate::qr, 100), Covariance::identity(3), Covariance::identity(3));
  for (Domain domain : {Domain::one, Domain::two}) {
    EXPECT_LE(relative(model.domain(domain).matrix(), reference.domain(domain).matrix()), 1e-10);
  }
  EXPECT_LE(model.certificate.constraint_residuals[0], 1e-11);
}

TEST(Summary, StaysInGramFormOverALongStream) {
  Random random(8);
  const auto pairs = testing::random_pairs(random, 5, 4, 60000, 1.0);  // λ_max grows far beyond the first bound
  EXPECT_EQ(summarize(pairs, Accumulate::automatic, 10000).form(), SummaryForm::gram);
}

// max |W (Θ - Θ_exact) Wᵀ| with W Θ_exact Wᵀ = I of domain 1: the error of what whitening sees.
double whitened_error(const Summary& summary, const Matrix& X1) {
  const auto svd = linalg::thin_svd(centred(X1) / std::sqrt(static_cast<double>(X1.cols() - 1)));
  const Matrix Z = svd.s.cwiseInverse().asDiagonal() * svd.U.transpose() * linalg::download(moments(summary).S[0]);
  return (Z * Z.transpose() - Matrix::Identity(Z.rows(), Z.rows())).cwiseAbs().maxCoeff();
}

// κ = 1e8, over many blocks: the frame's sums must lose no more than Householder's QR of all samples, eps κ.
TEST(Summary, TheFrameIsAsAccurateAsHouseholdersQr) {
  Random random(20);
  auto pairs = testing::random_pairs(random, 12, 4, 30000);
  Vector grades(12);
  for (Index j = 0; j < 12; ++j) grades(j) = std::pow(10, -8.0 * static_cast<double>(j) / 11);
  const Matrix Q = random.orthonormal(12, 12);
  pairs.X1 = Q * grades.asDiagonal() * random.matrix(12, 30000);
  EXPECT_LE(whitened_error(summarize(pairs, Accumulate::qr, 7000), pairs.X1), 2e-7);
  // Some samples lie in the direction hardly seen before: y = 1e8, with which the error would be eps κ².
  for (Index j = 4999; j < 30000; j += 5000) pairs.X1.col(j) += Q.col(11);
  EXPECT_LE(whitened_error(summarize(pairs, Accumulate::qr, 7000), pairs.X1), 2e-7);
}

// Samples sorted so that later ones are nothing like those that made the frame: larger, in directions hardly seen
// before, with features that never varied before. Every one of them is kept, in the same accuracy.
TEST(Summary, TheFrameKeepsSamplesUnlikeItsOwn) {
  Random random(21);
  const Index n = 40000;
  auto pairs = testing::random_pairs(random, 8, 6, n);
  for (Index j = 0; j < n; ++j) {
    if (j < 10000) pairs.X1.row(7)(j) = 3;                       // constant at first …
    if (j < 20000) pairs.X1.row(6)(j) = pairs.X1.row(5)(j) * 2;  // determined by another at first …
    if (j % 5000 == 4999) pairs.X1.col(j) *= 1e3;                // outliers
    if (j >= 30000) pairs.X1.col(j).array() += 50;               // another mean
    if (j < 12000) pairs.X2.row(2)(j) = j == 11000 ? 1.0 : 0.0;  // one sample alone has it
  }
  const Summary summary = summarize(pairs, Accumulate::qr, 1000);
  EXPECT_EQ(summary.samples(), n);
  EXPECT_LE(whitened_error(summary, pairs.X1), 1e-11);
  EXPECT_LE(relative(covariance_of(summary), joint_covariance(pairs)), 1e-12);
  EXPECT_LE(relative(summary.mean(Domain::one), pairs.X1.rowwise().mean()), 1e-12);
}

// Features that are functions of others, throughout: rank and covariance stay what they are.
// Each of the later samples is like many of the first ones together, so that G grows in one direction.
TEST(Summary, TheFrameIsRenewedWhereGOutgrowsIt) {
  Random random(20);
  const Index first = 40000, later = 20000, n = first + later;
  auto pairs = testing::random_pairs(random, 6, 4, n, 1.0);
  const Vector direction = random.matrix(6, 1).normalized();
  for (Index j = first; j < n; ++j) pairs.X1.col(j) += (j % 2 == 0 ? 300 : -300) * direction;
  const auto part = [&](Index from, Index count) {
    return summarize({pairs.X1.middleCols(from, count), pairs.X2.middleCols(from, count)}, Accumulate::qr, count);
  };
  Summary in_order = part(0, first / 2);
  in_order.merge(part(first / 2, first / 2));  // a frame of so many samples
  in_order.add(pairs.X1.rightCols(later), pairs.X2.rightCols(later));
  Summary mixed({6, 4}, Accumulate::qr);
  for (Index j = 0; j < later; ++j) {
    mixed.add(pairs.X1.col(first + j), pairs.X2.col(first + j));
    mixed.add(pairs.X1.middleCols(2 * j, 2), pairs.X2.middleCols(2 * j, 2));
  }
  const Covariance I = Covariance::identity(3);
  const Model found = fit(in_order, I, I), expected = fit(mixed, I, I);
  EXPECT_LT(relative(found.domain(Domain::one).matrix(), expected.domain(Domain::one).matrix()), 3e-12);
  EXPECT_LT(relative(found.certificate.singular_B, expected.certificate.singular_B), 1e-14);
}

TEST(Summary, TheFrameBearsDeterminedFeatures) {
  Random random(22);
  auto pairs = testing::random_pairs(random, 9, 5, 12000);
  pairs.X1.row(1) = pairs.X1.row(0);
  pairs.X1.row(3) = pairs.X1.row(0) - 2 * pairs.X1.row(2);
  pairs.X2.row(0) = pairs.X2.row(4) / 3;
  const Summary summary = summarize(pairs, Accumulate::qr, 12000);
  EXPECT_LE(relative(covariance_of(summary), joint_covariance(pairs)), 1e-13);
  const Model model = fit(summary, Covariance::identity(3), Covariance::identity(3));
  EXPECT_EQ(model.certificate.ranks[0], 7);
  EXPECT_EQ(model.certificate.ranks[1], 4);
  const Matrix Z = apply(model, Domain::one, pairs.X1);
  EXPECT_LE(relative(testing::sample_covariance(Z), Matrix::Identity(3, 3)), 1e-12);
}

TEST(Summary, QrKeepsSmallSingularValuesThatGramLoses) {
  Random random(9);
  auto pairs = testing::random_pairs(random, 6, 4, 500);
  const Matrix Q = random.orthonormal(6, 6);
  const Vector grades{{1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10}};
  pairs.X1 = Q * grades.asDiagonal() * random.matrix(6, 500);
  const Covariance c = Covariance::identity(3);
  EXPECT_EQ(fit(summarize(pairs, Accumulate::automatic, 50), c, c).certificate.ranks[0], 6);
  EXPECT_LT(fit(summarize(pairs, Accumulate::gram, 50), c, c).certificate.ranks[0], 6);
}

// κ(Θ_1) is 10¹⁸, but at unit size next to nothing.
TEST(Summary, GramKeepsAFeatureOfAMuchSmallerUnit) {
  Random random(23);
  for (const bool dependent : {false, true}) {
    auto pairs = testing::random_pairs(random, 6, 4, 900);
    pairs.X1.row(2) *= 1e-9;
    if (dependent) pairs.X1.row(5) = pairs.X1.row(0) - 2 * pairs.X1.row(1);
    Summary merged({6, 4}, Accumulate::gram);
    for (const Index first : {0, 450}) {
      merged.merge(summarize({pairs.X1.middleCols(first, 450), pairs.X2.middleCols(first, 450)}, Accumulate::gram, 50));
    }
    const Covariance c = Covariance::identity(3);
    const Model expected = fit(summarize(pairs, Accumulate::qr, 900), c, c);
    for (const Summary& summary : {summarize(pairs, Accumulate::gram, 900), merged}) {
      EXPECT_EQ(summary.form(), SummaryForm::gram);
      const Model model = fit(summary, c, c);
      EXPECT_EQ(model.certificate.ranks, expected.certificate.ranks);
      EXPECT_LE(relative(model.certificate.singular_B, expected.certificate.singular_B), 1e-10);
      const Matrix Z = apply(model, Domain::one, pairs.X1);
      EXPECT_LE(relative(testing::sample_covariance(Z), Matrix::Identity(3, 3)), 1e-10);
    }
  }
}

TEST(Summary, SingularValuesSurviveALargeMean) {
  Random random(10);
  auto pairs = testing::random_pairs(random, 5, 4, 900);
  const Vector s = linalg::thin_svd(centred(pairs.X1) / std::sqrt(899.0)).s;
  pairs.X1.array() += 1e4;
  Summary merged({5, 4}, Accumulate::qr);
  for (Index part : {0, 1, 2}) {
    merged.merge(
        summarize({pairs.X1.middleCols(300 * part, 300), pairs.X2.middleCols(300 * part, 300)}, Accumulate::qr, 50));
  }
  EXPECT_LE(relative(linalg::thin_svd(linalg::download(moments(merged).S[0])).s, s), 2e-12);
}

TEST(Summary, TurnsASingularGramMatrixIntoATriangularFactor) {
  Random random(12);
  auto pairs = testing::random_pairs(random, 5, 4, 400);
  pairs.X1.row(1).setConstant(0.1);
  pairs.X2.row(0) = pairs.X1.row(0);  // the joint covariance is singular
  Summary summary = summarize(pairs, Accumulate::gram, 100);
  summary.merge(summarize(pairs, Accumulate::qr, 100));
  EXPECT_EQ(summary.form(), SummaryForm::qr);
  const Matrix found = covariance_of(summary);
  EXPECT_LE(relative(found, 2 * 399.0 / 799.0 * joint_covariance(pairs)), 1e-11);
  EXPECT_EQ(found(1, 1), 0);
}

// What a dependent feature has of its own in a Gram matrix is rounding; no direction may come of it.
TEST(Summary, KeepsTheRankOfAGramSummaryInTheQrForm) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    auto pairs = testing::random_pairs(random, 5, 4, 300, 1.0);
    pairs.X1.row(4) = pairs.X1.row(0) + pairs.X1.row(1);
    pairs.X1.row(2) *= 1e-9;  // a small unit is not a small direction
    const auto half = [&](Index from, Accumulate accumulate) {
      return summarize({pairs.X1.middleCols(from, 150), pairs.X2.middleCols(from, 150)}, accumulate, 150);
    };
    Summary merged = half(0, Accumulate::qr);
    merged.merge(half(150, Accumulate::gram));
    EXPECT_EQ(merged.form(), SummaryForm::qr);
    EXPECT_EQ(fit(merged, Covariance::identity(1), Covariance::identity(1)).certificate.ranks[0], 4) << "seed " << seed;
  }
}

// The sum's rounding grows with the samples; two features of which one is twice the other show it best.
TEST(Summary, KeepsTheRankOfAGramSummaryOfManySamples) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const Index n = 200000;
    testing::Pairs pairs = {random.matrix(2, n), random.matrix(2, n)};
    pairs.X1.row(1) = random.matrix(1, 1)(0, 0) * pairs.X1.row(0);
    const Summary gram = summarize(pairs, Accumulate::gram, n);
    Summary qr({2, 2}, Accumulate::qr);
    qr.merge(gram);
    const Covariance I = Covariance::identity(1);
    EXPECT_EQ(fit(gram, I, I).certificate.ranks[0], 1) << "seed " << seed;
    EXPECT_EQ(fit(qr, I, I).certificate.ranks[0], 1) << "seed " << seed;
  }
}

// Asked for Gram, but merged with a summary in QR form: whole blocks go into the frame.
TEST(Summary, AddsBlocksToTheFormItHas) {
  Random random(23);
  const auto pairs = testing::random_pairs(random, 5, 4, 20000);
  const Matrix expected = covariance_of(summarize(pairs, Accumulate::qr, 20000));
  Summary summary = summarize({pairs.X1.leftCols(100), pairs.X2.leftCols(100)}, Accumulate::gram, 100);
  summary.merge(summarize({pairs.X1.middleCols(100, 100), pairs.X2.middleCols(100, 100)}, Accumulate::qr, 100));
  ASSERT_EQ(summary.form(), SummaryForm::qr);
  summary.add(pairs.X1.rightCols(19800), pairs.X2.rightCols(19800));
  EXPECT_EQ(summary.form(), SummaryForm::qr);
  EXPECT_LT(relative(covariance_of(summary), expected), 1e-13);
}

// Like the rim of an image: each feature varies in a few samples, so that many depend on each other, and the rounding
// of one lies along what another has of its own.
TEST(Summary, TheFrameTellsRoundingFromWhatIsOwn) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const Index d = 40, n = 120;
    testing::Pairs pairs = {Matrix::Zero(d, n), random.matrix(2, n)};
    for (Index j = 0; j < d; ++j) {
      const Index times = 1 + static_cast<Index>(random.generator()() % 3);
      for (Index k = 0; k < times; ++k) {
        const auto sample = static_cast<Index>(random.generator()() % 30);
        pairs.X1(j, sample) = static_cast<double>(1 + random.generator()() % 255) / 255;
      }
    }
    const Summary summary = summarize(pairs, Accumulate::qr, n);
    const Matrix expected = testing::sample_covariance(pairs.X1), found = covariance_of(summary).topLeftCorner(d, d);
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-13) << "seed " << seed;
  }
}

// A feature whose squares vanish is none; it does not keep others from being used.
TEST(Summary, LeavesOutFeaturesOfVanishingSize) {
  Random random(22);
  auto pairs = testing::random_pairs(random, 4, 3, 300, 1.0);
  pairs.X1.row(1) *= 1e-310;
  pairs.X1.row(2) *= 1e-300;
  for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::qr, Accumulate::gram}) {
    const Model model = fit(summarize(pairs, accumulate, 50), Covariance::identity(1), Covariance::identity(1));
    EXPECT_EQ(model.certificate.ranks[0], 2) << name(accumulate);
    EXPECT_LT(model.certificate.constraint_residuals[0], 1e-12) << name(accumulate);
  }
}

// A summary that shall choose its form does not inherit an unsafe one.
TEST(Summary, MeasuresTheGramSummaryItContinues) {
  Random random(21);
  auto pairs = testing::random_pairs(random, 5, 4, 300, 1.0);
  pairs.X1.row(0) = pairs.X1.row(1) + 1e-4 * pairs.X1.row(0);
  Summary choosing({5, 4});
  choosing.merge(summarize(pairs, Accumulate::gram, 300));
  EXPECT_EQ(choosing.form(), SummaryForm::qr);
}

// What both know of their conditioning decides about the sum; means far apart, or what nobody has measured, do not.
TEST(Summary, MergesByWhatIsKnownOfTheConditioning) {
  Random random(26);
  const auto pairs = testing::random_pairs(random, 5, 4, 300, 1.0);
  Summary together = summarize(pairs, Accumulate::automatic, 300);
  together.merge(together);
  EXPECT_EQ(together.form(), SummaryForm::gram);

  auto moved = pairs;
  moved.X1.row(0).array() += 1e6;
  Summary apart = summarize(pairs, Accumulate::automatic, 300);
  apart.merge(summarize(moved, Accumulate::automatic, 300));
  EXPECT_EQ(apart.form(), SummaryForm::qr);

  auto scaled = pairs;
  scaled.X1.row(0) *= 1e6;
  Summary unmeasured({5, 4}, Accumulate::gram);
  unmeasured.merge(summarize(pairs, Accumulate::automatic, 300));  // which was safe
  for (int block = 0; block < 20; ++block) unmeasured.add(scaled.X1, scaled.X2);
  ASSERT_EQ(unmeasured.form(), SummaryForm::gram);
  Summary choosing = summarize(pairs, Accumulate::automatic, 300);
  choosing.merge(unmeasured);
  EXPECT_EQ(choosing.form(), SummaryForm::qr);
}

TEST(Summary, ARejectedBlockChangesNothing) {
  Random random(11);
  const auto pairs = testing::random_pairs(random, 5, 4, 100);
  Summary summary = summarize(pairs, Accumulate::qr, 100);
  const Matrix before = covariance_of(summary);
  Matrix bad = pairs.X2;
  bad(3, 99) = std::nan("");
  EXPECT_THROW(summary.add(pairs.X1, bad), NotFinite);
  EXPECT_EQ(summary.samples(), 100);
  EXPECT_EQ(covariance_of(summary), before);
}

}  // namespace
}  // namespace cgmca
