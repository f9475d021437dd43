// Cholesky, QR, singular value and eigenvalue decompositions.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/thresholds.hpp"
#include "cuda/backend.hpp"

namespace cgmca::cuda {
namespace {

using Kernel = Context::Kernel;

// Up to this many columns the processor's divide and conquer is faster than QR iteration on the device.
constexpr Index kSmallSvd = 1024;

// What a routine of cuSOLVER works in: memory on the device and on the host.
struct Workspace {
  std::size_t on_device = 0, on_host = 0;
  Memory device;
  std::vector<char> host;

  void allocate(const Context& context) {
    device = context.allocate(static_cast<double>(on_device));
    host.resize(std::max<std::size_t>(1, on_host));
  }
};

Memory new_info(const Context& context) { return context.allocate(sizeof(int)); }
int* info_in(const Memory& memory) { return static_cast<int*>(memory.get()); }

int narrow(Index size) {
  require(size <= std::numeric_limits<int>::max(), "a dimension beyond cuSOLVER's integers");
  return static_cast<int>(size);
}

}  // namespace

int Cuda::info_of(const Memory& info) const {
  int value = 0;
  check(cudaMemcpyAsync(&value, info.get(), sizeof(value), cudaMemcpyDeviceToHost, context_.stream()), "a copy");
  context_.wait();
  return value;
}

void Cuda::clear_lower(const Array& A) const {
  context_.launch_over(Kernel::clear_lower, A.rows(), A.cols(), context_.stream(), A.data(), A.stride(), A.rows(),
                       A.cols());
}

void Cuda::check_finite(const Array& A, const char* what) const {
  if (column_largest(A).allFinite()) return;
  throw NumericalFailure(fmt::format("{} of a matrix with NaN or infinity (the data may overflow; rescale it)", what));
}

// R with RᵀR = G in place of G's upper triangle; false where G is not definite.   G = [A E; · C]
bool Cuda::cholesky_in_place(const Array& R) const {
  // Two halves, and between them products, which run nearer to the peak.
  constexpr Index leaf = 4096, multiple = 256;
  if (R.rows() > leaf) {
    const Index n = R.rows(), half = (n / 2 + multiple - 1) / multiple * multiple, rest = n - half;
    const Array A = R.block(0, 0, half, half), E = R.block(0, half, half, rest), C = R.block(half, half, rest, rest);
    if (!cholesky_in_place(A)) return false;
    solve_triangle(Side::left, A, CUBLAS_OP_T, E);
    add_rank_k(C, E, CUBLAS_OP_T, -1);
    return cholesky_in_place(C);
  }
  Workspace work;
  check(cusolverDnXpotrf_bufferSize(context_.solver(), context_.parameters(), CUBLAS_FILL_MODE_UPPER, R.rows(),
                                    CUDA_R_64F, R.data(), R.stride(), CUDA_R_64F, &work.on_device, &work.on_host),
        "potrf");
  work.allocate(context_);
  const Memory info = new_info(context_);
  check(cusolverDnXpotrf(context_.solver(), context_.parameters(), CUBLAS_FILL_MODE_UPPER, R.rows(), CUDA_R_64F,
                         R.data(), R.stride(), CUDA_R_64F, work.device.get(), work.on_device, work.host.data(),
                         work.on_host, info_in(info)),
        "potrf");
  const int failed = info_of(info);
  require(failed >= 0, "potrf: an argument is illegal");
  return failed == 0;
}

Array Cuda::cholesky(const Array& G) const {
  const Lock lock(mutex_);
  require(G.rows() == G.cols(), "Cholesky factor of a matrix that is not square");
  Array R = copy(G);
  if (R.empty()) return R;
  if (!cholesky_in_place(R)) return allocate(0, 0);
  clear_lower(R);
  return R;
}

// cuSOLVER has no pivoted factorizations: the processor does them.
linalg::ArrayPivoted Cuda::pivoted_cholesky(const Array& G, double tolerance) const {
  linalg::ArrayPivoted found = host_.pivoted_cholesky(host_.upload(download(G)), tolerance);
  return {upload(host_.download(std::move(found.R))), std::move(found.order)};
}

linalg::ArrayPivoted Cuda::pivoted_triangular_factor(Array X) const {
  linalg::ArrayPivoted qr = host_.pivoted_triangular_factor(host_.upload(download(std::move(X))));
  return {upload(host_.download(std::move(qr.R))), std::move(qr.order)};
}

Memory Cuda::householder(const Array& X) const {
  Memory tau = context_.allocate(sizeof(double) * static_cast<double>(std::min(X.rows(), X.cols())));
  Workspace work;
  check(cusolverDnXgeqrf_bufferSize(context_.solver(), context_.parameters(), X.rows(), X.cols(), CUDA_R_64F, X.data(),
                                    X.stride(), CUDA_R_64F, tau.get(), CUDA_R_64F, &work.on_device, &work.on_host),
        "geqrf");
  work.allocate(context_);
  const Memory info = new_info(context_);
  check(cusolverDnXgeqrf(context_.solver(), context_.parameters(), X.rows(), X.cols(), CUDA_R_64F, X.data(), X.stride(),
                         CUDA_R_64F, tau.get(), CUDA_R_64F, work.device.get(), work.on_device, work.host.data(),
                         work.on_host, info_in(info)),
        "geqrf");
  require(info_of(info) == 0, "geqrf: an argument is illegal");
  return tau;
}

Array Cuda::triangular_factor(Array X) const {
  const Lock lock(mutex_);
  const Index p = X.cols(), rows = std::min(X.rows(), p);
  Array R = zeros(p, p);
  if (rows == 0) return R;
  const Array factored = copy(X);
  householder(factored);
  assign(R.top(rows), factored.top(rows));
  clear_lower(R);
  return R;
}

// ‖G - I‖_F at most, of the upper triangle of a symmetric G; the other one is zero.
double Cuda::distance_from_identity(const Array& G) const {
  const Array difference = copy(G);
  add_diagonal(difference, Vector::Constant(G.rows(), -1));
  return std::sqrt(2 * squared_norm(difference));
}

// X = Q R by Cholesky factors of XᵀX, twice, which is all products: Q₁ = X R₁⁻¹ is orthonormal to eps κ(X)², and Q of
// Q₁ = Q R₂ then to eps. Nothing where Q₁ is too far from orthonormal for that. Once is enough where the columns of X
// are nearly orthogonal: of X diag(1/‖x_j‖), κ² is near 1. Those of U and V that come from eigenvectors are orthogonal to
// 1e-11. There I + E = RᵀR has R = I + N but for squares of E, with N the upper triangle of E, and R⁻¹ = I - N.
std::optional<linalg::ArrayQr> Cuda::cholesky_qr(const Array& X) const {
  constexpr double near = 0.1, nearest = 1e-8;
  const Index n = X.cols();
  const Array G = zeros(n, n);
  add_gram_of_columns(G, X);
  const Vector sizes = diagonal(G).cwiseSqrt();
  if (!(sizes.minCoeff() > 0) || !sizes.allFinite()) return std::nullopt;
  const Vector inverse = sizes.cwiseInverse();
  scale_by(G, 1, &inverse, &inverse);
  const double distance = distance_from_identity(G);
  const bool nearly = distance <= near;
  Array Q = copy(X);
  scale_by(Q, 1, nullptr, &inverse);
  if (distance <= nearest) {
    const Array inverse_R = copy(G);  // I - N
    scale_by(inverse_R, -1, nullptr, nullptr);
    assign_diagonal(inverse_R, Vector::Ones(n));
    scale_by(G, 1, nullptr, &sizes);
    return linalg::ArrayQr{times_upper(Q, inverse_R), G};
  }
  const Array first = cholesky(G);
  if (first.empty()) return std::nullopt;
  solve_triangle(Side::right, first, CUBLAS_OP_N, Q);
  scale_by(first, 1, nullptr, &sizes);  // R₁
  if (nearly) return linalg::ArrayQr{Q, first};
  const Array again = zeros(n, n);
  add_gram_of_columns(again, Q);
  if (!(distance_from_identity(again) <= near)) return std::nullopt;
  const Array second = cholesky(again);
  if (second.empty()) return std::nullopt;
  solve_triangle(Side::right, second, CUBLAS_OP_N, Q);
  return linalg::ArrayQr{Q, upper_times_upper(second, first)};
}

linalg::ArrayQr Cuda::thin_qr(Array X) const {
  const Lock lock(mutex_);
  require(X.rows() >= X.cols(), "thin QR of a matrix with more columns than rows");
  if (X.cols() == 0) return {X, allocate(0, 0)};
  if (auto qr = cholesky_qr(X)) return std::move(*qr);
  const Array Q = copy(X);
  const Memory tau = householder(Q);
  const Array R = copy(Q.top(Q.cols()));
  clear_lower(R);
  int size = 0;
  check(cusolverDnDorgqr_bufferSize(context_.solver(), narrow(Q.rows()), narrow(Q.cols()), narrow(Q.cols()), Q.data(),
                                    narrow(Q.stride()), numbers(tau), &size),
        "orgqr");
  const Memory work = context_.allocate(sizeof(double) * static_cast<double>(size)), info = new_info(context_);
  check(cusolverDnDorgqr(context_.solver(), narrow(Q.rows()), narrow(Q.cols()), narrow(Q.cols()), Q.data(),
                         narrow(Q.stride()), numbers(tau), numbers(work), size, info_in(info)),
        "orgqr");
  require(info_of(info) == 0, "orgqr: an argument is illegal");
  return {Q, R};
}

// A = U diag(s) Vᵀ of a tall A by a polar decomposition and eigenvectors. Where a singular value is near zero, cuSOLVER
// shifts all by a small amount, which it tells: nothing where that is more than rounding.
std::optional<linalg::ArraySvd> Cuda::by_polar(const Array& tall) const {
  const Index m = tall.rows(), n = tall.cols();
  const Array A = copy(tall), U = allocate(m, n), V = allocate(n, n), s = allocate(n, 1);
  Workspace work;
  check(cusolverDnXgesvdp_bufferSize(context_.solver(), context_.parameters(), CUSOLVER_EIG_MODE_VECTOR, 1, m, n,
                                     CUDA_R_64F, A.data(), A.stride(), CUDA_R_64F, s.data(), CUDA_R_64F, U.data(),
                                     U.stride(), CUDA_R_64F, V.data(), V.stride(), CUDA_R_64F, &work.on_device,
                                     &work.on_host),
        "gesvdp");
  work.allocate(context_);
  const Memory info = new_info(context_);
  double shift = 0;
  check(cusolverDnXgesvdp(context_.solver(), context_.parameters(), CUSOLVER_EIG_MODE_VECTOR, 1, m, n, CUDA_R_64F,
                          A.data(), A.stride(), CUDA_R_64F, s.data(), CUDA_R_64F, U.data(), U.stride(), CUDA_R_64F,
                          V.data(), V.stride(), CUDA_R_64F, work.device.get(), work.on_device, work.host.data(),
                          work.on_host, info_in(info), &shift),
        "gesvdp");
  if (info_of(info) != 0) return std::nullopt;
  Vector values = context_.downloaded(s.data(), n);
  if (!values.allFinite() || !(shift <= static_cast<double>(m) * thresholds::kEpsilon / 8 * values(0))) {
    return std::nullopt;
  }
  return linalg::ArraySvd{U, std::move(values), V, linalg::SvdRoutine::gesvdp};
}

// The same by QR iteration, which is slow.
std::optional<linalg::ArraySvd> Cuda::by_gesvd(const Array& tall, Vectors vectors) const {
  const Index m = tall.rows(), n = tall.cols();
  const signed char job = vectors == Vectors::thin ? 'S' : 'A';
  const Array A = copy(tall), U = allocate(m, vectors == Vectors::thin ? n : m), VT = allocate(n, n),
              s = allocate(n, 1);
  Workspace work;
  check(cusolverDnXgesvd_bufferSize(context_.solver(), context_.parameters(), job, job, m, n, CUDA_R_64F, A.data(),
                                    A.stride(), CUDA_R_64F, s.data(), CUDA_R_64F, U.data(), U.stride(), CUDA_R_64F,
                                    VT.data(), VT.stride(), CUDA_R_64F, &work.on_device, &work.on_host),
        "gesvd");
  work.allocate(context_);
  const Memory info = new_info(context_);
  check(cusolverDnXgesvd(context_.solver(), context_.parameters(), job, job, m, n, CUDA_R_64F, A.data(), A.stride(),
                         CUDA_R_64F, s.data(), CUDA_R_64F, U.data(), U.stride(), CUDA_R_64F, VT.data(), VT.stride(),
                         CUDA_R_64F, work.device.get(), work.on_device, work.host.data(), work.on_host, info_in(info)),
        "gesvd");
  if (info_of(info) != 0) return std::nullopt;
  Vector values = context_.downloaded(s.data(), n);
  if (!values.allFinite()) return std::nullopt;
  return linalg::ArraySvd{U, std::move(values), transposed(VT), linalg::SvdRoutine::gesvd_after_gesvdp};
}

linalg::ArraySvd Cuda::by_host(const Array& A) const {
  linalg::ArraySvd svd = host_.thin_svd(host_.upload(download(A)));
  return {upload(host_.download(svd.U)), std::move(svd.s), upload(host_.download(svd.V)), svd.routine};
}

linalg::ArraySvd Cuda::thin_svd(const Array& A) const {
  const Lock lock(mutex_);
  if (std::min(A.rows(), A.cols()) <= kSmall) {
    return by_host(A);
  }
  check_finite(A, "SVD");
  const bool wide = A.rows() < A.cols();
  const Array tall = wide ? transposed(A) : A;
  std::optional<linalg::ArraySvd> svd = by_polar(tall);
  if (!svd && tall.cols() <= kSmallSvd) svd = by_host(tall);
  if (!svd) svd = by_gesvd(tall, Vectors::thin);
  if (!svd) throw NumericalFailure(fmt::format("no SVD of a {}×{} matrix on the GPU", A.rows(), A.cols()));
  if (wide) std::swap(svd->U, svd->V);
  return std::move(*svd);
}

linalg::ArraySvd Cuda::full_svd(const Array& A) const {
  constexpr Index small = 256;
  const Lock lock(mutex_);
  const bool wide = A.rows() < A.cols();
  std::optional<linalg::ArraySvd> svd;
  if (std::min(A.rows(), A.cols()) > small) {
    check_finite(A, "SVD");
    svd = by_gesvd(wide ? transposed(A) : A, Vectors::full);
    if (svd && wide) std::swap(svd->U, svd->V);
  }
  if (svd) return std::move(*svd);
  linalg::ArraySvd here = host_.full_svd(host_.upload(download(A)));
  return {upload(host_.download(here.U)), std::move(here.s), upload(host_.download(here.V)), here.routine};
}

// Of a lower triangle, from which cuSOLVER is a few per cent faster.
Vector Cuda::eigen_in_place(const Array& Q, bool vectors) const {
  const Array values = allocate(Q.rows(), 1);
  const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
  Workspace work;
  check(cusolverDnXsyevd_bufferSize(context_.solver(), context_.parameters(), mode, CUBLAS_FILL_MODE_LOWER, Q.rows(),
                                    CUDA_R_64F, Q.data(), Q.stride(), CUDA_R_64F, values.data(), CUDA_R_64F,
                                    &work.on_device, &work.on_host),
        "syevd");
  work.allocate(context_);
  const Memory info = new_info(context_);
  check(cusolverDnXsyevd(context_.solver(), context_.parameters(), mode, CUBLAS_FILL_MODE_LOWER, Q.rows(), CUDA_R_64F,
                         Q.data(), Q.stride(), CUDA_R_64F, values.data(), CUDA_R_64F, work.device.get(), work.on_device,
                         work.host.data(), work.on_host, info_in(info)),
        "syevd");
  const int failed = info_of(info);
  if (failed != 0) throw NumericalFailure(fmt::format("syevd on the GPU: failed with info = {}", failed));
  return context_.downloaded(values.data(), Q.rows());
}

linalg::ArrayEigen Cuda::symmetric_eigen(const Array& A) const {
  const Lock lock(mutex_);
  require(A.rows() == A.cols(), "eigenvalues of a matrix that is not square");
  if (A.rows() <= kSmall) {
    linalg::ArrayEigen eigen = host_.symmetric_eigen(host_.upload(download(A)));
    return {std::move(eigen.values), upload(host_.download(eigen.Q))};
  }
  check_finite(A, "eigenvalues");
  const Array Q = transposed(A);
  const Vector ascending = eigen_in_place(Q, true);
  Indices descending(static_cast<std::size_t>(A.cols()));
  for (std::size_t j = 0; j < descending.size(); ++j) descending[j] = static_cast<Index>(descending.size() - 1 - j);
  const Memory columns = context_.uploaded(descending);
  const Array reversed = allocate(A.rows(), A.cols());
  const Index* all = nullptr;
  context_.launch_over(Kernel::gather, A.rows(), A.cols(), context_.stream(), reversed.data(), reversed.stride(),
                       A.rows(), A.cols(), static_cast<const double*>(Q.data()), Q.stride(), all,
                       static_cast<const Index*>(columns.get()));
  return {ascending.reverse(), reversed};
}

Vector Cuda::symmetric_eigenvalues(const Array& A) const {
  const Lock lock(mutex_);
  require(A.rows() == A.cols(), "eigenvalues of a matrix that is not square");
  if (A.rows() <= kSmall) return host_.symmetric_eigenvalues(host_.upload(download(A)));
  check_finite(A, "eigenvalues");
  return eigen_in_place(transposed(A), false).reverse();
}

}  // namespace cgmca::cuda
