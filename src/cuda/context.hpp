// One CUDA device: its streams, handles, memory and kernels, and errors in words.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <cgmca/types.hpp>
#include <memory>
#include <string>
#include <vector>

namespace cgmca::cuda {

extern const char* const kKernels;  // PTX of kernels.cu

// Throw DeviceError, or InternalError where a call was wrong.
void check(cudaError_t status, const char* what);
void check(cublasStatus_t status, const char* what);
void check(cusolverStatus_t status, const char* what);

std::string describe_device();  // "NVIDIA H200, 139.8 GiB, CUDA 13.0"; throws DeviceError where there is none

using Memory = std::shared_ptr<void>;

class Context {
 public:
  Context();  // throws DeviceError; never destroyed, because arrays may outlive everything but the process

  cudaStream_t stream() const { return stream_; }      // all computing, in order
  cudaStream_t arrivals() const { return arrivals_; }  // samples that come in while the device computes
  cublasHandle_t blas() const { return blas_; }
  cusolverDnHandle_t solver() const { return solver_; }
  cusolverDnParams_t parameters() const { return parameters_; }

  // Device memory in the order of a stream: computing waits for what arrives (join_arrivals) before it uses that.
  // Freed in the order of computing. Throws DeviceError with the figures where there is no room.
  Memory allocate(double bytes) const { return allocate(bytes, stream_); }
  Memory allocate(double bytes, cudaStream_t order) const;
  void require_room(double bytes, const std::string& what_for) const;
  void join_arrivals() const;
  void wait() const;  // for all computing so far

  enum class Kernel {
    gather,
    scatter,
    zero_columns,
    scale,
    add,
    clear_lower,
    set_diagonal,
    mirror,
    load_double,
    load_float,
    look_double,
    look_float,
    reduce_rows,
    reduce_columns,
    signs
  };
  template <class... Arguments>
  void launch(Kernel kernel, dim3 grid, dim3 block, cudaStream_t order, Arguments... arguments) const {
    void* pointers[] = {&arguments...};
    launch(kernel, grid, block, order, pointers);
  }
  // Over all of an m×n matrix (FOR_EACH of kernels.cu).
  template <class... Arguments>
  void launch_over(Kernel kernel, Index m, Index n, cudaStream_t order, Arguments... arguments) const {
    if (m > 0 && n > 0) launch(kernel, grid_over(m, n), dim3(32, 8), order, arguments...);
  }

  // A short list on the device.
  Memory uploaded(const void* data, std::size_t bytes, cudaStream_t order) const;
  Memory uploaded(const Vector& values) const {
    return uploaded(values.data(), sizeof(double) * static_cast<std::size_t>(values.size()), stream_);
  }
  Memory uploaded(const std::vector<Index>& places) const {
    return uploaded(places.data(), sizeof(Index) * places.size(), stream_);
  }
  Vector downloaded(const double* values, Index n) const;

 private:
  static dim3 grid_over(Index m, Index n);
  void launch(Kernel kernel, dim3 grid, dim3 block, cudaStream_t order, void** arguments) const;
  void make_pool();
  void load_kernels();

  cudaStream_t stream_{}, arrivals_{};
  cudaEvent_t arrived_{};
  cudaMemPool_t pool_{};
  cublasHandle_t blas_{};
  cusolverDnHandle_t solver_{};
  cusolverDnParams_t parameters_{};
  std::vector<cudaKernel_t> kernels_;
};

inline double* numbers(const Memory& memory) { return static_cast<double*>(memory.get()); }

}  // namespace cgmca::cuda
