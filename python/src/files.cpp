// Reading and writing matrices.
#include <cgmca/io.hpp>

#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace cgmca::python {
namespace {

Matrix read_whole(const std::string& source, bool columns) {
  check_exists(file_of(source));
  const py::gil_scoped_release release;
  return read(source, {.columns = columns});
}

}  // namespace

void bind_files(py::module_& module) {
  module.def(
      "read", [](const std::string& source, bool columns) { return to_rows(read_whole(source, columns)); },
      py::arg("source"), py::arg("columns") = false);
  module.def(
      "write",
      [](const std::string& target, const py::object& X) {
        const Samples samples(X, "X");
        py::object keep;
        const auto rows = samples.block(0, samples.count(), keep);
        const py::gil_scoped_release release;
        write(target, rows);
      },
      py::arg("target"), py::arg("X"));
  module.def(
      "match_images",
      [](const std::string& folder1, const std::string& folder2, const std::string& match) {
        const ImagePairs found = match_images(folder1, folder2, match);
        return py::make_tuple(found.pairs, found.unmatched1, found.unmatched2);
      },
      py::arg("folder1"), py::arg("folder2"), py::arg("match"));
  module.def(
      "read_images",
      [](const std::string& folder, const std::vector<std::string>& names) {
        return to_rows(read_images(folder, names));
      },
      py::arg("folder"), py::arg("names"));
  py::class_<BlockReader>(module, "BlockReader", "A matrix read in blocks of samples.")
      .def(py::init([](const std::string& source, bool columns) {
             check_exists(file_of(source));
             return std::make_unique<BlockReader>(source, ReadOptions{.columns = columns});
           }),
           py::arg("source"), py::arg("columns") = false)
      .def_property_readonly("features", &BlockReader::features)
      .def_property_readonly("samples", &BlockReader::samples)
      .def_property_readonly("feature_names", &BlockReader::feature_names)
      .def(
          "next",
          [](BlockReader& self, Index most) {
            Matrix block;
            {
              const py::gil_scoped_release release;
              block = self.next(most);
            }
            return to_rows(std::move(block));
          },
          py::arg("max_samples"));
}

}  // namespace cgmca::python
