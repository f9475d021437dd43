#include "core/linalg/partial.hpp"

#include <cblas.h>
#include <cgmca/random.hpp>
#include <cgmca/threads.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/linalg/lapack.hpp"

namespace cgmca::linalg {
namespace {

constexpr random_numbers::Purpose kPartialStart{7};  // of random numbers

// Eigenvectors of the tridiagonal matrix of `diagonal` and `beside`, n×count, of the largest eigenvalues, descending:
// bisection and inverse iteration.
std::optional<Matrix> leading_tridiagonal(const Vector& diagonal, const Vector& beside, Index count) {
  const Index n = diagonal.size();
  Vector values(n);
  Matrix Z(n, count);
  const auto size = static_cast<std::size_t>(n);
  std::vector<lapack_int> block(size), split(size), iwork(3 * size), failed(size);
  std::vector<double> work(5 * size);
  lapack_int found = 0, splits = 0;
  lapack_int info = LAPACKE_dstebz_work('I', 'B', narrow(n), 0, 0, narrow(n - count + 1), narrow(n), 0, diagonal.data(),
                                        beside.data(), &found, &splits, values.data(), block.data(), split.data(),
                                        work.data(), iwork.data());
  if (info < 0) check("stebz", info);
  if (info > 0 || found != count) return {};
  info =
      LAPACKE_dstein_work(LAPACK_COL_MAJOR, narrow(n), diagonal.data(), beside.data(), found, values.data(),
                          block.data(), split.data(), Z.data(), leading(Z), work.data(), iwork.data(), failed.data());
  if (info < 0) check("stein", info);
  if (info > 0) return {};
  std::vector<Index> order(count);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values(a) > values(b); });
  return Matrix(Z(Eigen::all, order));
}

// A lower bound of λ_max of symmetric A (upper triangle read), by power iteration from a random vector.
double largest_eigenvalue(const MatrixView& A) {
  constexpr int most = 30, least = 5;
  const Index n = A.rows();
  Vector x(n), y(n);
  random_numbers::fill_normal(0, kPartialStart, 0, x.data(), static_cast<std::size_t>(n));
  x.normalize();
  double gain = 0;
  for (int k = 0; k < most; ++k) {
    const Counting counting(Work::product, 2 * real(n) * real(n));
    cblas_dsymv(CblasColMajor, CblasUpper, narrow(n), 1.0, A.data(), leading(A), x.data(), 1, 0.0, y.data(), 1);
    const double before = std::exchange(gain, y.norm());
    if (!(gain > 0) || !std::isfinite(gain)) return gain;
    x = y / gain;
    if (k >= least && gain <= (1 + thresholds::kConditionSettled) * before) break;
  }
  return gain;
}

// ‖A‖_F of symmetric A (upper triangle read). At unit size, for squares of small numbers may be 0.
double frobenius_norm(const MatrixView& A) {
  double size = 0, squares = 0;
  for (Index j = 0; j < A.cols(); ++j) size = std::max(size, A.col(j).head(j + 1).cwiseAbs().maxCoeff());
  if (!(size > 0)) return size;
  for (Index j = 0; j < A.cols(); ++j) {
    squares += 2 * (A.col(j).head(j) / size).squaredNorm() + std::pow(A(j, j) / size, 2);
  }
  return size * std::sqrt(squares);
}

// Cholesky's factor in place of a matrix (upper triangle); false if it is not definite.
bool factorize(Matrix& R) {
  const Counting counting(Work::triangle, real(R.rows()) * real(R.size()) / 3);
  const lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', narrow(R.rows()), R.data(), leading(R));
  if (info < 0) check("potrf", info);
  return info == 0;
}

// sign A + shift I has a Cholesky factor: then its λ_min is above -n² eps times its largest diagonal entry.
bool is_definite(const MatrixView& A, double sign, double shift) {
  Matrix R = (sign * A).triangularView<Eigen::Upper>();
  R.diagonal().array() += shift;
  return factorize(R);
}

}  // namespace

