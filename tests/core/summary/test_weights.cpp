// A weight of 2 is the sample twice, a weight of 0 is the sample left out: in every form of summary, its files and
// merges, in fits, folds, verification and error bars.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sealed.hpp"
#include "testing.hpp"

namespace cgmca::testing {
namespace {

constexpr double kRounding = 1e-12;

// Weights 0, 1, 2, 3 in turn, and the pairs as often as they say.
struct Case {
  Pairs pairs;
  Vector weights;
  Pairs repeated;
};

Pairs columns(const Pairs& pairs, const std::vector<Index>& which) {
  return {pairs.X1(Eigen::all, which), pairs.X2(Eigen::all, which)};
}

Case counted(Pairs pairs) {
  Vector weights(pairs.X1.cols());
  std::vector<Index> places;
  for (Index j = 0; j < weights.size(); ++j) {
    weights(j) = static_cast<double>(j % 4);
    places.insert(places.end(), static_cast<std::size_t>(j % 4), j);
  }
  Pairs repeated = columns(pairs, places);
  return {std::move(pairs), std::move(weights), std::move(repeated)};
}

Case random_case(std::uint64_t seed, Index d1, Index d2, Index n) {
  Random random(seed);
  return counted(random_pairs(random, d1, d2, n));
}

Summary weighted_summary(const Pairs& pairs, const Vector& weights, Accumulate accumulate = Accumulate::automatic,
                         Index block = 1000000) {
  Summary summary({pairs.X1.rows(), pairs.X2.rows()}, accumulate);
  for (Index first = 0; first < weights.size(); first += block) {
    const Index count = std::min(block, weights.size() - first);
    summary.add({pairs.X1.middleCols(first, count), pairs.X2.middleCols(first, count)}, weights.segment(first, count));
  }
  return summary;
}

Summary plain_summary(const Pairs& pairs, Accumulate accumulate = Accumulate::automatic) {
  Summary summary({pairs.X1.rows(), pairs.X2.rows()}, accumulate);
  summary.add(pairs.X1, pairs.X2);
  return summary;
}

void expect_same_model(const Model& found, const Model& expected, double tolerance = kRounding) {
  EXPECT_NEAR(found.total_weight, expected.total_weight, 1e-9 * expected.total_weight);
  for (const Domain domain : kDomains) {
    const DomainMap &one = found.domain(domain), &two = expected.domain(domain);
    EXPECT_LE(relative(one.mean, two.mean), tolerance);
    EXPECT_LE(relative(one.variance, two.variance), tolerance);
    EXPECT_LE(relative(one.matrix(), two.matrix()), 100 * tolerance);  // gaps between correlations magnify
    EXPECT_LE(relative(one.loadings, two.loadings), 100 * tolerance);
    EXPECT_LE(found.certificate.constraint_residuals[domain], tolerance);
  }
  EXPECT_EQ(found.certificate.ranks, expected.certificate.ranks);
  const double scale = expected.certificate.covariance_trace;
  EXPECT_NEAR(found.certificate.covariance_trace, scale, tolerance * scale);
  EXPECT_NEAR(found.certificate.objective, expected.certificate.objective, tolerance * scale);
  EXPECT_NEAR(found.certificate.bound, expected.certificate.bound, tolerance * scale);
  EXPECT_LE(relative(found.certificate.singular_B, expected.certificate.singular_B), tolerance);
}

TEST(Weights, OfTwoAreThePairTwiceInEveryForm) {
  const Covariance C = Covariance::identity(3), own = Covariance::data(Domain::one, 3);
  for (const Index n : {25, 400, 9000}) {  // rows; compressed once; in several blocks
    const Case data = random_case(1, 7, 5, n);
    for (const Accumulate accumulate : kAccumulates) {
      const Summary weighted = weighted_summary(data.pairs, data.weights, accumulate);
      const Summary twice = plain_summary(data.repeated, accumulate);
      EXPECT_EQ(weighted.samples(), (data.weights.array() > 0).count());
      EXPECT_EQ(weighted.total_weight(), static_cast<double>(twice.samples()));
      for (const Domain domain : kDomains) EXPECT_LE(relative(weighted.mean(domain), twice.mean(domain)), kRounding);
      expect_same_model(fit(weighted, C, C), fit(twice, C, C));
      expect_same_model(fit(weighted, own, own), fit(twice, own, own));
    }
  }
}

TEST(Weights, HoldForIllConditionedDependentAndConstantFeatures) {
  Random random(2);
  Pairs pairs = random_pairs(random, 8, 6, 9000, 1.0);
  pairs.X1.row(1).setConstant(3);
  pairs.X1.row(2) = 2 * pairs.X1.row(0);
  pairs.X2.row(0) *= 1e-7;
  pairs.X1.rightCols(3000).row(4) *= 50;  // unlike those that made the frame
  const Case data = counted(std::move(pairs));
  const Covariance C = Covariance::identity(3);
  const Summary weighted = weighted_summary(data.pairs, data.weights);
  EXPECT_EQ(weighted.form(), SummaryForm::qr);
  expect_same_model(fit(weighted, C, C), fit(plain_summary(data.repeated), C, C), 1e-11);
}

// The textbook's weighted moments, for weights that are no whole numbers.
TEST(Weights, NeedNotBeWhole) {
  Random random(3);
  const Pairs pairs = random_pairs(random, 6, 4, 9000);
  const Vector w = random.matrix(9000, 1).cwiseAbs();
  const double W = w.sum();
  for (const Accumulate accumulate : kAccumulates) {
    const Summary summary = weighted_summary(pairs, w, accumulate);
    EXPECT_NEAR(summary.total_weight(), W, kRounding * W);
    const Model model = fit(summary, Covariance::identity(4), Covariance::identity(4));
    for (const Domain domain : kDomains) {
      const Matrix& X = domain == Domain::one ? pairs.X1 : pairs.X2;
      const Vector mean = X * w / W;
      const Matrix Xc = X.colwise() - mean;
      const Matrix theta = Xc * w.asDiagonal() * Xc.transpose() / (W - 1);
      EXPECT_LE(relative(model.domain(domain).mean, mean), kRounding);
      EXPECT_LE(relative(model.domain(domain).variance, theta.diagonal()), kRounding);
      const Matrix A = model.domain(domain).matrix();
      EXPECT_LE(relative(A * theta * A.transpose(), Matrix::Identity(4, 4)), kRounding);
    }
    const Matrix distance = apply(model, Domain::one, pairs.X1) - apply(model, Domain::two, pairs.X2);
    EXPECT_NEAR(model.certificate.objective, distance.colwise().squaredNorm().dot(w) / W, kRounding);
  }
}

// n - 1 <= d: all correlations are 1, by the triangle of fewer samples than features too.
TEST(Weights, HoldForFewerPairsThanFeatures) {
  const Case data = random_case(4, 30, 20, 12);
  const Summary weighted = weighted_summary(data.pairs, data.weights), twice = plain_summary(data.repeated);
  const Covariance C = Covariance::identity(2);
  const Model model = fit(weighted, C, C);
  EXPECT_EQ(model.certificate.ranks[0], 8);  // 9 of the 12 pairs have a weight
  EXPECT_NE(model.certificate.route.find("potrf"), std::string::npos);
  expect_same_model(model, fit(twice, C, C));
  FitOptions ridged;
  ridged.ridge = Ridge::from_data();  // which depends on n, and is so small here that correlations differ by little
  expect_same_model(fit(weighted, C, C, ridged), fit(twice, C, C, ridged), 1e-8);
  EXPECT_EQ(model.warnings().size(), 1U);
}

TEST(Weights, OfOneGiveTheSameBitsAsNone) {
  Random random(5);
  for (const Index n : {20, 9000}) {
    const Pairs pairs = random_pairs(random, 6, 5, n);
    for (const Accumulate accumulate : kAccumulates) {
      EXPECT_EQ(weighted_summary(pairs, Vector::Ones(n), accumulate).to_bytes(),
                plain_summary(pairs, accumulate).to_bytes());
    }
  }
}

TEST(Weights, GiveTheSameBitsHoweverTheBlocksAreCut) {
  Random random(6);
  const Pairs pairs = random_pairs(random, 6, 5, 9000);
  Vector weights = random.matrix(9000, 1).cwiseAbs();
  for (Index j = 0; j < 9000; j += 7) weights(j) = 0;
  weights.segment(4000, 3000).setOnes();
  for (const Accumulate accumulate : kAccumulates) {
    const std::string whole = weighted_summary(pairs, weights, accumulate).to_bytes();
    for (const Index block : {1, 37, 5000}) {
      EXPECT_EQ(weighted_summary(pairs, weights, accumulate, block).to_bytes(), whole);
    }
  }
}

TEST(Weights, MergeInEveryForm) {
  const Case data = random_case(7, 6, 4, 12000);
  const Covariance C = Covariance::identity(3);
  const Model expected = fit(plain_summary(data.repeated), C, C);
  for (const Accumulate accumulate : kAccumulates) {
    for (const Index cut : {10, 200, 5000, 11990}) {
      Summary one({6, 4}, accumulate), two({6, 4}, accumulate);
      const Index rest = 12000 - cut;
      one.add({data.pairs.X1.leftCols(cut), data.pairs.X2.leftCols(cut)}, data.weights.head(cut));
      two.add({data.pairs.X1.rightCols(rest), data.pairs.X2.rightCols(rest)}, data.weights.tail(rest));
      one.merge(two);
      EXPECT_EQ(one.samples(), 9000);
      EXPECT_EQ(one.total_weight(), 18000);
      expect_same_model(fit(one, C, C), expected);
    }
  }
}

TEST(Weights, StayInFilesAndSummariesGoOnToTheBit) {
  const TemporaryFolder folder;
  for (const Index n : {20, 100, 9000}) {
    const Case data = random_case(8, 6, 4, n);
    for (const Accumulate accumulate : kAccumulates) {
      Summary summary = weighted_summary(data.pairs, data.weights, accumulate);
      summary.save(folder / "s");
      Summary loaded = Summary::load(folder / "s");
      EXPECT_EQ(loaded.total_weight(), summary.total_weight());
      EXPECT_EQ(loaded.samples(), summary.samples());
      for (Summary* one : {&summary, &loaded}) one->add({data.pairs.X1, data.pairs.X2}, 0.5 * data.weights);
      EXPECT_EQ(loaded.to_bytes(), summary.to_bytes());
    }
  }
}

// All files have a version that programs before weights refuse, and mention weights only where there are any.
TEST(Weights, AreInAFileOnlyWhereThereAreAny) {
  const Case data = random_case(9, 3, 2, 9);
  const std::string plain = plain_summary(data.pairs).to_bytes();
  EXPECT_EQ(plain.find("weight"), std::string::npos);
  const std::string weighted = weighted_summary(data.pairs, data.weights).to_bytes();
  for (const std::string& one : {plain, weighted}) EXPECT_NE(one.find(R"("version":"4")"), std::string::npos);

  std::string broken = weighted;  // a weight of -1, among the last numbers of the file
  const double one = 1, negative = -1;
  const auto place = broken.rfind(std::string(reinterpret_cast<const char*>(&one), sizeof one));
  ASSERT_NE(place, std::string::npos);
  broken.replace(place, sizeof negative, reinterpret_cast<const char*>(&negative), sizeof negative);
  try {
    Summary::from_bytes(testing::sealed(broken));
    ADD_FAILURE() << "a weight of -1 was taken";
  } catch (const FormatError& error) {
    EXPECT_NE(std::string(error.what()).find("a weight is not above 0"), std::string::npos) << error.what();
  }
}

TEST(Weights, HoldForSinglePrecisionAndAnyNumberOfDomains) {
  Random random(10);
  const Matrix X = random.matrix(9, 3000);
  const Eigen::MatrixXf single = X.cast<float>();
  const Vector weights = random.matrix(3000, 1).cwiseAbs();
  const Matrix wide = single.cast<double>();
  Summary floats({4, 3, 2}), doubles({4, 3, 2});
  floats.add({single.topRows(4), single.middleRows(4, 3), single.bottomRows(2)}, weights);
  doubles.add({wide.topRows(4), wide.middleRows(4, 3), wide.bottomRows(2)}, weights);
  EXPECT_EQ(floats.to_bytes(), doubles.to_bytes());
  EXPECT_LE(relative(floats.mean(static_cast<Domain>(3)), wide.bottomRows(2) * weights / weights.sum()), kRounding);

  Summary alone({9});
  alone.add(MatchedSamples{wide}, weights);
  EXPECT_LE(relative(alone.mean(Domain::one), wide * weights / weights.sum()), kRounding);
}

TEST(Weights, OfExtraSamplesCountToo) {
  Random random(11);
  const Pairs pairs = random_pairs(random, 6, 5, 40);
  const Case more = random_case(12, 6, 5, 60);
  Summary weighted({6}), twice({6});
  weighted.add(MatchedSamples{more.pairs.X1}, more.weights);
  twice.add(more.repeated.X1);
  const Covariance C = Covariance::identity(3);
  FitOptions one, two;
  one.extra = {&weighted, nullptr};
  two.extra = {&twice, nullptr};
  one.ridge = two.ridge = Ridge::from_data();
  for (const Accumulate accumulate : kAccumulates) {
    const Summary summary = plain_summary(pairs, accumulate);
    expect_same_model(fit(summary, C, C, one), fit(summary, C, C, two));
  }
  Summary light({6});  // a weight of 1 or less has no covariance, but a place among the others
  light.add(MatchedSamples{more.pairs.X1}, 1e-3 * more.weights);
  one.extra = {&light, nullptr};
  EXPECT_LE(fit(plain_summary(pairs), C, C, one).certificate.constraint_residuals[0], kRounding);
}

TEST(Weights, AreVerifiedWithTheSameWeights) {
  const Case data = random_case(13, 7, 5, 200);
  const Covariance C = Covariance::correlation(3);
  FitOptions ridged;
  ridged.ridge = Ridge::from_data();
  for (const FitOptions& options : {FitOptions{}, ridged}) {
    const Model model = fit(weighted_summary(data.pairs, data.weights), C, C, options);
    Verifier verifier(model);
    verifier.add({data.pairs.X1.leftCols(70), data.pairs.X2.leftCols(70)}, data.weights.head(70));
    verifier.add({data.pairs.X1.rightCols(130), data.pairs.X2.rightCols(130)}, data.weights.tail(130));
    const Verification weighted = verifier.verification(), twice = verify(model, {data.repeated.X1, data.repeated.X2});
    EXPECT_EQ(weighted.samples, 150);
    for (const Verification& attained : {weighted, twice}) {
      EXPECT_EQ(attained.total_weight, 300);
      for (auto i : {0U, 1U}) {
        EXPECT_LE(attained.constraint_residuals[i], kRounding);
        EXPECT_LE(attained.mean_residuals[i], kRounding);
      }
      EXPECT_NEAR(attained.objective, model.certificate.objective, kRounding * attained.covariance_trace);
      EXPECT_LE(std::abs(attained.shortfall()), kRounding);
    }
    EXPECT_GT(verify(model, {data.pairs.X1, data.pairs.X2}).mean_residuals[0], 1e-3);
  }
}

TEST(Weights, AreTheNOfErrorBars) {
  const Case data = random_case(14, 6, 4, 80);
  const Covariance C = Covariance::identity(2);
  const Model weighted = fit(weighted_summary(data.pairs, data.weights), C, C);
  const Model twice = fit(plain_summary(data.repeated), C, C);
  const Translation one = translation(weighted, Domain::two, Domain::one),
                    two = translation(twice, Domain::two, Domain::one);
  EXPECT_NEAR(one.errors.degrees, 120 - 1 - 2, 1e-9);
  EXPECT_LE(relative(one.half_widths(data.pairs.X2, 0.9), two.half_widths(data.pairs.X2, 0.9)), 1e-10);
  const Model loaded = Model::from_bytes(weighted.to_bytes());
  EXPECT_EQ(loaded.samples, 60);
  EXPECT_EQ(loaded.total_weight, 120);
  EXPECT_EQ(twice.to_bytes().find("total_weight"), std::string::npos);
}

// Each fold of weighted pairs holds what the fold of the same pairs, repeated, does.
TEST(Weights, AreDealtToFoldsWithTheirPair) {
  const Case data = random_case(15, 5, 4, 200);
  const FoldOptions options{5, 2, 7};
  Folds folds({5, 4}, options);
  folds.add({data.pairs.X1.leftCols(90), data.pairs.X2.leftCols(90)}, data.weights.head(90));
  folds.add({data.pairs.X1.rightCols(110), data.pairs.X2.rightCols(110)}, data.weights.tail(110));
  EXPECT_EQ(folds.samples(), 150);
  EXPECT_EQ(folds.total_weight(), 300);
  const Covariance C = Covariance::identity(2);
  expect_same_model(fit(folds.all(), C, C), fit(plain_summary(data.repeated), C, C));

  std::vector<Index> kept;
  for (Index j = 0; j < 200; ++j) {
    if (data.weights(j) > 0) kept.push_back(j);
  }
  for (Index repeat = 0; repeat < 2; ++repeat) {
    for (Index fold = 0; fold < 5; ++fold) {
      std::vector<Index> mine;
      for (std::size_t j = 0; j < kept.size(); ++j) {
        if (folds.fold_of(repeat, static_cast<Index>(j)) != fold) continue;
        mine.insert(mine.end(), static_cast<std::size_t>(data.weights(kept[j])), kept[j]);
      }
      const Summary expected = plain_summary(columns(data.pairs, mine));
      EXPECT_EQ(folds.held_out(repeat, fold).total_weight(), expected.total_weight());
      EXPECT_LE(relative(folds.held_out(repeat, fold).mean(Domain::two), expected.mean(Domain::two)), kRounding);
    }
  }
  const Folds loaded = Folds::from_bytes(folds.to_bytes());
  EXPECT_EQ(loaded.to_bytes(), folds.to_bytes());
  EXPECT_EQ(loaded.total_weight(), 300);
}

// Weights of one constant do not change how well pairs are predicted, only how many there seem to be.
TEST(Weights, TuneAndCalibrate) {
  Random random(16);
  const Pairs pairs = random_pairs(random, 6, 5, 120);
  Folds plain({6, 5}), doubled({6, 5}), light({6, 5});
  plain.add(pairs.X1, pairs.X2);
  doubled.add({pairs.X1, pairs.X2}, Vector::Constant(120, 2));
  light.add({pairs.X1, pairs.X2}, Vector::Constant(120, 1.0 / 32));  // a fold's weights sum to less than 1
  const TuneResult expected = tune(plain);
  for (const Folds* folds : {&doubled, &light}) {
    const TuneResult found = tune(*folds);
    ASSERT_EQ(found.trials.size(), expected.trials.size());
    for (std::size_t i = 0; i < found.trials.size(); ++i) {
      if (found.trials[i].candidate.ridge.automatic) continue;  // which depends on n
      EXPECT_NEAR(found.trials[i][Criterion::translation].mean, expected.trials[i][Criterion::translation].mean, 1e-9);
    }
  }
  const Covariance C = Covariance::identity(2);
  const Model one = calibrate(fit(plain.all(), C, C), plain, C, C),
              two = calibrate(fit(doubled.all(), C, C), doubled, C, C);
  const Vector ratio = two.domain(Domain::one).held_out_error.cwiseQuotient(one.domain(Domain::one).held_out_error);
  EXPECT_NEAR(ratio.minCoeff(), 1, 0.05);  // leverage differs
  EXPECT_NEAR(ratio.maxCoeff(), 1, 0.05);
  EXPECT_THROW(calibrate(one, doubled, C, C), InvalidInput);
}

TEST(Weights, ArePutIntoAPermutationTest) {
  Random random(17);
  const Matrix causes = random.matrix(2, 60);
  const Pairs pairs = {random.orthonormal(5, 2) * causes + 0.2 * random.matrix(5, 60),
                       random.orthonormal(4, 2) * causes + 0.2 * random.matrix(4, 60)};
  const Vector weights = random.matrix(60, 1).cwiseAbs().array() + 0.5;
  PermutationOptions test;
  test.permutations = 199;
  const PermutationTest found = permutation_test(weighted_summary(pairs, weights), {}, test);
  EXPECT_TRUE(found.rotations);
  EXPECT_EQ(found.significant, 2);
  EXPECT_THROW(permutation_test(weighted_summary(pairs, 0.1 * weights), {}, test), InvalidInput);
}

template <class Error>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Weights, ThatCannotBeAreRefusedAndNothingIsAdded) {
  Random random(18);
  const Pairs pairs = random_pairs(random, 4, 3, 10);
  Summary summary({4, 3});
  Folds folds({4, 3});
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, std::nan(""), infinity, 1e101}) {
    Vector weights = Vector::Ones(10);
    weights(6) = weights(8) = bad;
    const auto message = message_of<InvalidInput>([&] { summary.add({pairs.X1, pairs.X2}, weights); });
    EXPECT_NE(message.find("weight 6 (counted from 0) is"), std::string::npos) << message;
    EXPECT_THROW(folds.add({pairs.X1, pairs.X2}, weights), InvalidInput);
  }
  const auto message = message_of<UnequalSamples>([&] { summary.add({pairs.X1, pairs.X2}, Vector::Ones(9)); });
  EXPECT_NE(message.find("9 weights for 10 samples"), std::string::npos) << message;
  EXPECT_EQ(summary.samples(), 0);
  EXPECT_EQ(folds.samples(), 0);

  // A block of weight 0 adds nothing, as blocks may be cut anywhere; a fit then has no pairs.
  summary.add({pairs.X1, pairs.X2}, Vector::Zero(10));
  EXPECT_EQ(summary.samples(), 0);
  EXPECT_THROW(fit(summary, Covariance::identity(1), Covariance::identity(1)), TooFewSamples);
  summary.add({pairs.X1, pairs.X2}, Vector::Constant(10, 0.05));
  const auto small = message_of<TooFewSamples>([&] { fit(summary, Covariance::identity(1), Covariance::identity(1)); });
  EXPECT_NE(small.find("the weights sum to 0.5"), std::string::npos) << small;
}

