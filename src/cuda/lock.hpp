// One operation at a time; where the environment has CGMCA_CUDA_TRACE, each is timed and told on the error output.
#pragma once

#include <mutex>
#include <source_location>

namespace cgmca::cuda {

class Lock {
 public:
  explicit Lock(std::recursive_mutex& mutex, std::source_location caller = std::source_location::current());
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> held_;
  const char* caller_;
};

}  // namespace cgmca::cuda
