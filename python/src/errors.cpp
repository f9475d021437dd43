// What the library throws, as Python raises it.
//
//   InvalidInput, FormatError   ValueError, with the same text
//   Infeasible                  cgmca.InfeasibleError, a ValueError, with domain, data_rank and covariance_rank
//   IoError                     OSError
//   NumericalFailure            numpy.linalg.LinAlgError
//   InternalError               cgmca.InternalError, a RuntimeError
#include <cgmca/error.hpp>

#include <cerrno>
#include <filesystem>

#include "bindings.hpp"

namespace cgmca::python {
namespace {

// Held for as long as the interpreter lives.
PyObject* infeasible_error = nullptr;
PyObject* internal_error = nullptr;

void raise_infeasible(const Infeasible& error) {
  const auto exception = py::reinterpret_borrow<py::object>(infeasible_error)(error.what());
  exception.attr("domain") = number(error.domain);
  exception.attr("data_rank") = error.data_rank;
  exception.attr("covariance_rank") = error.covariance_rank;
  PyErr_SetObject(infeasible_error, exception.ptr());
}

PyObject* new_exception(py::module_& module, const char* name, const char* documentation, PyObject* base) {
  PyObject* type = PyErr_NewExceptionWithDoc(("cgmca." + std::string(name)).c_str(), documentation, base, nullptr);
  if (type == nullptr) throw py::error_already_set();
  module.attr(name) = py::reinterpret_borrow<py::object>(type);
  return type;
}

void translate_error(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const Infeasible& error) {
    raise_infeasible(error);
  } catch (const InvalidInput& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const FormatError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const IoError& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  } catch (const NumericalFailure& error) {
    const py::object type = py::module_::import("numpy.linalg").attr("LinAlgError");
    PyErr_SetString(type.ptr(), error.what());
  } catch (const DeviceError& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (const InternalError& error) {
    PyErr_SetString(internal_error, error.what());
  }
}

}  // namespace

Domain domain_of(int number, Index count) {
  if (number >= 1 && number <= count) return Domain{number};
  throw InvalidInput("there is no domain " + std::to_string(number) +
                     (count == 2 ? ": give 1 (X) or 2 (Y)" : ": give a number from 1 to " + std::to_string(count)));
}

void check_exists(const std::string& path) {
  std::error_code problem;
  if (std::filesystem::exists(path, problem) || problem) return;
  errno = ENOENT;
  PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
  throw py::error_already_set();
}

void bind_errors(py::module_& module) {
  infeasible_error = new_exception(
      module, "InfeasibleError",
      "A prescribed covariance has a higher rank than the data of its domain.\n\n"
      "``domain`` (from 1 on), ``data_rank`` (the largest feasible) and ``covariance_rank`` say which and by how much.",
      PyExc_ValueError);
  internal_error =
      new_exception(module, "InternalError", "A mistake in cgmca itself: please report it.", PyExc_RuntimeError);
  py::register_local_exception_translator(translate_error);
}

}  // namespace cgmca::python
