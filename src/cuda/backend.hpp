// The back end of linalg on one NVIDIA GPU, by cuBLAS and cuSOLVER.
//
// Operations are queued on one stream, in order; those that return vectors or matrices of the host wait. Several
// threads may call at once: each operation waits for its turn.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "core/linalg/backend.hpp"
#include "cuda/context.hpp"
#include "cuda/lock.hpp"
#include "cuda/transfer.hpp"

namespace cgmca::cuda {

using linalg::Array;
using linalg::Indices;

class Cuda final : public linalg::Backend {
 public:
  explicit Cuda(const linalg::Backend& host) : host_(host), transfer_(context_) {}

  std::string name() const override { return "cuda"; }
  bool remote() const override { return true; }
  void require_room(double numbers, const std::string& what_for) const override;
  bool holds(const SampleView& X) const override;
  void wait() const override;
  bool within(const SampleView& X, double limit) const override;
  Matrix fetched(const SampleView& X, Index first, Index count) const override;

  Array zeros(Index m, Index n) const override;
  Array upload(Matrix A) const override;
  Matrix download(Array A) const override;
  Array copy(const Array& A) const override;
  Array transposed(const Array& A) const override;
  void assign(const Array& to, const Array& A) const override;
  void assign_lower_from_upper(const Array& A) const override;

  Array load(const MatchedSamples& X, Index first, Index count, const Vector& origin, const Vector& mean,
             const Indices* features) const override;
  Array load_transposed(const MatchedSamples& X, const Vector& origin, const Vector& mean,
                        const Indices& features) const override;
  Vector sum_of_deviations(const MatchedSamples& X, const Vector& origin) const override;

  Array gather(const Array& A, const Indices& rows, const Indices& columns) const override;
  Array gather_rows(const Array& A, const Indices& rows) const override;
  Array gather_transposed_rows(const Array& A, const Indices& rows) const override;
  Array scatter_rows(const Array& A, const Indices& rows, Index m) const override;
  void assign_at(const Array& to, const Indices& rows, const Indices& columns, const Array& A) const override;
  void zero_columns(const Array& A, const Indices& columns) const override;

  void scale(const Array& A, double by) const override;
  void scale_rows(const Array& A, const Vector& by) const override;
  void scale_columns(const Array& A, const Vector& by) const override;
  void add(const Array& A, const Array& B, double weight) const override;
  void add_diagonal(const Array& A, const Vector& values) const override;
  void assign_diagonal(const Array& A, const Vector& values) const override;
  Vector diagonal(const Array& A) const override;
  Vector row_squared_norms(const Array& A) const override;
  Vector column_squared_norms(const Array& A) const override;
  Vector row_sums(const Array& A) const override;
  Vector row_absolute_sums(const Array& A) const override;
  Vector column_largest(const Array& A) const override;
  double dot(const Array& A, const Array& B) const override;
  Vector signs_of_columns(const Array& A) const override;

  Array AB(const Array& A, const Array& B) const override;
  Array AtB(const Array& A, const Array& B) const override;
  Array ABt(const Array& A, const Array& B) const override;
  void add_ABt(const Array& C, const Array& A, const Array& B) const override;
  void add_gram(const Array& G, const Array& X, double weight) const override;
  void add_gram_of_columns(const Array& G, const Array& X) const override;
  Vector symmetric_times(const Array& G, const Vector& x) const override;

  Array cholesky(const Array& G) const override;
  linalg::ArrayPivoted pivoted_cholesky(const Array& G, double tolerance) const override;
  Array solve_upper(const Array& R, const Array& B) const override;
  Array solve_upper_transposed(const Array& R, const Array& B) const override;
  Array upper_times(const Array& R, const Array& E) const override;
  Array upper_transposed_times(const Array& R, const Array& E) const override;
  Array upper_times_upper(const Array& L, const Array& R) const override;
  double condition(const Array& R) const override;
  std::shared_ptr<const linalg::ArraySolver> solver(const Array& R) const override;

