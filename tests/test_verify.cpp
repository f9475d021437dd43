// Verification uses the maps and the data only, agrees with the certificate of a true model and not with another's.
#include "testing.hpp"

namespace cgmca::testing {
namespace {

TEST(Verify, FindsWhatTheCertificateClaimsInBlocksAsInOnePiece) {
  Random random(1);
  const auto [X1, X2] = random_pairs(random, 7, 5, 60);
  const Matrix F = random.matrix(6, 4);
  const Model model = fit(X1, X2, Covariance::factor(F), Covariance::factor(F));
  Verifier verifier(model);
  for (Index first = 0; first < 60; first += 13) {
    const Index count = std::min<Index>(13, 60 - first);
    verifier.add(X1.middleCols(first, count), X2.middleCols(first, count));
  }
  for (const Attained& attained : {verify(model, X1, X2), verifier.attained()}) {
    EXPECT_EQ(attained.samples, 60);
    for (auto i : {0U, 1U}) {
      EXPECT_LE(attained.constraint_residuals[i], 1e-12);
      EXPECT_LE(attained.mean_residuals[i], 1e-12);
    }
    EXPECT_NEAR(attained.objective, model.certificate.objective, 1e-12 * attained.covariance_trace);
    EXPECT_NEAR(attained.covariance_trace, model.certificate.covariance_trace, 1e-12 * attained.covariance_trace);
  }
}

TEST(Verify, SeesAChangedMapAndAShiftedMean) {
  Random random(2);
  const auto [X1, X2] = random_pairs(random, 4, 4, 30);
  const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
  Model changed = model;
  changed.domains[0]->weights(0, 0) += 0.01;
  EXPECT_GE(verify(changed, X1, X2).constraint_residuals[0], 1e-4);
  Model shifted = model;
  shifted.domains[1]->mean(0) += 0.01;
  EXPECT_LE(verify(shifted, X1, X2).constraint_residuals[1], 1e-12);
  EXPECT_GE(verify(shifted, X1, X2).mean_residuals[1], 1e-4);
}

// Maps turned by a rotation have the right covariances; the best possible objective tells that they are not the best.
TEST(Verify, TellsByHowMuchFeasibleMapsFallShort) {
  Random random(7);
  const auto [X1, X2] = random_pairs(random, 6, 5, 80);
  const Matrix turn = random.orthonormal(3, 3);
  FitOptions ridged, truncated;
  ridged.ridge = 0.3;
  truncated.max_rank = {4, 5};
  for (const FitOptions& options : {FitOptions{}, ridged, truncated}) {
    const Model model = fit(X1, X2, Covariance::identity(3), Covariance::correlation(3), options);
    const Attained best = verify(model, X1, X2);
    EXPECT_NEAR(best.best_objective, model.certificate.bound, 1e-12 * best.covariance_trace);
    EXPECT_LE(std::abs(best.shortfall()), 1e-12);
    Model turned = model;
    turned.domains[0]->weights = turn * model.domain(Domain::one).weights;
    const Attained attained = verify(turned, X1, X2);
    EXPECT_LE(attained.constraint_residuals[0], 1e-12);
    EXPECT_NEAR(attained.best_objective, best.best_objective, 1e-12);
    EXPECT_GE(attained.shortfall(), 1e-3);
    EXPECT_NEAR(attained.shortfall(), (attained.objective - best.objective) / best.covariance_trace, 1e-12);
  }
}

TEST(Verify, RefusesTooFewUnequalAndMissing) {
  Random random(3);
  const auto [X1, X2] = random_pairs(random, 4, 4, 30);
  const Model model = fit(X1, X2, Covariance::identity(3), Covariance::identity(3));
  EXPECT_THROW(verify(model, X1.leftCols(1), X2.leftCols(1)), TooFewSamples);
  EXPECT_THROW(verify(model, X1, X2.leftCols(3)), UnequalSamples);
  EXPECT_THROW(verify(model, X1.topRows(2), X2), WrongDimension);
  EXPECT_THROW(Verifier(model.only(Domain::one)), MissingDomain);
}

TEST(CovarianceSpectrum, IsThatOfThePrescribedCovariance) {
  Random random(5);
  const auto [X1, X2] = random_pairs(random, 7, 5, 60);
  const Vector sd = Vector{{0.5, 3, 0, 2}};
  const Model model = fit(X1, X2, Covariance::diagonal(sd), Covariance::diagonal(sd));
  for (Domain domain : {Domain::one, Domain::two}) {
    EXPECT_LE(relative(model.domain(domain).covariance_spectrum(), Vector{{9, 4, 0.25}}), 1e-13);
  }
}

TEST(LargestIdentity, HasTheSmallerOfTheTwoRanks) {
  Random random(4);
  const auto [X1, X2] = random_pairs(random, 9, 6, 50);
  const Covariance largest = Covariance::largest_identity();
  EXPECT_EQ(fit(X1, X2, largest, largest).common_dimension, 6);
  EXPECT_EQ(fit(X1.leftCols(4), X2.leftCols(4), largest, largest).common_dimension, 3);
}

TEST(SummaryNote, IsKeptWithTheSummary) {
  const TemporaryFolder folder;
  const Summary summary({2, 3});
  summary.save(folder / "with", "from \"a\"\n");
  summary.save(folder / "without");
  std::string note = "before";
  Summary::load(folder / "with", &note);
  EXPECT_EQ(note, "from \"a\"\n");
  Summary::load(folder / "without", &note);
  EXPECT_EQ(note, "");
}

}  // namespace
}  // namespace cgmca::testing
