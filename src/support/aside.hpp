// Long work that the calling thread may leave. LAPACK may work for minutes and cannot be asked to stop. So the work runs
// on another thread, and a caller that no longer waits leaves it behind.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace cgmca {

// How far work is: called by it with the part done. Throws where nobody waits for the work any longer.
using Report = std::function<void(double done)>;

namespace aside {

struct Left {};  // thrown into work that was left behind

// What the calling thread and the worker share.
struct Exchange {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<double> reports;
  std::exception_ptr problem;
  bool finished = false;
  std::atomic<bool> left = false;
};

inline std::atomic<int> left_behind = 0;

// Ends the process without the destructors of BLAS, which would take its memory from work that is still going on.
inline void end_without_destructors(int status, void*) {
  if (left_behind == 0) return;
  std::fflush(nullptr);
  ::_exit(status);
}

inline void watch_exit() {
#ifdef __GLIBC__
  static const int registered = ::on_exit(end_without_destructors, nullptr);
#else
  static const int registered = std::atexit([] {
    while (left_behind > 0) std::this_thread::yield();
  });
#endif
  static_cast<void>(registered);
}

inline void work_on(const std::function<void(const Report&)>& work, const std::shared_ptr<Exchange>& shared) {
  std::exception_ptr problem;
  try {
    work([&](double done) {
      if (shared->left) throw Left{};
      const std::lock_guard lock(shared->mutex);
      shared->reports.push_back(done);
      shared->changed.notify_one();
    });
  } catch (...) {
    problem = std::current_exception();
  }
  const std::lock_guard lock(shared->mutex);
  shared->problem = problem;
  shared->finished = true;
  if (shared->left) --left_behind;
  shared->changed.notify_one();
}

// What has been reported since the last time; waits for a moment where there is nothing yet.
inline std::deque<double> wait(Exchange& shared, bool& finished) {
  std::unique_lock lock(shared.mutex);
  shared.changed.wait_for(lock, std::chrono::milliseconds(50),
                          [&] { return shared.finished || !shared.reports.empty(); });
  finished = shared.finished;
  return std::exchange(shared.reports, {});
}

inline void leave(Exchange& shared) {
  const std::lock_guard lock(shared.mutex);
  if (shared.finished) return;
  shared.left = true;
  ++left_behind;
}

}  // namespace aside

// work(report) on a thread of its own. `work` must own all it uses, by value or shared pointers: it may outlive the call.
// attend(reports) is called in the calling thread, every 50 ms and when there are reports. If it throws, the work is left
// behind and the exception passes on. Throws what the work throws.
inline void run_aside(std::function<void(const Report&)> work,
                      const std::function<void(const std::deque<double>&)>& attend) {
  aside::watch_exit();
  const auto shared = std::make_shared<aside::Exchange>();
  std::thread worker([work = std::move(work), shared] { aside::work_on(work, shared); });
  try {
    for (bool finished = false; !finished;) attend(aside::wait(*shared, finished));
  } catch (...) {
    aside::leave(*shared);
    worker.detach();
    throw;
  }
  worker.join();
  if (shared->problem) std::rethrow_exception(shared->problem);
}

}  // namespace cgmca
