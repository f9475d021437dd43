// The permutation test against data of known structure, and classifiers against answers by hand.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "sharing.hpp"

namespace cgmca {
namespace {

using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::sharing;

TEST(Permutations, FindTheSharedCauses) {
  for (Index shared : {0, 1, 3}) {
    Random random(7 + static_cast<std::uint64_t>(shared));
    const Pairs pairs = sharing(random, shared, 8, 150, 0.4);
    PermutationOptions test;
    test.permutations = 200;
    test.level = 0.02;
    Summary rows({8, 8}), compressed({8, 8}, Accumulate::qr);
    rows.add(pairs.X1.leftCols(32), pairs.X2.leftCols(32));  // n = 2p: kept as they are
    compressed.add(pairs.X1, pairs.X2);
    const PermutationTest by_rotation = permutation_test(compressed, {}, test);
    EXPECT_TRUE(by_rotation.rotations);
    EXPECT_EQ(by_rotation.significant, shared);
    const PermutationTest by_permutation = permutation_test(rows, {}, test);
    EXPECT_FALSE(by_permutation.rotations);
    EXPECT_EQ(by_permutation.significant, shared);
    for (const auto* found : {&by_rotation, &by_permutation}) {
      EXPECT_TRUE(std::is_sorted(found->p_values.begin(), found->p_values.end()));
      EXPECT_GE(found->p_values.front(), 1.0 / 201);
      EXPECT_LE(found->p_values.back(), 1);
      EXPECT_EQ(found->p_values.size(), 8U);  // of all directions
    }
  }
}

// Where the rows are no longer kept, rotations take the place of permutations: on normal data the p-values are the
// same.
TEST(Permutations, AndRotationsAgreeOnNormalData) {
  Random random(11);
  const Index d = 5, n = 60;
  Pairs pairs = sharing(random, 1, d, n, 1.1);
  const Covariance I = Covariance::identity(1);
  Summary summary({d, d}, Accumulate::qr);
  summary.add(pairs.X1, pairs.X2);
  PermutationOptions test;
  test.permutations = 2000;
  const PermutationTest by_rotation = permutation_test(summary, {}, test);
  ASSERT_TRUE(by_rotation.rotations);
  const double found = fit(summary, I, I).certificate.singular_B(0);
  double reached = 1;
  constexpr int times = 1000;
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  for (int b = 0; b < times; ++b) {
    std::shuffle(order.begin(), order.end(), random.generator());
    reached += fit(pairs.X1, pairs.X2(Eigen::all, order), I, I).certificate.singular_B(0) >= found;
  }
  const double expected = reached / (times + 1);
  EXPECT_GT(expected, 0.02);  // so that there is something to compare
  EXPECT_LT(expected, 0.98);
  EXPECT_NEAR(by_rotation.p_values[0], expected, 4 * std::sqrt(expected * (1 - expected) * (1.0 / 1000 + 1.0 / 2000)));
}

using Draw = std::function<double(Random&)>;
const std::map<std::string, Draw> kDistributions = {
    {"normal", [](Random& random) { return random.normal(); }},
    {"lognormal", [](Random& random) { return std::exp(random.normal()); }},
    {"Cauchy", [](Random& random) { return random.normal() / random.normal(); }},
    {"rare counts", [](Random& random) { return random.integer(1, 20) == 1 ? 1.0 + (random.coin() ? 1 : 0) : 0.0; }}};

// The share of `draws` independent samples, 60 pairs of 3+3 features, in which something is found at the level .05.
double share_found(const Draw& draw, int draws, bool keep_samples) {
  Random random(12);
  PermutationOptions test;
  test.permutations = 39;
  double found = 0;
  for (int k = 0; k < draws; ++k) {
    const Matrix X1 = Matrix::NullaryExpr(3, 60, [&] { return draw(random); }),
                 X2 = Matrix::NullaryExpr(3, 60, [&] { return draw(random); });
    test.seed = static_cast<std::uint64_t>(k);
    if (keep_samples) {
      found += permutation_test({X1, X2}, {}, test).significant > 0 ? 1 : 0;
      continue;
    }
    Summary summary({3, 3});
    summary.add(X1, X2);
    found += permutation_test(summary, {}, test).significant > 0 ? 1 : 0;
  }
  return found / draws;
}

// 1,000 draws: a test of level .05 finds something in .03 to .07 of them, but for one case in 250.
TEST(Permutations, KeepTheirLevelOnSamplesOfAnyDistribution) {
  for (const auto& [name, draw] : kDistributions) {
    const double share = share_found(draw, 1000, true);
    EXPECT_GT(share, 0.03) << name;
    EXPECT_LT(share, 0.07) << name;
  }
}

// A summary of more pairs than it keeps knows no kurtosis: its rotations are right for normal data only.
TEST(Permutations, SayWhereTheyAssumeNormalData) {
  EXPECT_LT(share_found(kDistributions.at("normal"), 300, false), 0.09);
  EXPECT_GT(share_found(kDistributions.at("Cauchy"), 300, false), 0.11);
  Random random(13);
  const Matrix X1 = random.matrix(3, 60), X2 = random.matrix(3, 60);
  PermutationOptions test;
  test.permutations = 19;
  Summary summary({3, 3});
  summary.add(X1, X2);
  const PermutationTest rotated = permutation_test(summary, {}, test), shuffled = permutation_test({X1, X2}, {}, test);
  EXPECT_TRUE(rotated.rotations);
  ASSERT_EQ(rotated.remarks.size(), 1U);
  EXPECT_NE(rotated.remarks[0].find("assume normal data, because a summary does not keep the samples"),
            std::string::npos);
  EXPECT_FALSE(shuffled.rotations);
  EXPECT_TRUE(shuffled.remarks.empty());
}

// How often, over draws of 40 pairs that share six causes, more than six directions are found, and how many on average.
struct Found {
  double above = 0, mean = 0;
};
Found found_of_six(Random& random, Index d1, Index d2, double noise, int draws, const Regularization& regularization,
                   PermutationOptions test) {
  Found found;
  for (int k = 0; k < draws; ++k) {
    const Matrix causes = random.matrix(6, 40);
    const Matrix X1 = random.matrix(d1, 6) * causes + noise * random.matrix(d1, 40),
                 X2 = random.matrix(d2, 6) * causes + noise * random.matrix(d2, 40);
    test.seed = static_cast<std::uint64_t>(k);
    const PermutationTest result = permutation_test({X1, X2}, regularization, test);
    EXPECT_EQ(result.p_values.size(), static_cast<std::size_t>(std::min(d1, d2)));
    EXPECT_TRUE(std::is_sorted(result.p_values.begin(), result.p_values.end()));
    found.above += (result.significant > 6 ? 1.0 : 0.0) / draws;
    found.mean += static_cast<double>(result.significant) / draws;
  }
  return found;
}

// Nominally one draw in 20 shows a seventh.
TEST(Permutations, SeldomCountMoreDirectionsThanThereAre) {
  PermutationOptions test;
  test.permutations = 39;
  for (const double ridge : {0.01, 0.1, 1.0}) {
    Random random(1);
    const Found found = found_of_six(random, 120, 21, 1, 150, {.max_rank = {}, .ridge = ridge}, test);
    EXPECT_LE(found.above, 0.07) << ridge;
    EXPECT_GT(found.mean, 5.5) << ridge;  // and it finds what there is
  }
}

// The same without a ridge, where correlations are near 1 and residuals vary in fewer dimensions than samples do.
TEST(Permutations, SeldomCountMoreDirectionsWithoutARidge) {
  PermutationOptions test;
  test.permutations = 99;
  Random random(1);
  const Found found = found_of_six(random, 10, 10, 0.1, 150, {}, test);
  EXPECT_LE(found.above, 0.07);
  EXPECT_GT(found.mean, 5.9);
}

// A weight is that many copies: the test of weighted samples is that of the copies, shuffle for shuffle.
TEST(Permutations, OfWholeWeightsAreThoseOfTheCopies) {
  Random random(16);
  const Pairs pairs = sharing(random, 1, 4, 40, 1.5);
  Vector weights(40);
  std::vector<Index> copies;
  for (Index j = 0; j < 40; ++j) {
    weights(j) = static_cast<double>(random.integer(0, 3));
    copies.insert(copies.end(), static_cast<std::size_t>(weights(j)), j);
  }
  PermutationOptions test;
  test.permutations = 199;
  const PermutationTest weighted = permutation_test({pairs.X1, pairs.X2}, weights, {}, test);
  const PermutationTest repeated =
      permutation_test({pairs.X1(Eigen::all, copies), pairs.X2(Eigen::all, copies)}, {}, test);
  EXPECT_FALSE(weighted.rotations);
  EXPECT_EQ(weighted.p_values, repeated.p_values);
  EXPECT_FALSE(permutation_test({pairs.X1, pairs.X2}, Vector::Constant(40, 0.7), {}, test).rotations);
  const PermutationTest others = permutation_test({pairs.X1, pairs.X2}, random.matrix(40, 1).cwiseAbs(), {}, test);
  EXPECT_TRUE(others.rotations);
  ASSERT_EQ(others.remarks.size(), 1U);
  EXPECT_NE(others.remarks[0].find("not whole numbers"), std::string::npos);
}

TEST(Permutations, AreTheSameOnAnyNumberOfThreads) {
  Random random(8);
  const Pairs pairs = sharing(random, 2, 20, 30, 0.5);
  Summary summary({20, 20});
  summary.add(pairs.X1, pairs.X2);
  Regularization options;
  options.max_rank = {8, 8};
  PermutationOptions test;
  test.permutations = 99;
  const int before = threads();
  set_threads(1);
  const PermutationTest one = permutation_test(summary, options, test);
  set_threads(2);
  const PermutationTest two = permutation_test(summary, options, test);
  EXPECT_EQ(one.p_values, two.p_values);
  EXPECT_EQ(threads(), 2);
  set_threads(before);
}

TEST(Permutations, FindNothingInASaturatedFit) {
  Random random(9);
  const Pairs pairs = random_pairs(random, 30, 30, 12);
  Summary summary({30, 30});
  summary.add(pairs.X1, pairs.X2);
  PermutationOptions test;
  test.permutations = 20;
  EXPECT_EQ(permutation_test(summary, {}, test).significant, 0);
  EXPECT_DOUBLE_EQ(permutation_test(summary, {}, test).p_values[0], 1);
}

TEST(Classifiers, ByHand) {
  const Matrix samples{{0, 0, 10}, {0, 4, 0}};
  EXPECT_EQ(nearest_neighbour(samples, {1, 2, 3}, Matrix{{1, 1, 9}, {1, 3, 1}}), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(nearest_neighbour(samples, {1, 2, 3}, Matrix{{0}, {2}}), (std::vector<int>{1}));  // a tie: the first
  const LinearClassifier linear(Matrix{{-1, -2, 1, 2}}, {7, 7, -3, -3});
  EXPECT_EQ(linear(Matrix{{-5, 5}}), (std::vector<int>{7, -3}));
  EXPECT_DOUBLE_EQ(accuracy({1, 2, 3, 4}, {1, 2, 0, 4}), 0.75);
  EXPECT_THROW(accuracy({}, {}), InvalidInput);
  EXPECT_THROW(nearest_neighbour(samples, {1, 2}, samples), InvalidInput);
  EXPECT_THROW(nearest_neighbour(samples, {1, 2, 3}, Matrix(3, 1)), WrongDimension);
  EXPECT_THROW(LinearClassifier(Matrix(2, 0), {}), InvalidInput);
}

// Two samples a class in three dimensions, of which the second repeats the first: the centred samples have rank 2, and
// rounding has a third direction.
TEST(LinearClassifier, WithoutARidgeLeavesOutWhatVariesByRounding) {
  Random random(9);
  Matrix samples = random.matrix(3, 40);
  samples.row(1) = samples.row(0) / 3 + samples.row(2) / 7;
  std::vector<int> labels;
  for (Index j = 0; j < 40; ++j) labels.push_back(samples(0, j) > 0 ? 1 : 0);
  Matrix queries = samples;
  queries.row(1).array() += 1e-9;  // far less than any sample moves by, but not along their plane
  EXPECT_EQ(LinearClassifier(samples, labels, 0)(queries), LinearClassifier(samples, labels, 0)(samples));
  EXPECT_EQ(LinearClassifier(samples, labels, 0)(samples), LinearClassifier(samples, labels, 1e-10)(samples));
  EXPECT_EQ(LinearClassifier(Matrix::Ones(2, 4), {1, 1, 2, 1}, 0)(Matrix::Ones(2, 1)), (std::vector<int>{1}));
}

Matrix with_swaps(Matrix X, std::vector<Index>& wrong, Index every) {
  for (Index j = 0; j < X.cols(); j += every) wrong.push_back(j);
  const Vector first = X.col(wrong.front());
  for (std::size_t k = 0; k + 1 < wrong.size(); ++k) X.col(wrong[k]) = Vector(X.col(wrong[k + 1]));
  X.col(wrong.back()) = first;
  return X;
}

TEST(CheckPairs, SwappedPairsAreFoundWithTheirPartners) {
  testing::Random random(1);
  const auto [X1, X2] = testing::random_pairs(random, 12, 9, 200);
  std::vector<Index> wrong;
  const PairCheck check = check_pairs(X1, with_swaps(X2, wrong, 10));
  std::vector<Index> found;
  Index with_partner = 0;
  for (const SuspectPair& suspect : check.suspects) {
    found.push_back(suspect.pair);
    const Index before = (suspect.pair + 200 - 10) % 200;  // X_2 of the pair went there
    with_partner += suspect.partner == before ? 1 : 0;
    EXPECT_TRUE(suspect.partner == -1 || suspect.partner == before);
  }
  std::sort(found.begin(), found.end());
  EXPECT_TRUE(std::includes(wrong.begin(), wrong.end(), found.begin(), found.end()));
  EXPECT_GE(found.size(), 17U);
  EXPECT_GE(with_partner, 15);
  EXPECT_NEAR(check.right, 0.9, 0.06);
  EXPECT_TRUE(check.displacements.empty());
  EXPECT_LE(std::count_if(check.confirmed.begin(), check.confirmed.end(), [](Index pair) { return pair % 10 == 0; }),
            9);
  EXPECT_GE(check.confirmed.size(), 170U);
}

TEST(CheckPairs, ARobustFitIsNearTheFitWithoutWrongPairs) {
  testing::Random random(2);
  const auto [X1, X2] = testing::random_pairs(random, 8, 6, 300);
  std::vector<Index> wrong;
  const Matrix swapped = with_swaps(X2, wrong, 4);
  const Covariance C = Covariance::identity(3);
  const PairCheck check = check_pairs(X1, swapped);
  Summary summary({8, 6});
  summary.add({X1, swapped}, check.probability);
  const auto error = [&, X1 = X1, X2 = X2](const Model& model) {
    return (translate(model, Domain::two, Domain::one, X2) - X1).squaredNorm();
  };
  const double clean = error(fit(X1, X2, C, C)), robust = error(fit(summary, C, C));
  EXPECT_LE(robust - clean, 0.3 * (error(fit(X1, swapped, C, C)) - clean));
}

TEST(CheckPairs, RightPairsAreLeftAlone) {
  testing::Random random(3);
  for (const double noise : {0.3, 1.0}) {
    const auto [X1, X2] = testing::random_pairs(random, 10, 7, 250, noise);
    const PairCheck check = check_pairs(X1, X2);
    EXPECT_LE(check.suspects.size(), 10U);
    EXPECT_TRUE(check.remarks.empty());
  }
}

TEST(CheckPairs, DisplacedRowsAreNamed) {
  testing::Random random(4);
  const auto [X1, X2] = testing::random_pairs(random, 10, 8, 300);
  const PairCheck whole = check_pairs(X1.leftCols(290), X2.rightCols(290));  // X_2 lacks its first ten rows
  ASSERT_EQ(whole.displacements.size(), 1U);
  EXPECT_EQ(whole.displacements[0].by, -10);
  EXPECT_FALSE(whole.informative);
  // From row 200 on a row of domain 2 is missing.
  Matrix lost(8, 299);
  lost << X2.leftCols(200), X2.rightCols(99);
  const PairCheck part = check_pairs(X1.leftCols(299), lost);
  ASSERT_EQ(part.displacements.size(), 1U);
  EXPECT_EQ(part.displacements[0].by, -1);
  EXPECT_NEAR(static_cast<double>(part.displacements[0].first), 201, 5);
  EXPECT_TRUE(part.informative);
}

TEST(CheckPairs, ASortedFileIsNamedAndUnrelatedDomainsAreRefused) {
  testing::Random random(5);
  const auto [X1, X2] = testing::random_pairs(random, 6, 5, 100);
  std::vector<Index> order(100);
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&, X2 = X2](Index a, Index b) { return X2(2, a) < X2(2, b); });
  const PairCheck check = check_pairs(X1, X2(Eigen::all, order));
  EXPECT_FALSE(check.informative);
  ASSERT_EQ(check.remarks.size(), 1U);
  EXPECT_NE(check.remarks[0].find("sorted by feature 2"), std::string::npos);
  EXPECT_THROW(check_pairs(X1, random.matrix(5, 100)), InvalidInput);
  EXPECT_THROW(check_pairs(X1.leftCols(19), X2.leftCols(19)), TooFewSamples);
  EXPECT_THROW(check_pairs(X1, X2.leftCols(99)), UnequalSamples);
}

}  // namespace
}  // namespace cgmca
