// Singular values and eigenvalues.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/linalg/lapack.hpp"
#include "core/linalg/largest.hpp"

namespace cgmca::linalg {
namespace {

enum class Vectors { thin, full };

char letter(Vectors vectors) { return vectors == Vectors::thin ? 'S' : 'A'; }
Index left_vectors(Vectors vectors, const Matrix& A) { return vectors == Vectors::thin ? A.cols() : A.rows(); }

// A = U diag(s) Vᵀ of a tall A by gesdd (divide and conquer); nothing when it does not converge or its workspace, 4·n²
// numbers and more, is beyond LAPACK's integers.
std::optional<Svd> by_gesdd(Matrix A, Vectors vectors) {
  const Index m = A.rows(), n = A.cols();
  Matrix U(m, left_vectors(vectors, A)), VT(n, n);
  Vector s(n);
  if (4 * real(n) * real(n) + 7 * real(n) + real(m) >= kLargestInt) return {};
  std::vector<lapack_int> iwork(8 * n);
  double asked = 0;
  const auto call = [&](double* work, lapack_int size) {
    return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, letter(vectors), narrow(m), narrow(n), A.data(), leading(A), s.data(),
                               U.data(), leading(U), VT.data(), leading(VT), work, size, iwork.data());
  };
  check("gesdd", call(&asked, -1));
  auto work = workspace(asked);
  if (!work) return {};
  const lapack_int info = call(work->data(), static_cast<lapack_int>(work->size()));
  if (info < 0) check("gesdd", info);
  if (info > 0 || !s.allFinite()) return {};  // NaN is no success, whatever info says
  VT.transposeInPlace();
  return Svd{std::move(U), std::move(s), std::move(VT), SvdRoutine::gesdd};
}

// The same by gesvd (QR iteration), which needs only a workspace of 5·m where more cannot be had.
std::optional<Svd> by_gesvd(Matrix A, Vectors vectors) {
  const Index m = A.rows(), n = A.cols();
  Matrix U(m, left_vectors(vectors, A)), VT(n, n);
  Vector s(n);
  double asked = 0;
  const auto call = [&](double* work, lapack_int size) {
    return LAPACKE_dgesvd_work(LAPACK_COL_MAJOR, letter(vectors), letter(vectors), narrow(m), narrow(n), A.data(),
                               leading(A), s.data(), U.data(), leading(U), VT.data(), leading(VT), work, size);
  };
  check("gesvd", call(&asked, -1));
  auto work = workspace(asked);
  if (!work) work = workspace(5.0 * real(m));
  if (!work) return {};
  const lapack_int info = call(work->data(), static_cast<lapack_int>(work->size()));
  if (info < 0) check("gesvd", info);
  if (info > 0 || !s.allFinite()) return {};
  VT.transposeInPlace();
  return Svd{std::move(U), std::move(s), std::move(VT), SvdRoutine::gesvd};
}

// The same by one-sided Jacobi rotations (gesvj), which returns only the left vectors of nonzero singular values; the
// others complete the basis.
std::optional<Svd> by_jacobi(Matrix A, Vectors vectors) {
  const Index m = A.rows(), n = A.cols();
  Matrix V(n, n);
  Vector s(n);
  std::vector<double> stat(std::max<std::size_t>(6, static_cast<std::size_t>(m + n)));
  const lapack_int info =
      LAPACKE_dgesvj_work(LAPACK_COL_MAJOR, 'G', 'U', 'V', narrow(m), narrow(n), A.data(), leading(A), s.data(), 0,
                          V.data(), leading(V), stat.data(), narrow(std::ssize(stat)));
  if (info < 0) check("gesvj", info);
  if (info > 0 || !s.allFinite()) return {};
  s *= stat[0];
  const auto rank = static_cast<Index>(stat[1]);
  return Svd{complete_basis(A.leftCols(rank), left_vectors(vectors, A)), std::move(s), std::move(V),
             SvdRoutine::jacobi};
}

// A wide matrix is transposed first: LAPACK's routines for tall ones are up to twice as fast.
Svd svd(const MatrixView& A, Vectors vectors, SvdRoutine first) {
  const bool wide = A.rows() < A.cols();
  const Index longer = std::max(A.rows(), A.cols()), shorter = std::min(A.rows(), A.cols());
  const auto tall = [&]() -> Matrix { return wide ? Matrix(A.transpose()) : Matrix(A); };
  if (!A.allFinite())
    throw NumericalFailure("SVD of a matrix with NaN or infinity (the data may overflow; rescale it)");
  const Counting counting(Work::svd, (6 * real(longer) + 20 * real(shorter)) * real(shorter) * real(shorter));
  std::optional<Svd> result;
  if (shorter == 0) {
    const Index columns = vectors == Vectors::thin ? 0 : longer;
    result = Svd{Matrix::Identity(longer, columns), Vector(0), Matrix(0, 0), first};
  }
  if (!result && first == SvdRoutine::gesdd) result = by_gesdd(tall(), vectors);
  if (!result && first != SvdRoutine::jacobi) result = by_gesvd(tall(), vectors);
  if (!result) result = by_jacobi(tall(), vectors);
  if (!result) {
    throw NumericalFailure(
        fmt::format("no SVD of a {}×{} matrix: gesdd, gesvd and Jacobi all failed to converge", A.rows(), A.cols()));
  }
  if (wide) std::swap(result->U, result->V);
  return std::move(*result);
}

}  // namespace

