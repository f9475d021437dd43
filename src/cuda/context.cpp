#include "cuda/context.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace cgmca::cuda {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

// Free memory: the driver's, and what our pool holds but does not use.
struct Room {
  double free, total;
};
Room room(cudaMemPool_t pool) {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "free device memory");
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "reserved device memory");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "used device memory");
  return {static_cast<double>(free) + static_cast<double>(reserved - used), static_cast<double>(total)};
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

void require_device() {
  int driver = 0, runtime = 0, count = 0;
  cudaRuntimeGetVersion(&runtime);
  if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
    throw DeviceError("no NVIDIA driver on this machine. Use the device cpu");
  }
  if (driver / 1000 < runtime / 1000) {
    throw DeviceError(
        fmt::format("the NVIDIA driver is too old: it serves CUDA {}, this back end needs {}.0. Install a "
                    "newer driver, or use the device cpu",
                    version_text(driver), runtime / 1000));
  }
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    throw DeviceError(fmt::format("no CUDA device can be used ({}). Use the device cpu",
                                  status == cudaSuccess ? "none is there" : cudaGetErrorString(status)));
  }
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation) {
    std::size_t free = 0, total = 0;
    cudaGetLastError();
    cudaMemGetInfo(&free, &total);
    throw DeviceError(fmt::format("not enough device memory ({}): {:.1f} of {:.1f} GiB are free", what,
                                  static_cast<double>(free) / kGiB, static_cast<double>(total) / kGiB));
  }
  if (status == cudaErrorInvalidValue || status == cudaErrorInvalidConfiguration) {
    cudaGetLastError();
    throw InternalError(fmt::format("CUDA, {}: {}", what, cudaGetErrorString(status)));
  }
  throw DeviceError(
      fmt::format("the GPU failed or was lost in mid-run ({}: {}, {}). What was being computed is "
                  "lost, and this process cannot use the GPU any more",
                  what, cudaGetErrorName(status), cudaGetErrorString(status)));
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  check(cudaGetLastError(), what);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) check(cudaErrorMemoryAllocation, what);
  if (status == CUBLAS_STATUS_INVALID_VALUE) {
    throw InternalError(fmt::format("cuBLAS, {}: {}", what, cublasGetStatusString(status)));
  }
  throw DeviceError(fmt::format("cuBLAS failed ({}: {})", what, cublasGetStatusString(status)));
}

void check(cusolverStatus_t status, const char* what) {
  if (status == CUSOLVER_STATUS_SUCCESS) return;
  check(cudaGetLastError(), what);
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) check(cudaErrorMemoryAllocation, what);
  if (status == CUSOLVER_STATUS_INVALID_VALUE) {
    throw InternalError(fmt::format("cuSOLVER, {}: a value is invalid", what));
  }
  throw DeviceError(fmt::format("cuSOLVER failed ({}: status {})", what, static_cast<int>(status)));
}

std::string describe_device() {
  require_device();
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "the properties of the device");
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "the version of the driver");
  return fmt::format("{}, {:.1f} GiB, CUDA {}", properties.name, static_cast<double>(properties.totalGlobalMem) / kGiB,
                     version_text(driver));
}

Context::Context() {
  require_device();
  check(cudaSetDevice(0), "the first device");
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream priorities");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamDefault, least), "a stream");
  check(cudaStreamCreateWithPriority(&arrivals_, cudaStreamDefault, greatest), "a stream");
  check(cudaEventCreateWithFlags(&arrived_, cudaEventDisableTiming), "an event");
  make_pool();
  check(cublasCreate(&blas_), "cuBLAS");
  check(cublasSetStream(blas_, stream_), "cuBLAS");
  check(cusolverDnCreate(&solver_), "cuSOLVER");
  check(cusolverDnSetStream(solver_, stream_), "cuSOLVER");
  check(cusolverDnCreateParams(&parameters_), "cuSOLVER");
  load_kernels();
}

