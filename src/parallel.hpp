// Loops over independent items on as many threads as BLAS would use.
#pragma once

#include <algorithm>
#include <cgmca/threads.hpp>
#include <cgmca/types.hpp>
#include <exception>
#include <thread>
#include <vector>

namespace cgmca {

// The number of threads to share work among.
inline Index worker_count() {
  return threads() > 0 ? threads() : static_cast<Index>(std::thread::hardware_concurrency());
}

// work(begin, end) for contiguous shares of 0 … items - 1, none smaller than `least` where avoidable. What a share
// throws is thrown again once all have ended.
template <class Work>
void in_shares(Index items, Index least, const Work& work, Index workers = worker_count()) {
  const Index shares = std::clamp<Index>(workers, 1, std::max<Index>(1, items / least));
  std::vector<std::exception_ptr> problems(static_cast<std::size_t>(shares));
  const auto run = [&](Index share) {
    try {
      work(items * share / shares, items * (share + 1) / shares);
    } catch (...) {
      problems[static_cast<std::size_t>(share)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index share = 1; share < shares; ++share) others.emplace_back(run, share);
    run(0);
  }
  for (const auto& problem : problems) {
    if (problem) std::rethrow_exception(problem);
  }
}

// The same for work that calls BLAS, which meanwhile uses one thread for each share.
template <class Work>
void in_shares_over_blas(Index items, const Work& work) {
  const Index workers = worker_count();
  struct OneThread {
    int before = threads();
    OneThread() {
      if (before > 1) set_threads(1);
    }
    ~OneThread() {
      if (before > 1) set_threads(before);
    }
  } one_thread;
  in_shares(items, 1, work, workers);
}

}  // namespace cgmca
