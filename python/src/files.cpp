// Reading and writing matrices.
#include <cgmca/io.hpp>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <limits>
#include <mutex>
#include <utility>

#include "arrays.hpp"
#include "bindings.hpp"

namespace cgmca::python {
namespace {

ReadOptions options_of(bool columns, const std::string& complex, const std::string& id) {
  ReadOptions options;
  options.columns = columns;
  options.id = id;
  options.complex = complex == "magnitude" ? ComplexAs::magnitude
                    : complex == "power"   ? ComplexAs::power
                    : complex == "stack"   ? ComplexAs::stack
                                           : ComplexAs::refuse;
  return options;
}

// What was decided about the file that nobody has said is a warning.
BlockReader open_source(const std::string& source, const ReadOptions& options) {
  check_exists(file_of(source));
  BlockReader reader(source, options);
  for (const std::string& note : reader.notes()) {
    if (PyErr_WarnEx(PyExc_UserWarning, fmt::format("'{}': {}", source, note).c_str(), 2) < 0) {
      throw py::error_already_set();
    }
  }
  return reader;
}

Matrix read_whole(const std::string& source, const ReadOptions& options) {
  BlockReader reader = open_source(source, options);
  const py::gil_scoped_release release;
  return reader.next(std::numeric_limits<Index>::max());
}

// A reader that several Python threads may use at once, one after another.
class SharedReader {
 public:
  explicit SharedReader(BlockReader reader) : reader_(std::move(reader)) {}

  template <class Work>
  auto use(Work work) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return work(reader_);
  }

 private:
  BlockReader reader_;
  std::mutex mutex_;
};

}  // namespace

void bind_files(py::module_& module) {
  module.def(
      "read",
      [](const std::string& source, bool columns, const std::string& complex, const std::string& id) {
        return to_rows(read_whole(source, options_of(columns, complex, id)));
      },
      py::arg("source"), py::arg("columns") = false, py::arg("complex") = "refuse", py::arg("id") = "");
  module.def(
      "write",
      [](const std::string& target, const py::object& X, std::vector<std::string> feature_names, bool columns) {
        const Samples samples(X, "X");
        py::object keep;
        const auto rows = samples.block(0, samples.count(), keep);
        WriteOptions options;
        options.columns = columns;
        options.feature_names = std::move(feature_names);
        const py::gil_scoped_release release;
        write(target, rows, options);
      },
      py::arg("target"), py::arg("X"), py::arg("feature_names") = std::vector<std::string>(),
      py::arg("columns") = false);
  module.def(
      "read_images",
      [](const std::string& folder, const std::vector<std::string>& names) {
        return to_rows(read_images(folder, names));
      },
      py::arg("folder"), py::arg("names"));
  module.def("file_of", &file_of, py::arg("source"), "The path of a source without its `:member`.");
  module.def("block_samples", &cgmca::block_samples, py::arg("features"), py::arg("bytes"),
             "How many samples to read at a time, if their numbers should take about so many bytes.");
  py::class_<SharedReader> reader(module, "BlockReader", "A matrix read in blocks of samples.");
  refuse_pickle(reader);
  reader
      .def(py::init([](const std::string& source, bool columns, const std::string& complex, bool share,
                       const std::string& id) {
             ReadOptions options = options_of(columns, complex, id);
             options.share = share;
             return std::make_unique<SharedReader>(open_source(source, options));
           }),
           py::arg("source"), py::arg("columns") = false, py::arg("complex") = "refuse", py::arg("share") = false,
           py::arg("id") = "")
      .def("count_samples",
           [](SharedReader& self) { return self.use([](BlockReader& own) { return own.count_samples(); }); })
      .def(
          "skip", [](SharedReader& self, Index count) { self.use([=](BlockReader& own) { own.skip(count); }); },
          py::arg("count"))
      .def(
          "place",
          [](SharedReader& self, Index sample, Index feature) {
            return self.use([=](const BlockReader& own) { return own.place(sample, feature); });
          },
          py::arg("sample"), py::arg("feature"))
      .def_property_readonly(
          "features",
          [](SharedReader& self) { return self.use([](const BlockReader& own) { return own.features(); }); })
      .def_property_readonly(
          "samples", [](SharedReader& self) { return self.use([](const BlockReader& own) { return own.samples(); }); })
      .def_property_readonly(
          "feature_names",
          [](SharedReader& self) { return self.use([](const BlockReader& own) { return own.feature_names(); }); })
      .def(
          "next",
          [](SharedReader& self, Index most) {
            return to_rows(self.use([=](BlockReader& own) { return own.next(most); }));
          },
          py::arg("max_samples"));
}

}  // namespace cgmca::python