const char* name(SvdRoutine routine) {
  switch (routine) {
    case SvdRoutine::gesdd:
      return "gesdd";
    case SvdRoutine::gesvd:
      return "gesvd";
    case SvdRoutine::jacobi:
      return "jacobi";
    case SvdRoutine::gesvdp:
      return "gesvdp";
    case SvdRoutine::gesvd_after_gesvdp:
      return "gesvd";
  }
  return "?";
}

std::string described(SvdRoutine routine) {
  switch (routine) {
    case SvdRoutine::gesdd:
    case SvdRoutine::gesvdp:
      break;
    case SvdRoutine::gesvd:
      return "gesvd (gesdd failed)";
    case SvdRoutine::jacobi:
      return "jacobi (gesdd and gesvd failed)";
    case SvdRoutine::gesvd_after_gesvdp:
      return "gesvd (gesvdp failed)";
  }
  return name(routine);
}

Svd thin_svd(const MatrixView& A, SvdRoutine first) { return svd(A, Vectors::thin, first); }
Svd full_svd(const MatrixView& A, SvdRoutine first) { return svd(A, Vectors::full, first); }

Vector singular_values(const MatrixView& A) {
  const Index m = A.rows(), n = A.cols(), shorter = std::min(m, n);
  Vector s(shorter);
  if (shorter == 0) return s;
  if (!A.allFinite())
    throw NumericalFailure("singular values of a matrix with NaN or infinity (the data may overflow; rescale it)");
  {
    const Counting counting(Work::svd, 4 * real(std::max(m, n)) * real(shorter) * real(shorter));
    Matrix copy = A;
    std::vector<lapack_int> iwork(8 * shorter);
    double asked = 0, none = 0;
    const auto call = [&](double* work, lapack_int size) {
      return LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', narrow(m), narrow(n), copy.data(), leading(copy), s.data(),
                                 &none, 1, &none, 1, work, size, iwork.data());
    };
    check("gesdd", call(&asked, -1));
    if (auto work = workspace(asked)) {
      const lapack_int info = call(work->data(), static_cast<lapack_int>(work->size()));
      if (info < 0) check("gesdd", info);
      if (info == 0 && s.allFinite()) return s;
    }
  }
  return thin_svd(A, SvdRoutine::gesvd).s;
}

