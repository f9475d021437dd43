// One sample at a time: the forms that write into the caller's memory give what the others give, and allocate nothing
// after the first call; a summary does its work when the caller asks.
#include <cerrno>
#include <cstdlib>

#include "core/linalg/linalg.hpp"
#include "testing.hpp"

#if defined(__SANITIZE_ADDRESS__) || !defined(__GLIBC__)
#define CGMCA_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CGMCA_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef CGMCA_COUNTS_ALLOCATIONS
#define CGMCA_COUNTS_ALLOCATIONS 1
#endif

namespace {
thread_local long allocations = 0;  // of this thread so far
}

// In place of glibc's, which new, Eigen and BLAS call.
#if CGMCA_COUNTS_ALLOCATIONS
extern "C" {
void* __libc_malloc(std::size_t size);                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size);        // NOLINT
void* __libc_realloc(void* old, std::size_t size);               // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size);  // NOLINT

void* malloc(std::size_t size) noexcept {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  ++allocations;
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept {
  ++allocations;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}
}
#endif

namespace cgmca {
namespace {

using testing::Random;
using testing::relative;

// Of two domains, and of three.
std::vector<Model> models(const Matrix& X1, const Matrix& X2, const Matrix& X3) {
  const Covariance C = Covariance::identity(4);
  return {fit(X1, X2, C, C), fit(MatchedSamples{X1, X2, X3}, {C, C, C})};
}

class OneSample : public ::testing::Test {
 protected:
  Random random{33};
  testing::Pairs pairs = testing::random_pairs(random, 31, 48, 300);
  Matrix X3 = pairs.X1.topRows(9) + 0.5 * random.matrix(9, 300);
  std::vector<Model> both = models(pairs.X1, pairs.X2, X3);
};

TEST_F(OneSample, GivesWhatBlocksGive) {
  Matrix joint(57, 300);
  joint << pairs.X2, X3;
  const auto check = [&](const Model& model, const Translation& back, const Matrix& X) {
    const Matrix Z = apply(model, Domain::two, pairs.X2), Y = back(X), E = back.standard_errors(X);
    Matrix z(Z.rows(), Z.cols()), y(Y.rows(), Y.cols()), e(E.rows(), E.cols());
    Eigen::MatrixXf zf(Z.rows(), Z.cols()), yf(Y.rows(), Y.cols()), ef(E.rows(), E.cols());
    const Eigen::MatrixXf floats = X.cast<float>();
    for (Index j = 0; j < Z.cols(); ++j) {
      apply_into(model, Domain::two, pairs.X2.col(j), z.col(j));
      apply_into(model, Domain::two, floats.col(j).head(48), zf.col(j));
      back.translate_into(X.col(j), y.col(j));
      back.translate_into(floats.col(j), yf.col(j));
      back.standard_errors_into(X.col(j), e.col(j));
      back.standard_errors_into(floats.col(j), ef.col(j));
    }
    EXPECT_LE(relative(z, Z), 1e-13);
    EXPECT_LE(relative(y, Y), 1e-13);
    EXPECT_LE(relative(e, E), 1e-13);
    EXPECT_LE(relative(zf.cast<double>(), Z), 1e-6);
    EXPECT_LE(relative(yf.cast<double>(), Y), 1e-6);
    EXPECT_LE(relative(ef.cast<double>(), E), 1e-6);
  };
  check(both[0], translation(both[0], Domain::two, Domain::one), pairs.X2);
  // From two domains together the covariance G of the scores is not I.
  check(both[1], translation(both[1], {Domain::two, Domain{3}}, Domain::one), joint);
}

TEST_F(OneSample, AllocatesNothingAfterTheFirstCall) {
  if (!CGMCA_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer has its own malloc";
  const Model& model = both[1];
  const Translation back = translation(model, {Domain::two, Domain{3}}, Domain::one);
  const Vector x = random.matrix(48, 1), joint = random.matrix(57, 1);
  const Eigen::VectorXf xf = x.cast<float>(), joint_f = joint.cast<float>();
  Vector z(model.common_dimension), y(31), e(31);
  Eigen::VectorXf zf(z.size()), yf(31), ef(31);
  const auto all = [&] {
    apply_into(model, Domain::two, x, z);
    apply_into(model, Domain::two, xf, zf);
    back.translate_into(joint, y);
    back.translate_into(joint_f, yf);
    back.standard_errors_into(joint, e);
    back.standard_errors_into(joint_f, ef);
  };
  const long before = allocations;
  const Matrix Z = apply(model, Domain::two, x);
  EXPECT_GT(allocations, before) << "the count does not work";
  all();
  const long first = allocations;
  for (int i = 0; i < 100; ++i) all();
  EXPECT_EQ(allocations, first);
}

TEST_F(OneSample, OfAnotherSizeIsRefusedWithTheSizes) {
  const Model& model = both[0];
  const Translation back = translation(model, Domain::two, Domain::one);
  const Vector x = Vector::Zero(48);
  Vector short_one(3), y(31);
  EXPECT_THROW(apply_into(model, Domain::two, x, short_one), WrongDimension);
  EXPECT_THROW(apply_into(model, Domain::one, x, y), WrongDimension);
  EXPECT_THROW(back.translate_into(x, short_one), WrongDimension);
  EXPECT_THROW(back.translate_into(y, y), WrongDimension);
  EXPECT_THROW(back.standard_errors_into(x, short_one), WrongDimension);
  const Translation exact = translation(model, Domain::two, Domain::one, Method::exact);
  EXPECT_THROW(exact.standard_errors_into(x, y), InvalidInput);  // it has none
}

// Who compresses every 1,024 samples finds add() doing no arithmetic at all, whatever the number of samples.
TEST(SummaryOfSingleSamples, WorksWhenTheCallerAsks) {
  Random random(34);
  const testing::Pairs pairs = testing::random_pairs(random, 6, 5, 12000);
  for (const Accumulate accumulate : kAccumulates) {
    Summary summary({6, 5}, accumulate);
    summary.add(pairs.X1.leftCols(100), pairs.X2.leftCols(100));
    summary.compress();
    double in_add = 0, in_compress = 0;
    for (Index j = 100; j < 12000; ++j) {
      double before = linalg::operations();
      summary.add(pairs.X1.col(j), pairs.X2.col(j));
      in_add += linalg::operations() - before;
      if (j % 1024 != 0) continue;
      before = linalg::operations();
      summary.compress();
      in_compress += linalg::operations() - before;
    }
    EXPECT_EQ(in_add, 0) << name(accumulate);
    EXPECT_GT(in_compress, 0) << name(accumulate);
    Summary at_once({6, 5}, accumulate);
    at_once.add(pairs.X1, pairs.X2);
    const Covariance C = Covariance::identity(3);
    EXPECT_LE(relative(fit(summary, C, C).certificate.singular_B, fit(at_once, C, C).certificate.singular_B), 1e-12);
  }
}

}  // namespace
}  // namespace cgmca
