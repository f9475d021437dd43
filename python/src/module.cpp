// cgmca._core: the library as NumPy arrays see it. The package's own modules give it scikit-learn's manners.
#include "bindings.hpp"

namespace {

// NumPy 2 changed its arrays' memory layout; pybind11 before 2.12 would read it wrongly without noticing.
void check_numpy() {
#if PYBIND11_VERSION_HEX < 0x020C0000
  const auto version = pybind11::module_::import("numpy").attr("__version__").cast<std::string>();
  if (version[0] != '1') {
    throw pybind11::import_error("this cgmca was built with a pybind11 that knows NumPy 1 only, and this is NumPy " +
                                 version + ": build it with pip install .");
  }
#endif
}

// __new__ of a pybind11 class. For pybind11's own base class, and for classes of Python's derived from it alone, pybind11
// throws through the interpreter, which ends the process; copyreg calls it so for the pickle protocols 0 and 1.
PyObject* new_object(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*named*/) {
  try {
    return pybind11::detail::make_new_instance(type);
  } catch (const std::exception& problem) {
    PyErr_SetString(PyExc_TypeError, problem.what());
    return nullptr;
  }
}

// What a method asks for where its object was made by __new__ alone: pybind11 would give it memory that nobody filled.
void* refuse_half_built(std::size_t) {
  throw pybind11::type_error("this object was made without its constructor and holds nothing");
}

void refuse_half_built_objects(const pybind11::module_& module) {
  for (const auto& [name, value] : pybind11::dict(module.attr("__dict__"))) {
    if (PyType_Check(value.ptr()) == 0) continue;
    auto* info = pybind11::detail::get_type_info(reinterpret_cast<PyTypeObject*>(value.ptr()));
    if (info != nullptr) info->operator_new = &refuse_half_built;
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  namespace python = cgmca::python;
  check_numpy();
  module.doc() = "The C++ library behind cgmca.";
  module.attr("__version__") = CGMCA_VERSION;
  reinterpret_cast<PyTypeObject*>(pybind11::detail::get_internals().instance_base)->tp_new = &new_object;
  python::bind_errors(module);
  python::bind_device_array(module);
  python::bind_summary(module);
  python::bind_model(module);
  python::bind_fit(module);
  python::bind_tune(module);
  python::bind_files(module);
  python::bind_image(module);
  refuse_half_built_objects(module);
}
