// Triangular matrices: Cholesky factors, products and solves.
#include <cblas.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/linalg/lapack.hpp"

namespace cgmca::linalg {
namespace {

Matrix multiply_triangular(const MatrixView& R, CBLAS_TRANSPOSE transpose, Matrix E) {
  require(R.rows() == R.cols() && R.rows() == E.rows(), "triangular product with shapes that do not fit");
  if (E.size() == 0) return E;
  const Counting counting(Work::triangle, real(E.rows()) * real(E.size()));
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, transpose, CblasNonUnit, narrow(E.rows()), narrow(E.cols()), 1.0,
              R.data(), leading(R), E.data(), leading(E));
  return E;
}

// B ← op(R)⁻¹ B. By halves, so that nearly all of it is matrix products, which run at twice the speed of OpenBLAS's
// trsm. `inverses`, if given: those of the diagonal blocks of kLeaf rows that have one (TriangularSolver).
constexpr Index kLeaf = 64;

void solve_by_halves(const MatrixView& R, CBLAS_TRANSPOSE transpose, Eigen::Ref<Matrix> B,
                     const Matrix* inverses = nullptr) {
  const Index n = R.rows(), columns = B.cols();
  const auto leaf = [&](auto routine, const auto& T) {
    routine(CblasColMajor, CblasLeft, CblasUpper, transpose, CblasNonUnit, narrow(n), narrow(columns), 1.0, T.data(),
            leading(T), B.data(), leading(B));
  };
  if (n <= kLeaf && inverses != nullptr && inverses->size() > 0) return leaf(cblas_dtrmm, *inverses);
  if (n <= kLeaf || columns < kLeaf) return leaf(cblas_dtrsm, R);
  const Index half = (n + kLeaf) / (2 * kLeaf) * kLeaf, rest = n - half;
  const auto solve_first = [&] { solve_by_halves(R.topLeftCorner(half, half), transpose, B.topRows(half), inverses); };
  const auto solve_last = [&] {
    solve_by_halves(R.bottomRightCorner(rest, rest), transpose, B.bottomRows(rest),
                    inverses == nullptr ? nullptr : inverses + half / kLeaf);
  };
  const MatrixView corner = R.topRightCorner(half, rest);
  auto first = B.topRows(half), last = B.bottomRows(rest);
  const auto subtract = [&](auto& C, const auto& X) {  // C -= op(corner) X
    cblas_dgemm(CblasColMajor, transpose, CblasNoTrans, narrow(C.rows()), narrow(columns), narrow(X.rows()), -1.0,
                corner.data(), leading(corner), X.data(), leading(X), 1.0, C.data(), leading(C));
  };
  if (transpose == CblasTrans) {
    solve_first();
    subtract(last, first);
    solve_last();
  } else {
    solve_last();
    subtract(first, last);
    solve_first();
  }
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): a Ref is a view, and B is written to
void solve_triangular(const MatrixView& R, CBLAS_TRANSPOSE transpose, Eigen::Ref<Matrix> B) {
  require(R.rows() == R.cols() && R.rows() == B.rows(), "triangular solve with shapes that do not fit");
  if (B.size() == 0) return;
  const Counting counting(Work::triangle, real(B.rows()) * real(B.size()));
  solve_by_halves(R, transpose, B);
}

}  // namespace

Matrix cholesky(const MatrixView& G) {
  require(G.rows() == G.cols(), "Cholesky factor of a matrix that is not square");
  Matrix R = G.triangularView<Eigen::Upper>();
  if (R.size() == 0) return R;
  const Counting counting(Work::triangle, real(R.rows()) * real(R.size()) / 3);
  const lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', narrow(R.rows()), R.data(), leading(R));
  if (info < 0) check("potrf", info);
  if (info > 0) return Matrix();
  return R;
}