TEST(Weights, OfZeroLeaveOutWhateverASampleHolds) {
  Random random(19);
  Pairs pairs = random_pairs(random, 4, 3, 30);
  Vector weights = Vector::Ones(30);
  weights(0) = weights(20) = 0;
  const Summary clean = weighted_summary(pairs, weights);
  pairs.X1(2, 0) = std::nan("");
  pairs.X2(1, 20) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(weighted_summary(pairs, weights).to_bytes(), clean.to_bytes());
  weights(20) = 0.5;
  EXPECT_THROW(weighted_summary(pairs, weights), NotFinite);
  pairs.X2(1, 20) = 1e139;
  weights(20) = 1e50;
  EXPECT_THROW(weighted_summary(pairs, weights), InvalidInput);
}

// A sample that weighs next to nothing may be anywhere, also first: the origin must not be so far from the others that
// their digits are lost.
TEST(Weights, OfNearlyNothingDoNotMatterWhereverTheSampleLies) {
  for (const Index n : {9, 300, 9000}) {
    Random random(20);
    const Pairs pairs = random_pairs(random, 3, 2, n);
    const Covariance C = Covariance::identity(2);
    const Model expected = fit(plain_summary(pairs), C, C);
    for (const Accumulate accumulate : kAccumulates) {
      for (const Index light : {1, 30}) {  // more than are compressed first, too
        SCOPED_TRACE(fmt::format("{} samples, {}, {} light", n, name(accumulate), light));
        Pairs all{Matrix(3, n + light), Matrix(2, n + light)};
        all.X1 << 1e15 * random.matrix(3, light), pairs.X1;
        all.X2 << 1e15 * random.matrix(2, light), pairs.X2;
        Vector weights = Vector::Ones(n + light);
        weights.head(light).setConstant(1e-60);
        const Summary added = weighted_summary(all, weights, accumulate);
        Summary merged =
            weighted_summary({all.X1.leftCols(light), all.X2.leftCols(light)}, weights.head(light), accumulate);
        merged.merge(plain_summary(pairs, accumulate));
        for (const Summary& summary : {added, merged}) {
          const Model found = fit(summary, C, C);
          EXPECT_LE(relative(found.certificate.singular_B, expected.certificate.singular_B), 1e-10);
          for (const Domain domain : kDomains) {
            EXPECT_LE(relative(found.domain(domain).mean, expected.domain(domain).mean), 1e-10);
            EXPECT_LE(relative(found.domain(domain).matrix(), expected.domain(domain).matrix()), 1e-9);
          }
        }
      }
    }
  }
}

