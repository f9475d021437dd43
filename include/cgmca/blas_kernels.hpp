// OpenBLAS on slow kernels: whether it is so, and the remedy.
//
// OpenBLAS chooses its kernels by the processor's model number when it is loaded. It takes a processor newer than itself
// for a Prescott of 2004, and is then several times slower without a warning. That cannot be changed while it is loaded:
// the environment variable OPENBLAS_CORETYPE must be set before the program starts.
//
// Example:
//   cgmca::restart_with_faster_kernels(argv);  // first of all in main(int argc, char** argv)
//   if (const auto slow = cgmca::slow_kernels()) std::cerr << "slow kernels: " << slow->used << "\n";
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#pragma GCC visibility push(default)
namespace cgmca {

// Kernels that OpenBLAS uses although this processor can run much faster ones, by OpenBLAS's names.
struct SlowKernels {
  std::string used;    // "Prescott"
  std::string faster;  // "Haswell": what OPENBLAS_CORETYPE should be
};
// Nothing if the kernels suit the processor, or if the BLAS is not OpenBLAS.
std::optional<SlowKernels> slow_kernels();

#if __has_include(<unistd.h>)
// If there are slow kernels and OPENBLAS_CORETYPE is not set, sets it and starts this program again with the same
// arguments; main() calls it first. Otherwise, and if the program cannot be started again, it returns and changes
// nothing. Header only, because the library itself never reads the environment and never ends a process.
inline void restart_with_faster_kernels(char** argv) {
  constexpr const char* variable = "OPENBLAS_CORETYPE";
  if (std::getenv(variable) != nullptr) return;
  const std::optional<SlowKernels> slow = slow_kernels();
  if (!slow || ::setenv(variable, slow->faster.c_str(), 0) != 0) return;
  ::execv("/proc/self/exe", argv);  // returns only if it fails; the second start returns at the first line
  ::unsetenv(variable);
}
#endif

}  // namespace cgmca
#pragma GCC visibility pop