std::optional<SymmetricEigen> leading_eigen(const MatrixView& A, const CountOf& wanted) {
  require(A.rows() == A.cols(), "eigenvalues of a matrix that is not square");
  constexpr Index small = 800;  // two threads gain nothing, and lose much where other programs want the second core
  const Index n = A.rows();
  const std::optional<SerialBlas> alone = n <= small ? std::optional<SerialBlas>(std::in_place) : std::nullopt;
  if (n < 3 || !A.triangularView<Eigen::Upper>().toDenseMatrix().allFinite()) return {};
  Matrix reflectors = A;
  Vector diagonal(n), beside(n - 1), tau(n - 1);
  double asked = 0;
  const auto reduce = [&](double* work, lapack_int size) {
    return LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', narrow(n), reflectors.data(), leading(reflectors),
                               diagonal.data(), beside.data(), tau.data(), work, size);
  };
  check("sytrd", reduce(&asked, -1));
  auto work = workspace(asked);
  if (!work) return {};
  Vector values(n);
  Index count = 0;
  {
    const Counting counting(Work::eigen, 4.0 / 3 * real(n) * real(n) * real(n));
    check("sytrd", reduce(work->data(), static_cast<lapack_int>(work->size())));
    values = diagonal;
    Vector destroyed = beside;
    const lapack_int info = LAPACKE_dsterf(narrow(n), values.data(), destroyed.data());
    if (info < 0) check("sterf", info);
    if (info > 0) return {};
    values.reverseInPlace();
    count = std::min(wanted(values), n);
  }
  if (count == 0) return SymmetricEigen{std::move(values), Matrix(n, 0)};
  const Counting counting(Work::eigen, 2 * real(n) * real(n) * real(count));
  std::optional<Matrix> Z = leading_tridiagonal(diagonal, beside, count);
  if (!Z) return {};
  const auto turn = [&](double* space, lapack_int size) {
    return LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', narrow(n), narrow(count), reflectors.data(),
                               leading(reflectors), tau.data(), Z->data(), leading(*Z), space, size);
  };
  check("ormtr", turn(&asked, -1));
  work = workspace(asked);
  if (!work) return {};
  check("ormtr", turn(work->data(), static_cast<lapack_int>(work->size())));
  const Matrix square = AtB(*Z, *Z);
  if (!((square - Matrix::Identity(count, count)).cwiseAbs().maxCoeff() <= thresholds::kOrthonormalVectors)) return {};
  return SymmetricEigen{std::move(values), std::move(*Z)};
}

SpectrumBounds spectrum_bounds(const MatrixView& A, double known, double most) {
  constexpr Index small = 192;
  constexpr std::array margins = {1.15, 2.0};  // power iteration may miss this much, on flat spectra
  const auto exact = [&]() -> SpectrumBounds {
    const Vector values = symmetric_eigenvalues(A);
    return {values(0), values(values.size() - 1)};
  };
  if (A.rows() <= small) return exact();
  if (known > 0) {
    const double norm = frobenius_norm(A);  // λ_max <= ‖A‖_F, which often decides
    if (norm <= most * known) return {norm, known};
  }
  const double about = largest_eigenvalue(A);
  double largest = 0, smallest = 0;
  for (const double margin : margins) {
    if (largest == 0 && about > 0 && is_definite(A, -1, margin * about)) largest = margin * about;
  }
  if (largest == 0) return exact();
  if (known > 0 && largest <= most * known) return {largest, known};
  const Matrix R = cholesky(A);
  if (R.size() == 0) return {largest, 0};
  const double kappa = condition(R), least = about / (kappa * kappa);  // λ_min, from above
  if (!(about <= most * least)) return {about, least};
  for (const double margin : margins) {
    const bool enough = smallest == 0 && largest * margin <= most * least;
    if (enough && is_definite(A, 1, -least / margin)) smallest = least / margin;
  }
  if (smallest == 0) return exact();
  return {largest, smallest};
}

}  // namespace cgmca::linalg
