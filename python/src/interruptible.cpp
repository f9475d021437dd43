#include "interruptible.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "arrays.hpp"

namespace cgmca::python {
namespace {

namespace py = pybind11;

struct Left {};  // thrown into work that nobody waits for

// What the calling thread and the worker share.
struct Exchange {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<double> reports;
  std::exception_ptr problem;
  bool finished = false;
  std::atomic<bool> left = false;
};

std::atomic<int> left_behind = 0;

// Ends the process without the destructors of BLAS, which would take its memory from work that is still going on.
void end_without_destructors(int status, void*) {
  if (left_behind == 0) return;
  std::fflush(nullptr);
  ::_exit(status);
}

void watch_exit() {
#ifdef __GLIBC__
  static const int registered = ::on_exit(end_without_destructors, nullptr);
  static_cast<void>(registered);
#else
  static const int registered = std::atexit([] {
    while (left_behind > 0) std::this_thread::yield();
  });
  static_cast<void>(registered);
#endif
}

void work_aside(const std::function<void(const Report&)>& work, const std::shared_ptr<Exchange>& shared) {
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

bool on_main_thread() {
  const py::object threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// What has been reported since the last time; waits for a moment where there is nothing yet.
std::deque<double> wait(Exchange& shared, bool& finished) {
  const py::gil_scoped_release release;
  std::unique_lock lock(shared.mutex);
  shared.changed.wait_for(lock, std::chrono::milliseconds(50),
                          [&] { return shared.finished || !shared.reports.empty(); });
  finished = shared.finished;
  return std::exchange(shared.reports, {});
}

void leave(Exchange& shared) {
  const std::lock_guard lock(shared.mutex);
  if (shared.finished) return;
  shared.left = true;
  ++left_behind;
}

}  // namespace

void run_interruptibly(std::function<void(const Report&)> work, const py::object& progress) {
  if (!on_main_thread()) {  // KeyboardInterrupt does not come here
    const py::gil_scoped_release release;
    work([&](double done) {
      const py::gil_scoped_acquire acquire;
      if (!progress.is_none()) progress(done);
    });
    return;
  }
  watch_exit();
  const auto shared = std::make_shared<Exchange>();
  std::thread worker([work = std::move(work), shared] { work_aside(work, shared); });
  try {
    for (bool finished = false; !finished;) {
      for (const double done : wait(*shared, finished)) {
        if (!progress.is_none()) progress(done);
      }
      let_signals_through();
    }
  } catch (...) {
    leave(*shared);
    worker.detach();
    throw;
  }
  {
    const py::gil_scoped_release release;
    worker.join();
  }
  if (shared->problem) std::rethrow_exception(shared->problem);
}

}  // namespace cgmca::python
