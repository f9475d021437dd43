// Independent tasks side by side, each with BLAS on one thread: the SVDs of these experiments gain little by BLAS's own
// threads.
#pragma once

#include <algorithm>
#include <cgmca/threads.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cgmca::experiments {

// work(k) for k = 0 … count - 1, then done() on one thread at a time. What either throws ends the work, and is thrown
// again.
template <class Work, class Done>
void side_by_side(std::size_t count, const Work& work, const Done& done) {
  const int blas_threads = threads();
  const auto workers = static_cast<std::size_t>(std::max(1, blas_threads));
  if (blas_threads > 1) set_threads(1);
  std::mutex mutex;
  std::size_t next = 0;
  std::exception_ptr problem;
  const auto run = [&] {
    for (;;) {
      std::size_t task = 0;
      {
        const std::lock_guard lock(mutex);
        if (problem || next == count) return;
        task = next++;
      }
      try {
        work(task);
        const std::lock_guard lock(mutex);
        if (!problem) done();
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!problem) problem = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t k = 1; k < std::min(workers, count); ++k) others.emplace_back(run);
    run();
  }
  if (blas_threads > 1) set_threads(blas_threads);
  if (problem) std::rethrow_exception(problem);
}

}  // namespace cgmca::experiments
