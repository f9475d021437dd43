// Maps that stay on a device. tests/gpu/test_cuda.cpp does the same on a GPU; here the device is the processor.
#include <cgmca/device_matrix.hpp>

#include "testing.hpp"

namespace cgmca::testing {
namespace {

TEST(DeviceMatrix, IsACopyThatLivesAsLongAsOneOfItsCopies) {
  Random random(1);
  const Matrix X = random.matrix(7, 30);
  DeviceMatrix first = to_device(X, Device::cpu);
  const DeviceMatrix second = first;
  EXPECT_EQ(second.data(), first.data());
  first = to_device(X.leftCols(1), Device::cpu);
  EXPECT_EQ(second.rows(), 7);
  EXPECT_EQ(second.cols(), 30);
  EXPECT_EQ(second.device(), Device::cpu);
  EXPECT_EQ(second.to_host(), X);
  EXPECT_EQ(Matrix(Eigen::Map<const Matrix>(second.data(), 7, 30)), X);
}

TEST(DeviceMatrix, MapsAndTranslatesAsTheModelDoes) {
  Random random(2);
  const Pairs pairs = random_pairs(random, 12, 9, 500), fresh = random_pairs(random, 12, 9, 9000);
  for (const Covariance& C : {Covariance::identity(5), Covariance::data(Domain::one, 4)}) {
    const Model model = fit(pairs.X1, pairs.X2, C, C);
    const DeviceMap map = device_map(model, Domain::one, Device::cpu);
    EXPECT_EQ(map.rows(), model.common_dimension);
    EXPECT_EQ(map.cols(), 12);
    for (const Index n : {0, 1, 9000}) {  // none, one, and more than are mapped together
      EXPECT_LE(relative(map(fresh.X1.leftCols(n)).to_host(), apply(model, Domain::one, fresh.X1.leftCols(n))), 1e-13);
    }
    const Eigen::MatrixXf single = fresh.X2.cast<float>();
    const Translation back = translation(model, Domain::two, Domain::one);
    EXPECT_LE(relative(device_map(back, Device::cpu)(single).to_host(), back(single.cast<double>())), 1e-13);
    EXPECT_THROW(map(fresh.X2), WrongDimension);
  }
}

TEST(DeviceMatrix, TellsWhetherAllIsFinite) {
  Matrix X = Matrix::Ones(3, 4);
  EXPECT_TRUE(all_finite(X, Device::cpu));
  X(1, 2) = INFINITY;
  EXPECT_FALSE(all_finite(X, Device::cpu));
  X(1, 2) = NAN;
  EXPECT_FALSE(all_finite(X, Device::cpu));
  EXPECT_EQ(to_host(X.leftCols(2), Device::cpu), X.leftCols(2));
}

}  // namespace
}  // namespace cgmca::testing
