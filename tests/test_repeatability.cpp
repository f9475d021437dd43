// The same input gives the same answer: bit for bit when repeated, to rounding whatever the number of threads.
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::Random;
using testing::relative;

struct Answer {
  Model model;
  Matrix lmmse, exact, lsqr;
};

Answer answer(const testing::Pairs& pairs, const Covariance& c1, const Covariance& c2, Accumulate accumulate) {
  PairSummary summary(pairs.X1.rows(), pairs.X2.rows(), accumulate);
  summary.add(pairs.X1, pairs.X2);
  Model model = fit(summary, c1, c2);
  const auto back = [&](Method method) { return translate(model, Domain::two, Domain::one, pairs.X2, method); };
  Matrix lmmse = back(Method::lmmse), exact = back(Method::exact), by_lsqr = back(Method::lsqr);
  return {std::move(model), std::move(lmmse), std::move(exact), std::move(by_lsqr)};
}

class Repeatability : public ::testing::TestWithParam<Accumulate> {
 protected:
  void TearDown() override { set_threads(2); }

  // Large enough that BLAS does use its threads; saturated (n - 1 < d) and not; equal and unequal covariances.
  template <class Compare>
  static void for_each_case(const Compare& compare) {
    Random random(5);
    for (Index n : {100, 1500}) {
      SCOPED_TRACE("n = " + std::to_string(n));
      const auto pairs = testing::random_pairs(random, 160, 120, n, 1.0);
      const Matrix F1 = random.matrix(50, 40), F2 = random.matrix(50, 30);
      compare([&] { return answer(pairs, Covariance::factor(F1), Covariance::factor(F2), GetParam()); });
      compare([&] {
        return answer(pairs, Covariance::data(Domain::one, 60), Covariance::data(Domain::one, 60), GetParam());
      });
    }
  }
};

TEST_P(Repeatability, ARepeatedRunGivesTheSameBits) {
  for_each_case([](const auto& run) {
    const Answer a = run(), b = run();
    for (Domain domain : {Domain::one, Domain::two}) {
      EXPECT_EQ(a.model.domain(domain).matrix(), b.model.domain(domain).matrix());
      EXPECT_EQ(a.model.domain(domain).loadings, b.model.domain(domain).loadings);
    }
    EXPECT_EQ(a.model.certificate.objective, b.model.certificate.objective);
    EXPECT_EQ(a.lmmse, b.lmmse);
    EXPECT_EQ(a.exact, b.exact);
    EXPECT_EQ(a.lsqr, b.lsqr);
  });
}

TEST_P(Repeatability, OneThreadAndTwoThreadsGiveTheSameMapsSignIncluded) {
  set_threads(2);
  if (threads() != 2) GTEST_SKIP() << "this BLAS does not tell or set its number of threads";
  for_each_case([](const auto& run) {
    set_threads(1);
    const Answer one = run();
    set_threads(2);
    const Answer two = run();
    for (Domain domain : {Domain::one, Domain::two}) {
      EXPECT_LE(relative(two.model.domain(domain).matrix(), one.model.domain(domain).matrix()), 1e-10);
    }
    EXPECT_LE(relative(two.lmmse, one.lmmse), 1e-10);
    EXPECT_LE(relative(two.exact, one.exact), 1e-10);
    EXPECT_LE(relative(two.lsqr, one.lsqr), 1e-8);
  });
}

INSTANTIATE_TEST_SUITE_P(Forms, Repeatability,
                         ::testing::Values(Accumulate::automatic, Accumulate::qr, Accumulate::gram),
                         [](const auto& instance) { return name(instance.param); });

TEST(Threads, AreToldAndSet) {
  EXPECT_FALSE(blas_description().empty());
  set_threads(1);
  EXPECT_LE(threads(), 1);
  set_threads(2);
}

}  // namespace
}  // namespace cgmca
