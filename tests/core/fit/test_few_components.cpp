// A few leading directions without the others: the same answers as by the whole SVD, and nothing missed.
#include "core/linalg/lanczos.hpp"
#include "core/linalg/partial.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using linalg::ArraySvd;
using testing::Pairs;
using testing::Random;
using testing::relative;

constexpr double kTie = 1e-12;

Matrix orthonormal(Random& random, Index m, Index n) { return linalg::thin_qr(random.matrix(m, n)).Q; }

Matrix with_values(Random& random, Index m, Index n, const Vector& s) {
  return linalg::ABt(orthonormal(random, m, s.size()) * s.asDiagonal(), orthonormal(random, n, s.size()));
}

// What is returned is what a whole SVD has, to rounding; ends with a gap, and nothing above it is missing.
void expect_leading(const Matrix& B, const std::optional<ArraySvd>& found, Index wanted) {
  ASSERT_TRUE(found);
  const Vector all = linalg::singular_values(B);
  const Index w = found->s.size();
  ASSERT_GT(w, wanted);
  ASSERT_EQ(found->U.cols(), w);
  ASSERT_EQ(found->V.cols(), w);
  EXPECT_LE((found->s - all.head(w)).cwiseAbs().maxCoeff(), 1e-14 * all(0));
  EXPECT_GT(all(w - 1) - all(w), kTie);
  const Matrix U = linalg::download(found->U.on().copy(found->U)), V = linalg::download(found->V.on().copy(found->V));
  EXPECT_LE((U.transpose() * U - Matrix::Identity(w, w)).norm(), 1e-13);
  EXPECT_LE((V.transpose() * V - Matrix::Identity(w, w)).norm(), 1e-13);
  EXPECT_LE((B * V - U * found->s.asDiagonal()).norm(), 2e-14 * all(0) * std::sqrt(static_cast<double>(w)));
  EXPECT_LE((B.transpose() * U - V * found->s.asDiagonal()).norm(), 2e-14 * all(0) * std::sqrt(static_cast<double>(w)));
}

std::optional<ArraySvd> leading(const Matrix& B, Index wanted) {
  return linalg::leading_triplets(linalg::cpu().upload(B), wanted, kTie);
}

// Some values well above the others, as shared causes have above noise.
Vector signal_and_noise(Index n, const Vector& signal) {
  Vector s = 0.35 * Vector::LinSpaced(n, 1, 0);
  s.head(signal.size()) = signal;
  return s;
}

TEST(Lanczos, FindsTheLeadingTriplets) {
  Random random(1);
  const Index n = 480;
  const Vector s = signal_and_noise(n, Vector::LinSpaced(12, 0.99, 0.9));
  for (const auto& [m, k] : {std::pair<Index, Index>{n, n}, {n + 50, n}, {n, n + 50}}) {
    const Matrix B = with_values(random, m, k, s);
    for (const Index wanted : {6, 11}) expect_leading(B, leading(B, wanted), wanted);
    EXPECT_EQ(linalg::download(leading(B, 6)->U), linalg::download(leading(B, 6)->U));  // the same bits
  }
}

// Equal values at the end belong to what is found, as many as there are.
TEST(Lanczos, TakesAllOfEqualValues) {
  Random random(2);
  for (const Index equal : {2, 3, 7, 12}) {
    Vector signal = Vector::Constant(4 + equal, 0.8);
    signal.head(4) = Vector::LinSpaced(4, 1, 0.9);
    const Matrix B = with_values(random, 480, 480, signal_and_noise(480, signal));
    const auto found = leading(B, 4);
    if (equal > 8 && !found) continue;  // more than a block: then it may say that it cannot tell
    expect_leading(B, found, 4);
    EXPECT_EQ(found ? found->s.size() : 0, 4 + equal);
  }
}

// Where it cannot be sure it says so.
TEST(Lanczos, SaysWhereItFails) {
  Random random(3);
  const Index n = 300;
  EXPECT_FALSE(leading(Matrix::Identity(n, n), 5));          // no gap
  EXPECT_FALSE(leading(orthonormal(random, n + 20, n), 5));  // nor here
  EXPECT_FALSE(leading(Matrix::Zero(n, n), 5));              // nothing at all
  Vector s = Vector::Constant(n, 0.5);
  s.head(40).setConstant(0.9);  // far more than a block: all but some stay unseen, until the proof
  EXPECT_FALSE(leading(with_values(random, n, n, s), 5));
  const Vector slow = Vector::LinSpaced(n, 1, 0.9);  // too close to tell apart in a third of the dimensions
  EXPECT_FALSE(leading(with_values(random, n, n, slow), 5));
}