TEST(Weights, OfAllSizesGiveTheSameBitsHoweverTheSamplesAreCut) {
  Random random(21);
  const Index n = 9000;
  const Pairs pairs = random_pairs(random, 3, 2, n);
  const Vector weights = Vector::NullaryExpr(n, [&] { return std::pow(10, 3 * random.normal()); });
  for (const Accumulate accumulate : kAccumulates) {
    const std::string expected = weighted_summary(pairs, weights, accumulate).to_bytes();
    for (const Index block : {1, 7, 1000, 4097}) {
      EXPECT_TRUE(weighted_summary(pairs, weights, accumulate, block).to_bytes() == expected) << name(accumulate);
    }
  }
}

TEST(Weights, ThatAreNormalizedAreRefusedWhateverTheirSumIsRoundedTo) {
  Random random(22);
  int above = 0;
  for (int draw = 0; draw < 200; ++draw) {
    const Pairs pairs = random_pairs(random, 3, 2, 50);
    Vector weights = random.matrix(50, 1).array().exp();
    weights /= weights.sum();
    above += weights.sum() > 1 ? 1 : 0;
    const Summary summary = weighted_summary(pairs, weights);
    EXPECT_THROW(fit(summary, Covariance::identity(2), Covariance::identity(2)), TooFewSamples);
  }
  EXPECT_GT(above, 0);  // so that the test can fail
}

}  // namespace
}  // namespace cgmca::testing
