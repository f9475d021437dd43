// Products, and triangles that a product is made with or solved by.
#include <cgmca/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "backend.hpp"
#include "core/thresholds.hpp"

namespace cgmca::cuda {
namespace {

constexpr double kOne = 1, kZero = 0, kMinusOne = -1;

class CudaSolver final : public linalg::ArraySolver {
 public:
  CudaSolver(const Cuda& on, Array R) : on_(on), R_(std::move(R)) {}
  const Array& R() const override { return R_; }
  void solve_transposed_in_place(const Array& B) const override { on_.solve_transposed_in_place(R_, B); }

 private:
  const Cuda& on_;
  Array R_;
};

}  // namespace

Array Cuda::product(cublasOperation_t on_A, const Array& A, cublasOperation_t on_B, const Array& B) const {
  const Lock lock(mutex_);
  const Index m = on_A == CUBLAS_OP_N ? A.rows() : A.cols(), inner = on_A == CUBLAS_OP_N ? A.cols() : A.rows();
  const Index n = on_B == CUBLAS_OP_N ? B.cols() : B.rows();
  require(inner == (on_B == CUBLAS_OP_N ? B.rows() : B.cols()), "inner dimensions of a product differ");
  if (m == 0 || n == 0 || inner == 0) return zeros(m, n);
  Array C = allocate(m, n);
  check(cublasDgemm_64(context_.blas(), on_A, on_B, m, n, inner, &kOne, A.data(), A.stride(), B.data(), B.stride(),
                       &kZero, C.data(), C.stride()),
        "gemm");
  return C;
}

Array Cuda::AB(const Array& A, const Array& B) const { return product(CUBLAS_OP_N, A, CUBLAS_OP_N, B); }
Array Cuda::AtB(const Array& A, const Array& B) const { return product(CUBLAS_OP_T, A, CUBLAS_OP_N, B); }
Array Cuda::ABt(const Array& A, const Array& B) const { return product(CUBLAS_OP_N, A, CUBLAS_OP_T, B); }

// The upper triangle of G + weight op(X) op(X)ᵀ.
void Cuda::add_rank_k(const Array& G, const Array& X, cublasOperation_t on_X, double weight) const {
  const Lock lock(mutex_);
  const Index n = on_X == CUBLAS_OP_N ? X.rows() : X.cols(), k = on_X == CUBLAS_OP_N ? X.cols() : X.rows();
  require(G.rows() == G.cols() && G.rows() == n, "Gram update with shapes that do not fit");
  if (n == 0 || k == 0) return;
  check(cublasDsyrk_64(context_.blas(), CUBLAS_FILL_MODE_UPPER, on_X, n, k, &weight, X.data(), X.stride(), &kOne,
                       G.data(), G.stride()),
        "syrk");
}

void Cuda::add_gram(const Array& G, const Array& X, double weight) const { add_rank_k(G, X, CUBLAS_OP_N, weight); }
void Cuda::add_gram_of_columns(const Array& G, const Array& X) const { add_rank_k(G, X, CUBLAS_OP_T, 1); }

Vector Cuda::symmetric_times(const Array& G, const Vector& x) const {
  const Lock lock(mutex_);
  require(G.rows() == G.cols() && G.rows() == x.size(), "a product with a vector of another size");
  if (G.empty()) return x;
  const Memory in = context_.uploaded(x);
  const Array out = allocate(x.size(), 1);
  check(cublasDsymv_64(context_.blas(), CUBLAS_FILL_MODE_UPPER, G.rows(), &kOne, G.data(), G.stride(), numbers(in), 1,
                       &kZero, out.data(), 1),
        "symv");
  return context_.downloaded(out.data(), x.size());
}

void Cuda::solve_triangle(Side side, const Array& R, cublasOperation_t on_R, const Array& B) const {
  const Lock lock(mutex_);
  require(R.rows() == R.cols() && R.rows() == (side == Side::left ? B.rows() : B.cols()),
          "triangular solve with shapes that do not fit");
  if (B.empty()) return;
  check(
      cublasDtrsm_64(context_.blas(), side == Side::left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER,
                     on_R, CUBLAS_DIAG_NON_UNIT, B.rows(), B.cols(), &kOne, R.data(), R.stride(), B.data(), B.stride()),
      "trsm");
}

Array Cuda::solve_upper(const Array& R, const Array& B) const {
  const Lock lock(mutex_);
  Array X = copy(B);
  solve_triangle(Side::left, R, CUBLAS_OP_N, X);
  return X;
}

Array Cuda::solve_upper_transposed(const Array& R, const Array& B) const {
  const Lock lock(mutex_);
  Array X = copy(B);
  solve_triangle(Side::left, R, CUBLAS_OP_T, X);
  return X;
}

void Cuda::solve_transposed_in_place(const Array& R, const Array& B) const {
  solve_triangle(Side::left, R, CUBLAS_OP_T, B);
}

std::shared_ptr<const linalg::ArraySolver> Cuda::solver(const Array& R) const {
  require(R.rows() == R.cols(), "a triangle that is not square");
  return std::make_shared<CudaSolver>(*this, R);
}

Array Cuda::times_triangle(const Array& R, cublasOperation_t on_R, const Array& E) const {
  const Lock lock(mutex_);
  require(R.rows() == R.cols() && R.rows() == E.rows(), "triangular product with shapes that do not fit");
  Array result = allocate(E.rows(), E.cols());
  if (E.empty()) return result;
  check(cublasDtrmm_64(context_.blas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, on_R, CUBLAS_DIAG_NON_UNIT, E.rows(),
                       E.cols(), &kOne, R.data(), R.stride(), E.data(), E.stride(), result.data(), result.stride()),
        "trmm");
  return result;
}

Array Cuda::upper_times(const Array& R, const Array& E) const { return times_triangle(R, CUBLAS_OP_N, E); }
Array Cuda::upper_transposed_times(const Array& R, const Array& E) const { return times_triangle(R, CUBLAS_OP_T, E); }
Array Cuda::upper_times_upper(const Array& L, const Array& R) const {
  const Lock lock(mutex_);
  Array product = times_triangle(L, CUBLAS_OP_N, R);
  clear_lower(product);
  return product;
}

// [A B; 0 C]⁻¹ = [A⁻¹, -A⁻¹ B C⁻¹; 0, C⁻¹], so that nearly all of it is products.
void Cuda::invert_upper_in_place(const Array& R) const {
  constexpr Index leaf = 256;
  const Index n = R.rows();
  if (n <= leaf) {
    const Array inverse = identity(n, n);
    solve_triangle(Side::left, R, CUBLAS_OP_N, inverse);
    return assign(R, inverse);
  }
  const Index half = (n / 2 + leaf - 1) / leaf * leaf, rest = n - half;
  const Array A = R.block(0, 0, half, half), B = R.block(0, half, half, rest), C = R.block(half, half, rest, rest);
  invert_upper_in_place(A);
  invert_upper_in_place(C);
  const Array BC = AB(B, C);
  check(cublasDgemm_64(context_.blas(), CUBLAS_OP_N, CUBLAS_OP_N, half, rest, half, &kMinusOne, A.data(), A.stride(),
                       BC.data(), BC.stride(), &kZero, B.data(), B.stride()),
        "gemm");
}

Array Cuda::inverse_of_upper(const Array& R) const {
  Array inverse = copy(R);
  clear_lower(inverse);
  invert_upper_in_place(inverse);
  return inverse;
}

// By power iteration, as the processor's condition().
double Cuda::largest_gain(const Array& R) const {
  constexpr int most = 40, least = 5;
  const Index n = R.rows();
  const Vector start = Vector::LinSpaced(n, 1, 2).normalized();
  const Memory x = context_.uploaded(start), y = context_.uploaded(start);
  double gain = 0;
  for (int k = 0; k < most; ++k) {
    const auto multiply = [&](cublasOperation_t on_R, const Memory& from, const Memory& to) {
      check(cublasDgemv_64(context_.blas(), on_R, n, n, &kOne, R.data(), R.stride(), numbers(from), 1, &kZero,
                           numbers(to), 1),
            "gemv");
    };
    multiply(CUBLAS_OP_N, x, y);
    multiply(CUBLAS_OP_T, y, x);
    const double before = std::exchange(gain, 0.0);
    check(cublasDnrm2_64(context_.blas(), n, numbers(x), 1, &gain), "nrm2");
    if (!(gain > 0) || !std::isfinite(gain)) return INFINITY;
    const double by = 1 / gain;
    check(cublasDscal_64(context_.blas(), n, &by, numbers(x), 1), "scal");
    if (k >= least && gain <= (1 + thresholds::kConditionSettled) * before) break;
  }
  return gain;
}

double Cuda::condition(const Array& R) const {
  const Lock lock(mutex_);
  require(R.rows() == R.cols(), "condition of a triangle that is not square");
  if (R.rows() <= kSmall) return host_.condition(host_.upload(download(R)));
  if ((diagonal(R).array() == 0).any()) return INFINITY;
  return std::sqrt(largest_gain(R) * largest_gain(inverse_of_upper(R)));
}

// Power iteration from a vector with no structure.
double Cuda::largest_eigenvalue(const Array& G) const {
  constexpr int steps = 16;
  const Index n = G.rows();
  Vector start(n);
  std::uint64_t state = 1;
  for (double& value : start) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 40) / (1 << 24) - 0.5;
  }
  const Memory x = context_.uploaded(start.normalized()), y = context_.uploaded(start);
  double gain = 0;
  for (int k = 0; k < steps; ++k) {
    check(cublasDsymv_64(context_.blas(), CUBLAS_FILL_MODE_UPPER, n, &kOne, G.data(), G.stride(), numbers(x), 1, &kZero,
                         numbers(y), 1),
          "symv");
    check(cublasDnrm2_64(context_.blas(), n, numbers(y), 1, &gain), "nrm2");
    if (!(gain > 0) || !std::isfinite(gain)) return gain;
    const double by = 1 / gain;
    check(cublasDscal_64(context_.blas(), n, &by, numbers(y), 1), "scal");
    check(cublasDcopy_64(context_.blas(), n, numbers(y), 1, numbers(x), 1), "copy");
  }
  return gain;
}

// λ_max and, by a Cholesky factor, 1/λ_min from below by power iteration, doubled: bounds for all spectra but those
// made to deceive it. Where they do not decide whether the Gram form is safe, the eigenvalues themselves.
linalg::SpectrumBounds Cuda::spectrum_bounds(const Array& A, const linalg::SpectrumBounds& known) const {
  constexpr double margin = 2;
  const Lock lock(mutex_);
  const auto exact = [&]() -> linalg::SpectrumBounds {
    const Vector values = symmetric_eigenvalues(A);
    return {values(0), values(values.size() - 1)};
  };
  if (A.rows() <= kSmall) return exact();
  const double largest = largest_eigenvalue(A);
  const auto safe = [](double above, double below) { return above <= thresholds::kSafeGramCondition * below; };
  if (known.smallest > 0 && safe(margin * largest, known.smallest)) return {margin * largest, known.smallest};
  const Array R = cholesky(A);
  if (R.empty()) return {largest, 0};
  const double smallest = 1 / largest_gain(inverse_of_upper(R));
  if (safe(margin * largest, smallest / margin)) return {margin * largest, smallest / margin};
  if (!safe(largest, smallest)) return {largest, smallest};
  return exact();
}

}  // namespace cgmca::cuda
