// Cross-validation and permutation tests of more than two domains, against doing it by hand on the raw data.
#include <algorithm>
#include <cmath>

#include "multi_samples.hpp"

namespace cgmca::testing {
namespace {

Folds folds_of(const std::vector<Matrix>& X, Index folds, Index repeats = 1) {
  std::vector<DomainInfo> info;
  for (const Matrix& one : X) info.emplace_back(one.rows());
  FoldOptions options;
  options.folds = folds;
  options.repeats = repeats;
  options.seed = 3;
  Folds result(info, options);
  result.add(matched(X));
  return result;
}

struct RawSplit {
  std::vector<Matrix> training, held_out;
  std::vector<int> training_labels, held_out_labels;
};
RawSplit raw_split(const std::vector<Matrix>& X, const std::vector<int>& labels, const Folds& folds, Index fold) {
  std::vector<Index> training, held;
  for (Index j = 0; j < folds.samples(); ++j) (folds.fold_of(0, j) == fold ? held : training).push_back(j);
  RawSplit split;
  for (const Matrix& one : X) {
    split.training.emplace_back(one(Eigen::all, training));
    split.held_out.emplace_back(one(Eigen::all, held));
  }
  for (const Index j : training) split.training_labels.push_back(labels[j]);
  for (const Index j : held) split.held_out_labels.push_back(labels[j]);
  return split;
}

std::vector<DomainSamples> present(const std::vector<Matrix>& X) {
  std::vector<DomainSamples> result;
  for (std::size_t i = 0; i < X.size(); ++i) result.push_back({domain_at(i), X[i]});
  return result;
}

// Σ ‖x - x̂‖² / Σ ‖x - μ‖², each domain from all others, in the mean.
double translation_error(const Model& model, const RawSplit& split) {
  double sum = 0;
  for (std::size_t i = 0; i < split.held_out.size(); ++i) {
    std::vector<DomainSamples> others;
    for (std::size_t j = 0; j < split.held_out.size(); ++j) {
      if (j != i) others.push_back({domain_at(j), split.held_out[j]});
    }
    const Matrix found = translate(model, others, domain_at(i));
    const Vector mean = split.training[i].rowwise().mean();
    sum += (split.held_out[i] - found).squaredNorm() / (split.held_out[i].colwise() - mean).squaredNorm();
  }
  return sum / static_cast<double>(split.held_out.size());
}

double distance_error(const Model& model, const RawSplit& split) {
  const Matrix& w = model.certificate.edge_weights;
  double apart = 0, spread = 0;
  for (Index i = 0; i < w.rows(); ++i) {
    const Matrix Z = apply(model, domain_at(i), split.held_out[i]);
    for (Index j = 0; j < i; ++j) {
      apart += w(i, j) * mean_squared_distance(Z, apply(model, domain_at(j), split.held_out[j]));
    }
    spread += w.row(i).sum() * model.domain(domain_at(i)).covariance_spectrum().sum();
  }
  return apart / spread;
}

double classification_error(const Model& model, const RawSplit& split) {
  return 1 - accuracy(nearest_neighbour(fuse(model, present(split.training)), split.training_labels,
                                        fuse(model, present(split.held_out))),
                      split.held_out_labels);
}

// Three domains, three classes, each with a centre in every domain.
struct Classes {
  std::vector<Matrix> X;
  std::vector<int> labels;
};
Classes classes_in_three(std::uint64_t seed, Index n, double noise) {
  Random random(seed);
  Classes result{{}, {}};
  for (Index j = 0; j < n; ++j) result.labels.push_back(static_cast<int>(j % 3));
  for (const Index d : {7, 6, 5}) {
    const Matrix centres = random.matrix(d, 3);
    Matrix X = noise * random.matrix(d, n);
    for (Index j = 0; j < n; ++j) X.col(j) += centres.col(j % 3);
    result.X.push_back(std::move(X));
  }
  return result;
}

TEST(TuningDomains, ScoresAreThoseOfRefittingAndTestingOnTheRawData) {
  const Classes given = classes_in_three(1, 90, 0.8);
  const Folds folds = folds_of(given.X, 3);
  for (const char* graph : {"full", "star:2"}) {
    TuneOptions options;
    options.families = {Family::identity, Family::correlation, Family::data2};
    options.ranks = {2};
    options.max_ranks = {0, 4};
    options.ridges = {0.0, 0.3, Ridge::from_data()};
    options.graph = graph;
    for (const Matrix& X : given.X) options.matched.samples.push_back(&X);
    options.matched.labels = given.labels;
    const TuneResult result = tune(folds, options);
    EXPECT_EQ(result.criterion, Criterion::classification);
    EXPECT_EQ(result.domains, 3);
    EXPECT_EQ(result.tie_break, Criterion::translation);
    ASSERT_EQ(result.trials.size(), 18U);
    for (const Trial& trial : result.trials) {
      SCOPED_TRACE(trial.candidate.description());
      MatchingOptions matching;
      matching.graph = graph;
      double translated = 0, apart = 0, wrong = 0;
      for (Index fold = 0; fold < 3; ++fold) {
        const RawSplit split = raw_split(given.X, given.labels, folds, fold);
        FitOptions by_hand = trial.candidate.options();
        by_hand.matching = matching;
        const Model model = fit(matched(split.training), {trial.candidate.covariance()}, by_hand);
        translated += translation_error(model, split) / 3;
        apart += distance_error(model, split) / 3;
        wrong += classification_error(model, split) / 3;
      }
      EXPECT_NEAR(trial[Criterion::translation].mean, translated, 1e-6);
      EXPECT_NEAR(trial[Criterion::distance].mean, apart, 1e-6);
      EXPECT_NEAR(trial[Criterion::classification].mean, wrong, 1e-12);
      for (const Criterion other : {Criterion::translation_to2, Criterion::likelihood, Criterion::partner}) {
        EXPECT_TRUE(std::isnan(trial[other].mean));
      }
    }
    const Model chosen = fit(folds.all(), result.choice(), {}, {.graph = graph});
    EXPECT_EQ(chosen.count(), 3);
    EXPECT_EQ(chosen.certificate.edge_weights, weights_of(Graph(graph), 3));
  }
}

TEST(TuningDomains, BaselinesAreThoseOfTheRawData) {
  const Classes given = classes_in_three(2, 60, 1.2);
  const Folds folds = folds_of(given.X, 3);
  TuneOptions options;
  options.ranks = {1, 2};
  options.max_ranks = {0};
  options.ridges = {0.1};
  for (const Matrix& X : given.X) options.matched.samples.push_back(&X);
  options.matched.labels = given.labels;
  const TuneResult result = tune(folds, options);
  std::vector<double> single(3);
  double stacked = 0;
  for (Index fold = 0; fold < 3; ++fold) {
    const RawSplit split = raw_split(given.X, given.labels, folds, fold);
    Matrix references(18, split.training[0].cols()), queries(18, split.held_out[0].cols());
    Index row = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const Matrix &training = split.training[i], &asked = split.held_out[i];
      single[i] += (1 - accuracy(nearest_neighbour(training, split.training_labels, asked), split.held_out_labels)) / 3;
      const double size = std::sqrt(sample_covariance(training).trace());
      references.middleRows(row, training.rows()) = training / size;
      queries.middleRows(row, training.rows()) = asked / size;
      row += training.rows();
    }
    stacked += (1 - accuracy(nearest_neighbour(references, split.training_labels, queries), split.held_out_labels)) / 3;
  }
  const auto classification = static_cast<std::size_t>(Criterion::classification);
  EXPECT_NEAR(result.unmapped[classification].mean, stacked, 1e-12);
  EXPECT_NEAR(result.target_only[classification].mean, *std::min_element(single.begin(), single.end()), 1e-12);
  const auto translation = static_cast<std::size_t>(Criterion::translation);
  EXPECT_EQ(result.target_only[translation].mean, 1);
  EXPECT_TRUE(std::isnan(result.unmapped[translation].mean));
}

TEST(TuningDomains, FindsTheNumberOfSharedCauses) {
  Random random(4);
  const Matrix causes = random.matrix(3, 60);
  std::vector<Matrix> X;
  for (const Index d : {30, 25, 20, 20}) X.push_back(random.orthonormal(d, 3) * causes + 0.2 * random.matrix(d, 60));
  TuneOptions options;
  options.ranks = {1, 2, 3, 6};
  options.ridges = {0.1, 1.0};
  const TuneResult result = tune(folds_of(X, 5), options);
  EXPECT_EQ(result.criterion, Criterion::translation);
  EXPECT_GE(result.choice().rank, 3);
  EXPECT_LT(result.trials[result.chosen][Criterion::translation].mean, 0.7);
  EXPECT_TRUE(result.remarks.empty());
  std::vector<Matrix> noise;
  for (const Index d : {30, 25, 20}) noise.push_back(random.matrix(d, 60));
  const TuneResult nothing = tune(folds_of(noise, 5), options);
  ASSERT_FALSE(nothing.remarks.empty());
  EXPECT_NE(nothing.remarks.back().find("the mean of each domain"), std::string::npos);
}

TEST(TuningDomains, WhatOnlyTwoDomainsHaveIsRefusedByName) {
  const auto X = random_domains(5, {6, 5, 4}, 60);
  const Folds folds = folds_of(X, 3);
  const auto said = [&](const std::function<void(TuneOptions&)>& change) {
    TuneOptions options;
    options.ranks = {1};
    options.ridges = {0.1};
    change(options);
    return message_of([&] { tune(folds, options); });
  };
  EXPECT_EQ(said([](TuneOptions& o) {
              o.families = {Family::identity, Family::likelihood2};
            }),
            "the covariance likelihood2 compares the samples of two domains; there are 3. Try identity or correlation");
  for (const Criterion criterion : {Criterion::likelihood, Criterion::partner, Criterion::translation_to2}) {
    EXPECT_NE(said([&](TuneOptions& o) {
                o.criterion = criterion;
              }).find(std::string("the criterion ") + name(criterion) + " compares the samples of two domains"),
              std::string::npos);
  }
  EXPECT_NE(said([](TuneOptions& o) { o.criterion = Criterion::classification; }).find("TuneOptions::matched"),
            std::string::npos);
  EXPECT_NE(said([&](TuneOptions& o) { o.pairs = {&X[0], &X[1]}; }).find("MatchedLabels"), std::string::npos);
  EXPECT_NE(said([&](TuneOptions& o) {
              o.matched = {{&X[0], &X[1]}, std::vector<int>(60)};
            }).find("of 2 domains"),
            std::string::npos);
  EXPECT_NE(said([&](TuneOptions& o) {
              o.matched = {{&X[0], &X[1], &X[0]}, std::vector<int>(60)};
            }).find("domain 3 of the labelled samples: 60 of 6 features; the folds hold 60 of 4"),
            std::string::npos);
  EXPECT_NE(said([&](TuneOptions& o) {
              o.matched = {{&X[0], &X[1], &X[2]}, std::vector<int>(7)};
            }).find("7 labels for 60 matched samples"),
            std::string::npos);
  EXPECT_NE(said([](TuneOptions& o) { o.graph = "star:4"; }).find("from 1 to 3"), std::string::npos);
  EXPECT_NE(said([](TuneOptions& o) { o.ranks = {50}; }).find("training sets of 40 matched samples"),
            std::string::npos);
}

Summary sharing(std::uint64_t seed, Index shared, Index n, double noise) {
  Random random(seed);
  const Matrix causes = random.matrix(std::max<Index>(1, shared), n);
  std::vector<Matrix> X;
  for (const Index d : {6, 5, 7}) {
    X.push_back(noise * random.matrix(d, n));
    if (shared > 0) X.back() += random.orthonormal(d, shared) * causes;
  }
  return summarize(X, Accumulate::automatic);
}

TEST(PermutationsOfDomains, FindTheSharedCausesFromRowsAndFromMoments) {
  PermutationOptions test;
  test.permutations = 99;
  for (const Index n : {35, 200}) {
    const Summary summary = sharing(6, 2, n, 0.3);
    for (const char* graph : {"full", "path"}) {
      test.graph = graph;
      const PermutationTest found = permutation_test(summary, {}, test);
      EXPECT_EQ(found.rotations, n == 200);
      EXPECT_EQ(found.domains, 3);
      EXPECT_EQ(found.significant, 2) << n << graph;
      EXPECT_EQ(found.p_values.size(), 5U);  // of all directions
      EXPECT_EQ(found.p_values[0], 0.01);
      EXPECT_TRUE(std::is_sorted(found.p_values.begin(), found.p_values.end()));
    }
  }
}

// The level is kept: of 24 sets of noise about 5 reach p <= .2.
TEST(PermutationsOfDomains, FindNothingInNoiseMoreOftenThanTheLevel) {
  PermutationOptions test;
  test.permutations = 19;
  test.level = 0.2;
  for (const Index n : {30, 100}) {
    int found = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
      test.seed = seed;
      found += permutation_test(sharing(1000 + seed, 0, n, 1), {}, test).significant > 0;
    }
    EXPECT_GE(found, 1) << n;
    EXPECT_LE(found, 11) << n;
  }
}

TEST(PermutationsOfDomains, AreTheSameOnAnyNumberOfThreadsAndTellTheirProgress) {
  const Summary summary = sharing(7, 1, 30, 0.5);
  const int before = threads();
  PermutationOptions test;
  test.permutations = 70;
  std::vector<double> told;
  test.progress = [&](double done) { told.push_back(done); };
  std::vector<std::vector<double>> p_values;
  for (const int count : {1, 2}) {
    set_threads(count);
    p_values.push_back(permutation_test(summary, {.max_rank = 4, .ridge = 0.1}, test).p_values);
  }
  set_threads(before);
  EXPECT_EQ(p_values[0], p_values[1]);
  EXPECT_EQ(told[1], 1);
  test.graph = "star:9";
  EXPECT_NE(message_of([&] { permutation_test(summary, {}, test); }).find("from 1 to 3"), std::string::npos);
}

}  // namespace
}  // namespace cgmca::testing
