// Independent tasks side by side, on as many threads as BLAS would use.
#pragma once

#include <algorithm>
#include <cgmca/threads.hpp>
#include <cgmca/types.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// The number of threads to share work among.
inline Index worker_count() {
  return threads() > 0 ? threads() : std::max<Index>(1, static_cast<Index>(std::thread::hardware_concurrency()));
}

// work(k) for k = 0 … count - 1, each thread taking the next one. BLAS calls inside use one thread each. What a task
// throws ends the work, and is thrown again; of several the first task's, as if they had run one after another.
template <class Work>
void side_by_side(Index count, const Work& work) {
  const Index workers = std::min(worker_count(), count);
  const SerialBlas serial;
  std::mutex mutex;
  Index next = 0, first_to_fail = count;
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
        if (task < first_to_fail) {
          first_to_fail = task;
          problem = std::current_exception();
        }
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

// work(i) for each of m domains, factorizations of up to `size` rows or columns: side by side where they are too small
// for LAPACK to gain by threads, but not so small that a thread costs more than they do.
template <class Work>
void for_each_domain(Index m, Index size, const Work& work) {
  constexpr Index small = 100, large = 1500;
  if (m > 1 && size > small && size < large) return side_by_side(m, work);
  for (Index i = 0; i < m; ++i) work(i);
}

// work(first, count) for ranges of n columns of p numbers each, side by side where it pays. The ranges do not depend on
// the number of threads.
template <class Work>
void by_columns(Index p, Index n, const Work& work) {
  constexpr Index tile = 256, worthwhile = 1 << 18;
  if (p * n < worthwhile) {
    for (Index first = 0; first < n; first += tile) work(first, std::min(tile, n - first));
  } else {
    side_by_side((n + tile - 1) / tile, [&](Index k) { work(k * tile, std::min(tile, n - k * tile)); });
  }
}

// Σ_j of what add(j, sum) adds to a vector of p numbers for each of n columns; the order of the sum does not depend on
// the number of threads.
template <class Add>
Vector sum_over_columns(Index p, Index n, const Add& add) {
  std::vector<std::pair<Index, Vector>> parts;
  std::mutex mutex;
  by_columns(p, n, [&](Index first, Index count) {
    Vector sum = Vector::Zero(p);
    for (Index j = first; j < first + count; ++j) add(j, sum);
    const std::lock_guard lock(mutex);
    parts.emplace_back(first, std::move(sum));
  });
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Vector sum = Vector::Zero(p);
  for (const auto& [first, part] : parts) sum += part;
  return sum;
}

}  // namespace cgmca
#pragma GCC visibility pop
