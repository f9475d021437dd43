// Which kernels of OpenBLAS suit a processor. For tests; others ask slow_kernels().
#pragma once

#include <cgmca/blas_kernels.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace cgmca {

struct ProcessorFeatures {
  bool avx2_and_fma = false;
  bool avx512 = false;  // F, DQ, BW and VL
};
ProcessorFeatures processor_features();

// `config`: what OpenBLAS says of itself, "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY Prescott MAX_THREADS=64".
std::optional<SlowKernels> slow_kernels(std::string_view config, const ProcessorFeatures& processor);

}  // namespace cgmca
