// Fits of more than two domains through the public interface: the oracle's cases, invariances, files, translations.
#include <fmt/format.h>
#include <Eigen/Dense>
#include <fstream>
#include <nlohmann/json.hpp>

#include "testing.hpp"

namespace cgmca::testing {
namespace {

std::string oracle(const std::string& name) { return fixture("oracle/multi/" + name); }

struct Case {
  std::vector<Matrix> X;
  std::vector<Covariance> covariances;
  Matrix weights;
  double objective;
};

Case read_case(const std::string& name) {
  std::ifstream in(oracle(name + ".json"));
  const nlohmann::json answer = nlohmann::json::parse(in);
  const auto m = answer["domains"].get<Index>();
  Case result{{}, {}, Matrix(m, m), answer["objective"]};
  for (Index i = 0; i < m; ++i) {
    const auto place = static_cast<std::size_t>(i);
    result.X.push_back(read(oracle(fmt::format("{}.x{}.npy", name, i + 1))));
    const std::string spec = answer["cov"][place];
    const std::string value = spec.substr(spec.find(':') + 1);
    result.covariances.push_back(spec.starts_with("identity") ? Covariance::identity(std::stol(value))
                                                              : Covariance::matrix(read(oracle(value))));
    for (Index j = 0; j < m; ++j) result.weights(i, j) = answer["weights"][place][static_cast<std::size_t>(j)];
  }
  return result;
}

MatchedSamples views(const std::vector<Matrix>& X) {
  MatchedSamples result;
  for (const Matrix& one : X) result.emplace_back(one);
  return result;
}

std::vector<MatrixView> matrices(const std::vector<Matrix>& X) {
  std::vector<MatrixView> result;
  for (const Matrix& one : X) result.emplace_back(one);
  return result;
}

// m domains that share hidden causes of different strengths.
std::vector<Matrix> random_domains(std::uint64_t seed, const std::vector<Index>& features, Index n) {
  Random random(seed);
  const Matrix causes = Vector::LinSpaced(3, 2, 1).asDiagonal() * random.matrix(3, n);
  std::vector<Matrix> domains;
  for (const Index d : features) {
    domains.push_back((random.matrix(d, 3) * causes + 0.5 * random.matrix(d, n)).colwise() +
                      3 * random.matrix(d, 1).col(0));
  }
  return domains;
}

Summary summarize(const std::vector<Matrix>& X, Accumulate accumulate, Index block = 1 << 20) {
  std::vector<DomainInfo> info;
  for (const Matrix& one : X) info.emplace_back(one.rows());
  Summary summary(info, accumulate);
  for (Index first = 0; first < X[0].cols(); first += block) {
    MatchedSamples part;
    for (const Matrix& one : X) part.emplace_back(one.middleCols(first, std::min(block, one.cols() - first)));
    summary.add(part);
  }
  return summary;
}

// (1/n) Σ_s Σ_{i<j} w_ij ‖z_is - z_js‖², of the maps alone.
double objective_of(const Model& model, const std::vector<Matrix>& X) {
  double sum = 0;
  for (std::size_t i = 0; i < X.size(); ++i) {
    for (std::size_t j = i + 1; j < X.size(); ++j) {
      const double weight = model.certificate.weights(static_cast<Index>(i), static_cast<Index>(j));
      sum += weight * mean_squared_distance(apply(model, static_cast<Domain>(i + 1), X[i]),
                                            apply(model, static_cast<Domain>(j + 1), X[j]));
    }
  }
  return sum;
}

// The largest part by which a map of one model differs from the other's.
double apart(const Model& one, const Model& two, const std::vector<std::size_t>& order = {}) {
  double most = 0;
  for (std::size_t i = 0; i < one.domains.size(); ++i) {
    const DomainMap &a = *one.domains[i], &b = *two.domains[order.empty() ? i : order[i]];
    most = std::max(most, relative(a.matrix(), b.matrix()));
  }
  return most;
}

template <class Problem = InvalidInput>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Problem& problem) {
    return problem.what();
  }
  return "nothing was thrown";
}