Bidiagonal bidiagonal(Matrix A) {
  const Index m = A.rows(), n = A.cols();
  require(m >= n, "the bidiagonal form of a wide matrix");
  if (n == 0) return {Matrix(m, 0), Vector(0), Vector(0), Matrix(0, 0)};
  const Counting counting(Work::svd, 4 * real(n) * real(n) * (real(m) - real(n) / 3) * 2);
  Vector diagonal(n), above(std::max<Index>(1, n - 1)), left(n), right(n);
  // Calls work with the room that LAPACK asks for, or with as little as will do.
  const auto with_room = [](const char* routine, Index least, const auto& call) {
    double asked = 0;
    check(routine, call(&asked, -1));
    auto work = workspace(asked);
    if (!work) work = workspace(real(least));
    check(routine, call(work->data(), static_cast<lapack_int>(work->size())));
  };
  with_room("gebrd", m, [&](double* work, lapack_int size) {
    return LAPACKE_dgebrd_work(LAPACK_COL_MAJOR, narrow(m), narrow(n), A.data(), leading(A), diagonal.data(),
                               above.data(), left.data(), right.data(), work, size);
  });
  Matrix VT = A.topRows(n);
  with_room("orgbr", n, [&](double* work, lapack_int size) {
    return LAPACKE_dorgbr_work(LAPACK_COL_MAJOR, 'P', narrow(n), narrow(n), narrow(m), VT.data(), leading(VT),
                               right.data(), work, size);
  });
  with_room("orgbr", n, [&](double* work, lapack_int size) {
    return LAPACKE_dorgbr_work(LAPACK_COL_MAJOR, 'Q', narrow(m), narrow(n), narrow(n), A.data(), leading(A),
                               left.data(), work, size);
  });
  VT.transposeInPlace();
  above.conservativeResize(n - 1);
  return {std::move(A), std::move(diagonal), std::move(above), std::move(VT)};
}

// For few rows: (AAᵀ)^-½ A, at a fraction of the cost of an SVD. Its error is eps κ(A)² with a limit on κ, and one step
// of Newton's iteration X ← X - ½ (XXᵀ - I) X squares that error.
Matrix polar(const MatrixView& A) {
  constexpr double least = 1e-6;  // of κ⁻²
  if (4 * A.rows() <= A.cols()) {
    const Matrix square = ABt(A, A);
    if (square.allFinite()) {
      const SymmetricEigen eigen = symmetric_eigen(square);
      const Vector& values = eigen.values;
      if (values.size() > 0 && values(values.size() - 1) > least * values(0)) {
        const Matrix root = eigen.Q * values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.Q.transpose();
        Matrix X = AB(root, A);
        Matrix rest = ABt(X, X);
        rest.diagonal().array() -= 1;
        X -= 0.5 * AB(rest, X);
        return X;
      }
    }
  }
  const Svd svd = thin_svd(A);
  return ABt(svd.U, svd.V);
}

namespace {

// syevd (divide and conquer), then syev (QR iteration) where that does not converge; ascending.
Vector ascending_eigenvalues(char job, const MatrixView& A, Matrix& Q) {
  require(A.rows() == A.cols(), "eigenvalues of a matrix that is not square");
  const Index n = A.rows();
  Vector values(n);
  if (n == 0) return values;
  if (!A.triangularView<Eigen::Upper>().toDenseMatrix().allFinite()) {
    throw NumericalFailure("eigenvalues of a matrix with NaN or infinity (the data may overflow; rescale it)");
  }
  Q = A;
  const Counting counting(Work::eigen, (job == 'V' ? 9 : 4.0 / 3) * real(n) * real(n) * real(n));
  double asked = 0;
  lapack_int iasked = 0;
  const double size = static_cast<double>(n);
  if (1 + 6 * size + 2 * size * size < kLargestInt) {
    const auto call = [&](double* work, lapack_int lwork, lapack_int* iwork, lapack_int liwork) {
      return LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', narrow(n), Q.data(), leading(Q), values.data(), work,
                                 lwork, iwork, liwork);
    };
    check("syevd", call(&asked, -1, &iasked, -1));
    if (auto work = workspace(asked)) {
      std::vector<lapack_int> iwork(std::max<lapack_int>(1, iasked));
      const lapack_int info = call(work->data(), static_cast<lapack_int>(work->size()), iwork.data(),
                                   static_cast<lapack_int>(iwork.size()));
      if (info < 0) check("syevd", info);
      if (info == 0 && values.allFinite()) return values;
      Q = A;
    }
  }
  const auto call = [&](double* work, lapack_int lwork) {
    return LAPACKE_dsyev_work(LAPACK_COL_MAJOR, job, 'U', narrow(n), Q.data(), leading(Q), values.data(), work, lwork);
  };
  check("syev", call(&asked, -1));
  auto work = workspace(asked);
  if (!work) work = workspace(3 * size);
  check("syev", call(work->data(), static_cast<lapack_int>(work->size())));
  if (!values.allFinite()) throw NumericalFailure("syev reports success with eigenvalues that are NaN or infinite");
  return values;
}

}  // namespace

