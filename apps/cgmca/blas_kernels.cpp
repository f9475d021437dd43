#include "blas_kernels.hpp"

#include <cgmca/threads.hpp>

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace cgmca::cli {
namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

// Kernels without AVX: what OpenBLAS falls back to, or what it uses on processors that have none.
bool uses_old_kernels() {
  const std::string description = blas_description();
  if (!description.starts_with("OpenBLAS")) return false;
  for (const char* name : {" Prescott", " Core2", " Penryn", " Dunnington", " Nehalem", " Opteron", " Barcelona"}) {
    if (description.find(name) != std::string::npos) return true;
  }
  return false;
}

const char* fitting_kernels() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

}  // namespace

void restart_with_fitting_kernels(char** argv) {
  if (std::getenv(kVariable) != nullptr || !uses_old_kernels()) return;
  const char* kernels = fitting_kernels();
  if (kernels == nullptr || ::setenv(kVariable, kernels, 0) != 0) return;
  // Returns only if it fails; then the slow kernels have to do. The second start, with the variable set, returns at the
  // first line of this function.
  ::execv("/proc/self/exe", argv);
  ::unsetenv(kVariable);
}

}  // namespace cgmca::cli
