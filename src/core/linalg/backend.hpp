// The interface between the mathematics and the machine: all operations of a fit on large matrices.
//
// The back end of this library is the processor, cpu(), by BLAS and LAPACK (linalg.hpp). Another one, such as that of
// libcgmca_cuda (src/cuda), keeps its arrays in other memory and implements the same operations. A stage treats a
// remote back end differently only to save transfers. Operations return new arrays, except for those whose names begin
// with add, scale, assign, zero or solve_in_place: these change their first argument. Vectors, and what is decided by
// them, are always on the host. Shapes are checked; a wrong one is an InternalError.
#pragma once

#include <cgmca/samples.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/linalg/array.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca::linalg {

using Indices = std::vector<Index>;

struct ArraySvd {  // A = U diag(s) Vᵀ, s descending; U and V may have fewer columns than s has entries
  Array U;
  Vector s;
  Array V;
  SvdRoutine routine{};
};
struct ArrayEigen {  // A = Q diag(values) Qᵀ, descending
  Vector values;
  Array Q;
};
struct ArrayQr {
  Array Q, R;
};
struct ArrayPivoted {  // R, whose k-th column belongs to feature order[k]
  Array R;
  Indices order;
};

// R⁻ᵀ B for one upper triangular R and many B.
class ArraySolver {
 public:
  virtual ~ArraySolver() = default;
  virtual const Array& R() const = 0;
  virtual void solve_transposed_in_place(const Array& B) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // A remote back end has its own memory, so samples should be transferred once. Products are so much faster there than
  // factorizations that spectra of well-conditioned matrices may come from their squares.
  virtual std::string name() const { return "cpu"; }
  virtual bool remote() const { return false; }
  // Throws DeviceError, with the figures, if there is no room for so many more numbers.
  virtual void require_room(double /*numbers*/, const std::string& /*what_for*/) const {}
  // Whether samples are already in the memory of a remote back end, which alone can read them.
  virtual bool holds(const SampleView& /*X*/) const { return false; }
  // Waits until all operations are done. Afterwards nothing reads a caller's memory, and other threads may read results.
  virtual void wait() const {}
  virtual bool within(const SampleView& X, double limit) const = 0;                 // all |x| <= limit, none NaN
  virtual Matrix fetched(const SampleView& X, Index first, Index count) const = 0;  // on the host, as doubles

  // Memory.
  virtual Array zeros(Index m, Index n) const = 0;
  virtual Array upload(Matrix A) const = 0;
  virtual Matrix download(Array A) const = 0;  // moved, not copied, if A is the last to name its numbers
  virtual Array copy(const Array& A) const = 0;
  virtual Array transposed(const Array& A) const = 0;
  virtual void assign(const Array& to, const Array& A) const = 0;
  virtual void assign_lower_from_upper(const Array& A) const = 0;

  // (x - origin) - mean of samples first … first + count - 1, all domains one above the other. `features` selects some
  // of the features; null stands for all.   origin, mean: p
  virtual Array load(const MatchedSamples& X, Index first, Index count, const Vector& origin, const Vector& mean,
                     const Indices* features = nullptr) const = 0;
  // All samples so, transposed: n × features.
  virtual Array load_transposed(const MatchedSamples& X, const Vector& origin, const Vector& mean,
                                const Indices& features) const = 0;
  virtual Vector sum_of_deviations(const MatchedSamples& X, const Vector& origin) const = 0;  // Σ_j (x_j - origin)

  // Rows and columns by their places.
  virtual Array gather(const Array& A, const Indices& rows, const Indices& columns) const = 0;  // A(rows, columns)
  virtual Array gather_rows(const Array& A, const Indices& rows) const = 0;
  virtual Array gather_transposed_rows(const Array& A, const Indices& rows) const = 0;  // A(rows, :)ᵀ
  virtual Array scatter_rows(const Array& A, const Indices& rows, Index m) const = 0;   // m rows, others zero
  virtual void assign_at(const Array& to, const Indices& rows, const Indices& columns, const Array& A) const = 0;
  virtual void zero_columns(const Array& A, const Indices& columns) const = 0;

