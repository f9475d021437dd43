#include "cuda/lock.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace cgmca::cuda {
namespace {

using Clock = std::chrono::steady_clock;

bool tracing() {
  static const bool asked = std::getenv("CGMCA_CUDA_TRACE") != nullptr;
  return asked;
}

// Guarded by the mutex of the one back end there is.
int depth = 0;
Clock::time_point begun, ended = Clock::now();

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// "… cgmca::cuda::Cuda::product(…) const" is "product".
std::string short_name(const std::string& signature) {
  const std::string owner = "Cuda::";
  const auto begin = signature.find(owner);
  if (begin == std::string::npos) return signature;
  const auto end = signature.find('(', begin);
  return signature.substr(begin + owner.size(), end - begin - owner.size());
}

}  // namespace

Lock::Lock(std::recursive_mutex& mutex, std::source_location caller) : held_(mutex), caller_(caller.function_name()) {
  if (!tracing() || depth++ > 0) return;
  cudaDeviceSynchronize();
  begun = Clock::now();
}

Lock::~Lock() {
  if (!tracing() || --depth > 0) return;
  cudaDeviceSynchronize();
  const Clock::time_point now = Clock::now();
  const double between = seconds(ended, begun), inside = seconds(begun, now);
  ended = now;
  if (between > 5e-5) std::fprintf(stderr, "  %-28s %9.5f s\n", "(on the host)", between);
  std::fprintf(stderr, "  %-28s %9.5f s\n", short_name(caller_).c_str(), inside);
}

}  // namespace cgmca::cuda