SymmetricEigen symmetric_eigen(const MatrixView& A) {
  Matrix Q(A.rows(), A.cols());
  const Vector ascending = ascending_eigenvalues('V', A, Q);
  return {ascending.reverse(), Q.rowwise().reverse()};
}

Vector symmetric_eigenvalues(const MatrixView& A) {
  Matrix Q;
  return ascending_eigenvalues('N', A, Q).reverse();
}

namespace {

// Those in (low, high], or the first-th to last-th in ascending order from 1; nothing if syevr does not converge.
struct Wanted {
  char range;  // 'V' for values, 'I' for places
  double low, high;
  Index first, last;
};
std::optional<SymmetricEigen> some_eigen(const MatrixView& A, const Wanted& wanted) {
  require(A.rows() == A.cols(), "eigenvalues of a matrix that is not square");
  require(A.allFinite(), "eigenvalues of a matrix with NaN or infinity");
  const Index n = A.rows();
  Matrix copy = A, Q(n, wanted.range == 'I' ? wanted.last - wanted.first + 1 : n);
  Vector values(n);
  std::vector<lapack_int> support(2 * n);
  lapack_int found = 0, iasked = 0;
  double asked = 0;
  const Counting counting(Work::eigen, 3 * real(n) * real(n) * real(n));
  const auto call = [&](double* work, lapack_int lwork, lapack_int* iwork, lapack_int liwork) {
    return LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', wanted.range, 'U', narrow(n), copy.data(), leading(copy),
                               wanted.low, wanted.high, narrow(wanted.first), narrow(wanted.last), 0.0, &found,
                               values.data(), Q.data(), leading(Q), support.data(), work, lwork, iwork, liwork);
  };
  check("syevr", call(&asked, -1, &iasked, -1));
  std::vector<double> work(static_cast<std::size_t>(asked));
  std::vector<lapack_int> iwork(iasked);
  const lapack_int info =
      call(work.data(), static_cast<lapack_int>(work.size()), iwork.data(), static_cast<lapack_int>(iwork.size()));
  if (info < 0) check("syevr", info);
  if (info > 0) return std::nullopt;
  return SymmetricEigen{values.head(found).reverse(), Q.leftCols(found).rowwise().reverse()};
}

}  // namespace

SymmetricEigen symmetric_eigen_between(const MatrixView& A, double low, double high) {
  if (A.rows() == 0 || !(low < high)) return {Vector(0), Matrix(A.rows(), 0)};
  if (auto found = some_eigen(A, {'V', low, high, 0, 0})) return *found;
  const SymmetricEigen all = symmetric_eigen(A);
  const Index above = (all.values.array() > high).count(), inside = (all.values.array() > low).count() - above;
  return {all.values.segment(above, inside), all.Q.middleCols(above, inside)};
}

SymmetricEigen symmetric_eigen_largest(const MatrixView& A, Index count) {
  const Index n = A.rows();
  require(count >= 0 && count <= n, "more eigenvalues than there are");
  if (count == 0) return {Vector(0), Matrix(n, 0)};
  if (auto found = some_eigen(A, {'I', 0, 0, n - count + 1, n}); found && found->values.size() == count) return *found;
  const SymmetricEigen all = symmetric_eigen(A);
  return {all.values.head(count), all.Q.leftCols(count)};
}

}  // namespace cgmca::linalg