TEST(LeadingEigen, IsThatOfTheWholeProblem) {
  Random random(4);
  const Index n = 260;
  Vector values = Vector::LinSpaced(n, 2, -1);
  values.segment(3, 4).setConstant(values(3));  // a cluster across the end
  const Matrix Q = orthonormal(random, n, n), A = linalg::ABt(Q * values.asDiagonal(), Q);
  const auto found = linalg::leading_eigen(A, [](const Vector&) { return Index{7}; });
  ASSERT_TRUE(found);
  EXPECT_LE((found->values - linalg::symmetric_eigenvalues(A)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LE((linalg::AB(A, found->Q) - found->Q * found->values.head(7).asDiagonal()).norm(), 1e-12);
  EXPECT_LE((linalg::AtB(found->Q, found->Q) - Matrix::Identity(7, 7)).norm(), 1e-13);
  const auto zero = linalg::leading_eigen(Matrix::Zero(n, n), [](const Vector&) { return Index{3}; });
  ASSERT_TRUE(zero);
  EXPECT_LE((linalg::AtB(zero->Q, zero->Q) - Matrix::Identity(3, 3)).norm(), 1e-13);
}

TEST(SpectrumBounds, AreProvenAndTight) {
  Random random(5);
  const Index n = 250;
  const double most = 1e4;
  for (const double kappa : {2.0, 300.0, 5e3, 9.9e3, 1.01e4, 1e6, 1e17}) {
    for (const bool flat : {false, true}) {
      Vector values = Vector::LinSpaced(n, 1, 1 / kappa);
      if (flat) values = Vector::LinSpaced(n, 1, 0.9);
      values(n - 1) = 1 / kappa;
      const Matrix Q = orthonormal(random, n, n), A = 3 * linalg::ABt(Q * values.asDiagonal(), Q);
      const linalg::SpectrumBounds bounds = linalg::spectrum_bounds(A, 0, most);
      EXPECT_EQ(bounds.largest <= most * bounds.smallest, kappa <= most) << kappa;
      if (kappa > most) continue;
      EXPECT_GE(bounds.largest, 3 * (1 - 1e-12));
      EXPECT_LE(bounds.largest, 6.01);
      EXPECT_LE(bounds.smallest, 3 / kappa * (1 + 1e-10));
      EXPECT_GE(bounds.smallest, 1.4 / kappa);
    }
  }
  // What is known of the smallest is used: no more than that has to be proven.
  const Matrix A = Matrix(Vector::LinSpaced(n, 2, 1).asDiagonal());
  EXPECT_EQ(linalg::spectrum_bounds(A, 0.5, most).smallest, 0.5);
  Matrix indefinite = A;
  indefinite(n - 1, n - 1) = -1;
  EXPECT_LE(linalg::spectrum_bounds(indefinite, 0, most).smallest, 0);
}

// The first K directions of a fit of many more.
void expect_first_of_all(const Summary& summary, Index K, const Covariance& more, const std::string& route) {
  const Covariance few = Covariance::identity(K);
  const Model found = fit(summary, few, few), all = fit(summary, more, more);
  EXPECT_TRUE(found.certificate.route.ends_with(route)) << found.certificate.route;
  EXPECT_FALSE(all.certificate.route.ends_with(route)) << all.certificate.route;
  for (const Domain domain : kDomains) {
    EXPECT_LT(relative(found.domain(domain).weights, all.domain(domain).weights.topRows(K)), 1e-9) << route;
    EXPECT_LT(relative(found.domain(domain).loadings, all.domain(domain).loadings.leftCols(K)), 1e-9) << route;
  }
  const Vector s = found.certificate.singular_B;
  ASSERT_GT(s.size(), K);
  EXPECT_LT(relative(s.head(K + 1), all.certificate.singular_B.head(K + 1)), 1e-12);
  EXPECT_NEAR(found.certificate.objective, found.certificate.bound, 1e-10 * found.certificate.covariance_trace);
  EXPECT_LE(found.certificate.constraint_residuals[0], 1e-10);
}

Pairs pairs_of(Random& random, Index d1, Index d2, Index n, Index causes) {
  const Matrix shared = random.matrix(causes, n);
  const Vector strength = Vector::LinSpaced(causes, 1, 0.3);
  return {linalg::AB(random.matrix(d1, causes) * strength.asDiagonal(), shared) + random.matrix(d1, n),
          linalg::AB(random.matrix(d2, causes) * strength.asDiagonal(), shared) + random.matrix(d2, n)};
}

TEST(FewComponents, AreTheFirstOfAll) {
  Random random(6);
  const Pairs pairs = pairs_of(random, 210, 200, 1000, 30);
  for (const Accumulate accumulate : {Accumulate::qr, Accumulate::gram, Accumulate::automatic}) {
    Summary summary({210, 200}, accumulate);
    summary.add(pairs.X1, pairs.X2);
    expect_first_of_all(summary, 7, Covariance::largest_identity(), "B sytrd");
  }
  // Features that others determine.
  Pairs dependent = pairs;
  dependent.X1.bottomRows(10) = dependent.X1.topRows(10);
  Summary summary({210, 200}, Accumulate::qr);
  summary.add(dependent.X1, dependent.X2);
  expect_first_of_all(summary, 7, Covariance::largest_identity(), "B sytrd");
}

// Equal correlations are settled by the same rules: two domains that share 5 features.
TEST(FewComponents, SettleTiesAlike) {
  Random random(7);
  Pairs pairs = {random.matrix(200, 900), random.matrix(205, 900)};
  pairs.X2.topRows(5) = pairs.X1.topRows(5).array().colwise() * Vector::LinSpaced(5, 1, 2).array();
  for (const Accumulate accumulate : {Accumulate::qr, Accumulate::gram}) {
    Summary summary({200, 205}, accumulate);
    summary.add(pairs.X1, pairs.X2);
    const Covariance three = Covariance::identity(3), many = Covariance::identity(180);
    const Model few = fit(summary, three, three), all = fit(summary, many, many);
    EXPECT_TRUE(few.certificate.route.ends_with("B sytrd")) << few.certificate.route;
    for (const Domain domain : kDomains) {
      EXPECT_LT(relative(few.domain(domain).weights, all.domain(domain).weights.topRows(3)), 1e-8);
    }
  }
}

TEST(FewComponents, OfManyFeaturesComeWithoutTheOtherCorrelations) {
  Random random(8);
  const Pairs pairs = pairs_of(random, 1230, 1210, 5000, 12);
  Summary summary({1230, 1210}, Accumulate::gram);
  summary.add(pairs.X1, pairs.X2);
  expect_first_of_all(summary, 5, Covariance::identity(200), "B lanczos potrf");

  const Covariance C = Covariance::correlation(5);
  const Model model = fit(summary, C, C), again = fit(summary, C, C);
  EXPECT_EQ(model.domain(Domain::one).weights, again.domain(Domain::one).weights);
  EXPECT_LT(model.certificate.singular_B.size(), 40);
  EXPECT_TRUE(model.warnings().empty());
  const testing::TemporaryFolder folder;
  model.save(folder / "model");
  const Model loaded = Model::load(folder / "model");
  EXPECT_EQ(loaded.certificate.singular_B, model.certificate.singular_B);
  const Matrix X = pairs.X2.leftCols(20);
  EXPECT_EQ(translate(loaded, Domain::two, Domain::one, X, Method::lmmse),
            translate(model, Domain::two, Domain::one, X, Method::lmmse));
}

// No gap anywhere: the whole way is taken, and the route says why.
TEST(FewComponents, FallBackToTheWholeSvd) {
  Random random(9);
  const Matrix X1 = random.matrix(1200, 2600);
  const Pairs pairs = {X1, 2 * X1};
  Summary summary({1200, 1200}, Accumulate::gram);
  summary.add(pairs.X1, pairs.X2);
  const Covariance I = Covariance::identity(3);
  const Model model = fit(summary, I, I);
  EXPECT_TRUE(model.certificate.route.ends_with("(lanczos potrf failed)")) << model.certificate.route;
  EXPECT_EQ(model.certificate.singular_B.size(), 1200);
  EXPECT_NEAR(model.certificate.objective, model.certificate.bound, 1e-9);
}

}  // namespace
}  // namespace cgmca
