// What tests/core/linalg/test_operations.cpp, which is a part of this program, leaves to the GPU: large matrices, and
// samples in its own memory.
#include "cuda_testing.hpp"

namespace cgmca::testing {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Indices;

// A block inside a larger array, so that strides matter.
Array strided(const Backend& on, const Matrix& A) {
  Matrix larger = Matrix::Constant(A.rows() + 3, A.cols() + 2, NAN);
  larger.block(1, 1, A.rows(), A.cols()) = A;
  return on.upload(larger).block(1, 1, A.rows(), A.cols());
}

Matrix host(const Array& A) { return A.on().download(A); }

// From 2,048 on, Gram matrices and triangular solves are made of halves and products between them.
TEST(CudaLargeOperations, AreThoseOfTheProcessor) {
  CGMCA_NEEDS_GPU();
  const Backend &gpu = backend_of(Device::cuda), &cpu = linalg::cpu();
  Random random(23);
  const Index n = 2500, m = 600;
  const Matrix X = random.matrix(n, m), B = random.matrix(n, 520);
  const auto gram_on = [&](const Backend& on) {
    const Array G = on.zeros(n, n);
    on.add_gram(G, strided(on, X), 0.5);
    on.add_gram_of_columns(G, strided(on, X.transpose()));
    on.add_diagonal(G, Vector::Constant(n, 100));
    return G;
  };
  const Array G = gram_on(gpu), here = gram_on(cpu);
  gpu.assign_lower_from_upper(G);
  cpu.assign_lower_from_upper(here);
  EXPECT_LE(relative(host(G), host(here)), 1e-13);
  const Array R = gpu.cholesky(G), R_here = cpu.cholesky(here);
  EXPECT_LE(relative(host(R), host(R_here)), 1e-12);
  EXPECT_LE(relative(host(gpu.solve_upper(R, strided(gpu, B))), host(cpu.solve_upper(R_here, strided(cpu, B)))), 1e-12);
  EXPECT_LE(relative(host(gpu.solve_upper_transposed(R, strided(gpu, B))),
                     host(cpu.solve_upper_transposed(R_here, strided(cpu, B)))),
            1e-12);
  EXPECT_NEAR(gpu.condition(R), cpu.condition(R_here), 0.02 * cpu.condition(R_here));
}

// Cholesky twice, and once where the columns are orthogonal but of any length.
TEST(CudaLargeOperations, ThinQrIsOrthonormal) {
  CGMCA_NEEDS_GPU();
  const Backend& gpu = backend_of(Device::cuda);
  Random random(24);
  const Index m = 2700, n = 2300;
  const Array any = gpu.upload(random.matrix(m, n));
  const Array orthogonal = gpu.copy(gpu.thin_qr(any).Q);
  gpu.scale_columns(orthogonal, Vector::LinSpaced(n, 1, 1e-6));
  for (const Array& X : {any, orthogonal}) {
    const linalg::ArrayQr qr = gpu.thin_qr(gpu.copy(X));
    const Array I = gpu.AtB(qr.Q, qr.Q), again = gpu.AB(qr.Q, qr.R);
    gpu.add_diagonal(I, Vector::Constant(n, -1));
    gpu.add(again, X, -1);
    EXPECT_LE(gpu.column_largest(I).maxCoeff(), 1e-13);
    EXPECT_LE(gpu.squared_norm(again), 1e-26 * gpu.squared_norm(X));
  }
}

TEST(CudaLoad, SamplesOfEitherPrecisionFromEverywhere) {
  CGMCA_NEEDS_GPU();
  Random random(3);
  const Backend &gpu = backend_of(Device::cuda), &cpu = linalg::cpu();
  const Matrix X1 = random.matrix(300, 9001), X2 = random.matrix(170, 9001);
  const Eigen::MatrixXf single = X2.cast<float>();
  const Vector origin = random.matrix(470, 1), mean = random.matrix(470, 1);
  const Array there = gpu.upload(X1);  // in the device's own memory
  const Eigen::Map<const Matrix> resident(there.data(), 300, 9001);
  const Indices some = {3, 1, 299, 301, 300, 469};
  EXPECT_TRUE(gpu.holds(SampleView(resident)));
  EXPECT_FALSE(gpu.holds(SampleView(X1)));
  for (const MatchedSamples& X : {MatchedSamples{X1, single}, MatchedSamples{resident, single}}) {
    EXPECT_EQ(host(gpu.load(X, 11, 8900, origin, mean)), host(cpu.load({X1, single}, 11, 8900, origin, mean)));
    EXPECT_EQ(host(gpu.load(X, 11, 500, origin, mean, &some)),
              host(cpu.load({X1, single}, 11, 500, origin, mean, &some)));
    EXPECT_EQ(host(gpu.load_transposed(X, origin, mean, some)),
              host(cpu.load_transposed({X1, single}, origin, mean, some)));
    EXPECT_LE(relative(gpu.sum_of_deviations(X, origin), cpu.sum_of_deviations({X1, single}, origin)), 1e-13);
  }
  EXPECT_EQ(gpu.fetched(SampleView(resident), 5, 10), X1.middleCols(5, 10));
  EXPECT_TRUE(gpu.within(SampleView(resident), 100));
  EXPECT_FALSE(gpu.within(SampleView(resident), 1));
}

}  // namespace
}  // namespace cgmca::testing
