// Dense linear algebra: the only place that calls BLAS and LAPACK.
//
// Shapes are checked, 64-bit sizes are checked before they are narrowed to LAPACK's integers, and
// every info code is looked at. Matrices go in as views; raw pointers and info codes stop in
// linalg.cpp.
#pragma once

#include <array>
#include <cgmca/types.hpp>
#include <string>
#include <vector>

namespace cgmca::linalg {

// The cost of all calls so far, on all threads: nominal floating point operations, and seconds.
enum class Work { product, triangle, gram, qr, eigen, svd };
inline constexpr std::array kWorks = {Work::product, Work::triangle, Work::gram, Work::qr, Work::eigen, Work::svd};
const char* name(Work work);
struct Cost {
  double operations = 0, seconds = 0;
};
Cost cost(Work work);
double operations();  // of every kind

// Products, named as they are written.
Matrix AB(const MatrixView& A, const MatrixView& B);                           // A B
Matrix AtB(const MatrixView& A, const MatrixView& B);                          // Aᵀ B
Matrix ABt(const MatrixView& A, const MatrixView& B);                          // A Bᵀ
void add_ABt(Eigen::Ref<Matrix> C, const MatrixView& A, const MatrixView& B);  // C + A Bᵀ
Matrix ABC(const MatrixView& A, const MatrixView& B,
           const MatrixView& C);  // A B C, in the cheaper order

// A B (X - x0) + y0 for many columns X, some at a time, so that nothing else of X's size is needed.
Matrix affine(const MatrixView& A, const MatrixView& B, const MatrixView& X, const Vector& x0, const Vector& y0);

// [A, B]
Matrix beside(const MatrixView& A, const MatrixView& B);

// G += weight · X Xᵀ in the upper triangle.   G: p×p, X: p×m
void add_gram(Eigen::Ref<Matrix> G, const MatrixView& X, double weight = 1);

// G += XᵀX in the upper triangle.   G: m×m, X: p×m
void add_gram_of_columns(Eigen::Ref<Matrix> G, const MatrixView& X);

// A = U diag(s) Vᵀ with s descending.   A: m×n, thin: U m×min, V n×min; full: U m×m, V n×n
enum class SvdRoutine { gesdd, gesvd, jacobi, gesvdp, gesvd_after_gesvdp };  // the last two of cuSOLVER
const char* name(SvdRoutine routine);
std::string described(SvdRoutine routine);  // with those that failed before it: "gesvd (gesdd failed)"

struct Svd {
  Matrix U;
  Vector s;
  Matrix V;
  SvdRoutine routine;  // the one that succeeded
};

// Divide and conquer (gesdd); where that fails to converge, which happens on real data, QR
// iteration (gesvd), then one-sided Jacobi. Throws NumericalFailure when all three fail. `first`
// starts further down that list.
Svd thin_svd(const MatrixView& A, SvdRoutine first = SvdRoutine::gesdd);
Svd full_svd(const MatrixView& A, SvdRoutine first = SvdRoutine::gesdd);
Vector singular_values(const MatrixView& A);  // descending

// A = U B Vᵀ with B upper bidiagonal, at a fraction of the cost and memory of an SVD.   A: m×n, m >= n; U: m×n, V: n×n
struct Bidiagonal {
  Matrix U;
  Vector diagonal, above;  // of B
  Matrix V;
};
Bidiagonal bidiagonal(Matrix A);

// U Vᵀ of A's thin SVD: of all matrices with orthonormal rows (columns where A is tall) the one with the largest
// tr(AᵀX), which is the sum of A's singular values.
Matrix polar(const MatrixView& A);

// A = Q diag(values) Qᵀ with values descending, for symmetric A (upper triangle read).
struct SymmetricEigen {
  Vector values;
  Matrix Q;
};
SymmetricEigen symmetric_eigen(const MatrixView& A);
Vector symmetric_eigenvalues(const MatrixView& A);  // descending
// λ_max <= largest and λ_min >= smallest of a symmetric matrix.
struct SpectrumBounds {
  double largest = 0, smallest = 0;
};
// Only the eigenvalues in (low, high] and their vectors. If they are few, this costs a third.
SymmetricEigen symmetric_eigen_between(const MatrixView& A, double low, double high);

// Upper triangular R with RᵀR = X ᵀX, for X of any shape m×p.
Matrix triangular_factor(Matrix X);

// The same of X with its columns in an order in which the diagonal of R descends.
struct PivotedQr {
  Matrix R;
  std::vector<Index> order;
};
PivotedQr pivoted_triangular_factor(Matrix X);

// Upper triangular R with RᵀR = G for positive definite G (upper triangle read); empty when G is
// not.
Matrix cholesky(const MatrixView& G);

// R (r×p, upper trapezoidal) with RᵀR = G(order, order) for positive semidefinite G (upper triangle read), to within
// tolerance · max G_jj: the next feature is always the one of which those before leave most.
struct PivotedCholesky {
  Matrix R;
  std::vector<Index> order;
};
PivotedCholesky pivoted_cholesky(const MatrixView& G, double tolerance);

// T = Q R for T of full column rank.   T: m×c, Q: m×c, R: c×c
struct Qr {
  Matrix Q, R;
};
Qr thin_qr(Matrix T);

// σ_max/σ_min of upper triangular R, to within some ten per cent (power iteration); not finite if R is singular.
double condition(const MatrixView& R);
double condition(const MatrixView& R, double settled);  // until a step of the iteration gains less than this

// R E and Rᵀ E for upper triangular R.
Matrix upper_times(const MatrixView& R, Matrix E);
Matrix upper_times_upper(const MatrixView& L, Matrix R);  // for R upper triangular too, and so is L R
Matrix upper_transposed_times(const MatrixView& R, Matrix E);

// The first `columns` columns of an orthogonal matrix that begins with U.   U: m×r with orthonormal
// columns
Matrix complete_basis(const MatrixView& U, Index columns);

// R⁻¹ B and R⁻ᵀ B for upper triangular R.
Matrix solve_upper(const MatrixView& R, Matrix B);
Matrix solve_upper_transposed(const MatrixView& R, Matrix B);

// R⁻ᵀ B for one R and many B: diagonal blocks that are well conditioned are inverted once.
class TriangularSolver {
 public:
  TriangularSolver() = default;
  explicit TriangularSolver(Matrix R);
  const Matrix& R() const { return R_; }
  void solve_transposed(Eigen::Ref<Matrix> B) const;  // in place

 private:
  Matrix R_;
  std::vector<Matrix> inverses_;  // empty ones if a block is not
};

// Pseudo-inverse M⁺ = (MᵀM)⁻¹Mᵀ of a matrix of full column rank.   M: k×c, M⁺: c×k
Matrix left_inverse(const MatrixView& M);

}  // namespace cgmca::linalg
