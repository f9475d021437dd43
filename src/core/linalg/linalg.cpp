#include "core/linalg/linalg.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "core/linalg/lapack.hpp"
#include "core/linalg/one_sample.hpp"

namespace cgmca::linalg {
namespace {

std::array<Counted, kWorks.size()> counted;

double qr_flops(Index m, Index n) {  // of m×n, m >= n
  return 2 * real(n) * real(n) * (real(m) - real(n) / 3);
}

// C = A B + before C, none of them empty.
void multiply(CBLAS_TRANSPOSE ta, const MatrixView& A, CBLAS_TRANSPOSE tb, const MatrixView& B, double before,
              Eigen::Ref<Matrix> C) {
  const Index inner = ta == CblasNoTrans ? A.cols() : A.rows();
  const Counting counting(Work::product, 2 * real(C.rows()) * real(C.cols()) * real(inner));
  cblas_dgemm(CblasColMajor, ta, tb, narrow(C.rows()), narrow(C.cols()), narrow(inner), 1.0, A.data(), leading(A),
              B.data(), leading(B), before, C.data(), leading(C));
}

Matrix product(CBLAS_TRANSPOSE ta, const MatrixView& A, CBLAS_TRANSPOSE tb, const MatrixView& B) {
  const Index m = ta == CblasNoTrans ? A.rows() : A.cols();
  const Index inner = ta == CblasNoTrans ? A.cols() : A.rows();
  const Index n = tb == CblasNoTrans ? B.cols() : B.rows();
  require(inner == (tb == CblasNoTrans ? B.rows() : B.cols()), "inner dimensions of a product differ");
  if (m == 0 || n == 0 || inner == 0) return Matrix::Zero(m, n);
  Matrix C(m, n);
  multiply(ta, A, tb, B, 0, C);
  return C;
}

// R of X in place, by a recursive panel factorization whose updates are products with as many columns as a panel has.
void triangulate(Matrix& X) {
  const Counting counting(Work::qr, qr_flops(std::max(X.rows(), X.cols()), std::min(X.rows(), X.cols())));
  const Index block = std::min<Index>({64, X.rows(), X.cols()});
  Matrix T(block, std::min(X.rows(), X.cols()));
  std::vector<double> work(block * X.cols());
  check("geqrt", LAPACKE_dgeqrt_work(LAPACK_COL_MAJOR, narrow(X.rows()), narrow(X.cols()), narrow(block), X.data(),
                                     leading(X), T.data(), leading(T), work.data()));
}

// Householder vectors and R of X in place.
Vector householder(Matrix& X) {
  const Counting counting(Work::qr, qr_flops(std::max(X.rows(), X.cols()), std::min(X.rows(), X.cols())));
  Vector tau(std::min(X.rows(), X.cols()));
  double asked = 0;
  const auto call = [&](double* work, lapack_int size) {
    return LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, narrow(X.rows()), narrow(X.cols()), X.data(), leading(X), tau.data(),
                               work, size);
  };
  check("geqrf", call(&asked, -1));
  auto work = workspace(asked);
  if (!work) work = workspace(static_cast<double>(X.cols()));
  check("geqrf", call(work->data(), static_cast<lapack_int>(work->size())));
  return tau;
}

// The first columns of the orthogonal factor whose Householder vectors Q holds, in place.
void form_orthogonal(Matrix& Q, const Vector& tau) {
  const Counting counting(Work::qr, qr_flops(Q.rows(), Q.cols()));
  double asked = 0;
  const auto call = [&](double* work, lapack_int size) {
    return LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, narrow(Q.rows()), narrow(Q.cols()), narrow(tau.size()), Q.data(),
                               leading(Q), tau.data(), work, size);
  };
  check("orgqr", call(&asked, -1));
  auto work = workspace(asked);
  if (!work) work = workspace(static_cast<double>(Q.cols()));
  check("orgqr", call(work->data(), static_cast<lapack_int>(work->size())));
}

}  // namespace

Counted& counter(Work work) { return counted[static_cast<std::size_t>(work)]; }

const char* name(Work work) {
  switch (work) {
    case Work::product:
      return "product";
    case Work::triangle:
      return "triangle";
    case Work::gram:
      return "gram";
    case Work::qr:
      return "qr";
    case Work::eigen:
      return "eigen";
    case Work::svd:
      return "svd";
  }
  return "?";
}

Cost cost(Work work) { return {counter(work).operations.load(), counter(work).seconds.load()}; }

double operations() {
  double sum = 0;
  for (Work work : kWorks) sum += cost(work).operations;
  return sum;
}

Matrix AB(const MatrixView& A, const MatrixView& B) { return product(CblasNoTrans, A, CblasNoTrans, B); }
Matrix AtB(const MatrixView& A, const MatrixView& B) { return product(CblasTrans, A, CblasNoTrans, B); }
Matrix ABt(const MatrixView& A, const MatrixView& B) { return product(CblasNoTrans, A, CblasTrans, B); }

void add_ABt(Eigen::Ref<Matrix> C, const MatrixView& A, const MatrixView& B) {
  require(C.rows() == A.rows() && C.cols() == B.rows() && A.cols() == B.cols(), "a product added to another shape");
  if (C.size() > 0 && A.cols() > 0) multiply(CblasNoTrans, A, CblasTrans, B, 1, C);
}

Matrix ABC(const MatrixView& A, const MatrixView& B, const MatrixView& C) {
  const auto cost = [](Index m, Index inner, Index n) {
    return static_cast<double>(m) * static_cast<double>(inner) * static_cast<double>(n);
  };
  const double left_first = cost(A.rows(), A.cols(), B.cols()) + cost(A.rows(), B.cols(), C.cols());
  const double right_first = cost(B.rows(), B.cols(), C.cols()) + cost(A.rows(), A.cols(), C.cols());
  return left_first < right_first ? AB(AB(A, B), C) : AB(A, AB(B, C));
}