TEST(Views, TheOraclesCasesAreReachedAndCertified) {
  for (const char* name : {"identity_full", "identity_star", "many_identity", "same_path", "commuting_weighted",
                           "near_full", "unequal_ranks"}) {
    const Case c = read_case(name);
    FitOptions options;
    options.matching.graph = c.weights;
    const Model model = fit(views(c.X), c.covariances, options);
    const Certificate& certificate = model.certificate;
    EXPECT_NEAR(certificate.objective, c.objective, 1e-9 * c.objective) << name;
    EXPECT_NEAR(objective_of(model, c.X), c.objective, 1e-9 * c.objective) << name;
    EXPECT_TRUE(certificate.certified) << name;
    EXPECT_LE(certificate.bound, certificate.objective * (1 + 1e-12)) << name;
    EXPECT_LE(certificate.gap, 1e-9) << name;
    EXPECT_EQ(certificate.weights, c.weights);
    EXPECT_GE(certificate.starts.size(), 5U);
    for (std::size_t i = 0; i < c.X.size(); ++i) {
      const auto domain = static_cast<Domain>(i + 1);
      EXPECT_LE(certificate.constraint_residuals[i], 1e-10) << name;
      const DomainMap& map = model.domain(domain);
      EXPECT_LE(relative(map.mixing * map.mixing.transpose(), sample_covariance(apply(model, domain, c.X[i]))), 1e-10);
      const Matrix own = map.weights * sample_covariance(c.X[i]) * map.weights.transpose();
      EXPECT_LE(relative(own, Matrix::Identity(own.rows(), own.cols())), 1e-10) << name;
    }
    EXPECT_TRUE(model.warnings().empty()) << model.warnings()[0];
  }
}

TEST(Views, TwoDomainsAreAlgorithm1ToTheBit) {
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
      EXPECT_EQ(found.certificate.weights, (Matrix(2, 2) << 0, 1, 1, 0).finished());
      const Factorization factorization(summary);
      EXPECT_EQ(factorization.fit({one, two}, options.regularization()).to_bytes(),
                factorization.fit(one, two, options.regularization()).to_bytes());
    }
  }
}

TEST(Views, TheWeightOfTwoDomainsScalesTheObjective) {
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
  EXPECT_EQ(loaded.certificate.weights, heavy.certificate.weights);
  EXPECT_LE(std::abs(verify(loaded, pairs.X1, pairs.X2).shortfall()), 1e-12);
}

TEST(Views, PermutedDomainsHavePermutedMaps) {
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
    const Model model = fit(views(c.X), c.covariances, options);
    const Model other = fit(views(moved.X), moved.covariances, moved_options);
    EXPECT_LE(apart(other, model, order), 1e-5) << name;
    EXPECT_NEAR(other.certificate.objective, model.certificate.objective, 1e-10 * c.objective) << name;
  }
}