PivotedCholesky pivoted_cholesky(const MatrixView& G, double tolerance) {
  require(G.rows() == G.cols(), "Cholesky factor of a matrix that is not square");
  Matrix R = G.triangularView<Eigen::Upper>();
  if (R.size() == 0) return {R, {}};
  const Counting counting(Work::triangle, real(R.rows()) * real(R.size()) / 3);
  std::vector<lapack_int> order(R.rows());
  std::vector<double> work(2 * order.size());
  lapack_int rank = 0;
  const lapack_int info = LAPACKE_dpstrf_work(LAPACK_COL_MAJOR, 'U', narrow(R.rows()), R.data(), leading(R),
                                              order.data(), &rank, tolerance * R.diagonal().maxCoeff(), work.data());
  if (info < 0) check("pstrf", info);  // info > 0 says that the rank is not full
  PivotedCholesky result{R.topRows(rank).triangularView<Eigen::Upper>(), {}};
  for (const lapack_int place : order) result.order.push_back(place - 1);
  return result;
}

double condition(const MatrixView& R) { return condition(R, thresholds::kConditionSettled); }

double condition(const MatrixView& R, double settled) {
  constexpr int most = 40, least = 5;
  const Index n = R.rows();
  require(R.cols() == n, "condition of a triangle that is not square");
  const auto largest = [&](auto routine, std::array<CBLAS_TRANSPOSE, 2> order) {
    Vector x = Vector::LinSpaced(n, 1, 2).normalized();
    double gain = 0;
    for (int k = 0; k < most; ++k) {
      const Counting counting(Work::triangle, 2 * real(n) * real(n));
      for (const CBLAS_TRANSPOSE transpose : order) {
        routine(CblasColMajor, CblasUpper, transpose, CblasNonUnit, narrow(n), R.data(), leading(R), x.data(), 1);
      }
      const double before = std::exchange(gain, x.norm());
      x /= gain;
      if (k >= least && gain <= (1 + settled) * before) break;
    }
    return gain;
  };
  const double above = largest(cblas_dtrmv, {CblasNoTrans, CblasTrans});  // λ_1 of RᵀR
  const double below = largest(cblas_dtrsv, {CblasTrans, CblasNoTrans});  // of its inverse
  return std::sqrt(above * below);
}

Matrix upper_times(const MatrixView& R, Matrix E) { return multiply_triangular(R, CblasNoTrans, std::move(E)); }

Matrix upper_times_upper(const MatrixView& L, Matrix R) {
  require(L.rows() == L.cols() && L.rows() == R.rows() && L.rows() == R.cols(), "triangles of different sizes");
  const Index n = R.rows(), step = 256;
  for (Index first = 0; first < n; first += step) {  // below them these columns are zero
    const Index width = std::min(step, n - first), height = first + width;
    R.block(0, first, height, width) = upper_times(L.topLeftCorner(height, height), R.block(0, first, height, width));
  }
  return R;
}

Matrix upper_transposed_times(const MatrixView& R, Matrix E) {
  return multiply_triangular(R, CblasTrans, std::move(E));
}

Matrix solve_upper(const MatrixView& R, Matrix B) {
  solve_triangular(R, CblasNoTrans, B);
  return B;
}
Matrix solve_upper_transposed(const MatrixView& R, Matrix B) {
  solve_triangular(R, CblasTrans, B);
  return B;
}

TriangularSolver::TriangularSolver(Matrix R) : R_(std::move(R)) {
  require(R_.rows() == R_.cols(), "a triangle that is not square");
  for (Index first = 0; first < R_.rows(); first += kLeaf) {
    const Index n = std::min(kLeaf, R_.rows() - first);
    const Matrix block = R_.block(first, first, n, n).triangularView<Eigen::Upper>();
    Matrix inverse = solve_upper(block, Matrix::Identity(n, n));
    // Multiplying by the inverse multiplies the error of solving by the norm of |R||R⁻¹|.
    const Vector growth = block.cwiseAbs() * (inverse.cwiseAbs() * Vector::Ones(n));
    if (!(growth.maxCoeff() <= thresholds::kSafeGrowth)) inverse.resize(0, 0);
    inverses_.push_back(std::move(inverse));
  }
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): a Ref is a view, and B is written to
void TriangularSolver::solve_transposed(Eigen::Ref<Matrix> B) const {
  require(R_.rows() == B.rows(), "triangular solve with shapes that do not fit");
  if (B.size() == 0) return;
  const Counting counting(Work::triangle, real(B.rows()) * real(B.size()));
  solve_by_halves(R_, CblasTrans, B, inverses_.data());
}

}  // namespace cgmca::linalg
