// The same input gives the same answer: bit for bit when repeated, to rounding whatever the number of threads.
#include <cgmca/parallel.hpp>

#include <algorithm>
#include <chrono>

#include "core/base/blas_kernels.hpp"
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
  Summary summary({pairs.X1.rows(), pairs.X2.rows()}, accumulate);
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
    // Twenty steps of LSQR that have not converged magnify rounding: 1e-9 by g++, 1.3e-7 by clang with sanitizers.
    EXPECT_LE(relative(two.lsqr, one.lsqr), 1e-6);
  });
}

INSTANTIATE_TEST_SUITE_P(Forms, Repeatability,
                         ::testing::Values(Accumulate::automatic, Accumulate::qr, Accumulate::gram),
                         [](const auto& instance) { return name(instance.param); });

// By the processor's features, and only where OpenBLAS has chosen kernels without AVX.
TEST(SlowKernels, AreToldWithWhatSuitsTheProcessor) {
  const std::string old = "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Prescott MAX_THREADS=64";
  const ProcessorFeatures modern{.avx2_and_fma = true, .avx512 = true}, older{.avx2_and_fma = true}, oldest{};
  EXPECT_EQ(slow_kernels(old, modern).value().used, "Prescott");
  EXPECT_EQ(slow_kernels(old, modern).value().faster, "SkylakeX");
  EXPECT_EQ(slow_kernels(old, older).value().faster, "Haswell");
  EXPECT_FALSE(slow_kernels(old, oldest));
  EXPECT_FALSE(slow_kernels("OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64", modern));
  EXPECT_FALSE(slow_kernels("Intel MKL", modern));
}

TEST(SlowKernels, AreInTheDescriptionOfTheBlas) {
  EXPECT_EQ(blas_description().find("OPENBLAS_CORETYPE=") != std::string::npos, slow_kernels().has_value());
}

TEST(Threads, AreToldAndSet) {
  EXPECT_FALSE(blas_description().empty());
  set_threads(1);
  EXPECT_LE(threads(), 1);
  set_threads(2);
}

// Several callers at once, each of which puts BLAS on one thread for a while: all find the same, and leave BLAS as it
// was.
TEST(Threads, AreLeftAsTheyWereByCallersAtOnce) {
  set_threads(2);
  const int before = threads();
  Random random(30);
  const testing::Pairs pairs = testing::random_pairs(random, 12, 9, 9000);
  const Covariance C = Covariance::data(Domain::one, 5);
  const Model expected = answer(pairs, C, C, Accumulate::qr).model;
  std::array<double, 4> difference{};
  {
    std::vector<std::jthread> callers;
    for (double& result : difference) {
      callers.emplace_back([&] {
        for (int k = 0; k < 3; ++k) {
          const Model found = answer(pairs, C, C, Accumulate::qr).model;
          result =
              std::max(result, relative(found.domain(Domain::one).matrix(), expected.domain(Domain::one).matrix()));
        }
      });
    }
  }
  EXPECT_LE(*std::max_element(difference.begin(), difference.end()), 1e-10);
  EXPECT_EQ(threads(), before);
}

// Whichever thread is faster, the problem told is that of the first task, and BLAS is as it was.
TEST(Threads, TellTheFirstTasksProblem) {
  set_threads(2);
  const int before = threads();
  for (int k = 0; k < 50; ++k) {
    try {
      parallel_for(2, [&](Index task) {
        if (task == 0) std::this_thread::sleep_for(std::chrono::microseconds(k % 2 == 0 ? 300 : 0));
        throw InvalidInput(task == 0 ? "first" : "second");
      });
      FAIL() << "nothing was thrown";
    } catch (const InvalidInput& problem) {
      EXPECT_STREQ(problem.what(), "first");
    }
  }
  EXPECT_EQ(threads(), before);
}

// What one thread sets aside for itself does not change how many threads others use, nor with it their rounding.
TEST(Threads, AreCountedForEachThreadThatAsks) {
  const int before = threads();
  set_threads(2);
  {
    const SerialBlas serial;
    EXPECT_EQ(threads(), 1);
    EXPECT_EQ(worker_count(), 1);
    std::jthread([] { EXPECT_EQ(worker_count(), 2); }).join();
    {
      const BlasThreadScope own;  // as many as before: one
      EXPECT_EQ(worker_count(), 1);
    }
  }
  {
    const BlasThreadScope own;
    EXPECT_EQ(threads(), 1);
    EXPECT_EQ(worker_count(), 2);
    parallel_for(2, [](Index) { EXPECT_EQ(worker_count(), 1); });
    EXPECT_EQ(worker_count(), 2);
  }
  EXPECT_EQ(threads(), 2);
  set_threads(std::max(before, 1));
}

}  // namespace
}  // namespace cgmca
