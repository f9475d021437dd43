// Cross-validation against doing it by hand on the raw data.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sharing.hpp"

namespace cgmca {
namespace {

using testing::Pairs;
using testing::Random;
using testing::random_pairs;
using testing::relative;
using testing::sharing;

FoldOptions dealt(Index folds, Index repeats = 1, Accumulate accumulate = Accumulate::automatic) {
  FoldOptions options;
  options.folds = folds;
  options.repeats = repeats;
  options.seed = 3;
  options.accumulate = accumulate;
  return options;
}

Folds folds_of(const Pairs& pairs, const FoldOptions& options) {
  Folds folds({pairs.X1.rows(), pairs.X2.rows()}, options);
  const Index n = pairs.X1.cols(), cut = n / 3;
  folds.add(pairs.X1.leftCols(cut), pairs.X2.leftCols(cut));
  folds.add(pairs.X1.rightCols(n - cut), pairs.X2.rightCols(n - cut));
  return folds;
}

struct RawSplit {
  Pairs training, held_out;
  std::vector<Index> held;
};
RawSplit raw_split(const Pairs& pairs, const Folds& folds, Index repeat, Index fold) {
  RawSplit split;
  std::vector<Index> training;
  for (Index j = 0; j < folds.samples(); ++j) {
    (folds.fold_of(repeat, j) == fold ? split.held : training).push_back(j);
  }
  split.training = {pairs.X1(Eigen::all, training), pairs.X2(Eigen::all, training)};
  split.held_out = {pairs.X1(Eigen::all, split.held), pairs.X2(Eigen::all, split.held)};
  return split;
}

TEST(Folds, AreBalancedAndDifferFromRepeatToRepeat) {
  const Folds folds = [] {
    Random random(1);
    return folds_of(random_pairs(random, 3, 2, 53), dealt(5, 2));
  }();
  Index different = 0;
  for (Index repeat : {0, 1}) {
    Index sum = 0;
    for (Index fold = 0; fold < 5; ++fold) {
      const Index count = folds.held_out(repeat, fold).samples();
      EXPECT_TRUE(count == 10 || count == 11);
      sum += count;
      EXPECT_EQ(folds.training(repeat, fold).samples(), 53 - count);
    }
    EXPECT_EQ(sum, 53);
  }
  for (Index j = 0; j < 53; ++j) different += folds.fold_of(0, j) != folds.fold_of(1, j);
  EXPECT_GT(different, 25);
  EXPECT_EQ(folds.all().samples(), 53);
}

// Parts of one row each, and parts of parts: folds stay balanced, fold_of says where each sample is, and a file keeps it.
TEST(Folds, StayBalancedWhenManySmallPartsAreMerged) {
  Random random(31);
  const Pairs pairs = random_pairs(random, 3, 2, 40);
  const auto part = [&](Index first, Index count) {
    Folds folds({3, 2}, dealt(5, 2));
    folds.add(pairs.X1.middleCols(first, count), pairs.X2.middleCols(first, count));
    return folds;
  };
  Folds single({3, 2}, dealt(5, 2)), nested({3, 2}, dealt(5, 2));
  for (Index j = 0; j < 40; ++j) single.merge(part(j, 1));
  for (Index first = 0; first < 40; first += 4) {
    Folds four = part(first, 1);
    four.merge(part(first + 1, 3));
    nested.merge(four);
  }
  for (const Folds* merged : {&single, &nested}) {
    const Folds read = Folds::from_bytes(merged->to_bytes());
    for (Index repeat = 0; repeat < 2; ++repeat) {
      for (Index fold = 0; fold < 5; ++fold) {
        std::vector<Index> mine;
        for (Index j = 0; j < 40; ++j) {
          if (merged->fold_of(repeat, j) == fold) mine.push_back(j);
          EXPECT_EQ(read.fold_of(repeat, j), merged->fold_of(repeat, j));
        }
        EXPECT_EQ(mine.size(), 8U);
        ASSERT_EQ(merged->held_out(repeat, fold).samples(), 8);
        const Matrix X1 = pairs.X1(Eigen::all, mine);
        EXPECT_LT(relative(merged->held_out(repeat, fold).mean(Domain::one), X1.rowwise().mean()), 1e-12);
      }
    }
  }
  Folds again({3, 2}, dealt(5, 2));
  for (Index j = 0; j < 40; ++j) again.merge(part(j, 1));
  EXPECT_EQ(again.to_bytes(), single.to_bytes());
  TuneOptions options;
  options.ranks = {1};
  EXPECT_FALSE(tune(single, options).trials.empty());
}

TEST(Folds, MergeIntoWhatRefittingTheRawDataGives) {
  Random random(2);
  for (Index n : {40, 400}) {
    for (Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
      const Pairs pairs = random_pairs(random, 7, 6, n);
      const Folds folds = folds_of(pairs, dealt(4, 2, accumulate));
      for (Index repeat : {0, 1}) {
        const RawSplit split = raw_split(pairs, folds, repeat, 2);
        const Candidate candidate{Family::data1, 3, 5, 0.05};
        const Model merged = fit(folds.training(repeat, 2), candidate);
        const Covariance C = candidate.covariance();
        const Model refitted = fit(split.training.X1, split.training.X2, C, C, candidate.options());
        for (Domain domain : kDomains) {
          EXPECT_LT(relative(merged.domain(domain).matrix(), refitted.domain(domain).matrix()), 1e-9);
        }
      }
    }
  }
}

// log p(x_2 | x_1)/p(x_2) of the fitted normal distribution with its ridge, from the covariance matrices themselves.
double log_ratio(const Pairs& training, double ridge, const Vector& x1, const Vector& x2) {
  const auto theta = [&](const Matrix& X) {
    const Matrix S = testing::sample_covariance(X);
    return Matrix(S + ridge * S.trace() / static_cast<double>(S.rows()) * Matrix::Identity(S.rows(), S.rows()));
  };
  const Matrix T1 = theta(training.X1), T2 = theta(training.X2);
  const Matrix T12 = testing::centred(training.X1) * testing::centred(training.X2).transpose() /
                     static_cast<double>(training.X1.cols() - 1);
  const Matrix left = T2 - T12.transpose() * T1.ldlt().solve(T12);
  const Vector y1 = x1 - training.X1.rowwise().mean(), y2 = x2 - training.X2.rowwise().mean();
  const Vector missed = y2 - T12.transpose() * T1.ldlt().solve(y1);
  const auto log_density = [](const Vector& y, const Matrix& S) {
    return -0.5 * (y.dot(S.ldlt().solve(y)) + std::log(S.determinant()));
  };
  return log_density(missed, left) - log_density(y2, T2);
}

// Mean of log r / log N over queries Z2, whose partners `own` among N points Z1 are in place r.
double place_error(const Matrix& Z1, const Matrix& Z2, const std::vector<Index>& own) {
  double sum = 0;
  for (Index q = 0; q < Z2.cols(); ++q) {
    const Vector distances = (Z1.colwise() - Z2.col(q)).colwise().squaredNorm();
    const Index nearer = (distances.array() < distances(own[q])).count();
    sum += std::log(1.0 + static_cast<double>(nearer)) / std::log(static_cast<double>(Z1.cols()));
  }
  return sum / static_cast<double>(Z2.cols());
}

TEST(Tuning, LikelihoodAndPartnerAreThoseOfTheRawData) {
  Random random(31);
  const Pairs pairs = random_pairs(random, 6, 5, 60, 1.0);
  const Folds folds = folds_of(pairs, dealt(3));
  TuneOptions options;
  options.families = {Family::likelihood2, Family::identity};
  options.ranks = {5};
  options.max_ranks = {0};
  options.ridges = {0.0, 0.3};
  options.criterion = Criterion::likelihood;
  const Matrix more = random.matrix(6, 20);  // of domain 1, without partners
  Matrix all(6, 80);
  all << pairs.X1, more;
  options.pairs = {&pairs.X1, &pairs.X2, &more};
  const TuneResult result = tune(folds, options);
  ASSERT_EQ(result.trials.size(), 4U);
  EXPECT_EQ(result.trials[0].candidate.description(), "likelihood2, all ranks, ridge 0");
  EXPECT_EQ(result.trials[0].candidate.rank, 0);
  for (const Trial& trial : result.trials) {
    double ratio = 0, nearer = 0;
    for (Index fold = 0; fold < 3; ++fold) {
      const RawSplit split = raw_split(pairs, folds, 0, fold);
      const Covariance C = trial.candidate.covariance();
      const Model model = fit(split.training.X1, split.training.X2, C, C, trial.candidate.options());
      const Matrix Z1 = apply(model, Domain::one, all), Z2 = apply(model, Domain::two, split.held_out.X2);
      double ratios = 0;
      for (Index q = 0; q < Z2.cols(); ++q) {
        ratios +=
            log_ratio(split.training, trial.candidate.ridge.value, split.held_out.X1.col(q), split.held_out.X2.col(q));
      }
      ratio += ratios / static_cast<double>(Z2.cols()) / 3;
      nearer += place_error(Z1, Z2, split.held) / 3;
    }
    EXPECT_NEAR(trial[Criterion::likelihood].mean, -2 * ratio, 1e-9 * (1 + std::abs(ratio)));
    EXPECT_NEAR(trial[Criterion::partner].mean, nearer, 1e-12);
  }
}

// A ridge is in units of a feature's mean variance. A search works in the coordinates of its training set, of which
// there are fewer than features; its ridges must be those of the fit all the same.
TEST(Tuning, RidgesOfWideDataAreThoseOfTheFit) {
  Random random(34);
  const Pairs pairs = random_pairs(random, 90, 70, 30, 1.0);
  const Folds folds = folds_of(pairs, dealt(3));
  TuneOptions options;
  options.families = {Family::likelihood2, Family::identity};
  options.ranks = {5};
  options.max_ranks = {0};
  options.ridges = {0.3, 30.0, Ridge::from_data()};
  options.pairs = {&pairs.X1, &pairs.X2};
  for (const Trial& trial : tune(folds, options).trials) {
    double missed = 0, distance = 0, place = 0;
    for (Index fold = 0; fold < 3; ++fold) {
      const RawSplit split = raw_split(pairs, folds, 0, fold);
      const Pairs& held = split.held_out;
      const Covariance C = trial.candidate.covariance();
      const Model model = fit(split.training.X1, split.training.X2, C, C, trial.candidate.options());
      missed += (translate(model, Domain::two, Domain::one, held.X2) - held.X1).squaredNorm() /
                (held.X1.colwise() - split.training.X1.rowwise().mean()).squaredNorm() / 3;
      const Matrix Z1 = apply(model, Domain::one, pairs.X1), Z2 = apply(model, Domain::two, held.X2);
      const double spread =
          model.domain(Domain::one).mixing.squaredNorm() + model.domain(Domain::two).mixing.squaredNorm();
      distance += (Z1(Eigen::all, split.held) - Z2).squaredNorm() / static_cast<double>(Z2.cols()) / spread / 3;
      place += place_error(Z1, Z2, split.held) / 3;
    }
    EXPECT_NEAR(trial[Criterion::translation].mean, missed, 1e-9) << trial.candidate.description();
    EXPECT_NEAR(trial[Criterion::distance].mean, distance, 1e-9) << trial.candidate.description();
    EXPECT_NEAR(trial[Criterion::partner].mean, place, 1e-9) << trial.candidate.description();
  }
}

TEST(Tuning, ALikelihoodOfASaturatedFitIsInfeasible) {
  Random random(32);
  const Pairs pairs = random_pairs(random, 40, 40, 20);
  TuneOptions options;
  options.families = {Family::likelihood2};
  options.max_ranks = {0};
  options.ridges = {0.0, 1.0};
  options.criterion = Criterion::likelihood;
  const TuneResult result = tune(folds_of(pairs, dealt(4)), options);
  ASSERT_EQ(result.trials.size(), 1U);
  EXPECT_EQ(result.infeasible.size(), 1U);
  EXPECT_EQ(result.choice().ridge, Ridge(1));
  EXPECT_TRUE(std::isnan(result.trials[0][Criterion::partner].mean));
  options.criterion = Criterion::partner;
  EXPECT_THROW(tune(folds_of(pairs, dealt(4)), options), InvalidInput);
}

TEST(Tuning, WhatALikelihoodDoesNotKnowIsNotChosen) {
  Random random(33);
  const Pairs pairs = random_pairs(random, 40, 40, 20);
  TuneOptions options;
  options.families = {Family::identity};
  options.ranks = {2, 3};
  options.max_ranks = {0};
  options.ridges = {0.0, 1.0};
  options.criterion = Criterion::likelihood;
  const TuneResult result = tune(folds_of(pairs, dealt(4)), options);
  ASSERT_EQ(result.trials.size(), 4U);
  EXPECT_TRUE(std::isnan(result.trials[0][Criterion::likelihood].mean));  // saturated without a ridge
  EXPECT_EQ(result.choice().ridge, Ridge(1));
  EXPECT_EQ(result.trials[result.best].candidate.ridge, Ridge(1));
  options.ridges = {0.0};
  EXPECT_THROW(tune(folds_of(pairs, dealt(4)), options), InvalidInput);
}

TEST(Tuning, ScoresAreThoseOfRefittingAndTestingOnTheRawData) {
  Random random(3);
  for (Index n : {30, 300}) {
    const Pairs pairs = random_pairs(random, 12, 10, n);
    std::vector<int> labels;
    for (Index j = 0; j < n; ++j) labels.push_back(pairs.X1(0, j) > 0 ? 1 : 0);
    const Folds folds = folds_of(pairs, dealt(3, 2));
    TuneOptions options;
    options.families = {Family::identity, Family::correlation, Family::data2};
    options.ranks = {2, 4};
    options.max_ranks = {0, 6};
    options.ridges = {0.1, Ridge::from_data()};
    options.labels = {&pairs.X1, labels, &pairs.X2, labels};
    const TuneResult result = tune(folds, options);
    EXPECT_EQ(result.trials.size(), 24U);
    EXPECT_EQ(result.criterion, Criterion::classification);
    for (const Trial& trial : result.trials) {
      std::array<std::vector<double>, 4> expected;
      for (Index repeat = 0; repeat < 2; ++repeat) {
        for (Index fold = 0; fold < 3; ++fold) {
          const auto [training, held_out, held] = raw_split(pairs, folds, repeat, fold);
          const Covariance C = trial.candidate.covariance();
          const Model model = fit(training.X1, training.X2, C, C, trial.candidate.options());
          const Matrix Z1 = apply(model, Domain::one, held_out.X1), Z2 = apply(model, Domain::two, held_out.X2);
          expected[0].push_back(
              testing::mean_squared_distance(Z1, Z2) /
              (model.domain(Domain::one).mixing.squaredNorm() + model.domain(Domain::two).mixing.squaredNorm()));
          const auto error = [&](Domain to, const Matrix& X, const Matrix& from) {
            return (translate(model, other(to), to, from) - X).squaredNorm() /
                   (X.colwise() - model.domain(to).mean).squaredNorm();
          };
          expected[1].push_back(error(Domain::one, held_out.X1, held_out.X2));
          expected[2].push_back(error(Domain::two, held_out.X2, held_out.X1));
          std::vector<int> truth;
          for (Index j : held) truth.push_back(labels[j]);
          expected[3].push_back(1 -
                                accuracy(nearest_neighbour(apply(model, Domain::one, pairs.X1), labels, Z2), truth));
        }
      }
      for (const Criterion criterion :
           {Criterion::distance, Criterion::translation, Criterion::translation_to2, Criterion::classification}) {
        const auto& values = expected[static_cast<std::size_t>(criterion)];
        const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 6;
        double squares = 0;
        for (double value : values) squares += (value - mean) * (value - mean);
        EXPECT_NEAR(trial[criterion].mean, mean, 1e-9) << name(criterion) << " " << trial.candidate.description();
        EXPECT_NEAR(trial[criterion].standard_error, std::sqrt(squares / 5 / 3), 1e-9);
      }
    }
  }
}

TEST(Folds, RepeatMoreWhenSamplesAreFew) {
  Random random(12);
  Folds folds({3, 2});
  const Pairs pairs = random_pairs(random, 3, 2, 1200);
  const auto add = [&](Index first, Index count) {
    folds.add(pairs.X1.middleCols(first, count), pairs.X2.middleCols(first, count));
  };
  add(0, 80);
  EXPECT_EQ(folds.repeats(), 10);
  add(80, 170);
  EXPECT_EQ(folds.repeats(), 4);
  const Folds copy = Folds::from_bytes(folds.to_bytes());
  EXPECT_EQ(copy.repeats(), 4);
  EXPECT_EQ(copy.held_out(3, 1).samples(), folds.held_out(3, 1).samples());
  // The repeats that are left are those of folds that had them from the start.
  FoldOptions options;
  options.repeats = 4;
  Folds same({3, 2}, options);
  same.add(pairs.X1.leftCols(250), pairs.X2.leftCols(250));
  EXPECT_EQ(same.training(3, 2).to_bytes(), folds.training(3, 2).to_bytes());
  Folds few({3, 2});
  few.add(pairs.X1.middleCols(250, 50), pairs.X2.middleCols(250, 50));
  folds.merge(few);
  EXPECT_EQ(folds.repeats(), 4);
  EXPECT_EQ(folds.held_out(3, 0).samples() + folds.training(3, 0).samples(), 300);
  add(300, 900);
  EXPECT_EQ(folds.repeats(), 1);
  Folds wide({1'000'000, 1'000'000});  // 50 samples of them are 0.8 GB
  EXPECT_EQ(wide.repeats(), 10);
  wide.add(Matrix::Zero(1'000'000, 1), Matrix::Zero(1'000'000, 1));
  EXPECT_EQ(wide.repeats(), 10);
}

// Samples of both domains are alike but for noise, and so few that no fit reaches what they give as they are.
TEST(Tuning, SaysWhereABaselineDoesBetter) {
  Random random(41);
  const Index d = 30, n = 24;
  const Matrix X1 = random.matrix(d, n);
  const Matrix X2 = X1 + 0.1 * random.matrix(d, n);
  TuneOptions options;
  options.ranks = {2, 5};
  options.max_ranks = {0};
  options.ridges = {0.1, 1.0};
  options.pairs = {&X1, &X2};
  const Folds folds = folds_of({X1, X2}, dealt(4));
  TuneResult result = tune(folds, options);
  const auto at = [](const auto& scores, Criterion criterion) { return scores[static_cast<std::size_t>(criterion)]; };
  double apart = 0, nearer = 0;
  for (Index fold = 0; fold < 4; ++fold) {
    const RawSplit split = raw_split({X1, X2}, folds, 0, fold);
    const Pairs& held = split.held_out;
    apart +=
        (held.X1 - held.X2).squaredNorm() / (held.X1.colwise() - split.training.X1.rowwise().mean()).squaredNorm() / 4;
    nearer += place_error(X1, held.X2, split.held) / 4;
  }
  EXPECT_NEAR(at(result.unmapped, Criterion::translation).mean, apart, 1e-12);
  EXPECT_NEAR(at(result.unmapped, Criterion::partner).mean, nearer, 1e-12);
  EXPECT_EQ(at(result.target_only, Criterion::translation).mean, 1);
  ASSERT_FALSE(result.remarks.empty());
  EXPECT_NE(result.remarks[0].find("without a map, does better"), std::string::npos) << result.remarks[0];

  // Two classes that domain 2 tells apart by itself, and that have nothing to do with domain 1.
  std::vector<int> labels;
  Matrix Y2 = random.matrix(d, n);
  for (Index j = 0; j < n; ++j) {
    labels.push_back(static_cast<int>(j % 2));
    Y2(0, j) += j % 2 == 0 ? 20 : -20;
  }
  const Matrix others = random.matrix(d, n);
  options.labels = {&others, labels, &Y2, labels};
  options.pairs = {&X1, &Y2};
  const Folds unrelated = folds_of({X1, Y2}, dealt(4));
  result = tune(unrelated, options);
  EXPECT_EQ(at(result.target_only, Criterion::classification).mean, 0);
  EXPECT_GT(at(result.unmapped, Criterion::classification).mean, 0.2);
  EXPECT_NE(result.remarks.back().find("the matched samples of domain 2 alone does better"), std::string::npos)
      << result.remarks.back();
  EXPECT_EQ(result.tie_break, Criterion::partner);

  // As many features are needed to compare without a map.
  const Matrix shorter = X1.topRows(d - 1);
  options = {};
  options.ranks = {2};
  result = tune(folds_of({shorter, X2}, dealt(4)), options);
  EXPECT_TRUE(std::isnan(at(result.unmapped, Criterion::translation).mean));
}

// A reference that is the partner of a held-out sample would give its class away; new samples have no partner.
TEST(Tuning, HoldsThePartnersOutOfTheReferencesToo) {
  Random random(43);
  const Index n = 40;
  const Pairs pairs = sharing(random, 6, 8, n, 0.01);
  std::vector<int> labels;
  for (Index j = 0; j < n; ++j) labels.push_back(static_cast<int>(j));  // a class each
  TuneOptions options;
  options.families = {Family::identity};
  options.ranks = {6};
  options.max_ranks = {0};
  options.ridges = {0.0};
  options.labels = {&pairs.X1, labels, &pairs.X2, labels};
  const Folds folds = folds_of(pairs, dealt(4));
  EXPECT_LT(tune(folds, options).trials[0][Criterion::classification].mean, 0.1);
  options.pairs = {&pairs.X1, &pairs.X2};
  EXPECT_EQ(tune(folds, options).trials[0][Criterion::classification].mean, 1);
  // Nor does a second pair of the same sample of domain 1 give it away.
  Pairs twice{Matrix(8, 2 * n), Matrix(8, 2 * n)};
  twice.X1 << pairs.X1, pairs.X1;
  twice.X2 << pairs.X2, pairs.X2;
  std::vector<int> both = labels;
  both.insert(both.end(), labels.begin(), labels.end());
  options.labels = {&twice.X1, both, &twice.X2, both};
  options.pairs = {&twice.X1, &twice.X2};
  EXPECT_EQ(tune(folds_of(twice, dealt(4)), options).trials[0][Criterion::classification].mean, 1);
}

TEST(Tuning, ByClassesTakesALikelihoodUnlessAnotherIsPlainlyBetter) {
  Random random(42);
  const Pairs pairs = sharing(random, 4, 30, 60, 0.3);
  std::vector<int> labels;
  for (Index j = 0; j < 60; ++j) labels.push_back(pairs.X1(0, j) > 0 ? 1 : 0);
  TuneOptions options;
  options.ranks = {2};  // of four causes
  options.max_ranks = {0, 10};
  options.ridges = {0.1, 1.0, 10.0};
  options.labels = {&pairs.X1, labels, &pairs.X2, labels};
  options.pairs = {&pairs.X1, &pairs.X2};
  const TuneResult result = tune(folds_of(pairs, dealt(5, 2)), options);
  EXPECT_EQ(result.choice().family, Family::likelihood2);
  EXPECT_EQ(result.choice().max_rank, 0);
  Index likelihoods = 0;
  for (const Trial& trial : result.trials) {
    if (trial.candidate.family != Family::likelihood2) continue;
    ++likelihoods;
    EXPECT_EQ(trial.candidate.max_rank, 0);  // they weigh their directions by themselves
    EXPECT_LE(result.trials[result.chosen][Criterion::classification].mean, trial[Criterion::classification].mean);
  }
  EXPECT_EQ(likelihoods, 3);
  // Labelled samples of domain 2 without partners are classified too: 60 more, all of another class.
  Matrix queries(30, 120);
  queries << pairs.X2, pairs.X2;
  std::vector<int> query_labels = labels;
  query_labels.insert(query_labels.end(), 60, 7);
  options.labels = {&pairs.X1, labels, &queries, query_labels};
  const TuneResult more = tune(folds_of(pairs, dealt(5, 2)), options);
  EXPECT_NEAR(more.trials[0][Criterion::classification].mean,
              (result.trials[0][Criterion::classification].mean + 1) / 2, 1e-12);
}

TEST(Tuning, ChoosesTheBestAndSaysWhatToExpect) {
  Random random(4);
  const Pairs pairs = sharing(random, 3, 60, 50, 0.1);
  const Folds folds = folds_of(pairs, dealt(5, 2));
  const TuneResult result = tune(folds);
  const Trial& best = result.trials[result.best];
  const Trial& chosen = result.trials[result.chosen];
  EXPECT_EQ(result.chosen, result.best);
  EXPECT_GE(result.alike, 1U);
  EXPECT_LT(result.alike, result.trials.size());
  for (const Trial& trial : result.trials) EXPECT_GE(trial[result.criterion].mean, best[result.criterion].mean);
  // Three causes are shared: fewer directions miss some, and the plain fit of 40 training pairs is useless.
  EXPECT_GE(chosen.candidate.rank, 3);
  EXPECT_LT(chosen[Criterion::translation].mean, 0.5);
  // The least of many errors is no more than what other folds' choices have, and half of the pairs teach less.
  EXPECT_GE(result.expected.mean, best[result.criterion].mean);
  EXPECT_LT(result.expected.mean, best[result.criterion].mean + 2 * best[result.criterion].standard_error);
  EXPECT_GT(result.with_half.mean, chosen[result.criterion].mean);
  ASSERT_EQ(result.recommendation.size(), 3U);
  EXPECT_NE(result.recommendation[2].find("100 would bring about"), std::string::npos) << result.recommendation[2];
  const Model model = fit(folds.all(), result.choice());
  EXPECT_LT(model.certificate.constraint_residuals[0], 1e-10);
  EXPECT_TRUE(model.warnings().empty());
}

// Each candidate's translation by hand, of 5 pairs too; the ridge 1e9 is the mean, or the offset.
TEST(Tuning, TowardsIdentityIsThatOfTheFitAndIsNeverWorseThanTheOffset) {
  Random random(51);
  for (const Index n : {5, 40}) {
    const Matrix X1 = random.matrix(12, n), X2 = X1.array() + 0.5 + 0.4 * random.matrix(12, n).array();
    const Folds folds = folds_of({X1, X2}, dealt(5));
    TuneOptions options;
    options.ranks = {2};
    options.ridges = {0.1, 1e9};
    const TuneResult result = tune(folds, options);
    ASSERT_EQ(result.trials.size(), 4U);
    const auto translation = static_cast<std::size_t>(Criterion::translation);
    for (const Trial& trial : result.trials) {
      double missed = 0;
      for (Index fold = 0; fold < 5; ++fold) {
        const RawSplit split = raw_split({X1, X2}, folds, 0, fold);
        const Covariance C = trial.candidate.covariance();
        const Model model = fit(split.training.X1, split.training.X2, C, C, trial.candidate.options());
        const Matrix& Y1 = split.held_out.X1;
        const Matrix error = translate(model, Domain::two, Domain::one, split.held_out.X2) - Y1;
        const double spread = (Y1.colwise() - model.domain(Domain::one).mean).squaredNorm();
        missed += error.squaredNorm() / spread / 5;
      }
      if (n == 5) continue;  // where folds of one pair are evened out
      EXPECT_NEAR(trial[Criterion::translation].mean, missed, 1e-9) << trial.candidate.description();
    }
    const double offset = result.offset[translation].mean,
                 chosen = result.trials[result.chosen][Criterion::translation].mean;
    EXPECT_NEAR(result.trials[3][Criterion::translation].mean, offset, 1e-6);
    EXPECT_NEAR(result.trials[2][Criterion::translation].mean, 1, 1e-6);
    EXPECT_NEAR(result.target_only[translation].mean, 1, 1e-12);
    EXPECT_LE(chosen, offset);
    EXPECT_EQ(result.choice().towards, Towards::identity);
  }
}

TEST(Tuning, DownstreamIsWhatAFunctionMakesOfTheTranslation) {
  Random random(52);
  const Pairs pairs = random_pairs(random, 9, 9, 30);
  const Matrix b = random.matrix(2, 9);
  const Folds folds = folds_of(pairs, dealt(3));
  TuneOptions options;
  options.criterion = Criterion::downstream;
  options.pairs = {&pairs.X1, &pairs.X2};
  options.ranks = {4};
  options.max_ranks = {0};
  options.ridges = {0.2};
  EXPECT_THROW(tune(folds, options), InvalidInput);
  const auto used = [&](const Matrix& X) { return Matrix((b * X).array().square()); };
  options.downstream = used;
  const TuneResult result = tune(folds, options);
  ASSERT_EQ(result.trials.size(), 2U);
  const Matrix truth = used(pairs.X1);
  const Vector variance = (truth.colwise() - truth.rowwise().mean()).rowwise().squaredNorm() / 30;
  for (const Trial& trial : result.trials) {
    double expected = 0;
    for (Index fold = 0; fold < 3; ++fold) {
      const RawSplit split = raw_split(pairs, folds, 0, fold);
      const Covariance C = trial.candidate.covariance();
      const Model model = fit(split.training.X1, split.training.X2, C, C, trial.candidate.options());
      const Matrix missed =
          used(translate(model, Domain::two, Domain::one, split.held_out.X2)) - used(split.held_out.X1);
      expected += (missed.rowwise().squaredNorm().array() / variance.array()).mean() / 10 / 3;
    }
    EXPECT_NEAR(trial[Criterion::downstream].mean, expected, 1e-9) << trial.candidate.description();
  }
  options.downstream = [](const Matrix&) { return Matrix(1, 1); };
  EXPECT_THROW(tune(folds, options), InvalidInput);
}

TEST(Tuning, StaysAtChanceWithShuffledLabels) {
  Random random(5);
  const Index n = 200;
  const Pairs pairs = sharing(random, 4, 30, n, 0.2);
  std::vector<int> labels, shuffled;
  for (Index j = 0; j < n; ++j) labels.push_back((pairs.X1.row(0) * 1e3)(j) > 0 ? 1 : 0);
  shuffled = labels;
  std::shuffle(shuffled.begin(), shuffled.end(), random.generator());
  const double ones = static_cast<double>(std::count(labels.begin(), labels.end(), 1)) / static_cast<double>(n);
  const double chance = ones * ones + (1 - ones) * (1 - ones);
  TuneOptions options;
  options.ranks = {4};
  options.max_ranks = {10};
  options.ridges = {0.0};
  options.labels = {&pairs.X1, labels, &pairs.X2, labels};
  const Folds folds = folds_of(pairs, dealt(5, 3));
  EXPECT_LT(tune(folds, options).trials[0][Criterion::classification].mean, 0.2);
  // Labels of the queries alone are shuffled: what the held-out pairs say about them cannot have come in.
  options.labels.query_labels = shuffled;
  EXPECT_NEAR(tune(folds, options).trials[0][Criterion::classification].mean, 1 - chance, 0.08);
}

TEST(Tuning, SaysWhatIsWrong) {
  Random random(6);
  const Pairs pairs = random_pairs(random, 4, 4, 20);
  EXPECT_THROW(Folds({4, 4}, dealt(1)), InvalidInput);
  EXPECT_THROW(Folds({4, 4}, dealt(5, -1)), InvalidInput);
  Folds few({4, 4}, dealt(5));
  few.add(pairs.X1.leftCols(4), pairs.X2.leftCols(4));
  EXPECT_THROW(tune(few), TooFewSamples);
  const Folds folds = folds_of(pairs, dealt(4));
  TuneOptions options;
  options.criterion = Criterion::classification;
  EXPECT_THROW(tune(folds, options), InvalidInput);
  options = {};
  options.ranks = {40};
  EXPECT_THROW(tune(folds, options), InvalidInput);
  options = {};
  options.labels = {&pairs.X1, std::vector<int>(20, 1), &pairs.X2, std::vector<int>(19, 1)};
  EXPECT_THROW(tune(folds, options), InvalidInput);
  Folds holding({4, 4}, dealt(2));
  Matrix bad = pairs.X2;
  bad(2, 7) = std::numeric_limits<double>::quiet_NaN();
  try {
    holding.add(pairs.X1, bad);
    FAIL();
  } catch (const NotFinite& problem) {
    EXPECT_EQ(problem.row, 7);
  }
  EXPECT_EQ(holding.samples(), 0);
}

TEST(Candidate, IsFittedOnTheDeviceAskedFor) {
  Random random(31);
  const Pairs pairs = random_pairs(random, 4, 3, 60);
  Summary summary({4, 3});
  summary.add(pairs.X1, pairs.X2);
  Candidate candidate;
  candidate.rank = 2;
  DataOptions data;
  data.device = Device::cuda;
  EXPECT_EQ(candidate.options(data).device, Device::cuda);
  if (!cuda_device().usable) {
    EXPECT_THROW(fit(summary, candidate, data), DeviceError);
  }
}

}  // namespace
}  // namespace cgmca