void Context::make_pool() {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = 0;
  check(cudaMemPoolCreate(&pool_, &properties), "a memory pool");
  // Memory that fits of the same size use one after another stays ours: to get gigabytes again takes longer than to
  // compute with them.
  std::uint64_t kept = static_cast<std::uint64_t>(0.9 * room(pool_).total);
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept), "a memory pool");
  // What arrives must not wait for computing only to get its memory.
  int waiting = 0;
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolReuseAllowInternalDependencies, &waiting), "a memory pool");
}

void Context::load_kernels() {
  constexpr std::array names = {"gather",      "scatter",      "zero_columns", "scale",          "add",
                                "clear_lower", "set_diagonal", "mirror",       "load_double",    "load_float",
                                "look_double", "look_float",   "reduce_rows",  "reduce_columns", "signs"};
  cudaLibrary_t library{};
  check(cudaLibraryLoadData(&library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0), "our kernels");
  for (const char* name : names) {
    kernels_.emplace_back();
    check(cudaLibraryGetKernel(&kernels_.back(), library, name), name);
  }
}

dim3 Context::grid_over(Index m, Index n) {
  const Index across = std::min<Index>((n + 7) / 8, 65535);
  return {static_cast<unsigned>((m + 31) / 32), static_cast<unsigned>(across)};
}

void Context::launch(Kernel kernel, dim3 grid, dim3 block, cudaStream_t order, void** arguments) const {
  const auto* function = reinterpret_cast<const void*>(kernels_[static_cast<std::size_t>(kernel)]);
  check(cudaLaunchKernel(function, grid, block, arguments, 0, order), "a kernel");
}

Memory Context::allocate(double bytes, cudaStream_t order) const {
  if (!(bytes < static_cast<double>(std::numeric_limits<Index>::max()))) throw DeviceError("more memory than there is");
  void* memory = nullptr;
  const cudaError_t status =
      cudaMallocFromPoolAsync(&memory, std::max<std::size_t>(8, static_cast<std::size_t>(bytes)), pool_, order);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    const Room now = room(pool_);
    throw DeviceError(
        fmt::format("not enough device memory: {:.2f} GiB more are needed, {:.2f} of {:.1f} GiB are free. "
                    "Free some, or use the device cpu",
                    bytes / kGiB, now.free / kGiB, now.total / kGiB));
  }
  check(status, "device memory");
  // Errors are not looked at: at the end of a process the driver may be gone before the last array.
  return {memory, [free_in = stream_](void* pointer) { cudaFreeAsync(pointer, free_in); }};
}

void Context::require_room(double bytes, const std::string& what_for) const {
  const Room now = room(pool_);
  if (bytes <= now.free) return;
  throw DeviceError(
      fmt::format("not enough device memory: {} needs about {:.1f} GiB, {:.1f} of {:.1f} GiB are free. "
                  "Free some, or use the device cpu",
                  what_for, bytes / kGiB, now.free / kGiB, now.total / kGiB));
}

void Context::join_arrivals() const {
  check(cudaEventRecord(arrived_, arrivals_), "an event");
  check(cudaStreamWaitEvent(stream_, arrived_, 0), "an event");
}

void Context::wait() const { check(cudaStreamSynchronize(stream_), "computing"); }

Memory Context::uploaded(const void* data, std::size_t bytes, cudaStream_t order) const {
  Memory memory = allocate(static_cast<double>(bytes), order);
  if (bytes > 0) check(cudaMemcpyAsync(memory.get(), data, bytes, cudaMemcpyHostToDevice, order), "a copy");
  return memory;
}

Vector Context::downloaded(const double* values, Index n) const {
  Vector result(n);
  if (n > 0) {
    check(cudaMemcpyAsync(result.data(), values, sizeof(double) * static_cast<std::size_t>(n), cudaMemcpyDeviceToHost,
                          stream_),
          "a copy");
  }
  wait();
  return result;
}

}  // namespace cgmca::cuda
