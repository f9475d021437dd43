// Independent tasks side by side, on as many threads as BLAS would use.
//
// Example:
//   std::vector<double> objectives(3);
//   parallel_for(3, [&](Index k) {
//     const Covariance identity = Covariance::identity(k + 1);
//     objectives[k] = fit(X1, X2, identity, identity).certificate.objective;
//   });
#pragma once

#include <algorithm>
#include <cgmca/threads.hpp>
#include <cgmca/types.hpp>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Calls work(k) for k = 0 … count - 1; each thread takes the next k. BLAS calls inside use one thread each. If a task
// throws, no further task begins and its exception is thrown again. If several throw, it is that of the first of them,
// as if they had run one after another. At most `most` threads are used.
template <class Work>
void parallel_for(Index count, const Work& work, Index most = worker_count()) {
  const Index workers = std::min({most, Index{worker_count()}, count});
  std::mutex mutex;
  Index next = 0, first_to_fail = count;
  std::exception_ptr problem;
  const auto run = [&] {
    const SerialBlas alone;  // also for what a task would divide once more
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

// Calls work(i) for each of m domains, for factorizations of up to `size` rows or columns. They run side by side if
// they are too small for LAPACK to gain by threads, but not so small that a thread costs more than they do.
template <class Work>
void for_each_domain(Index m, Index size, const Work& work) {
  constexpr Index small = 100, large = 1500;
  if (m > 1 && size > small && size < large) return parallel_for(m, work);
  for (Index i = 0; i < m; ++i) work(i);
}

// The number of columns in a range of parallel_for_columns.
constexpr Index kRange = 256;
// Calls work(first, count) for ranges of n columns of p numbers each, side by side if that is faster. The ranges do not
// depend on the number of threads.
template <class Work>
void parallel_for_columns(Index p, Index n, const Work& work) {
  constexpr Index worthwhile = 1 << 17;  // numbers for a thread
  const Index most = p * n / worthwhile;
  if (most < 2) {
    for (Index first = 0; first < n; first += kRange) work(first, std::min(kRange, n - first));
  } else {
    parallel_for((n + kRange - 1) / kRange, [&](Index k) { work(k * kRange, std::min(kRange, n - k * kRange)); }, most);
  }
}

// The sum over n columns of what add(j, sum) adds for column j to a vector of p numbers. The order of the sum does not
// depend on the number of threads.
template <class Add>
Vector sum_over_columns(Index p, Index n, const Add& add) {
  Matrix parts = Matrix::Zero(p, (n + kRange - 1) / kRange);
  parallel_for_columns(p, n, [&](Index first, Index count) {
    auto part = parts.col(first / kRange);
    for (Index j = first; j < first + count; ++j) add(j, part);
  });
  Vector sum = Vector::Zero(p);
  for (Index k = 0; k < parts.cols(); ++k) sum += parts.col(k);
  return sum;
}

}  // namespace cgmca
#pragma GCC visibility pop
