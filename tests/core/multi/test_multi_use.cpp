// What is done with a fit of more than two domains: files, translations, fusion, verification; and what is refused.
#include <Eigen/Dense>

#include "multi_samples.hpp"

namespace cgmca::testing {
namespace {

class FittedDomains : public ::testing::Test {
 protected:
  std::vector<Matrix> X = random_domains(12, {6, 4, 5}, 120);
  std::vector<Covariance> C = {Covariance::identity(3), Covariance::diagonal(Vector::LinSpaced(3, 1.3, 1)),
                               Covariance::matrix((Matrix(3, 3) << 1.2, 0.1, 0, 0.1, 1.1, 0, 0, 0, 1).finished())};
  Model model = fit(matched(X), C);
};

TEST_F(FittedDomains, AreSavedAndLoadedToTheBit) {
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

TEST_F(FittedDomains, OfOneDomainAloneShipWithoutTheOthers) {
  const Model part = Model::from_bytes(model.only(Domain{3}).to_bytes());
  EXPECT_LT(part.to_bytes().size(), model.to_bytes().size());
  EXPECT_FALSE(part.domains[0]);
  EXPECT_EQ(apply(part, Domain{3}, X[2]), apply(model, Domain{3}, X[2]));
  const auto message = message_of<MissingDomain>([&] { translation(part, Domain{3}, Domain{1}); });
  EXPECT_NE(message.find("holds only domain 3; the operation needs domain 1"), std::string::npos) << message;
  EXPECT_NE(message_of<MissingDomain>([&] { model.domain(Domain{4}); }).find("3 domains; there is no domain 4"),
            std::string::npos);
}

TEST_F(FittedDomains, KeepTheCovariancesOfTheirScores) {
  std::vector<Matrix> t;
  for (std::size_t i = 0; i < 3; ++i) t.push_back(model.domains[i]->weights * centred(X[i]));
  const double n1 = 119;
  for (int i = 1; i <= 3; ++i) {
    for (int j = 1; j <= 3; ++j) {
      const Matrix &ti = t[i - 1], &tj = t[j - 1];
      EXPECT_LE(relative(model.score_covariance(Domain{i}, Domain{j}), ti * tj.transpose() / n1), 1e-10);
      EXPECT_LE(relative(model.cross_loadings(Domain{i}, Domain{j}), centred(X[i - 1]) * tj.transpose() / n1), 1e-10);
    }
  }
}

// x̂ = mean + S_xt S_tt⁺ (t - mean) by a least-squares solver.
Matrix regressed(const Matrix& target, const Matrix& predictors) {
  const Matrix Y = centred(target).transpose(), P = centred(predictors).transpose();
  const Matrix fitted = P * P.completeOrthogonalDecomposition().solve(Y);
  return fitted.transpose().colwise() + target.rowwise().mean();
}

TEST_F(FittedDomains, AreTranslatedByRegressionOnTheScoresOfAnySet) {
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
  const Model full = fit(matched({X[0], X[1].topRows(4), X[2].topRows(4)}), {Covariance::identity(4)});
  EXPECT_LE(relative(translation(full, {Domain{2}, Domain{3}}, Domain{1})(stacked(X[1], X[2].topRows(4))),
                     regressed(X[0], stacked(X[1], X[2].topRows(4)))),
            1e-9);
}

TEST_F(FittedDomains, AreTranslatedFromWhateverDomainsASampleHas) {
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

TEST_F(FittedDomains, HaveTheOtherWaysBackFromOneDomain) {
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

TEST_F(FittedDomains, AreFusedByTheBestLinearEstimateOfTheMeanPoint) {
  std::vector<Matrix> Z;
  for (std::size_t i = 0; i < 3; ++i) Z.push_back(apply(model, domain_at(i), X[i]));
  const Matrix mean = (Z[0] + Z[1] + Z[2]) / 3;
  const auto given = [&](const std::vector<int>& which) {
    std::vector<DomainSamples> result;
    for (const int i : which) result.push_back({Domain{i}, X[i - 1]});
    return result;
  };
  EXPECT_LE(relative(fuse(model, given({1, 2, 3})), mean), 1e-12);
  std::vector<DomainSamples> expressions;  // which hold their values, and so do copies of them
  for (const int i : {1, 2, 3}) expressions.push_back({Domain{i}, 2 * X[i - 1] / 2});
  const std::vector<DomainSamples> copies = expressions;
  expressions.clear();
  EXPECT_LE(relative(fuse(model, copies), mean), 1e-12);
  Matrix t(model.domains[0]->scores() + model.domains[2]->scores(), 120);
  t << model.domains[0]->weights * centred(X[0]), model.domains[2]->weights * centred(X[2]);
  EXPECT_LE(relative(fuse(model, given({1, 3})), regressed(mean, t)), 1e-9);
  EXPECT_LE(relative(fuse(model, given({3, 2}), Fusion::mean), (Z[1] + Z[2]) / 2), 1e-12);
}

TEST_F(FittedDomains, AreCalibratedToEachDomainFromAllOthers) {
  Folds folds({6, 4, 5}, {.folds = 5});
  folds.add(matched(X));
  const Model calibrated = calibrate(fit(folds.all(), C), folds, C);
  for (int i = 1; i <= 3; ++i) {
    const Translation all = translation(calibrated, calibrated.others(Domain{i}), Domain{i});
    EXPECT_TRUE(all.errors.calibrated);
    EXPECT_EQ(all.errors.scale, calibrated.domain(Domain{i}).held_out_error);
    const Vector ratio =
        all.errors.scale.cwiseQuotient(translation(model, model.others(Domain{i}), Domain{i}).errors.scale);
    EXPECT_GT(ratio.minCoeff(), 0.8);
    EXPECT_LT(ratio.maxCoeff(), 1.5);
    EXPECT_FALSE(translation(calibrated, calibrated.others(Domain{i})[0], Domain{i}).errors.calibrated);
  }
  EXPECT_EQ(Model::from_bytes(calibrated.to_bytes()).domain(Domain{3}).held_out_error,
            calibrated.domain(Domain{3}).held_out_error);
}

TEST(MultiFits, AreVerifiedAndTurnedMapsRefused) {
  for (const char* name : {"identity_full", "commuting_weighted", "near_full"}) {
    const Case c = read_case(name);
    const std::vector<Matrix>& X = c.X;
    FitOptions options;
    options.matching.graph = c.weights;
    const Model model = fit(matched(X), c.covariances, options);
    const Verification attained = verify(model, matched(X));
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
    const Verification worse = verify(turned, matched(X));
    EXPECT_LE(worse.constraint_residuals[1], 1e-11);
    EXPECT_FALSE(worse.certified) << name;
    EXPECT_GT(worse.gap, 1e-4) << name;
    EXPECT_GT(worse.shortfall(), 1e-5) << name;
    Model changed = model;
    changed.domains[2]->weights(0, 0) += 0.01;
    EXPECT_GT(verify(changed, matched(X)).constraint_residuals[2], 1e-5);
    EXPECT_NE(message_of([&] {
                verify(model, {X[0], X[1]});
              }).find("samples of 2 domains; the model has 3"),
              std::string::npos);
  }
}

TEST(MultiFits, BadInputIsNamed) {
  auto X = random_domains(13, {6, 4, 5}, 50);
  const auto says = [&]<class Problem>(Problem*, const std::vector<Covariance>& C, const Graph& graph,
                                       const std::string& what) {
    FitOptions options;
    options.matching.graph = graph;
    const std::string message = message_of<Problem>([&] { fit(matched(X), C, options); });
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
}

}  // namespace
}  // namespace cgmca::testing