bool joined_first(const MatrixView& A, const MatrixView& B, Index samples) {
  const double m = real(A.rows()), c = real(A.cols()), d = real(B.cols()), n = real(samples);
  return m * c * d + m * d * n < c * d * n + m * c * n;
}

void multiply_into(const MatrixView& A, const MatrixView& B, Eigen::Ref<Matrix> C) {
  require(A.cols() == B.rows() && C.rows() == A.rows() && C.cols() == B.cols(),
          "a product with shapes that do not fit");
  if (C.size() == 0) return;
  if (A.cols() == 0) {
    C.setZero();
  } else {
    multiply(CblasNoTrans, A, CblasNoTrans, B, 0, C);
  }
}

Matrix affine(const MatrixView& A, const MatrixView& B, const MatrixView& X, const Vector& x0, const Vector& y0) {
  require(A.cols() == B.rows() && B.cols() == X.rows() && x0.size() == X.rows() && y0.size() == A.rows(),
          "an affine map with shapes that do not fit");
  constexpr Index columns = 4096;
  const bool as_one = joined_first(A, B, X.cols());
  const Matrix both = as_one ? AB(A, B) : Matrix();
  Matrix Y(A.rows(), X.cols());
  for (Index first = 0; first < X.cols(); first += columns) {
    const Index count = std::min(columns, X.cols() - first);
    const Matrix centred = X.middleCols(first, count).colwise() - x0;
    Y.middleCols(first, count) = (as_one ? AB(both, centred) : AB(A, AB(B, centred))).colwise() + y0;
  }
  return Y;
}

Matrix beside(const MatrixView& A, const MatrixView& B) {
  Matrix both(A.rows(), A.cols() + B.cols());
  both << A, B;
  return both;
}

void add_gram_of_columns(Eigen::Ref<Matrix> G, const MatrixView& X) {
  require(G.rows() == G.cols() && G.rows() == X.cols(), "Gram matrix of columns of another number");
  if (G.size() == 0 || X.rows() == 0) return;
  const Counting counting(Work::gram, real(X.cols()) * real(X.size()));
  cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, narrow(X.cols()), narrow(X.rows()), 1.0, X.data(), leading(X), 1.0,
              G.data(), leading(G));
}

void add_gram(Eigen::Ref<Matrix> G, const MatrixView& X, double weight) {
  require(G.rows() == G.cols() && G.rows() == X.rows(), "Gram update with shapes that do not fit");
  if (X.size() == 0) return;
  const Counting counting(Work::gram, real(X.rows()) * real(X.size()));
  cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, narrow(X.rows()), narrow(X.cols()), weight, X.data(), leading(X),
              1.0, G.data(), leading(G));
}

Matrix triangular_factor(Matrix X) {
  const Index m = X.rows(), p = X.cols();
  if (m > 0 && p > 0) triangulate(X);
  Matrix R = Matrix::Zero(p, p);
  const Index rows = std::min(m, p);
  R.topRows(rows) = X.topRows(rows).triangularView<Eigen::Upper>();
  return R;
}

PivotedQr pivoted_triangular_factor(Matrix X) {
  const Index m = X.rows(), p = X.cols(), rows = std::min(m, p);
  PivotedQr result{Matrix::Zero(p, p), std::vector<Index>(p)};
  if (rows > 0) {
    const Counting counting(Work::qr, qr_flops(std::max(m, p), rows));
    std::vector<lapack_int> order(p);
    Vector tau(rows);
    double asked = 0;
    const auto call = [&](double* work, lapack_int size) {
      return LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, narrow(m), narrow(p), X.data(), leading(X), order.data(), tau.data(),
                                 work, size);
    };
    check("geqp3", call(&asked, -1));
    auto work = workspace(asked);
    if (!work) work = workspace(3 * real(p) + 1);
    check("geqp3", call(work->data(), static_cast<lapack_int>(work->size())));
    for (std::size_t j = 0; j < order.size(); ++j) result.order[j] = order[j] - 1;
    result.R.topRows(rows) = X.topRows(rows).triangularView<Eigen::Upper>();
  }
  return result;
}

Qr thin_qr(Matrix T) {
  require(T.rows() >= T.cols(), "thin QR of a matrix with more columns than rows");
  if (T.cols() == 0) return {T, Matrix(0, 0)};
  const Vector tau = householder(T);
  Matrix R = T.topRows(T.cols()).triangularView<Eigen::Upper>();
  form_orthogonal(T, tau);
  return {std::move(T), std::move(R)};
}

Matrix complete_basis(const MatrixView& U, Index columns) {
  const Index m = U.rows(), r = U.cols();
  require(r <= columns && columns <= m, "a basis of more vectors than dimensions");
  if (r == columns) return U;
  if (r == 0) return Matrix::Identity(m, columns);
  // The Householder vectors of U = Q R span with Q's first r columns the same space as U; the
  // others complete it.
  Matrix Q = Matrix::Zero(m, columns);
  Matrix V = U;
  const Vector tau = householder(V);
  Q.leftCols(r) = V;
  form_orthogonal(Q, tau);
  Q.leftCols(r) = U;
  return Q;
}

Matrix left_inverse(const MatrixView& M) {
  const Qr qr = thin_qr(M);  // M⁺ = R⁻¹Qᵀ
  return solve_upper(qr.R, qr.Q.transpose());
}

}  // namespace cgmca::linalg
