// Every operation of a back end against its definition: one body for the processor, for a back end whose memory nobody
// else can reach, and for the GPU. It is a part of the programs test_linalg and test_cuda.
#include <Eigen/Cholesky>
#include <Eigen/SVD>
#include <algorithm>
#include <string>

#include "core/linalg/device.hpp"
#include "foreign_backend.hpp"
#include "testing.hpp"

namespace cgmca::testing {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Indices;

struct Setting {
  const char* backend;
  Index m, n;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << setting.backend << ' ' << setting.m << "x" << setting.n;
}

// A block inside a larger array, so that strides matter.
Array inside_larger(const Backend& on, const Matrix& A) {
  Matrix larger = Matrix::Constant(A.rows() + 3, A.cols() + 2, NAN);
  larger.block(1, 1, A.rows(), A.cols()) = A;
  return on.upload(larger).block(1, 1, A.rows(), A.cols());
}

Matrix host(const Array& A) { return A.on().download(A); }

class Operations : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    static const ForeignBackend foreign;
    const std::string name = GetParam().backend;
    if (name == "cuda") {
      if (const DeviceReport found = cuda_device(); !found.usable) GTEST_SKIP() << "needs a GPU: " << found.description;
    }
    on = name == "cpu" ? &linalg::cpu() : name == "foreign" ? &foreign : &backend_of(Device::cuda);
  }
  Array strided(const Matrix& A) const { return inside_larger(*on, A); }

  const Backend* on = nullptr;
  const Index m = GetParam().m, n = GetParam().n;
  Random random{17};
};

TEST_P(Operations, MovePlaces) {
  Matrix X = random.matrix(m, n);
  const Array A = strided(X);
  Indices rows, columns;
  for (Index i = m - 1; i >= 0; i -= 2) rows.push_back(i);
  for (Index j = 0; j < n; j += 3) columns.push_back(j);
  EXPECT_EQ(host(A), X);
  EXPECT_EQ(host(on->copy(A)), X);
  EXPECT_EQ(host(on->transposed(A)), X.transpose());
  EXPECT_EQ(host(on->gather(A, rows, columns)), Matrix(X(rows, columns)));
  EXPECT_EQ(host(on->gather_rows(A, rows)), Matrix(X(rows, Eigen::all)));
  EXPECT_EQ(host(on->gather_transposed_rows(A, rows)), Matrix(X(rows, Eigen::all).transpose()));
  const Matrix some = random.matrix(std::ssize(rows), n);
  Matrix scattered = Matrix::Zero(m, n);
  scattered(rows, Eigen::all) = some;
  EXPECT_EQ(host(on->scatter_rows(strided(some), rows, m)), scattered);
  on->zero_columns(A, columns);
  X(Eigen::all, columns).setZero();
  EXPECT_EQ(host(A), X);
  const Matrix corner = random.matrix(std::ssize(rows), std::ssize(columns));
  on->assign_at(A, rows, columns, strided(corner));
  X(rows, columns) = corner;
  EXPECT_EQ(host(A), X);
  EXPECT_EQ(host(on->identity(m, n)), Matrix::Identity(m, n));
  EXPECT_EQ(host(on->zeros(m, n)), Matrix::Zero(m, n));
}