TEST(Views, DirectionsAreInOrderOfHowWellTheyMatch) {
  const Case c = read_case("many_identity");
  const Model model = fit(views(c.X), c.covariances);
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

TEST(Views, TheSameSeedGivesTheSameBitsOnAnyNumberOfThreads) {
  const auto X = random_domains(5, {7, 5, 6, 4}, 90);
  const int before = threads();
  std::vector<std::string> bytes;
  for (const int count : {1, 2, 1}) {
    set_threads(count);
    bytes.push_back(fit(views(X), {Covariance::identity(2)}).to_bytes());
  }
  set_threads(before);
  EXPECT_EQ(bytes[0], bytes[2]);
  EXPECT_LE(apart(Model::from_bytes(bytes[0]), Model::from_bytes(bytes[1])), 1e-9);
}

TEST(Views, BlocksMergesAndFormsOfSummariesChangeNothing) {
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

TEST(Views, RidgesTruncationAndExtraSamplesHoldTheirConstraints) {
  const auto X = random_domains(7, {8, 5, 6}, 60);
  const auto more = random_domains(8, {5}, 90);
  Summary extra({5});
  extra.add(more[0]);
  for (const Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
    FitOptions options;
    options.ridge = {Ridge(0.2), Ridge(0), Ridge::oas()};
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
    verifier.add(matrices(X));
    verifier.add_extra(Domain::two, more[0]);
    const Attained attained = verifier.attained();
    EXPECT_NEAR(attained.objective, certificate.objective, 1e-10);
    EXPECT_NEAR(attained.best_objective, certificate.bound, 1e-8);
    for (const double residual : attained.constraint_residuals) EXPECT_LE(residual, 1e-10);
    EXPECT_EQ(attained.all_samples, (std::vector<Index>{60, 150, 60}));
    EXPECT_EQ(attained.certified, certificate.certified);
  }
}

TEST(Views, EveryCovarianceThatMakesSenseIsThere) {
  const auto X = random_domains(9, {6, 7, 5}, 200);
  const auto fitted = [&](const Covariance& C) { return fit(views(X), {C}); };
  EXPECT_EQ(fitted(Covariance::largest_identity()).common_dimension, 5);
  const Model of_data = fitted(Covariance::data(Domain{3}, 2));
  EXPECT_EQ(of_data.common_dimension, 5);
  EXPECT_EQ(of_data.settings.covariance, (std::vector<std::string>(3, "data3")));
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(sample_covariance(X[2]));
  const Matrix U = eigen.eigenvectors().rightCols(2);
  const Matrix C = U * eigen.eigenvalues().tail(2).asDiagonal() * U.transpose();
  for (int i = 1; i <= 3; ++i) {
    EXPECT_LE(relative(sample_covariance(apply(of_data, Domain{i}, X[static_cast<std::size_t>(i - 1)])), C), 1e-10);
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

TEST(Views, LimitsAndProgressOfTheSearchAreHeeded) {
  const auto X = random_domains(10, {6, 7, 5}, 100);
  FitOptions options;
  options.matching.random_starts = 1;
  options.matching.max_sweeps = 2;
  std::vector<std::string> stages;
  options.matching.progress = [&](const MatchingProgress& now) { stages.push_back(now.stage); };
  const Model model = fit(views(X), {Covariance::identity(2)}, options);
  EXPECT_TRUE(model.certificate.stopped_early);
  for (const Start& start : model.certificate.starts) EXPECT_LE(start.sweeps, 2);
  EXPECT_NE(std::find(stages.begin(), stages.end(), "spectral"), stages.end());
  EXPECT_NE(std::find(stages.begin(), stages.end(), "random"), stages.end());
  EXPECT_EQ(model.settings.max_sweeps, 2);
  EXPECT_LE(model.certificate.constraint_residuals[0], 1e-10);
  EXPECT_LE(model.certificate.bound, model.certificate.objective);
  options.matching.progress = [](const MatchingProgress&) { throw std::runtime_error("stop"); };
  EXPECT_THROW(fit(views(X), {Covariance::identity(2)}, options), std::runtime_error);
  options.matching = {};
  options.matching.random_starts = 0;
  options.matching.seed = 7;
  const Model few = fit(views(X), {Covariance::identity(2)}, options);
  EXPECT_EQ(few.settings.seed, 7U);
  EXPECT_EQ(std::count_if(few.certificate.starts.begin(), few.certificate.starts.end(),
                          [](const Start& start) { return start.kind == "random"; }),
            0);
}

TEST(Views, AFitThatIsNotProvenSaysSo) {
  Random random(11);
  std::vector<Matrix> X;
  std::vector<Covariance> C;
  for (int i = 0; i < 5; ++i) {
    X.push_back(random.matrix(6, 40));
    const Matrix F = random.matrix(3, 3);
    C.push_back(Covariance::matrix(F * F.transpose()));
  }
  FitOptions options;
  options.matching.max_seconds = 0.05;
  const Model model = fit(views(X), C, options);
  if (model.certificate.certified) GTEST_SKIP() << "proven all the same";
  EXPECT_GT(model.certificate.gap, 0);
  const auto warnings = model.warnings();
  ASSERT_FALSE(warnings.empty());
  EXPECT_NE(warnings.back().find("not proven to be the best"), std::string::npos);
  EXPECT_NE(warnings.back().find("% of the best possible"), std::string::npos);
}

class FittedViews : public ::testing::Test {
 protected:
  std::vector<Matrix> X = random_domains(12, {6, 4, 5}, 120);
  std::vector<Covariance> C = {Covariance::identity(3), Covariance::diagonal(Vector::LinSpaced(3, 1.3, 1)),
                               Covariance::matrix((Matrix(3, 3) << 1.2, 0.1, 0, 0.1, 1.1, 0, 0, 0, 1).finished())};
  Model model = fit(views(X), C);
};

TEST_F(FittedViews, AreSavedAndLoadedToTheBit) {
  const TemporaryFolder folder;
  model.save(folder / "m");
  const Model loaded = Model::load(folder / "m");
  EXPECT_EQ(loaded.to_bytes(), model.to_bytes());
  EXPECT_EQ(loaded.count(), 3);
  EXPECT_EQ(loaded.certificate.starts, model.certificate.starts);
  EXPECT_EQ(loaded.certificate.gap, model.certificate.gap);
  EXPECT_EQ(loaded.certificate.proof, model.certificate.proof);
  EXPECT_EQ(loaded.certificate.certified, model.certificate.certified);
  EXPECT_EQ(loaded.certificate.sweeps, model.certificate.sweeps);
  EXPECT_EQ(loaded.settings.covariance, (std::vector<std::string>{"identity", "matrix", "matrix"}));
  EXPECT_EQ(loaded.settings.random_starts, 3);
  EXPECT_EQ(apart(loaded, model), 0);
  for (int i = 1; i <= 3; ++i) {
    for (int j = 1; j <= 3; ++j) {
      EXPECT_EQ(loaded.score_covariance(Domain{i}, Domain{j}), model.score_covariance(Domain{i}, Domain{j}));
      EXPECT_EQ(loaded.cross_loadings(Domain{i}, Domain{j}), model.cross_loadings(Domain{i}, Domain{j}));
    }
  }
}

TEST_F(FittedViews, OfOneDomainAloneShipWithoutTheOthers) {
  const Model part = Model::from_bytes(model.only(Domain{3}).to_bytes());
  EXPECT_LT(part.to_bytes().size(), model.to_bytes().size());
  EXPECT_FALSE(part.domains[0]);
  EXPECT_EQ(apply(part, Domain{3}, X[2]), apply(model, Domain{3}, X[2]));
  const auto message = message_of<MissingDomain>([&] { translation(part, {Domain{3}}, Domain{1}); });
  EXPECT_NE(message.find("holds only domain 3; the operation needs domain 1"), std::string::npos) << message;
  EXPECT_NE(message_of<MissingDomain>([&] { model.domain(Domain{4}); }).find("3 domains; there is no domain 4"),
            std::string::npos);
}

TEST_F(FittedViews, KeepTheCovariancesOfTheirScores) {
  std::vector<Matrix> t;
  for (std::size_t i = 0; i < 3; ++i) t.push_back(model.domains[i]->weights * centred(X[i]));
  const double n1 = 119;
  for (int i = 1; i <= 3; ++i) {
    for (int j = 1; j <= 3; ++j) {
      const Matrix &ti = t[static_cast<std::size_t>(i - 1)], &tj = t[static_cast<std::size_t>(j - 1)];
      EXPECT_LE(relative(model.score_covariance(Domain{i}, Domain{j}), ti * tj.transpose() / n1), 1e-10);
      EXPECT_LE(relative(model.cross_loadings(Domain{i}, Domain{j}),
                         centred(X[static_cast<std::size_t>(i - 1)]) * tj.transpose() / n1),
                1e-10);
    }
  }
}

// x̂ = mean + S_xt S_tt⁺ (t - mean) by a least-squares solver.
Matrix regressed(const Matrix& target, const Matrix& predictors) {
  const Matrix Y = centred(target).transpose(), P = centred(predictors).transpose();
  const Matrix fitted = P * P.completeOrthogonalDecomposition().solve(Y);
  return fitted.transpose().colwise() + target.rowwise().mean();
}

TEST_F(FittedViews, AreTranslatedByRegressionOnTheScoresOfAnySet) {
  const auto stacked = [](const Matrix& a, const Matrix& b) {
    Matrix all(a.rows() + b.rows(), a.cols());
    all << a, b;
    return all;
  };
  const auto scores = [&](std::size_t i) -> Matrix { return model.domains[i]->weights * centred(X[i]); };
  const Translation both = translation(model, {Domain{2}, Domain{3}}, Domain{1});
  const Matrix found = both(stacked(X[1], X[2])), expected = regressed(X[0], stacked(scores(1), scores(2)));
  EXPECT_LE(relative(found, expected), 1e-10);
  EXPECT_LE(relative(translation(model, Domain{3}, Domain{1})(X[2]), regressed(X[0], scores(2))), 1e-10);
  EXPECT_LE(relative(both(both.stacked({X[1], X[2]})), expected), 1e-10);
  EXPECT_LE(relative(both.matrix() * centred(stacked(X[1], X[2])), centred(expected)), 1e-10);

  // Standard errors among the samples fitted, and those of linear regression for new ones.
  const Vector squares = (X[0] - expected).rowwise().squaredNorm();
  EXPECT_LE(relative(both.standard_error, (squares / 119).cwiseSqrt()), 1e-10);
  const Index used = 6, left = 119 - used;
  EXPECT_NEAR(both.errors.degrees, static_cast<double>(left), 1e-8);
  const Vector s = (squares / static_cast<double>(left)).cwiseSqrt();
  EXPECT_LE(relative(both.errors.scale, s), 1e-10);
  const Matrix t = stacked(scores(1), scores(2));
  const Vector x = t.col(5);
  const double leverage = 1.0 / 120 + x.dot((t * t.transpose()).ldlt().solve(x));
  EXPECT_LE(relative(both.standard_errors(stacked(X[1], X[2])).col(5), s * std::sqrt(1 + leverage)), 1e-9);

  // Where all directions are used: regression on all features.
  const Model full = fit(views({X[0], X[1].topRows(4), X[2].topRows(4)}), {Covariance::identity(4)});
  EXPECT_LE(relative(translation(full, {Domain{2}, Domain{3}}, Domain{1})(stacked(X[1], X[2].topRows(4))),
                     regressed(X[0], stacked(X[1], X[2].topRows(4)))),
            1e-9);
}

TEST_F(FittedViews, AreTranslatedFromWhateverDomainsASampleHas) {
  Matrix X2 = X[1], X3 = X[2];
  X2(0, 3) = X3(1, 7) = std::nan("");
  const std::vector<DomainSamples> present = {{Domain{3}, X3}, {Domain{2}, X2}};
  const Matrix found = translate(model, present, Domain{1});
  Matrix all(9, 120);
  all << X[1], X[2];
  const Translation both = translation(model, {Domain{2}, Domain{3}}, Domain{1});
  EXPECT_LE(relative(found.col(0), both(all).col(0)), 1e-12);
  EXPECT_LE(relative(found.col(3), translation(model, Domain{3}, Domain{1})(X[2].col(3))), 1e-12);
  EXPECT_LE(relative(found.col(7), translation(model, Domain{2}, Domain{1})(X[1].col(7))), 1e-12);
  const Estimate bars = estimate(model, present, Domain{1}, 0.9);
  EXPECT_EQ(bars.X, found);
  EXPECT_LE(relative(bars.standard_errors.col(0), both.standard_errors(all).col(0)), 1e-12);
  EXPECT_LE(relative(bars.half_widths.col(0), both.half_widths(all, 0.9).col(0)), 1e-12);
  X3(0, 3) = std::nan("");
  EXPECT_NE(message_of([&] {
              translate(model, {{Domain{2}, X2}, {Domain{3}, X3}}, Domain{1});
            }).find("1 sample has no domain without NaN; the first is sample 3"),
            std::string::npos);
}

TEST_F(FittedViews, HaveTheOtherWaysBackFromOneDomain) {
  for (const Method method : {Method::exact, Method::mahalanobis}) {
    const Matrix back = translate(model, Domain{3}, Domain{2}, X[2], method);
    EXPECT_LE(relative(apply(model, Domain{2}, back), apply(model, Domain{3}, X[2])), 1e-10) << name(method);
    EXPECT_LE(relative(apply(model, Domain{2}, invert(model, Domain{2}, apply(model, Domain{3}, X[2]), method)),
                       apply(model, Domain{3}, X[2])),
              1e-10);
  }
  EXPECT_EQ(translate(model, Domain{3}, Domain{2}, X[2], Method::lsqr).rows(), 4);
  const auto says = [&](const std::vector<Domain>& from, Domain to, Method method, const std::string& what) {
    const std::string message = message_of([&] { translation(model, from, to, method); });
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  says({Domain{2}, Domain{3}}, Domain{1}, Method::exact,
       "exact translates from one domain; from 2 together only lmmse");
  says({Domain{2}, Domain{3}}, Domain{1}, Method::lsqr, "lsqr translates from one domain");
  says({}, Domain{1}, Method::lmmse, "to domain 1 from no domain");
  says({Domain{2}, Domain{1}}, Domain{1}, Method::lmmse, "from domain 1 to itself");
  says({Domain{2}, Domain{2}}, Domain{1}, Method::lmmse, "from domain 2 twice");
  says({Domain{4}}, Domain{1}, Method::lmmse, "there is no domain 4");
  EXPECT_NE(message_of([&] { invert(model, Domain{1}, Matrix::Zero(3, 1), Method::lmmse); }).find("which of 3 domains"),
            std::string::npos);
}

TEST_F(FittedViews, AreFusedByTheBestLinearEstimateOfTheMeanPoint) {
  std::vector<Matrix> Z;
  for (std::size_t i = 0; i < 3; ++i) Z.push_back(apply(model, static_cast<Domain>(i + 1), X[i]));
  const Matrix mean = (Z[0] + Z[1] + Z[2]) / 3;
  const auto given = [&](const std::vector<int>& which) {
    std::vector<DomainSamples> result;
    for (const int i : which) result.push_back({Domain{i}, X[static_cast<std::size_t>(i - 1)]});
    return result;
  };
  EXPECT_LE(relative(fuse(model, given({1, 2, 3})), mean), 1e-12);
  Matrix t(model.domains[0]->scores() + model.domains[2]->scores(), 120);
  t << model.domains[0]->weights * centred(X[0]), model.domains[2]->weights * centred(X[2]);
  EXPECT_LE(relative(fuse(model, given({1, 3})), regressed(mean, t)), 1e-9);
  EXPECT_LE(relative(fuse(model, given({3, 2}), Fusion::mean), (Z[1] + Z[2]) / 2), 1e-12);
}

TEST_F(FittedViews, AreCalibratedToEachDomainFromAllOthers) {
  Folds folds({6, 4, 5}, {.folds = 5});
  folds.add(views(X));
  const Model calibrated = calibrate(fit(folds.all(), C), folds, C);
  for (int i = 1; i <= 3; ++i) {
    const Translation all = translation(calibrated, calibrated.others(Domain{i}), Domain{i});
    EXPECT_TRUE(all.errors.calibrated);
    EXPECT_EQ(all.errors.scale, calibrated.domain(Domain{i}).held_out_error);
    const Vector ratio =
        all.errors.scale.cwiseQuotient(translation(model, model.others(Domain{i}), Domain{i}).errors.scale);
    EXPECT_GT(ratio.minCoeff(), 0.8);
    EXPECT_LT(ratio.maxCoeff(), 1.5);
    EXPECT_FALSE(translation(calibrated, {calibrated.others(Domain{i})[0]}, Domain{i}).errors.calibrated);
  }
  EXPECT_EQ(Model::from_bytes(calibrated.to_bytes()).domain(Domain{3}).held_out_error,
            calibrated.domain(Domain{3}).held_out_error);
}

TEST(Views, AreVerifiedAndTurnedMapsRefused) {
  for (const char* name : {"identity_full", "commuting_weighted", "near_full"}) {
    const Case c = read_case(name);
    const std::vector<Matrix>& X = c.X;
    FitOptions options;
    options.matching.graph = c.weights;
    const Model model = fit(views(X), c.covariances, options);
    const Attained attained = verify(model, matrices(X));
    EXPECT_NEAR(attained.objective, model.certificate.objective, 1e-11);
    EXPECT_NEAR(attained.best_objective, model.certificate.bound, 1e-8);
    EXPECT_TRUE(attained.certified) << name << attained.gap;
    EXPECT_EQ(attained.proof, model.certificate.proof);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LE(attained.constraint_residuals[i], 1e-11);
      EXPECT_LE(attained.mean_residuals[i], 1e-11);
    }
    // The covariance is still right, the maps no longer the best.
    Model turned = model;
    const double angle = 0.1;
    const Index scores = model.domain(Domain{2}).scores();
    Matrix turn = Matrix::Identity(scores, scores);
    turn.topLeftCorner(2, 2) << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    turned.domains[1]->weights = turn * model.domain(Domain{2}).weights;
    const Attained worse = verify(turned, matrices(X));
    EXPECT_LE(worse.constraint_residuals[1], 1e-11);
    EXPECT_FALSE(worse.certified) << name;
    EXPECT_GT(worse.gap, 1e-4) << name;
    EXPECT_GT(worse.shortfall(), 1e-5) << name;
    Model changed = model;
    changed.domains[2]->weights(0, 0) += 0.01;
    EXPECT_GT(verify(changed, matrices(X)).constraint_residuals[2], 1e-5);
    EXPECT_NE(message_of([&] { verify(model, X[0], X[1]); }).find("samples of 2 domains; the model has 3"),
              std::string::npos);
  }
}

TEST(Views, BadInputIsNamed) {
  auto X = random_domains(13, {6, 4, 5}, 50);
  const auto says = [&]<class Problem>(Problem*, const std::vector<Covariance>& C, const Graph& graph,
                                       const std::string& what) {
    FitOptions options;
    options.matching.graph = graph;
    const std::string message = message_of<Problem>([&] { fit(views(X), C, options); });
    EXPECT_NE(message.find(what), std::string::npos) << message << "\nlacks: " << what;
  };
  const std::vector<Covariance> I = {Covariance::identity(2)};
  InvalidInput* const invalid = nullptr;
  Infeasible* const infeasible = nullptr;
  Matrix w = Matrix::Zero(3, 3);
  w(0, 1) = w(1, 0) = 1;
  says(invalid, I, w, "no path of positive weights connects domain 3 with domain 1");
  w(2, 1) = w(1, 2) = -1;
  says(invalid, I, w, "weight (2, 3) is -1; weights must not be negative");
  w(2, 1) = w(1, 2) = 1;
  w(2, 1) = 2;
  says(invalid, I, w, "weight (2, 3) is 1 but weight (3, 2) is 2");
  says(invalid, I, Matrix::Ones(2, 2), "the weights are 2×2, but 3 domains need 3×3");
  says(invalid, I, "ring", "graph 'ring' is not known: use full, star:D (D the centre, from 1) or path");
  says(invalid, I, "star:4", "the centre of a star must be a domain from 1 to 3");
  says(infeasible, {Covariance::identity(5)}, "full",
       "domain 2 has rank 4, but the covariance prescribed for it (identity:5) has rank 5; prescribe one of rank 4 at "
       "most (the domains have ranks 6, 4 and 5)");
  says(infeasible, {Covariance::correlation(5)}, "full", "the largest feasible is correlation:");
  says(infeasible, {Covariance::data(Domain{3}, 6)}, "full", "the largest feasible is data3:5");
  says(invalid, {Covariance::data(Domain{4}, 1)}, "full", "there are only 3 domains");
  says(invalid, {Covariance::likelihood(Domain::two)}, "full",
       "likelihood2 compares the samples of two domains; there are 3");
  says(invalid, {I[0], I[0]}, "full", "2 covariances for 3 domains; give one for all, or one for each");
  says(invalid, {I[0], I[0], Covariance::identity(3)}, "full", "spaces of different dimension");
  X[2] = Matrix::Ones(5, 50);
  says(invalid, I, "full", "domain 3 has no variance");
  X[2] = Matrix::Ones(5, 49);
  says(invalid, I, "full", "domain 1 has 50 samples and domain 3 has 49");
  X.resize(1);
  says(invalid, I, "full", "at least 2 domains");
  Folds folds({2, 2, 2});
  EXPECT_NE(message_of([&] { tune(folds); }).find("tuning of 3 domains"), std::string::npos);
}

}  // namespace
}  // namespace cgmca::testing
