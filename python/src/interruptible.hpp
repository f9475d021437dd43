// Long work that Ctrl-C interrupts within a moment: on Python's main thread it runs aside, and KeyboardInterrupt leaves
// it behind.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "support/aside.hpp"

namespace cgmca::python {

// work(report) without the GIL. `work` must own all it uses, by value or shared pointers, and touch nothing of Python:
// it may outlive the call. Meanwhile progress(done) is called for each report, in the calling thread, if it is not
// None. Call with the GIL.
void run_interruptibly(std::function<void(const Report&)> work, const pybind11::object& progress);

template <class Result>
Result interruptibly(std::function<Result(const Report&)> work, const pybind11::object& progress = pybind11::none()) {
  auto result = std::make_shared<std::optional<Result>>();
  run_interruptibly([work = std::move(work), result](const Report& report) { result->emplace(work(report)); },
                    progress);
  return std::move(**result);
}

}  // namespace cgmca::python