TEST_P(Operations, ScaleAndSum) {
  Matrix X = random.matrix(m, n);
  const Matrix Y = random.matrix(m, n);
  const Vector x = random.matrix(m, 1), y = random.matrix(n, 1), z = random.matrix(std::min(m, n), 1);
  const Array A = strided(X);
  on->scale(A, 1.5);
  on->scale_rows(A, x);
  on->scale_columns(A, y);
  on->add(A, strided(Y), -0.3);
  on->add_outer(A, x, y, 0.7);
  on->add_diagonal(A, z);
  X = (1.5 * x.asDiagonal() * X * y.asDiagonal() - 0.3 * Y + 0.7 * x * y.transpose()).eval();
  X.diagonal() += z;
  EXPECT_LE(relative(host(A), X), 1e-14);
  X = host(A);
  EXPECT_EQ(on->diagonal(A), Vector(X.diagonal()));
  EXPECT_LE(relative(on->row_squared_norms(A), X.rowwise().squaredNorm()), 1e-14);
  EXPECT_LE(relative(on->column_squared_norms(A), X.colwise().squaredNorm().transpose()), 1e-14);
  EXPECT_LE((on->row_sums(A) - X.rowwise().sum()).norm(), 1e-14 * X.norm() * std::sqrt(static_cast<double>(n)));
  EXPECT_LE(relative(on->row_absolute_sums(A), X.cwiseAbs().rowwise().sum()), 1e-14);
  EXPECT_LE(relative(on->column_largest(A), X.cwiseAbs().colwise().maxCoeff().transpose()), 1e-14);
  EXPECT_NEAR(on->squared_norm(A), X.squaredNorm(), 1e-13 * X.squaredNorm());
  EXPECT_NEAR(on->dot(A, strided(Y)), X.cwiseProduct(Y).sum(), 1e-12 * X.norm() * Y.norm());
  Vector signs(n);
  for (Index j = 0; j < n; ++j) {
    Index largest = 0;
    X.col(j).cwiseAbs().maxCoeff(&largest);
    signs(j) = X(largest, j) < 0 ? -1 : 1;
  }
  EXPECT_EQ(on->signs_of_columns(A), signs);
  on->assign_diagonal(A, z);
  EXPECT_EQ(on->diagonal(A), z);
}

TEST_P(Operations, Multiply) {
  const Matrix X = random.matrix(m, n), Y = random.matrix(n, m);
  const Array A = strided(X), B = strided(Y);
  EXPECT_LE(relative(host(on->AB(A, B)), X * Y), 1e-13);
  EXPECT_LE(relative(host(on->AtB(A, A)), X.transpose() * X), 1e-13);
  EXPECT_LE(relative(host(on->ABt(A, A)), X * X.transpose()), 1e-13);
  const Array C = strided(X.transpose() * X);
  on->add_ABt(C, B, B);
  EXPECT_LE(relative(host(C), X.transpose() * X + Y * Y.transpose()), 1e-13);
  const Array G = on->zeros(m, m), H = on->zeros(n, n);
  on->add_gram(G, A, 0.5);
  on->add_gram_of_columns(H, A);
  on->assign_lower_from_upper(G);
  on->assign_lower_from_upper(H);
  EXPECT_LE(relative(host(G), 0.5 * X * X.transpose()), 1e-13);
  EXPECT_LE(relative(host(H), X.transpose() * X), 1e-13);
  const Vector x = random.matrix(m, 1);
  EXPECT_LE(relative(on->symmetric_times(G, x), 0.5 * X * (X.transpose() * x)), 1e-12);
  EXPECT_THROW(on->AB(A, A.left(1)), InternalError);
}

TEST_P(Operations, Factorize) {
  const Index p = std::min(m, n), q = std::max(m, n);
  const Matrix X = random.matrix(q + 5, p), E = random.matrix(p, 7);
  const Matrix G = X.transpose() * X / static_cast<double>(q);
  const Matrix K = G.llt().matrixU();
  const Array R = on->cholesky(strided(G));
  EXPECT_LE(relative(host(R).triangularView<Eigen::Upper>().toDenseMatrix(), K), 1e-11);
  const Vector s = Eigen::BDCSVD<Matrix>(K).singularValues();
  EXPECT_NEAR(on->condition(R) * s(p - 1) / s(0), 1, 0.15);
  EXPECT_TRUE(on->cholesky(on->upload(-G)).empty());
  const Matrix solved = K.transpose().triangularView<Eigen::Lower>().solve(E);
  EXPECT_LE(relative(host(on->solve_upper(R, strided(E))), K.triangularView<Eigen::Upper>().solve(E)), 1e-11);
  EXPECT_LE(relative(host(on->solve_upper_transposed(R, on->upload(E))), solved), 1e-11);
  EXPECT_LE(relative(host(on->upper_times(R, on->upload(E))), K * E), 1e-11);
  EXPECT_LE(relative(host(on->upper_transposed_times(R, on->upload(E))), K.transpose() * E), 1e-11);
  EXPECT_LE(relative(host(on->upper_times_upper(R, R)), K * K), 1e-11);
  const Array in_place = on->upload(E);
  on->solver(R)->solve_transposed_in_place(in_place);
  EXPECT_LE(relative(host(in_place), solved), 1e-11);
  const Array triangle = on->triangular_factor(strided(X));
  EXPECT_LE(relative(host(on->AtB(triangle, triangle)), X.transpose() * X), 1e-13);
  Matrix ill = X;  // κ = 1e10: by Householder's reflections
  ill.col(0) = ill.col(p - 1) + 1e-10 * ill.col(0);
  for (const Matrix& tall : {X, ill}) {
    const linalg::ArrayQr qr = on->thin_qr(strided(tall));
    EXPECT_LE(relative(host(on->AB(qr.Q, qr.R)), tall), 1e-13);
    EXPECT_LE(relative(host(on->AtB(qr.Q, qr.Q)), Matrix::Identity(p, p)), 1e-13);
  }
  Matrix dependent = G;  // of rank p - 1
  dependent.row(0) = dependent.row(1);
  dependent.col(0) = dependent.col(1);
  const linalg::ArrayPivoted pivoted = on->pivoted_cholesky(strided(dependent), 1e-10);
  EXPECT_EQ(pivoted.R.rows(), p - 1);
  EXPECT_LE(relative(host(on->AtB(pivoted.R, pivoted.R)), dependent(pivoted.order, pivoted.order)), 1e-12);
  const linalg::ArrayPivoted columns = on->pivoted_triangular_factor(strided(X));
  const Matrix T = host(columns.R), in_order = X(Eigen::all, columns.order);
  EXPECT_LE(relative(T.transpose() * T, in_order.transpose() * in_order), 1e-12);
}

