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

}  // namespace

PYBIND11_MODULE(_core, module) {
  namespace python = cgmca::python;
  check_numpy();
  module.doc() = "The C++ library behind cgmca.";
  module.attr("__version__") = CGMCA_VERSION;
  python::bind_errors(module);
  python::bind_device_array(module);
  python::bind_summary(module);
  python::bind_model(module);
  python::bind_fit(module);
  python::bind_tune(module);
  python::bind_files(module);
  python::bind_image(module);
}