  // Number by number.
  virtual void scale(const Array& A, double by) const = 0;
  virtual void scale_rows(const Array& A, const Vector& by) const = 0;
  virtual void scale_columns(const Array& A, const Vector& by) const = 0;
  virtual void add(const Array& A, const Array& B, double weight = 1) const = 0;  // A + weight B
  virtual void add_diagonal(const Array& A, const Vector& values) const = 0;
  virtual void assign_diagonal(const Array& A, const Vector& values) const = 0;
  virtual Vector diagonal(const Array& A) const = 0;
  virtual Vector row_squared_norms(const Array& A) const = 0;
  virtual Vector column_squared_norms(const Array& A) const = 0;
  virtual Vector row_sums(const Array& A) const = 0;
  virtual Vector row_absolute_sums(const Array& A) const = 0;
  virtual Vector column_largest(const Array& A) const = 0;       // the largest |a_ij| of each column
  virtual double dot(const Array& A, const Array& B) const = 0;  // Σ a_ij b_ij
  // +1 or -1 for each column: the factor that makes its largest entry positive, the first of those equal to rounding.
  virtual Vector signs_of_columns(const Array& A) const = 0;

  // Products.
  virtual Array AB(const Array& A, const Array& B) const = 0;
  virtual Array AtB(const Array& A, const Array& B) const = 0;
  virtual Array ABt(const Array& A, const Array& B) const = 0;
  virtual void add_ABt(const Array& C, const Array& A, const Array& B) const = 0;      // C + ABᵀ
  virtual void add_gram(const Array& G, const Array& X, double weight = 1) const = 0;  // G + weight XXᵀ, upper
  virtual void add_gram_of_columns(const Array& G, const Array& X) const = 0;          // G + XᵀX, upper
  virtual Vector symmetric_times(const Array& G, const Vector& x) const = 0;           // upper triangle read

  // Triangles: R is upper triangular.
  virtual Array cholesky(const Array& G) const = 0;  // RᵀR = G; empty if G is not definite
  virtual ArrayPivoted pivoted_cholesky(const Array& G, double tolerance) const = 0;  // as linalg::pivoted_cholesky
  virtual Array solve_upper(const Array& R, const Array& B) const = 0;
  virtual Array solve_upper_transposed(const Array& R, const Array& B) const = 0;
  virtual Array upper_times(const Array& R, const Array& E) const = 0;
  virtual Array upper_transposed_times(const Array& R, const Array& E) const = 0;
  virtual Array upper_times_upper(const Array& L, const Array& R) const = 0;
  virtual double condition(const Array& R) const = 0;
  virtual std::shared_ptr<const ArraySolver> solver(const Array& R) const = 0;

  // QR factorizations.
  virtual Array triangular_factor(Array X) const = 0;  // RᵀR = XᵀX, p×p
  virtual ArrayPivoted pivoted_triangular_factor(Array X) const = 0;
  virtual ArrayQr thin_qr(Array X) const = 0;

  // Spectra.
  virtual ArraySvd thin_svd(const Array& A) const = 0;
  virtual ArraySvd full_svd(const Array& A) const = 0;
  virtual ArrayEigen symmetric_eigen(const Array& A) const = 0;    // upper triangle read
  virtual Vector symmetric_eigenvalues(const Array& A) const = 0;  // descending
  // Bounds of the spectrum of A (upper triangle). `known` are bounds of an A₀ with A - A₀ positive semidefinite, so that
  // its `smallest` holds for A too.
  virtual SpectrumBounds spectrum_bounds(const Array& A, const SpectrumBounds& known) const = 0;

  // What is composed of these.
  Array identity(Index m, Index n) const;
  void add_outer(const Array& A, const Vector& x, const Vector& y, double weight) const;  // A + weight x yᵀ
  double squared_norm(const Array& A) const;
};

// The processor, by BLAS and LAPACK.
const Backend& cpu();

// As they are written, on the back end of A.
inline Array AB(const Array& A, const Array& B) { return A.on().AB(A, B); }
inline Array AtB(const Array& A, const Array& B) { return A.on().AtB(A, B); }
inline Array ABt(const Array& A, const Array& B) { return A.on().ABt(A, B); }
inline Matrix download(Array A) {
  const Backend& on = A.on();
  return on.download(std::move(A));
}
inline Array scaled_rows(const Vector& by, Array A) {  // diag(by) A, in place of A
  A.on().scale_rows(A, by);
  return A;
}
inline Array scaled_columns(Array A, const Vector& by) {  // A diag(by), in place of A
  A.on().scale_columns(A, by);
  return A;
}
Array beside(const Array& A, const Array& B);  // [A, B]
// Whether κ of a symmetric matrix (upper triangle read) is at most this, up to a factor of 2.
bool condition_is_at_most(const Array& G, double limit);
Array moved_to(const Backend& on, const Array& A);  // A itself if it is there already
// A B (X - x0) + y0 for many columns X, some at a time.
Matrix affine(const Backend& on, const MatrixView& A, const MatrixView& B, const MatrixView& X, const Vector& x0,
              const Vector& y0);

}  // namespace cgmca::linalg