  Array triangular_factor(Array X) const override;
  linalg::ArrayPivoted pivoted_triangular_factor(Array X) const override;
  linalg::ArrayQr thin_qr(Array X) const override;

  linalg::ArraySvd thin_svd(const Array& A) const override;
  linalg::ArraySvd full_svd(const Array& A) const override;
  linalg::ArrayEigen symmetric_eigen(const Array& A) const override;
  Vector symmetric_eigenvalues(const Array& A) const override;
  linalg::SpectrumBounds spectrum_bounds(const Array& A, const linalg::SpectrumBounds& known) const override;

  void solve_transposed_in_place(const Array& R, const Array& B) const;  // B ← R⁻ᵀ B

 private:
  enum class Side { left, right };
  enum class Vectors { thin, full };

  Array allocate(Index m, Index n) const { return allocate(m, n, context_.stream()); }
  Array allocate(Index m, Index n, cudaStream_t order) const;
  void load_domain(const Array& to, const SampleView& X, Index first, const double* origin, const double* mean,
                   const Index* features, Index start, cudaStream_t order) const;
  Vector reduced_rows(const Array& A, int operation) const;
  Vector reduced_columns(const Array& A, const Array* B, int operation) const;
  void scale_by(const Array& A, double by, const Vector* rows, const Vector* columns) const;

  Array product(cublasOperation_t on_A, const Array& A, cublasOperation_t on_B, const Array& B) const;
  void subtract_product(const Array& C, cublasOperation_t on_A, const Array& A, const Array& B) const;  // C - op(A) B
  void solve_triangle(Side side, const Array& R, cublasOperation_t on_R, const Array& B) const;         // in place of B
  Array times_triangle(const Array& R, cublasOperation_t on_R, const Array& E) const;
  Array times_upper(const Array& E, const Array& R) const;  // E R, where below R's diagonal is zero
  void assign_times_upper(const Array& to, const Array& E, const Array& R, double keep) const;  // keep · to + E R
  void add_rank_k(const Array& G, const Array& X, cublasOperation_t on_X, double weight) const;
  void clear_lower(const Array& A) const;
  Array inverse_of_upper(const Array& R) const;
  void invert_upper_in_place(const Array& R) const;
  Vector powers(int count, const std::function<void(double*)>& step, double* x, Index n) const;
  double largest_gain(const Array& R) const;        // λ_1 of RᵀR, from below
  double largest_eigenvalue(const Array& G) const;  // of its upper triangle, from below

  bool cholesky_in_place(const Array& G) const;
  Memory householder(const Array& X) const;  // vectors and R in place of X; the scalars
  double distance_from_identity(const Array& G) const;
  std::optional<linalg::ArrayQr> cholesky_qr(const Array& X) const;
  linalg::ArraySvd by_host(const Array& A) const;
  std::optional<linalg::ArraySvd> by_polar(const Array& tall) const;
  std::optional<linalg::ArraySvd> by_gesvd(const Array& tall, Vectors vectors) const;
  Vector eigen_in_place(const Array& Q, bool vectors) const;  // ascending
  void check_finite(const Array& A, const char* what) const;
  int info_of(const Memory& info) const;

  const linalg::Backend& host_;  // for what cuSOLVER has no routine for, and for small matrices
  Context context_;
  mutable Transfer transfer_;
  mutable std::recursive_mutex mutex_;
};

// Below this size the host is faster.
inline constexpr Index kSmall = 32;

inline std::size_t pitch(const Array& A) { return sizeof(double) * static_cast<std::size_t>(A.stride()); }
inline std::size_t height(const Array& A) { return sizeof(double) * static_cast<std::size_t>(A.rows()); }

// Callers have checked the data: a shape that does not fit here is our mistake.
void require(bool holds, const char* what);

}  // namespace cgmca::cuda
