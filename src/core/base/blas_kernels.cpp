#include "core/base/blas_kernels.hpp"

#include "core/base/blas_config.hpp"

namespace cgmca {

ProcessorFeatures processor_features() {
  ProcessorFeatures features;
#if defined(__x86_64__)
  __builtin_cpu_init();
  features.avx2_and_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  return features;
}

std::optional<SlowKernels> slow_kernels(std::string_view config, const ProcessorFeatures& processor) {
  if (!config.starts_with("OpenBLAS")) return std::nullopt;
  const std::string faster = processor.avx512 ? "SkylakeX" : processor.avx2_and_fma ? "Haswell" : "";
  if (faster.empty()) return std::nullopt;
  // Kernels without AVX.
  for (const std::string used : {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Opteron", "Barcelona"}) {
    if (config.find(" " + used) != std::string_view::npos) return SlowKernels{used, faster};
  }
  return std::nullopt;
}

std::optional<SlowKernels> slow_kernels() { return slow_kernels(blas_config(), processor_features()); }

}  // namespace cgmca
