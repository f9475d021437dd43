// cgmca._core: the library as NumPy arrays see it. The package's own modules give it scikit-learn's manners.
#include "bindings.hpp"

PYBIND11_MODULE(_core, module) {
  namespace python = cgmca::python;
  module.doc() = "The C++ library behind cgmca.";
  module.attr("__version__") = CGMCA_VERSION;
  python::bind_errors(module);
  python::bind_summary(module);
  python::bind_model(module);
  python::bind_fit(module);
  python::bind_files(module);
  python::bind_image(module);
}
