// The stages of a fit reach large matrices only through the back end: on one whose memory nobody else can reach they
// give the same bits as on the processor.
#include "core/summary/state.hpp"
#include "foreign_backend.hpp"
#include "testing.hpp"

namespace cgmca::testing {
namespace {

const ForeignBackend foreign;

Summary on(const linalg::Backend& backend, const Pairs& pairs, Accumulate accumulate) {
  Summary summary(
      std::make_unique<Summary::State>(std::vector<DomainInfo>{pairs.X1.rows(), pairs.X2.rows()}, accumulate, backend));
  summary.add(pairs.X1, pairs.X2);
  return summary;
}

void expect_same(const Model& one, const Model& two) {
  for (const Domain domain : kDomains) {
    EXPECT_EQ(one.domain(domain).mean, two.domain(domain).mean);
    EXPECT_EQ(one.domain(domain).weights, two.domain(domain).weights);
    EXPECT_EQ(one.domain(domain).mixing, two.domain(domain).mixing);
    EXPECT_EQ(one.domain(domain).loadings, two.domain(domain).loadings);
  }
  EXPECT_EQ(one.certificate.objective, two.certificate.objective);
  EXPECT_EQ(one.certificate.bound, two.certificate.bound);
  EXPECT_EQ(one.certificate.constraint_residuals, two.certificate.constraint_residuals);
  EXPECT_EQ(one.certificate.route, two.certificate.route);
}

struct Shape {
  Index d1, d2, n;
  bool dependent = false, ill_conditioned = false;
};

Pairs pairs_of(Random& random, const Shape& shape) {
  Pairs pairs = random_pairs(random, shape.d1, shape.d2, shape.n, 1.0);
  pairs.X1.row(1).setConstant(3);
  if (shape.dependent) pairs.X1.row(2) = pairs.X1.row(0);
  if (shape.ill_conditioned) pairs.X2.row(0) *= 1e-7;
  return pairs;
}

TEST(Backend, AnotherGivesTheSameBitsInEveryForm) {
  Random random(1);
  const Covariance one = Covariance::data(Domain::one, 3), plain = Covariance::identity(3);
  for (const Shape& shape : {Shape{8, 6, 20}, Shape{8, 6, 9000}, Shape{40, 30, 12}, Shape{8, 6, 9000, true},
                             Shape{8, 6, 9000, false, true}, Shape{8, 6, 300, true, true}}) {
    const Pairs pairs = pairs_of(random, shape);
    for (const Accumulate accumulate : kAccumulates) {
      const Summary here = on(linalg::cpu(), pairs, accumulate), there = on(foreign, pairs, accumulate);
      EXPECT_EQ(here.form(), there.form());
      expect_same(fit(here, plain, plain), fit(there, plain, plain));
      expect_same(fit(here, one, one), fit(there, one, one));
      EXPECT_EQ(here.to_bytes(), there.to_bytes());
    }
  }
}

TEST(Backend, AnotherGivesTheSameBitsOfRegularizedFitsWithExtraSamples) {
  Random random(2);
  const Pairs pairs = random_pairs(random, 12, 9, 15), more = random_pairs(random, 12, 9, 50);
  Summary extra({12});
  extra.add(more.X1);
  FitOptions options;
  options.max_rank = {7, 0};
  options.ridge = {Ridge(0.1), Ridge::from_data()};
  options.extra = {&extra, nullptr};
  const Covariance C = Covariance::correlation(4);
  for (const Accumulate accumulate : kAccumulates) {
    expect_same(fit(on(linalg::cpu(), pairs, accumulate), C, C, options),
                fit(on(foreign, pairs, accumulate), C, C, options));
  }
}

TEST(Backend, AnotherGivesTheSameBitsOfWeightedSamples) {
  Random random(5);
  const Covariance plain = Covariance::identity(3);
  for (const Shape& shape : {Shape{8, 6, 20}, Shape{8, 6, 9000}, Shape{40, 30, 12}, Shape{8, 6, 9000, true, true}}) {
    const Pairs pairs = pairs_of(random, shape);
    const Vector weights = random.matrix(shape.n, 1).cwiseAbs();
    for (const Accumulate accumulate : kAccumulates) {
      const auto weighted_on = [&](const linalg::Backend& backend) {
        Summary summary(
            std::make_unique<Summary::State>(std::vector<DomainInfo>{shape.d1, shape.d2}, accumulate, backend));
        summary.add({pairs.X1, pairs.X2}, weights);
        return summary;
      };
      const Summary here = weighted_on(linalg::cpu()), there = weighted_on(foreign);
      expect_same(fit(here, plain, plain), fit(there, plain, plain));
      EXPECT_EQ(here.to_bytes(), there.to_bytes());
    }
  }
}

TEST(Backend, SummariesOfTwoBackEndsMerge) {
  Random random(3);
  const Pairs first = random_pairs(random, 7, 5, 6000), second = random_pairs(random, 7, 5, 5000);
  const Covariance C = Covariance::identity(4);
  for (const Accumulate accumulate : kAccumulates) {
    Summary here = on(linalg::cpu(), first, accumulate), there = on(foreign, first, accumulate);
    here.merge(on(foreign, second, accumulate));
    there.merge(on(linalg::cpu(), second, accumulate));
    expect_same(fit(here, C, C), fit(there, C, C));
  }
}

// Samples travel there once and are compressed where they lie, so that the rounding is another.
void expect_close(const Model& found, const Model& expected) {
  EXPECT_EQ(found.certificate.ranks, expected.certificate.ranks);
  for (const Domain domain : kDomains) {
    EXPECT_LE(relative(found.domain(domain).matrix(), expected.domain(domain).matrix()), 1e-9);
    EXPECT_LE(relative(found.domain(domain).offset(), expected.domain(domain).offset()), 1e-9);
  }
  EXPECT_NEAR(found.certificate.objective, expected.certificate.objective, 1e-9);
}

TEST(Backend, ARemoteOneGivesTheSameAnswersInEveryForm) {
  const ForeignBackend remote(true);
  Random random(1);
  const Covariance one = Covariance::data(Domain::one, 3), plain = Covariance::identity(3);
  for (const Shape& shape : {Shape{8, 6, 20}, Shape{8, 6, 9000}, Shape{40, 30, 12}, Shape{8, 6, 9000, true},
                             Shape{8, 6, 9000, false, true}, Shape{8, 6, 300, true, true}}) {
    const Pairs pairs = pairs_of(random, shape);
    const Vector weights = random.matrix(shape.n, 1).cwiseAbs();
    for (const Accumulate accumulate : kAccumulates) {
      if (accumulate == Accumulate::gram && shape.ill_conditioned) continue;  // there rounding is large
      const Summary here = on(linalg::cpu(), pairs, accumulate), there = on(remote, pairs, accumulate);
      EXPECT_EQ(here.form(), there.form());
      EXPECT_EQ(here.samples(), there.samples());
      expect_close(fit(there, plain, plain), fit(here, plain, plain));
      expect_close(fit(there, one, one), fit(here, one, one));
      EXPECT_EQ(fit(there, plain, plain).certificate.route.substr(0, 8), "foreign ");
      Summary weighted_here({shape.d1, shape.d2}, accumulate);
      Summary weighted_there(
          std::make_unique<Summary::State>(std::vector<DomainInfo>{shape.d1, shape.d2}, accumulate, remote));
      weighted_here.add({pairs.X1, pairs.X2}, weights);
      weighted_there.add({pairs.X1, pairs.X2}, weights);
      expect_close(fit(weighted_there, plain, plain), fit(weighted_here, plain, plain));
    }
  }
}

// Nothing that a fit computed of a sum serves another one once the sum has grown, moved or changed its order.
TEST(Backend, ARemoteOneFollowsASumThatChanges) {
  const ForeignBackend remote(true);
  Random random(8);
  const Pairs first = random_pairs(random, 8, 6, 3000), second = random_pairs(random, 8, 6, 2000);
  const Covariance C = Covariance::identity(3);
  for (const Accumulate accumulate : {Accumulate::automatic, Accumulate::gram}) {
    Summary here = on(linalg::cpu(), first, accumulate), there = on(remote, first, accumulate);
    expect_close(fit(there, C, C), fit(here, C, C));
    expect_close(fit(there.on(Device::cpu), C, C), fit(here, C, C));
    Summary merged = there;
    merged.merge(on(remote, second, accumulate));
    const Matrix twice = 2 * second.X1;
    here.add(twice, second.X2);
    there.add(twice, second.X2);
    expect_close(fit(there, C, C), fit(here, C, C));
    Summary merged_here = on(linalg::cpu(), first, accumulate);
    merged_here.merge(on(linalg::cpu(), second, accumulate));
    expect_close(fit(merged, C, C), fit(merged_here, C, C));
    merged_here.add(twice, second.X2);
    merged.add(twice, second.X2);
    expect_close(fit(merged, C, C), fit(merged_here, C, C));
  }
}

TEST(Backend, TheRouteNamesWhatRanOnIt) {
  const ForeignBackend remote(true);
  Random random(11);
  const Pairs pairs = random_pairs(random, 200, 200, 3000, 1.0);
  const Covariance C = Covariance::identity(4);
  const Model here = fit(on(linalg::cpu(), pairs, Accumulate::gram), C, C);
  const Model there = fit(on(remote, pairs, Accumulate::gram), C, C);
  EXPECT_TRUE(here.certificate.route.ends_with("B sytrd")) << here.certificate.route;
  EXPECT_TRUE(there.certificate.route.ends_with("B syevd")) << there.certificate.route;
  expect_close(there, here);
}

TEST(Backend, ADeviceThatIsNotThereIsAnErrorOrTheProcessor) {
  if (cuda_device().usable) GTEST_SKIP() << "there is one: " << cuda_device().description;
  EXPECT_THROW(Summary({3, 2}, Accumulate::automatic, Device::cuda), DeviceError);
  EXPECT_EQ(Summary({3, 2}, Accumulate::automatic, Device::automatic).device(), Device::cpu);
}

TEST(Backend, ShapesThatDoNotFitAreOurMistake) {
  const linalg::Backend& cpu = linalg::cpu();
  EXPECT_THROW(cpu.add(cpu.zeros(2, 3), cpu.zeros(3, 2)), InternalError);
  EXPECT_THROW(cpu.AB(cpu.zeros(2, 3), cpu.zeros(2, 3)), InternalError);
  EXPECT_THROW(cpu.scale_rows(cpu.zeros(2, 3), Vector::Ones(3)), InternalError);
}

}  // namespace
}  // namespace cgmca::testing
