// Fits of more than two domains through the public interface: the oracle's cases, invariances, options.
#include <fmt/format.h>
#include <Eigen/Dense>

#include "multi_samples.hpp"

namespace cgmca::testing {
namespace {

TEST(MultiFits, TheOraclesCasesAreReachedAndCertified) {
  for (const char* name : {"identity_full", "identity_star", "many_identity", "same_path", "commuting_weighted",
                           "near_full", "unequal_ranks"}) {
    const Case c = read_case(name);
    FitOptions options;
    options.matching.graph = c.weights;
    const Model model = fit(matched(c.X), c.covariances, options);
    const Certificate& certificate = model.certificate;
    EXPECT_NEAR(certificate.objective, c.objective, 1e-9 * c.objective) << name;
    EXPECT_NEAR(objective_of(model, c.X), c.objective, 1e-9 * c.objective) << name;
    EXPECT_TRUE(certificate.certified) << name;
    EXPECT_LE(certificate.bound, certificate.objective * (1 + 1e-12)) << name;
    EXPECT_LE(certificate.gap, 1e-9) << name;
    EXPECT_EQ(certificate.edge_weights, c.weights);
    EXPECT_GE(certificate.starts.size(), 5U);
    for (std::size_t i = 0; i < c.X.size(); ++i) {
      const auto domain = domain_at(i);
      EXPECT_LE(certificate.constraint_residuals[i], 1e-10) << name;
      const DomainMap& map = model.domain(domain);
      EXPECT_LE(relative(map.mixing * map.mixing.transpose(), sample_covariance(apply(model, domain, c.X[i]))), 1e-10);
      const Matrix own = map.weights * sample_covariance(c.X[i]) * map.weights.transpose();
      EXPECT_LE(relative(own, Matrix::Identity(own.rows(), own.cols())), 1e-10) << name;
    }
    EXPECT_TRUE(model.warnings().empty()) << model.warnings()[0];
  }
}

TEST(MultiFits, TwoDomainsAreAlgorithm1ToTheBit) {
  Random random(3);
  for (const Index n : {7, 200}) {
    const Pairs pairs = random_pairs(random, 6, 5, n);
    const Covariance one = Covariance::data(Domain::two, 3), two = Covariance::diagonal(Vector::LinSpaced(5, 1, 2));
    for (const double ridge : {0.0, 0.3}) {
      FitOptions options;
      options.ridge = ridge;
      options.matching.graph = "star:2";
      const Model expected = fit(pairs.X1, pairs.X2, one, two, options);
      const Model found = fit(MatchedSamples{pairs.X1, pairs.X2}, {one, two}, options);
      EXPECT_EQ(found.to_bytes(), expected.to_bytes());
      Summary summary({6, 5});
      summary.add(pairs.X1, pairs.X2);
      EXPECT_EQ(fit(summary, {one, two}, options).to_bytes(), expected.to_bytes());
      EXPECT_EQ(found.certificate.proof, "closed form");
      EXPECT_TRUE(found.certificate.certified);
      EXPECT_EQ(found.certificate.edge_weights, (Matrix(2, 2) << 0, 1, 1, 0).finished());
      const PreparedFit prepared(summary);
      EXPECT_EQ(prepared.fit({one, two}, options.regularization()).to_bytes(),
                prepared.fit(one, two, options.regularization()).to_bytes());
    }
  }
}

TEST(MultiFits, TheWeightOfTwoDomainsScalesTheObjective) {
  Random random(4);
  const Pairs pairs = random_pairs(random, 6, 5, 80);
  const std::vector<Covariance> C = {Covariance::identity(2)};
  const Model plain = fit(MatchedSamples{pairs.X1, pairs.X2}, C);
  FitOptions options;
  options.matching.graph = (Matrix(2, 2) << 0, 2.5, 2.5, 0).finished();
  const Model heavy = fit(MatchedSamples{pairs.X1, pairs.X2}, C, options);
  EXPECT_EQ(apart(plain, heavy), 0);
  EXPECT_NEAR(heavy.certificate.objective, 2.5 * plain.certificate.objective, 1e-13);
  EXPECT_NEAR(heavy.certificate.bound, 2.5 * plain.certificate.bound, 1e-13);
  const Model loaded = Model::from_bytes(heavy.to_bytes());
  EXPECT_EQ(loaded.certificate.edge_weights, heavy.certificate.edge_weights);
  EXPECT_LE(std::abs(verify(loaded, {pairs.X1, pairs.X2}).shortfall()), 1e-12);
}

TEST(MultiFits, PermutedDomainsHavePermutedMaps) {
  for (const char* name : {"identity_full", "same_path", "commuting_weighted", "near_full", "unequal_ranks"}) {
    const Case c = read_case(name);
    const std::vector<std::size_t> order = {2, 0, 1};  // what stands at each place of the permuted fit
    Case moved{{}, {}, Matrix(3, 3), c.objective};
    for (std::size_t i = 0; i < 3; ++i) {
      moved.X.push_back(c.X[order[i]]);
      moved.covariances.push_back(c.covariances[order[i]]);
      for (std::size_t j = 0; j < 3; ++j) {
        moved.weights(static_cast<Index>(i), static_cast<Index>(j)) =
            c.weights(static_cast<Index>(order[i]), static_cast<Index>(order[j]));
      }
    }
    FitOptions options, moved_options;
    options.matching.graph = c.weights;
    moved_options.matching.graph = moved.weights;
    const Model model = fit(matched(c.X), c.covariances, options);
    const Model other = fit(matched(moved.X), moved.covariances, moved_options);
    EXPECT_LE(apart(other, model, order), 1e-5) << name;
    EXPECT_NEAR(other.certificate.objective, model.certificate.objective, 1e-10 * c.objective) << name;
  }
}

TEST(MultiFits, DirectionsAreInOrderOfHowWellTheyMatch) {
  const Case c = read_case("many_identity");
  const Model model = fit(matched(c.X), c.covariances);
  const Index k = model.common_dimension;
  Vector mean = Vector::Zero(k);
  for (int i = 1; i <= 6; ++i) {
    EXPECT_LE(relative(model.domain(Domain{i}).mixing, Matrix::Identity(k, k)), 1e-14);
    for (int j = 1; j < i; ++j) mean += model.common_correlations(Domain{i}, Domain{j});
  }
  EXPECT_TRUE(std::is_sorted(mean.begin(), mean.end(), std::greater<>()));
  EXPECT_GT(model.certificate.min_gap, 0);
  EXPECT_LE(model.certificate.min_gap, 1);
}

TEST(MultiFits, TheSameSeedGivesTheSameBitsOnAnyNumberOfThreads) {
  const auto X = random_domains(5, {7, 5, 6, 4}, 90);
  const int before = threads();
  std::vector<std::string> bytes;
  for (const int count : {1, 2, 1}) {
    set_threads(count);
    bytes.push_back(fit(matched(X), {Covariance::identity(2)}).to_bytes());
  }
  set_threads(before);
  EXPECT_EQ(bytes[0], bytes[2]);
  EXPECT_LE(apart(Model::from_bytes(bytes[0]), Model::from_bytes(bytes[1])), 1e-9);
}

TEST(MultiFits, BlocksMergesAndFormsOfSummariesChangeNothing) {
  const auto X = random_domains(6, {5, 4, 6}, 400);
  const std::vector<Covariance> C = {Covariance::identity(2)};
  for (const double ridge : {0.0, 0.1}) {
    FitOptions options;
    options.ridge = ridge;
    const Model expected = fit(summarize(X, Accumulate::qr), C, options);
    for (const Accumulate accumulate : kAccumulates) {
      EXPECT_LE(apart(fit(summarize(X, accumulate, 37), C, options), expected), 1e-9) << name(accumulate);
      std::vector<Matrix> first, second;
      for (const Matrix& one : X) {
        first.push_back(one.leftCols(150));
        second.push_back(one.rightCols(250));
      }
      Summary merged = summarize(first, accumulate);
      merged.merge(summarize(second, accumulate));
      EXPECT_LE(apart(fit(merged, C, options), expected), 1e-9) << name(accumulate);
    }
    // Rows that are kept.
    std::vector<Matrix> few;
    for (const Matrix& one : X) few.push_back(one.leftCols(25));
    const Summary rows = summarize(few, Accumulate::automatic);
    ASSERT_EQ(rows.form(), SummaryForm::rows);
    Summary squeezed = summarize(few, Accumulate::qr);
    EXPECT_LE(apart(fit(rows, C, options), fit(squeezed, C, options)), 1e-9);
  }
}

// Six causes, four directions: the last of them matches hardly better than the next would, and f is flat there. What
// the ascent leaves open must not differ with the rounding of the data.
TEST(MultiFits, MapsAreSettledWhereTheMatchIsFlat) {
  Random random(6);
  const Matrix causes = random.matrix(6, 2000);
  std::vector<Matrix> X;
  for (const Index d : {40, 35, 50}) X.push_back(random.matrix(d, 6) * causes + 0.5 * random.matrix(d, 2000));
  const std::vector<Covariance> C = {Covariance::identity(4)};
  EXPECT_LE(apart(fit(summarize(X, Accumulate::qr), C), fit(summarize(X, Accumulate::gram), C)), 3e-10);
}

TEST(MultiFits, RidgesTruncationAndExtraSamplesHoldTheirConstraints) {
  const auto X = random_domains(7, {8, 5, 6}, 60);
  const auto more = random_domains(8, {5}, 90);
  Summary extra({5});
  extra.add(more[0]);
  for (const Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
    FitOptions options;
    options.ridge = {Ridge(0.2), Ridge(0), Ridge::from_data()};
    options.max_rank = {6, 0, 4};
    options.extra = {nullptr, &extra, nullptr};
    const Model model = fit(summarize(X, accumulate), {Covariance::identity(2)}, options);
    const Certificate& certificate = model.certificate;
    EXPECT_EQ(certificate.ranks, (std::vector<Index>{6, 5, 4}));
    EXPECT_EQ(certificate.constrained[1].samples, 150);
    for (const double residual : certificate.constraint_residuals) EXPECT_LE(residual, 1e-10);
    Matrix all(5, 150);
    all << X[1], more[0];
    EXPECT_LE(relative(model.domain(Domain::two).mean, all.rowwise().mean()), 1e-12);
    Verifier verifier(model);
    verifier.add(matched(X));
    verifier.add_extra(Domain::two, more[0]);
    const Verification attained = verifier.verification();
    EXPECT_NEAR(attained.objective, certificate.objective, 1e-10);
    EXPECT_NEAR(attained.best_objective, certificate.bound, 1e-8);
    for (const double residual : attained.constraint_residuals) EXPECT_LE(residual, 1e-10);
    EXPECT_EQ(attained.all_samples, (std::vector<Index>{60, 150, 60}));
    EXPECT_EQ(attained.certified, certificate.certified);
  }
}

TEST(MultiFits, EveryCovarianceThatMakesSenseIsThere) {
  const auto X = random_domains(9, {6, 7, 5}, 200);
  const auto fitted = [&](const Covariance& C) { return fit(matched(X), {C}); };
  EXPECT_EQ(fitted(Covariance::largest_identity()).common_dimension, 5);
  const Model of_data = fitted(Covariance::data(Domain{3}, 2));
  EXPECT_EQ(of_data.common_dimension, 5);
  EXPECT_EQ(of_data.settings.covariance, (std::vector<std::string>(3, "data3")));
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(sample_covariance(X[2]));
  const Matrix U = eigen.eigenvectors().rightCols(2);
  const Matrix C = U * eigen.eigenvalues().tail(2).asDiagonal() * U.transpose();
  for (int i = 1; i <= 3; ++i) {
    EXPECT_LE(relative(sample_covariance(apply(of_data, Domain{i}, X[i - 1])), C), 1e-10);
  }
  EXPECT_TRUE(of_data.certificate.certified);
  // correlation:K: the squared mean correlations of the directions of the fit with I_K.
  const Model plain = fitted(Covariance::identity(3)), weighed = fitted(Covariance::correlation(3));
  Vector mean = Vector::Zero(3);
  for (const auto& [i, j] : {std::pair(1, 2), std::pair(1, 3), std::pair(2, 3)}) {
    mean += plain.common_correlations(Domain{i}, Domain{j}) / 3;
  }
  const Matrix& M = weighed.domain(Domain::one).mixing;
  EXPECT_LE(relative(M * M.transpose(), mean.cwiseAbs2().asDiagonal()), 1e-9);
  // Two domains: σ².
  const Model two = fit(MatchedSamples{X[0], X[1]}, {Covariance::correlation(2)});
  EXPECT_LE(relative(two.domain(Domain::one).covariance_spectrum(), two.certificate.singular_B.head(2).cwiseAbs2()),
            1e-12);
}

TEST(MultiFits, LimitsAndProgressOfTheSearchAreHeeded) {
  const auto X = random_domains(10, {6, 7, 5}, 100);
  FitOptions options;
  options.matching.random_starts = 1;
  options.matching.max_sweeps = 2;
  std::vector<std::string> stages;
  options.matching.progress = [&](const MatchingProgress& now) { stages.push_back(now.stage); };
  const Model model = fit(matched(X), {Covariance::identity(2)}, options);
  EXPECT_TRUE(model.certificate.stopped_early);
  for (const Start& start : model.certificate.starts) EXPECT_LE(start.sweeps, 2);
  EXPECT_NE(std::find(stages.begin(), stages.end(), "spectral"), stages.end());
  EXPECT_NE(std::find(stages.begin(), stages.end(), "random"), stages.end());
  EXPECT_EQ(model.settings.max_sweeps, 2);
  EXPECT_LE(model.certificate.constraint_residuals[0], 1e-10);
  EXPECT_LE(model.certificate.bound, model.certificate.objective);
  options.matching.progress = [](const MatchingProgress&) { throw std::runtime_error("stop"); };
  EXPECT_THROW(fit(matched(X), {Covariance::identity(2)}, options), std::runtime_error);
  options.matching = {};
  options.matching.random_starts = 0;
  options.matching.seed = 7;
  const Model few = fit(matched(X), {Covariance::identity(2)}, options);
  EXPECT_EQ(few.settings.seed, 7U);
  EXPECT_EQ(std::count_if(few.certificate.starts.begin(), few.certificate.starts.end(),
                          [](const Start& start) { return start.kind == "random"; }),
            0);
}

TEST(MultiFits, NoStartBeginsAfterTheTimeIsUp) {
  const auto X = random_domains(10, {6, 7, 5}, 100);
  FitOptions options;
  options.matching.random_starts = 200'000;
  options.matching.max_seconds = 0.1;
  const Model model = fit(matched(X), {Covariance::identity(2)}, options);
  EXPECT_TRUE(model.certificate.stopped_early);
  EXPECT_GE(model.certificate.starts.size(), 1U);
  EXPECT_LT(model.certificate.starts.size(), 20'000U);
  EXPECT_LE(model.certificate.constraint_residuals[0], 1e-10);
  options.matching.max_seconds = 1e-9;
  const Model least = fit(matched(X), {Covariance::identity(2)}, options);
  ASSERT_EQ(least.certificate.starts.size(), 1U);
  EXPECT_EQ(least.certificate.starts[0].kind, "spectral");
  EXPECT_TRUE(least.certificate.stopped_early);
}

// Samples whose whitened cross-covariances are those of a star of scalar leaves: leaf j is b_jᵀ x_1 and noise of its
// own, so that corr(x_1, leaf j) = b_j exactly.   b_j: r×1, ‖b_j‖ <= 1
std::vector<Matrix> star_of_leaves(const std::vector<Matrix>& b, Index n) {
  Random random(12);
  const Index r = b[0].rows();
  const Matrix noise = centred(random.matrix(r + std::ssize(b), n)).transpose();
  const Matrix Q =
      noise.householderQr().householderQ() *
      Matrix(std::sqrt(static_cast<double>(n - 1)) * Matrix::Identity(n, noise.cols()));  // of mean 0 and covariance I
  std::vector<Matrix> X = {Q.leftCols(r).transpose()};
  for (std::size_t j = 0; j < b.size(); ++j) {
    const auto own = Q.col(r + static_cast<Index>(j)).transpose();
    X.emplace_back(b[j].transpose() * X[0] + std::sqrt(1 - b[j].squaredNorm()) * own);
  }
  return X;
}

// A star of scalar leaves is L1-PCA, whose relaxation is not tight here: no bound of ours can prove the optimum.
TEST(MultiFits, AFitThatIsNotProvenSaysSo) {
  constexpr double best_f = 6.220834506627602;  // by enumeration
  constexpr Index n = 50;
  std::vector<Matrix> b;
  for (int j = 1; j < 8; ++j) b.push_back(read(oracle(fmt::format("star_l1pca.npz:B0_{}", j))).transpose());
  const std::vector<Matrix> X = star_of_leaves(b, n);
  FitOptions options;
  options.matching.graph = "star:1";
  const Model model = fit(matched(X), {Covariance::identity(1)}, options);
  const Certificate& certificate = model.certificate;
  const auto objective = [&](double f) { return (n - 1.0) / n * (14 - f); };
  EXPECT_GE(certificate.objective, objective(best_f) - 1e-9);
  EXPECT_LE(certificate.objective, objective(0.98 * best_f));
  EXPECT_LE(certificate.bound, objective(best_f) + 1e-9);
  EXPECT_FALSE(certificate.certified);
  EXPECT_GT(certificate.gap, 1e-3);
  const auto warnings = model.warnings();
  ASSERT_FALSE(warnings.empty());
  EXPECT_NE(warnings.back().find("not proven to be the best"), std::string::npos);
  EXPECT_NE(warnings.back().find("% of the best possible"), std::string::npos);
}

}  // namespace
}  // namespace cgmca::testing
