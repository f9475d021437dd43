// Independent tasks side by side, on as many threads as BLAS would use.
#pragma once

#include <algorithm>
#include <cgmca/threads.hpp>
#include <cgmca/types.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cgmca {

// The number of threads to share work among.
inline Index worker_count() {
  return threads() > 0 ? threads() : std::max<Index>(1, static_cast<Index>(std::thread::hardware_concurrency()));
}

// work(k) for k = 0 … count - 1, each thread taking the next one. BLAS calls inside use one thread each. What a task
// throws ends the work, and is thrown again.
template <class Work>
void side_by_side(Index count, const Work& work) {
  const Index workers = std::min(worker_count(), count);
  const SerialBlas serial;
  std::mutex mutex;
  Index next = 0;
  std::exception_ptr problem;
  const auto run = [&] {
    for (;;) {
      Index task = 0;
      {
        const std::lock_guard lock(mutex);
        if (problem || next == count) return;
        task = next++;
      }
      try {
        work(task);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!problem) problem = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index k = 1; k < workers; ++k) others.emplace_back(run);
    run();
  }
  if (problem) std::rethrow_exception(problem);
}

}  // namespace cgmca
