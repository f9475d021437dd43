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

// Domains without anything in common: f is 0 but for rounding, and a part of it means nothing.
TEST(Verify, ConfirmsHonestFitsOfUncorrelatedDomains) {
  Random random(16);
  int certified = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Index n = 24, k = random.integer(1, 4);
    Matrix basis = random.matrix(n, 10);
    basis.col(0).setOnes();
    basis = Matrix(basis.householderQr().householderQ() * Matrix::Identity(n, 10)).rightCols(9);
    const Matrix X1 = random.matrix(5, 5) * basis.leftCols(5).transpose();
    const Matrix X2 = random.matrix(4, 4) * basis.rightCols(4).transpose();
    const Covariance C = Covariance::identity(k);
    const Model model = fit(X1, X2, C, C);
    const Attained found = verify(model, X1, X2);
    certified += found.certified ? 1 : 0;
    EXPECT_EQ(found.gap, 0);
    if (trial % 10 != 0) continue;
    const std::vector<MatrixView> three = {X1, X2.topRows(2), X2.bottomRows(2)};
    const Model of_three =
        fit(MatchedSamples{X1, X2.topRows(2), X2.bottomRows(2)}, std::vector<Covariance>{Covariance::identity(1)});
    EXPECT_EQ(verify(of_three, three).certified, of_three.certificate.certified);
  }
  EXPECT_EQ(certified, 300);
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