TEST_P(Operations, FindSpectra) {
  const Matrix X = random.matrix(m, n);
  for (const bool full : {false, true}) {
    const linalg::ArraySvd svd = full ? on->full_svd(strided(X)) : on->thin_svd(strided(X));
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
  const linalg::ArrayEigen eigen = on->symmetric_eigen(strided(G));
  const Matrix Q = host(eigen.Q);
  EXPECT_TRUE(std::is_sorted(eigen.values.begin(), eigen.values.end(), std::greater<>()));
  EXPECT_LE(relative(Q * eigen.values.asDiagonal() * Q.transpose(), G), 1e-12);
  EXPECT_LE(relative(on->symmetric_eigenvalues(strided(G)), eigen.values), 1e-12);
  const auto bounds = on->spectrum_bounds(strided(G), {});
  EXPECT_GE(bounds.largest, eigen.values(0) * (1 - 1e-12));
  EXPECT_LE(bounds.smallest, eigen.values(n - 1) * (1 + 1e-12));
}

TEST_P(Operations, LoadSamplesOfEitherPrecision) {
  const Matrix X1 = random.matrix(m, 901), X2 = random.matrix(n, 901);
  const Eigen::MatrixXf single = X2.cast<float>();
  const Vector origin = random.matrix(m + n, 1), mean = random.matrix(m + n, 1);
  const MatchedSamples X = {X1, single};
  Matrix all(m + n, 901);
  all << X1, single.cast<double>();
  const Matrix moved = (all.colwise() - origin).colwise() - mean;
  const Indices some = {3, 1, m - 1, m + 1, m, m + n - 1};
  EXPECT_EQ(host(on->load(X, 11, 880, origin, mean)), moved.middleCols(11, 880));
  EXPECT_EQ(host(on->load(X, 11, 500, origin, mean, &some)), Matrix(moved.middleCols(11, 500)(some, Eigen::all)));
  EXPECT_EQ(host(on->load_transposed(X, origin, mean, some)), Matrix(moved(some, Eigen::all).transpose()));
  EXPECT_LE(relative(on->sum_of_deviations(X, origin), (all.colwise() - origin).rowwise().sum()), 1e-12);
  EXPECT_EQ(on->fetched(SampleView(single), 5, 10), single.middleCols(5, 10).cast<double>());
  EXPECT_TRUE(on->within(SampleView(X1), 100));
  EXPECT_FALSE(on->within(SampleView(X1), 1));
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const char* backend : {"cpu", "foreign", "cuda"}) {
    for (const auto& [m, n] : {std::pair<Index, Index>{5, 7}, {40, 33}, {100, 450}}) all.push_back({backend, m, n});
  }
  all.push_back({"cuda", 700, 300});
  return all;
}

INSTANTIATE_TEST_SUITE_P(OfEachBackEnd, Operations, ::testing::ValuesIn(settings()));

}  // namespace
}  // namespace cgmca::testing
