#include "interruptible.hpp"

#include "arrays.hpp"

namespace cgmca::python {
namespace {

namespace py = pybind11;

bool on_main_thread() {
  const py::object threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace

void run_interruptibly(std::function<void(const Report&)> work, const py::object& progress) {
  const auto tell = [&](double done) {
    if (!progress.is_none()) progress(done);
  };
  if (!on_main_thread()) {  // KeyboardInterrupt does not come here
    const py::gil_scoped_release release;
    work([&](double done) {
      const py::gil_scoped_acquire acquire;
      tell(done);
    });
    return;
  }
  const py::gil_scoped_release release;
  run_aside(std::move(work), [&](const std::deque<double>& reports) {
    const py::gil_scoped_acquire acquire;
    for (const double done : reports) tell(done);
    let_signals_through();
  });
}

}  // namespace cgmca::python
