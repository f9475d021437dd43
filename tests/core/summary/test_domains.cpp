// Summaries of one, two and more domains, of floats, with large means, with names; and sets of folds.
#include <algorithm>

#include "core/summary/moments.hpp"
#include "testing.hpp"

namespace cgmca::testing {
namespace {

// m domains that share hidden causes.
std::vector<Matrix> random_domains(Random& random, const std::vector<Index>& features, Index n) {
  const Matrix causes = random.matrix(3, n);
  std::vector<Matrix> domains;
  for (const Index d : features) domains.push_back(random.matrix(d, 3) * causes + 0.5 * random.matrix(d, n));
  return domains;
}

MatchedSamples columns(const std::vector<Matrix>& domains, Index first, Index count) {
  MatchedSamples views;
  for (const Matrix& X : domains) views.emplace_back(X.middleCols(first, count));
  return views;
}

Matrix stacked(const std::vector<Matrix>& domains) {
  Index p = 0;
  for (const Matrix& X : domains) p += X.rows();
  Matrix all(p, domains.front().cols());
  Index start = 0;
  for (const Matrix& X : domains) {
    all.middleRows(start, X.rows()) = X;
    start += X.rows();
  }
  return all;
}

// Θ of all domains together, from whatever the summary holds.
Matrix covariance_of(const Summary& summary) {
  const Moments held = moments(summary);
  Matrix theta(held.layout.size(), held.layout.size());
  const auto put = [&](Index i, Index j, const Matrix& block) {
    theta.block(held.layout.start(i), held.layout.start(j), block.rows(), block.cols()) = block;
  };
  for (Index i = 0; i < held.layout.domains(); ++i) {
    for (Index j = i; j < held.layout.domains(); ++j) {
      const Matrix block = linalg::download(held.theta(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
      put(i, j, block);
      put(j, i, block.transpose());
    }
  }
  return theta;
}

TEST(Domains, OneOrManyHaveTheCovarianceOfAllSamplesInEveryForm) {
  Random random(1);
  for (const std::vector<Index>& features : {std::vector<Index>{5}, {4, 3}, {3, 6, 2}, {2, 1, 3, 4, 2}}) {
    std::vector<DomainInfo> info(features.begin(), features.end());
    for (const Index n : {7, 60, 9000}) {
      const auto domains = random_domains(random, features, n);
      const Matrix expected = sample_covariance(stacked(domains));
      for (const Accumulate accumulate : kAccumulates) {
        Summary blocks(info, accumulate), merged(info, accumulate);
        for (Index first = 0; first < n; first += 500) {
          const Index count = std::min<Index>(500, n - first);
          blocks.add(columns(domains, first, count));
          Summary part(info, accumulate);
          part.add(columns(domains, first, count));
          merged.merge(Summary::from_bytes(part.to_bytes()));
        }
        EXPECT_EQ(blocks.samples(), n);
        EXPECT_EQ(blocks.domains(), std::ssize(features));
        EXPECT_LT(relative(covariance_of(blocks), expected), 1e-12);
        EXPECT_LT(relative(covariance_of(merged), expected), 1e-12);
        const auto last = static_cast<Domain>(features.size());
        EXPECT_LT(relative(merged.mean(last), domains.back().rowwise().mean()), 1e-12);
      }
    }
  }
}

TEST(Domains, AreRefusedWhereTheirNumberOrSizeIsWrong) {
  Summary summary({2, 3, 4});
  const Matrix X = Matrix::Ones(2, 5), Y = Matrix::Ones(3, 5), Z = Matrix::Ones(4, 5);
  EXPECT_THROW(summary.add(X, Y), InvalidInput);
  EXPECT_THROW(summary.add({X, Y, Y}), WrongDimension);
  EXPECT_THROW(summary.add({X, Y, Z.leftCols(4)}), UnequalSamples);
  EXPECT_THROW(summary.merge(Summary({2, 3})), WrongDimension);
  EXPECT_THROW(summary.dimension(Domain{4}), MissingDomain);
  EXPECT_THROW(Summary(std::vector<DomainInfo>{}), InvalidInput);
  summary.add({X, Y, Z});
  EXPECT_EQ(summary.samples(), 5);
  EXPECT_THROW(fit(summary, Covariance::identity(1), Covariance::identity(1)), InvalidInput);
}

TEST(Floats, AreSummarizedAsTheDoublesTheyAre) {
  Random random(2);
  for (const Accumulate accumulate : kAccumulates) {
    for (const Index n : {20, 9000}) {
      const Eigen::MatrixXf X1 = random.matrix(5, n).cast<float>(), X2 = random.matrix(4, n).cast<float>();
      Summary single({5, 4}, accumulate), mixed({5, 4}, accumulate), widened({5, 4}, accumulate);
      single.add(X1, X2);
      mixed.add(X1, X2.cast<double>());
      widened.add(X1.cast<double>(), X2.cast<double>());
      EXPECT_EQ(single.to_bytes(), widened.to_bytes());
      EXPECT_EQ(mixed.to_bytes(), widened.to_bytes());
    }
  }
  Summary summary({2, 1});
  Eigen::MatrixXf X = Eigen::MatrixXf::Ones(2, 3);
  X(1, 2) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(summary.add(X, Matrix::Ones(1, 3)), NotFinite);
}

// The mean is 1e8 times the spread, and that of each part is another: what is subtracted must not be rounded to the
// mean's size. The differences x - 1e8 are exact, so the fit of these is what must come out.
TEST(LargeMeans, CostNoAccuracyWhenPartsMerge) {
  Random random(3);
  constexpr Index n = 3000, part = 500;
  Pairs pairs = random_pairs(random, 6, 5, n, 1.0);
  for (Index first = 0; first < n; first += part) {
    pairs.X1.middleCols(first, part).array() += 0.3 * static_cast<double>(first / part);
    pairs.X2.middleCols(first, part).array() -= 0.2 * static_cast<double>(first / part);
  }
  pairs.X1 = (pairs.X1.array() + 1e8).matrix();
  pairs.X2 = (pairs.X2.array() - 1e8).matrix();
  const Covariance C = Covariance::identity(5);
  const Matrix exact1 = pairs.X1.array() - 1e8, exact2 = pairs.X2.array() + 1e8;
  const Vector expected = fit(exact1, exact2, C, C).certificate.singular_B;
  for (const Accumulate accumulate : kAccumulates) {
    Summary merged({6, 5}, accumulate);
    for (Index first = 0; first < n; first += part) {
      Summary one({6, 5}, accumulate);
      one.add(pairs.X1.middleCols(first, part), pairs.X2.middleCols(first, part));
      merged.merge(one);
    }
    const Vector found = fit(merged, C, C).certificate.singular_B;
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-13) << name(accumulate);
  }
}

TEST(Names, AreKeptInSummariesFilesAndModels) {
  Random random(4);
  const auto [X1, X2] = random_pairs(random, 2, 3, 50);
  Summary summary({{2, "synthetic", {"height", "wéight"}}, {3, "measured"}}), unnamed({2, 3});
  summary.add(X1, X2);
  unnamed.add(X1, X2);
  const Summary loaded = Summary::from_bytes(summary.to_bytes());
  EXPECT_EQ(loaded.domain(Domain::one), summary.domain(Domain::one));
  EXPECT_EQ(loaded.domain(Domain::two).name, "measured");
  unnamed.merge(summary);
  EXPECT_EQ(unnamed.domain(Domain::one).feature_names, summary.domain(Domain::one).feature_names);

  const Covariance C = Covariance::identity(2);
  for (const Model& fitted : {fit(loaded, C, C), PreparedFit(loaded).fit(C, C)}) {
    const Model model = Model::from_bytes(fitted.to_bytes());
    EXPECT_EQ(model.domain(Domain::one).name, "synthetic");
    EXPECT_EQ(model.domain(Domain::one).feature_names, (std::vector<std::string>{"height", "wéight"}));
    EXPECT_EQ(model.only(Domain::two).domain(Domain::two).name, "measured");
  }
}

// Parts whose features have the same names in another order merge into the summary of the whole, in all three forms.
TEST(Names, InAnotherOrderAreMovedByMerging) {
  Random random(7);
  const Index d1 = 3, d2 = 2, n = 400;
  const auto [X1, X2] = random_pairs(random, d1, d2, n);
  const std::vector<std::string> names = {"a", "b", "c"}, turned = {"c", "a", "b"};
  const std::vector<Index> places = {2, 0, 1};
  EXPECT_EQ(order_of(names, turned), (std::vector<Index>{1, 2, 0}));
  const Covariance C = Covariance::identity(2);
  for (Accumulate accumulate : kAccumulates) {
    for (const Index part : {Index{4}, n / 2}) {  // rows merged into a compressed summary, and two compressed ones
      Summary whole({{d1, "", names}, {d2}}, accumulate), own = whole;
      Summary other({{d1, "", turned}, {d2}}, accumulate);
      whole.add(X1, X2);
      own.add(X1.leftCols(n - part), X2.leftCols(n - part));
      other.add(X1.rightCols(part)(places, Eigen::all), X2.rightCols(part));
      own.merge(other);
      EXPECT_EQ(own.domain(Domain::one).feature_names, names);
      EXPECT_LT((own.mean(Domain::one) - whole.mean(Domain::one)).norm(), 1e-12);
      const Matrix A = fit(whole, C, C).domain(Domain::one).matrix();
      EXPECT_LT((fit(own, C, C).domain(Domain::one).matrix() - A).norm(), 1e-9 * A.norm()) << name(accumulate) << part;
    }
  }
}

TEST(Names, OrderIsNothingWhereThereAreNoNamesOrTheyAgree) {
  const std::vector<std::string> names = {"a", "b", "c"};
  EXPECT_TRUE(order_of(names, names).empty());
  EXPECT_TRUE(order_of({}, names).empty());
  EXPECT_TRUE(order_of(names, {}).empty());
  EXPECT_EQ(moved_by(order_of(names, {"b", "a", "c"})), 2);
  EXPECT_THROW(order_of(names, {"a", "a", "c"}), InvalidInput);
  try {
    order_of({"a", "b", "c", "d", "e", "f", "g", "h"}, {"a", "x"});
    FAIL() << "other names passed";
  } catch (const InvalidInput& problem) {
    EXPECT_STREQ(problem.what(),
                 "the features have other names: 'b', 'c', 'd', 'e', 'f' and 2 more missing, 'x' not expected");
  }
}

TEST(Inputs, MergeOnceUnlessRepeatsAreAllowed) {
  Random random(8);
  const auto [X1, X2] = random_pairs(random, 2, 3, 20);
  Summary one({2, 3}), unknown({2, 3});
  one.add(X1, X2);
  unknown.add(X1, X2);
  Summary two = one;
  one.note_input("1:10:abc a.npy");
  two.note_input("1:10:def b.npy");
  Summary copy = Summary::from_bytes(two.to_bytes());
  one.merge(copy);
  EXPECT_EQ(one.inputs(), (std::vector<std::string>{"1:10:abc a.npy", "1:10:def b.npy"}));
  copy = Summary({2, 3});
  copy.add(X1, X2);
  copy.note_input("1:10:def elsewhere.npy");  // the same by its identity
  try {
    one.merge(copy);
    FAIL() << "counted twice";
  } catch (const InvalidInput& problem) {
    EXPECT_NE(std::string(problem.what()).find("'b.npy'"), std::string::npos);
  }
  EXPECT_EQ(one.samples(), 40);
  one.merge(copy, Repeats::allow);
  one.merge(unknown);
  one.merge(unknown);
  EXPECT_EQ(one.samples(), 100);
  EXPECT_EQ(one.inputs().size(), 2U);
  EXPECT_THROW(one.note_input(""), InvalidInput);
}

TEST(Names, ThatContradictAreRefused) {
  Summary summary({{2, "synthetic", {"a", "b"}}, {1}});
  EXPECT_THROW(summary.merge(Summary({{2, "measured"}, {1}})), InvalidInput);
  EXPECT_THROW(summary.merge(Summary({{2, "", {"b", "c"}}, {1}})), InvalidInput);
  EXPECT_THROW(Summary({{2, "", {"a"}}, {1}}), InvalidInput);
  EXPECT_THROW(Summary({{2, "", {"a", "a"}}, {1}}), InvalidInput);
  EXPECT_THROW(Summary({{1, "\xff"}}).to_bytes(), InvalidInput);
}

TEST(FoldSets, AreTheSameAfterSavingAndGoOnAsIfNeverStopped) {
  Random random(5);
  const auto [X1, X2] = random_pairs(random, 4, 3, 103);
  const FoldOptions options{.folds = 4, .repeats = 2, .seed = 7};
  Folds whole({4, 3}, options), first({4, 3}, options);
  whole.add(X1, X2);
  first.add(X1.leftCols(50), X2.leftCols(50));
  const TemporaryFolder folder;
  first.save(folder / "folds");
  Folds resumed = Folds::load(folder / "folds");
  resumed.add(X1.rightCols(53), X2.rightCols(53));
  EXPECT_EQ(resumed.to_bytes(), whole.to_bytes());
  EXPECT_THROW(Summary::load(folder / "folds"), FormatError);
}

// Folds of 14 + 13 + 13 and 17 + 17 + 16 samples merge as wholes, the fullest of one machine with the emptiest of the
// other: into 30 + 30 + 30.
TEST(FoldSets, OfTwoMachinesMergeFoldByFold) {
  Random random(6);
  const auto [X1, X2] = random_pairs(random, 4, 3, 90);
  const FoldOptions options{.folds = 3, .repeats = 2, .seed = 7};
  Folds one({4, 3}, options), two({4, 3}, options);
  one.add(X1.leftCols(40), X2.leftCols(40));
  two.add(X1.rightCols(50), X2.rightCols(50));
  Folds both = one;
  both.merge(two);
  EXPECT_EQ(both.samples(), 90);
  for (Index repeat = 0; repeat < 2; ++repeat) {
    std::vector<Index> counts(3), goes_to(3, -1);
    for (Index j = 0; j < 90; ++j) {
      const Index fold = both.fold_of(repeat, j);
      if (j < 40) {
        EXPECT_EQ(fold, one.fold_of(repeat, j));
      } else {
        Index& expected = goes_to[two.fold_of(repeat, j - 40)];
        if (expected < 0) expected = fold;
        EXPECT_EQ(fold, expected);
      }
      ++counts[fold];
    }
    std::sort(goes_to.begin(), goes_to.end());
    EXPECT_EQ(goes_to, (std::vector<Index>{0, 1, 2}));
    for (Index fold = 0; fold < 3; ++fold) {
      EXPECT_EQ(both.held_out(repeat, fold).samples(), 30);
      EXPECT_EQ(counts[fold], 30);
    }
  }
  EXPECT_EQ(Folds::from_bytes(both.to_bytes()).fold_of(1, 77), both.fold_of(1, 77));
  EXPECT_THROW(one.merge(Folds({4, 3}, {.folds = 4})), InvalidInput);
}

}  // namespace
}  // namespace cgmca::testing
