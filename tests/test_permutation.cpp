// The permutation test against data of known structure, and classifiers against answers by hand.
#include <algorithm>
#include <cmath>
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
    test.level = 0.01;
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

}  // namespace
}  // namespace cgmca
