// Arrays in the device's memory, and samples that come into it.
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/linalg/plugin.hpp"
#include "cuda/backend.hpp"

namespace cgmca::cuda {
namespace {

using Kernel = Context::Kernel;

Bytes bytes(const Array& A) { return {A.data(), height(A), pitch(A), A.cols()}; }

Bytes bytes(const Matrix& A) {
  const std::size_t column = sizeof(double) * static_cast<std::size_t>(A.rows());
  return {const_cast<double*>(A.data()), column, column, A.cols()};  // to_device only reads it
}

// Columns first … of samples of either precision.
template <class Samples>
Bytes bytes(const Samples& X, Index first, Index count) {
  using Scalar = typename Samples::Scalar;
  auto* data = const_cast<Scalar*>(X.data()) + first * X.outerStride();  // to_device only reads it
  return {data, sizeof(Scalar) * static_cast<std::size_t>(X.rows()),
          sizeof(Scalar) * static_cast<std::size_t>(std::max<Index>(1, X.outerStride())), count};
}

template <class Samples>
constexpr bool is_double(const Samples& /*X*/) {
  return std::is_same_v<typename Samples::Scalar, double>;
}

}  // namespace

void require(bool holds, const char* what) {
  if (!holds) throw InternalError(fmt::format("linalg on CUDA: {}", what));
}

void Cuda::require_room(double numbers, const std::string& what_for) const {
  const Lock lock(mutex_);
  context_.require_room(sizeof(double) * numbers, what_for);
}

bool Cuda::holds(const SampleView& X) const {
  return X.visit([](const auto& samples) { return samples.size() > 0 && where(samples.data()) == Where::device; });
}

void Cuda::wait() const {
  const Lock lock(mutex_);
  context_.wait();
}

bool Cuda::within(const SampleView& X, double limit) const {
  if (!holds(X)) return host_.within(X, limit);
  const Lock lock(mutex_);
  const int none = 0;
  const Memory outside = context_.uploaded(&none, sizeof(none), context_.stream());
  X.visit([&](const auto& samples) {
    context_.launch_over(is_double(samples) ? Kernel::look_double : Kernel::look_float, samples.rows(), samples.cols(),
                         context_.stream(), outside.get(), samples.data(), Index{samples.outerStride()},
                         Index{samples.rows()}, Index{samples.cols()}, limit);
  });
  return info_of(outside) == 0;
}

Matrix Cuda::fetched(const SampleView& X, Index first, Index count) const {
  if (!holds(X)) return host_.fetched(X, first, count);
  const Vector none = Vector::Zero(X.rows());
  return download(load({X}, first, count, none, none, nullptr));
}

Array Cuda::allocate(Index m, Index n, cudaStream_t order) const {
  Memory memory = context_.allocate(sizeof(double) * static_cast<double>(m) * static_cast<double>(n), order);
  auto* data = numbers(memory);
  return {*this, std::move(memory), data, m, n, std::max<Index>(1, m)};
}

Array Cuda::zeros(Index m, Index n) const {
  const Lock lock(mutex_);
  Array A = allocate(m, n);
  if (!A.empty()) {
    const std::size_t size = height(A) * static_cast<std::size_t>(n);
    check(cudaMemsetAsync(A.data(), 0, size, context_.stream()), "zeros");
  }
  return A;
}

Array Cuda::upload(Matrix A) const {
  const Lock lock(mutex_);
  Array result = allocate(A.rows(), A.cols());
  transfer_.to_device(bytes(result), bytes(A), context_.stream());
  return result;
}

Matrix Cuda::download(Array A) const {
  const Lock lock(mutex_);
  Matrix result(A.rows(), A.cols());
  transfer_.to_host(bytes(result), bytes(A));
  return result;
}

Array Cuda::copy(const Array& A) const {
  const Lock lock(mutex_);
  Array result = allocate(A.rows(), A.cols());
  assign(result, A);
  return result;
}

void Cuda::assign(const Array& to, const Array& A) const {
  const Lock lock(mutex_);
  require(to.rows() == A.rows() && to.cols() == A.cols(), "matrices of different shapes");
  if (A.empty()) return;
  check(cudaMemcpy2DAsync(to.data(), pitch(to), A.data(), pitch(A), height(A), static_cast<std::size_t>(A.cols()),
                          cudaMemcpyDeviceToDevice, context_.stream()),
        "a copy");
}

Array Cuda::transposed(const Array& A) const {
  const Lock lock(mutex_);
  Array result = allocate(A.cols(), A.rows());
  if (A.empty()) return result;
  const double one = 1, zero = 0;
  check(cublasDgeam_64(context_.blas(), CUBLAS_OP_T, CUBLAS_OP_N, A.cols(), A.rows(), &one, A.data(), A.stride(), &zero,
                       result.data(), result.stride(), result.data(), result.stride()),
        "geam");
  return result;
}

void Cuda::assign_lower_from_upper(const Array& A) const {
  const Lock lock(mutex_);
  require(A.rows() == A.cols(), "a symmetric matrix that is not square");
  if (A.empty()) return;
  const auto tiles = static_cast<unsigned>((A.rows() + 31) / 32);
  context_.launch(Kernel::mirror, dim3(tiles, tiles), dim3(32, 8), context_.stream(), A.data(), A.stride(), A.rows());
}

// One domain's samples from column `first` on, into rows of a tile.
void Cuda::load_domain(const Array& to, const SampleView& X, Index first, const double* origin, const double* mean,
                       const Index* features, Index start, cudaStream_t order) const {
  X.visit([&](const auto& samples) {
    using Scalar = typename std::decay_t<decltype(samples)>::Scalar;
    if (to.empty()) return;
    Bytes from = bytes(samples, first, to.cols());
    Memory raw;
    if (where(samples.data()) != Where::device) {
      raw = context_.allocate(static_cast<double>(from.size()), order);
      const Bytes there{raw.get(), from.height, from.height, from.columns};
      transfer_.to_device(there, from, order);
      from = there;
    }
    const auto stride = static_cast<Index>(from.stride / sizeof(Scalar));
    context_.launch_over(is_double(samples) ? Kernel::load_double : Kernel::load_float, to.rows(), to.cols(), order,
                         to.data(), to.stride(), to.rows(), to.cols(), static_cast<const void*>(from.data), stride,
                         origin, mean, features, start);
    context_.join_arrivals();  // before raw goes, in the order of computing
  });
}

Array Cuda::load(const MatchedSamples& X, Index first, Index count, const Vector& origin, const Vector& mean,
                 const Indices* features) const {
  const Lock lock(mutex_);
  // A second stream gains nothing if nothing is transferred.
  const bool here = std::all_of(X.begin(), X.end(), [this](const SampleView& domain) { return holds(domain); });
  const cudaStream_t order = here ? context_.stream() : context_.arrivals();
  const auto bytes_of = [](const auto& list) { return sizeof(list[0]) * static_cast<std::size_t>(list.size()); };
  const Memory origins = context_.uploaded(origin.data(), bytes_of(origin), order);
  const Memory means = context_.uploaded(mean.data(), bytes_of(mean), order);
  const Memory named = features == nullptr ? nullptr : context_.uploaded(features->data(), bytes_of(*features), order);
  const Index rows = features == nullptr ? origin.size() : std::ssize(*features);
  const Array tile = allocate(rows, count, order);
  Index start = 0, filled = 0;  // the domain's first feature; rows of the tile that are done
  for (const SampleView& domain : X) {
    Index end = filled + domain.rows();
    if (features != nullptr) {
      for (end = filled; end < rows && (*features)[end] < start + domain.rows();) ++end;
    }
    const auto* places = features == nullptr ? nullptr : static_cast<const Index*>(named.get()) + filled;
    load_domain(tile.block(filled, 0, end - filled, count), domain, first, numbers(origins) + start,
                numbers(means) + start, places, start, order);
    filled = end;
    start += domain.rows();
  }
  context_.join_arrivals();
  return tile;
}

Array Cuda::load_transposed(const MatchedSamples& X, const Vector& origin, const Vector& mean,
                            const Indices& features) const {
  return transposed(load(X, 0, X.front().cols(), origin, mean, &features));
}

Vector Cuda::sum_of_deviations(const MatchedSamples& X, const Vector& origin) const {
  constexpr Index some = 8192;
  const Vector none = Vector::Zero(origin.size());
  Vector sum = none;
  for (Index first = 0; first < X.front().cols(); first += some) {
    sum += row_sums(load(X, first, std::min(some, X.front().cols() - first), origin, none, nullptr));
  }
  return sum;
}

}  // namespace cgmca::cuda

namespace {

const cgmca::linalg::Backend& open_device(const cgmca::linalg::Backend& host) {
  static const auto* const device = new cgmca::cuda::Cuda(host);  // never destroyed: arrays may live until the end
  return *device;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const cgmca::linalg::BackendPlugin* cgmca_backend_plugin() {
  static const cgmca::linalg::BackendPlugin plugin{cgmca::linalg::kPluginInterface, CGMCA_VERSION,
                                                   cgmca::cuda::describe_device, open_device};
  return &plugin;
}
