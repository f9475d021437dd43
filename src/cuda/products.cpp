// Products, and triangles that a product is made with or solved by.
#include <cgmca/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/base/thresholds.hpp"
#include "cuda/backend.hpp"

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

void Cuda::add_ABt(const Array& C, const Array& A, const Array& B) const {
  const Lock lock(mutex_);
  require(C.rows() == A.rows() && C.cols() == B.rows() && A.cols() == B.cols(), "a product added to another shape");
  if (C.empty() || A.cols() == 0) return;
  check(cublasDgemm_64(context_.blas(), CUBLAS_OP_N, CUBLAS_OP_T, C.rows(), C.cols(), A.cols(), &kOne, A.data(),
                       A.stride(), B.data(), B.stride(), &kOne, C.data(), C.stride()),
        "gemm");
}

// The upper triangle of G + weight op(X) op(X)ᵀ.
void Cuda::add_rank_k(const Array& G, const Array& X, cublasOperation_t on_X, double weight) const {
  const Lock lock(mutex_);
  const Index n = on_X == CUBLAS_OP_N ? X.rows() : X.cols(), k = on_X == CUBLAS_OP_N ? X.cols() : X.rows();
  require(G.rows() == G.cols() && G.rows() == n, "Gram update with shapes that do not fit");
  if (n == 0 || k == 0) return;
  // Two halves, and between them a product, which runs nearer to the peak than syrk does.
  constexpr Index leaf = 2048, few = 128, multiple = 256;
  if (n > leaf && k >= few) {
    const bool by_rows = on_X == CUBLAS_OP_N;
    const Index half = (n / 2 + multiple - 1) / multiple * multiple, rest = n - half;
    const Array first = by_rows ? X.top(half) : X.left(half), second = by_rows ? X.bottom(rest) : X.right(rest);
    const Array between = G.block(0, half, half, rest);
    check(cublasDgemm_64(context_.blas(), on_X, by_rows ? CUBLAS_OP_T : CUBLAS_OP_N, half, rest, k, &weight,
                         first.data(), X.stride(), second.data(), X.stride(), &kOne, between.data(), G.stride()),
          "gemm");
    add_rank_k(G.block(0, 0, half, half), first, on_X, weight);
    return add_rank_k(G.block(half, half, rest, rest), second, on_X, weight);
  }
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

void Cuda::subtract_product(const Array& C, cublasOperation_t on_A, const Array& A, const Array& B) const {
  check(cublasDgemm_64(context_.blas(), on_A, CUBLAS_OP_N, C.rows(), C.cols(), B.rows(), &kMinusOne, A.data(),
                       A.stride(), B.data(), B.stride(), &kOne, C.data(), C.stride()),
        "gemm");
}

void Cuda::solve_triangle(Side side, const Array& R, cublasOperation_t on_R, const Array& B) const {
  const Lock lock(mutex_);
  require(R.rows() == R.cols() && R.rows() == (side == Side::left ? B.rows() : B.cols()),
          "triangular solve with shapes that do not fit");
  if (B.empty()) return;
  // R = [A E; 0 C]: two halves, and between them a product, which runs nearer to the peak.
  constexpr Index leaf = 2048, multiple = 256, few = 512;
  const Index n = R.rows(), others = side == Side::left ? B.cols() : B.rows();
  if (n > leaf && others >= few && (side == Side::left || on_R == CUBLAS_OP_N)) {
    const Index half = (n / 2 + multiple - 1) / multiple * multiple, rest = n - half;
    const Array A = R.block(0, 0, half, half), E = R.block(0, half, half, rest), C = R.block(half, half, rest, rest);
    const Array one = side == Side::left ? B.top(half) : B.left(half);
    const Array two = side == Side::left ? B.bottom(rest) : B.right(rest);
    const bool last_first = side == Side::left && on_R == CUBLAS_OP_N;
    if (!last_first) solve_triangle(side, A, on_R, one);
    if (last_first) {
      solve_triangle(side, C, on_R, two);
      subtract_product(one, CUBLAS_OP_N, E, two);
    } else if (side == Side::left) {
      subtract_product(two, CUBLAS_OP_T, E, one);
    } else {
      subtract_product(two, CUBLAS_OP_N, one, E);
    }
    return last_first ? solve_triangle(side, A, on_R, one) : solve_triangle(side, C, on_R, two);
  }
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

// R = [A B; 0 C]: E R = [E₁ A, E₁ B + E₂ C]. cuBLAS multiplies with a triangle from the right at a third of the rate.
void Cuda::assign_times_upper(const Array& to, const Array& E, const Array& R, double keep) const {
  constexpr Index leaf = 1024, multiple = 256;
  const auto add_product = [&](const Array& sum, const Array& left, const Array& right, double factor) {
    check(cublasDgemm_64(context_.blas(), CUBLAS_OP_N, CUBLAS_OP_N, sum.rows(), sum.cols(), left.cols(), &kOne,
                         left.data(), left.stride(), right.data(), right.stride(), &factor, sum.data(), sum.stride()),
          "gemm");
  };
  const Index n = R.rows();
  if (n <= leaf) return add_product(to, E, R, keep);
  const Index half = (n / 2 + multiple - 1) / multiple * multiple, rest = n - half;
  assign_times_upper(to.left(half), E.left(half), R.block(0, 0, half, half), keep);
  add_product(to.right(rest), E.left(half), R.block(0, half, half, rest), keep);
  assign_times_upper(to.right(rest), E.right(rest), R.block(half, half, rest, rest), 1);
}

Array Cuda::times_upper(const Array& E, const Array& R) const {
  Array result = allocate(E.rows(), R.cols());
  if (!result.empty()) assign_times_upper(result, E, R, 0);
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
  const Array BC = times_upper(B, C);
  check(cublasDtrmm_64(context_.blas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                       half, rest, &kMinusOne, A.data(), A.stride(), BC.data(), BC.stride(), B.data(), B.stride()),
        "trmm");
}

Array Cuda::inverse_of_upper(const Array& R) const {
  Array inverse = copy(R);
  clear_lower(inverse);
  invert_upper_in_place(inverse);
  return inverse;
}

// ‖x‖ after each of some steps x ← by · M x, which come to the host together.
Vector Cuda::powers(int count, const std::function<void(double*)>& step, double* x, Index n) const {
  const Array norms = allocate(count, 1);
  for (int k = 0; k < count; ++k) {
    step(x);
    check(cublasSetPointerMode(context_.blas(), CUBLAS_POINTER_MODE_DEVICE), "cuBLAS");
    const cublasStatus_t status = cublasDnrm2_64(context_.blas(), n, x, 1, norms.data() + k);
    check(cublasSetPointerMode(context_.blas(), CUBLAS_POINTER_MODE_HOST), "cuBLAS");
    check(status, "nrm2");
  }
  return context_.downloaded(norms.data(), count);
}

// By power iteration, as condition() on the processor does it, but several steps at a time: checking after each step
// would take longer than the step.
double Cuda::largest_gain(const Array& R) const {
  constexpr int most = 40, least = 5, together = 6;
  const Index n = R.rows();
  const Vector start = Vector::LinSpaced(n, 1, 2).normalized();
  const Memory x = context_.uploaded(start), y = context_.uploaded(start);
  double by = 1, gain = 1;  // x ← by RᵀR x, so that x keeps its size
  const auto step = [&](double* in) {
    check(cublasDgemv_64(context_.blas(), CUBLAS_OP_N, n, n, &kOne, R.data(), R.stride(), in, 1, &kZero, numbers(y), 1),
          "gemv");
    check(cublasDgemv_64(context_.blas(), CUBLAS_OP_T, n, n, &by, R.data(), R.stride(), numbers(y), 1, &kZero, in, 1),
          "gemv");
  };
  double size = 1;  // ‖x‖
  for (int k = 0; k < most;) {
    for (const double now : powers(k == 0 ? 1 : together, step, numbers(x), n)) {
      if (!(now > 0) || !std::isfinite(now)) return INFINITY;
      const double before = std::exchange(gain, now / size / by);
      size = now;
      if (++k > least && gain <= (1 + thresholds::kConditionSettled) * before) return gain;
    }
    by = 1 / gain;
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
  constexpr int steps = 9;  // 2^(2·8) is more than the features: what is twice as large has come out by then
  const Index n = G.rows();
  Vector start(n);
  std::uint64_t state = 1;
  for (double& value : start) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 40) / (1 << 24) - 0.5;
  }
  const Memory x = context_.uploaded(start.normalized()), y = context_.uploaded(start);
  double by = 1;
  const auto step = [&](double* in) {
    check(cublasDsymv_64(context_.blas(), CUBLAS_FILL_MODE_UPPER, n, &by, G.data(), G.stride(), in, 1, &kZero,
                         numbers(y), 1),
          "symv");
    check(cublasDcopy_64(context_.blas(), n, numbers(y), 1, in, 1), "copy");
  };
  const double first = powers(1, step, numbers(x), n)(0);
  if (!(first > 0) || !std::isfinite(first)) return first;
  by = 1 / first;
  const Vector sizes = powers(steps - 1, step, numbers(x), n);
  return sizes(steps - 2) / sizes(steps - 3) * first;
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
