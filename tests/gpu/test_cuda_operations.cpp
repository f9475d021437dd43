// Every operation of the back end on the GPU gives what the processor gives.
#include <algorithm>

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

class CudaOperations : public ::testing::TestWithParam<std::pair<Index, Index>> {
 protected:
  void SetUp() override {
    CGMCA_NEEDS_GPU();
    gpu = &backend_of(Device::cuda);
  }
  const Backend& cpu = linalg::cpu();
  const Backend* gpu = nullptr;
  Random random{17};
};

TEST_P(CudaOperations, MovePlaces) {
  const auto [m, n] = GetParam();
  const Matrix X = random.matrix(m, n);
  const Array A = strided(cpu, X), B = strided(*gpu, X);
  Indices rows, columns;
  for (Index i = m - 1; i >= 0; i -= 2) rows.push_back(i);
  for (Index j = 0; j < n; j += 3) columns.push_back(j);
  EXPECT_EQ(host(B), X);
  EXPECT_EQ(host(gpu->copy(B)), X);
  EXPECT_EQ(host(gpu->transposed(B)), X.transpose());
  EXPECT_EQ(host(gpu->gather(B, rows, columns)), host(cpu.gather(A, rows, columns)));
  EXPECT_EQ(host(gpu->gather_rows(B, rows)), host(cpu.gather_rows(A, rows)));
  EXPECT_EQ(host(gpu->gather_transposed_rows(B, rows)), host(cpu.gather_transposed_rows(A, rows)));
  const Matrix some = random.matrix(static_cast<Index>(rows.size()), n);
  EXPECT_EQ(host(gpu->scatter_rows(strided(*gpu, some), rows, m)), host(cpu.scatter_rows(strided(cpu, some), rows, m)));
  gpu->zero_columns(B, columns);
  cpu.zero_columns(A, columns);
  EXPECT_EQ(host(B), host(A));
  const Matrix corner = random.matrix(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  gpu->assign_at(B, rows, columns, strided(*gpu, corner));
  cpu.assign_at(A, rows, columns, strided(cpu, corner));
  EXPECT_EQ(host(B), host(A));
  EXPECT_EQ(host(gpu->identity(m, n)), Matrix::Identity(m, n));
  EXPECT_EQ(host(gpu->zeros(m, n)), Matrix::Zero(m, n));
}

TEST_P(CudaOperations, ScaleAndSum) {
  const auto [m, n] = GetParam();
  const Matrix X = random.matrix(m, n), Y = random.matrix(m, n);
  const Vector x = random.matrix(m, 1), y = random.matrix(n, 1), z = random.matrix(std::min(m, n), 1);
  const Array A = strided(cpu, X), B = strided(*gpu, X);
  for (const auto& [on, C] : {std::pair{&cpu, A}, std::pair{gpu, B}}) {
    on->scale(C, 1.5);
    on->scale_rows(C, x);
    on->scale_columns(C, y);
    on->add(C, strided(*on, Y), -0.3);
    on->add_outer(C, x, y, 0.7);
    on->add_diagonal(C, z);
  }
  EXPECT_LE(relative(host(B), host(A)), 1e-14);
  EXPECT_EQ(gpu->diagonal(B), Vector(host(B).diagonal()));
  EXPECT_LE(relative(gpu->row_squared_norms(B), cpu.row_squared_norms(A)), 1e-14);
  EXPECT_LE(relative(gpu->column_squared_norms(B), cpu.column_squared_norms(A)), 1e-14);
  EXPECT_LE((gpu->row_sums(B) - cpu.row_sums(A)).norm(), 1e-14 * host(A).norm() * std::sqrt(static_cast<double>(n)));
  EXPECT_LE(relative(gpu->row_absolute_sums(B), cpu.row_absolute_sums(A)), 1e-14);
  EXPECT_LE(relative(gpu->column_largest(B), cpu.column_largest(A)), 1e-14);
  EXPECT_NEAR(gpu->squared_norm(B), cpu.squared_norm(A), 1e-13 * cpu.squared_norm(A));
  EXPECT_NEAR(gpu->dot(B, strided(*gpu, Y)), cpu.dot(A, strided(cpu, Y)), 1e-13 * X.norm() * Y.norm() * 10);
  EXPECT_EQ(gpu->signs_of_columns(B), cpu.signs_of_columns(A));
  gpu->assign_diagonal(B, z);
  EXPECT_EQ(gpu->diagonal(B), z);
}

TEST_P(CudaOperations, Multiply) {
  const auto [m, n] = GetParam();
  const Matrix X = random.matrix(m, n), Y = random.matrix(n, m);
  const Array A = strided(*gpu, X), B = strided(*gpu, Y);
  EXPECT_LE(relative(host(gpu->AB(A, B)), X * Y), 1e-13);
  EXPECT_LE(relative(host(gpu->AtB(A, A)), X.transpose() * X), 1e-13);
  EXPECT_LE(relative(host(gpu->ABt(A, A)), X * X.transpose()), 1e-13);
  const Array G = gpu->zeros(m, m), H = gpu->zeros(n, n);
  gpu->add_gram(G, A, 0.5);
  gpu->add_gram_of_columns(H, A);
  gpu->assign_lower_from_upper(G);
  gpu->assign_lower_from_upper(H);
  EXPECT_LE(relative(host(G), 0.5 * X * X.transpose()), 1e-13);
  EXPECT_LE(relative(host(H), X.transpose() * X), 1e-13);
  const Vector x = random.matrix(m, 1);
  EXPECT_LE(relative(gpu->symmetric_times(G, x), 0.5 * X * (X.transpose() * x)), 1e-12);
  EXPECT_THROW(gpu->AB(A, A.left(1)), InternalError);
}

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

TEST_P(CudaOperations, Factorize) {
  const auto [m, n] = GetParam();
  const Index p = std::min(m, n), q = std::max(m, n);
  const Matrix X = random.matrix(q + 5, p), E = random.matrix(p, 7);
  const Matrix G = X.transpose() * X / static_cast<double>(q);
  const Array R = gpu->cholesky(strided(*gpu, G)), here = cpu.cholesky(strided(cpu, G));
  EXPECT_LE(relative(host(R), host(here)), 1e-11);
  EXPECT_NEAR(gpu->condition(R) / cpu.condition(here), 1, 0.1);
  EXPECT_TRUE(gpu->cholesky(gpu->upload(-G)).empty());
  const Matrix K = host(here);
  EXPECT_LE(relative(host(gpu->solve_upper(R, strided(*gpu, E))), K.triangularView<Eigen::Upper>().solve(E)), 1e-11);
  EXPECT_LE(relative(host(gpu->solve_upper_transposed(R, gpu->upload(E))),
                     K.transpose().triangularView<Eigen::Lower>().solve(E)),
            1e-11);
  EXPECT_LE(relative(host(gpu->upper_times(R, gpu->upload(E))), K * E), 1e-11);
  EXPECT_LE(relative(host(gpu->upper_transposed_times(R, gpu->upload(E))), K.transpose() * E), 1e-11);
  EXPECT_LE(relative(host(gpu->upper_times_upper(R, R)), K * K), 1e-11);
  const Array inside = gpu->upload(E);
  gpu->solver(R)->solve_transposed_in_place(inside);
  EXPECT_LE(relative(host(inside), host(cpu.solve_upper_transposed(here, cpu.upload(E)))), 1e-11);
  const Array triangle = gpu->triangular_factor(strided(*gpu, X));
  EXPECT_LE(relative(host(gpu->AtB(triangle, triangle)), X.transpose() * X), 1e-13);
  Matrix ill = X;  // κ = 1e10: by Householder's reflections
  ill.col(0) = ill.col(p - 1) + 1e-10 * ill.col(0);
  for (const Matrix& tall : {X, ill}) {
    const linalg::ArrayQr qr = gpu->thin_qr(strided(*gpu, tall));
    EXPECT_LE(relative(host(gpu->AB(qr.Q, qr.R)), tall), 1e-13);
    EXPECT_LE(relative(host(gpu->AtB(qr.Q, qr.Q)), Matrix::Identity(p, p)), 1e-13);
  }
}

TEST_P(CudaOperations, FindSpectra) {
  const auto [m, n] = GetParam();
  const Matrix X = random.matrix(m, n);
  for (const bool full : {false, true}) {
    const linalg::ArraySvd svd = full ? gpu->full_svd(strided(*gpu, X)) : gpu->thin_svd(strided(*gpu, X));
    const Index p = std::min(m, n);
    const Matrix U = host(svd.U), V = host(svd.V);
    EXPECT_EQ(U.cols(), full ? m : p);
    EXPECT_EQ(V.cols(), full ? n : p);
    EXPECT_LE(relative(U.leftCols(p) * svd.s.asDiagonal() * V.leftCols(p).transpose(), X), 1e-12);
    EXPECT_LE((U.transpose() * U - Matrix::Identity(U.cols(), U.cols())).norm(), 1e-11);
    EXPECT_LE((V.transpose() * V - Matrix::Identity(V.cols(), V.cols())).norm(), 1e-11);
    EXPECT_LE(relative(svd.s, linalg::singular_values(X)), 1e-12);
  }
  const Matrix G = X.transpose() * X + Matrix::Identity(n, n);
  const linalg::ArrayEigen eigen = gpu->symmetric_eigen(strided(*gpu, G));
  const Matrix Q = host(eigen.Q);
  EXPECT_TRUE(std::is_sorted(eigen.values.begin(), eigen.values.end(), std::greater<>()));
  EXPECT_LE(relative(Q * eigen.values.asDiagonal() * Q.transpose(), G), 1e-12);
  EXPECT_LE(relative(gpu->symmetric_eigenvalues(strided(*gpu, G)), eigen.values), 1e-12);
  const auto bounds = gpu->spectrum_bounds(strided(*gpu, G), {});
  EXPECT_GE(bounds.largest, eigen.values(0) * (1 - 1e-12));
  EXPECT_LE(bounds.smallest, eigen.values(n - 1) * (1 + 1e-12));
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaOperations,
                         ::testing::Values(std::pair<Index, Index>{5, 7}, std::pair<Index, Index>{40, 33},
                                           std::pair<Index, Index>{100, 450}, std::pair<Index, Index>{700, 300}));

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
