// Real images, where conditioning is bad and LAPACK has been seen to fail.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/linalg/linalg.hpp"
#include "testing.hpp"

namespace cgmca {
namespace {

using testing::centred;
using testing::shared;

constexpr const char* kImages = "data/mnist/train-images-idx3-ubyte.gz";
constexpr const char* kLabels = "data/mnist/train-labels-idx1-ubyte.gz";

const Matrix& images() {
  static const Matrix all = read(shared(kImages)) / 255;
  return all;
}

std::vector<Index> digit(int wanted) {
  static const Matrix labels = read(shared(kLabels));
  std::vector<Index> rows;
  for (Index j = 0; j < labels.cols(); ++j) {
    if (static_cast<int>(labels(0, j)) == wanted) rows.push_back(j);
  }
  return rows;
}

// Clean images and the same with noise of variance 0.1, clipped to [0, 1].
testing::Pairs clean_and_noisy(const std::vector<Index>& rows) {
  testing::Random random(3);
  const Matrix clean = images()(Eigen::all, rows);
  const Matrix noisy =
      clean.unaryExpr([&](double x) { return std::clamp(x + std::sqrt(0.1) * random.normal(), 0.0, 1.0); });
  return {clean, noisy};
}

TEST(Mnist, TheMatrixThatDefeatsGesddIsFactorizedDirectly) {
  CGMCA_NEEDS_SHARED(kImages);
  const Matrix indices = read(testing::fixture("oracle/svd_trap_digit3_indices.npy"));
  std::vector<Index> rows(static_cast<std::size_t>(indices.size()));
  std::transform(indices.data(), indices.data() + indices.size(), rows.begin(),
                 [](double index) { return static_cast<Index>(index); });
  ASSERT_EQ(rows.size(), 4905U);
  // The mean is summed in the order of the samples, as NumPy does: another rounding may not spring the trap.
  const Matrix X = images()(Eigen::all, rows);
  Vector sum = Vector::Zero(X.rows());
  for (Index j = 0; j < X.cols(); ++j) sum += X.col(j);
  const Matrix S = (X.colwise() - Vector(sum / 4905.0)) / std::sqrt(4904.0);
  const linalg::Svd svd = linalg::thin_svd(S);
  std::cout << "factorized by " << linalg::name(svd.routine) << "\n";
  EXPECT_LE((linalg::ABt(svd.U * svd.s.asDiagonal(), svd.V) - S).norm(), 1e-13 * S.norm());
  const Index r = (svd.s.array() > 4905 * 2.3e-16 * svd.s(0)).count();
  EXPECT_LE((linalg::AtB(svd.V.leftCols(r), svd.V.leftCols(r)) - Matrix::Identity(r, r)).norm(), 1e-11);
  // The whole fit on the same images, kept as raw rows so that the SVD sees them uncompressed, and by default.
  const Covariance c = Covariance::data(Domain::one, 500);
  const auto [clean, noisy] = clean_and_noisy(rows);
  const Model model = fit(clean, noisy, c, c);
  EXPECT_EQ(model.certificate.ranks[0], r);
  EXPECT_LE(model.certificate.constraint_residuals[0], 1e-10);
}

// gesdd fails on it with two threads and OpenBLAS's AVX-512 kernels, which OpenBLAS may not choose by itself on a CPU
// newer than it is; so the test above runs once more in a process that is told to use them.
TEST(Mnist, TheSameWithTheKernelsThatFail) {
  CGMCA_NEEDS_SHARED(kImages);
  if (!__builtin_cpu_supports("avx512f")) GTEST_SKIP() << "needs a CPU with AVX-512";
  const std::string command = "OPENBLAS_CORETYPE=SkylakeX OPENBLAS_NUM_THREADS=2 '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              "' --gtest_filter=Mnist.TheMatrixThatDefeatsGesddIsFactorizedDirectly";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(Mnist, DigitOneKeepsTheRankOfTheRawData) {
  CGMCA_NEEDS_SHARED(kImages);
  const std::vector<Index> ones = digit(1);
  const std::vector<Index> rows(ones.begin(), ones.begin() + 5394);  // 80 %
  const auto [clean, noisy] = clean_and_noisy(rows);
  const Vector s = linalg::thin_svd(centred(clean)).s;
  const Index rank =
      (s.array() > static_cast<double>(rows.size()) * std::numeric_limits<double>::epsilon() * s(0)).count();
  std::cout << "rank " << rank << ", smallest singular value kept " << s(rank - 1) / s(0) << " of the largest\n";
  for (const Covariance& c : {Covariance::data(Domain::one, 500), Covariance::identity(500)}) {
    const Model model = fit(clean, noisy, c, c);
    const Certificate& certificate = model.certificate;
    std::cout << c.description() << ": route " << certificate.route << ", residuals "
              << certificate.constraint_residuals[0] << ", " << certificate.constraint_residuals[1] << "\n";
    EXPECT_EQ(certificate.ranks[0], rank);
    EXPECT_LE(certificate.constraint_residuals[0], 1e-8);
    EXPECT_LE(certificate.constraint_residuals[1], 1e-8);
    EXPECT_NEAR(certificate.objective, certificate.bound, 1e-8 * certificate.covariance_trace);
    // From the data itself, not from the summary the certificate was computed with.
    const Matrix covariance = testing::sample_covariance(apply(model, Domain::one, clean));
    const Matrix F = model.domain(Domain::one).mixing;
    EXPECT_LE((covariance - F * F.transpose()).norm(), 1e-8 * (F * F.transpose()).norm());
  }
}

}  // namespace
}  // namespace cgmca
