#include "device_array.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "support/choice.hpp"

namespace cgmca::python {
namespace {

using Strided = Eigen::OuterStride<>;

void check_layout(const dlpack::Taken& array, const std::string& name) {
  if (array.shape.size() != 2) {
    throw py::value_error(fmt::format("{} has {} dimension{}; an array of shape (samples, features) is needed", name,
                                      array.shape.size(), array.shape.size() == 1 ? "" : "s"));
  }
  const dlpack::DataType& type = array.dtype;
  if (type.code != dlpack::floating || type.lanes != 1 || (type.bits != 64 && type.bits != 32)) {
    throw py::type_error(
        fmt::format("{} holds {} on the GPU; float64 or float32 is needed there", name, dlpack::name(type)));
  }
  const Index n = array.shape[0], d = array.shape[1];
  if ((d > 1 && n > 0 && array.strides[1] != 1) || (n > 1 && array.strides[0] < d)) {
    throw py::value_error(
        fmt::format("{} does not have its rows one after another on the GPU (strides {}, {}); give a contiguous copy, "
                    "as PyTorch's {}.contiguous() makes",
                    name, array.strides[0], array.strides[1], name));
  }
  if (array.device.id != 0) {
    throw py::value_error(
        fmt::format("{} lies on GPU {}; cgmca uses the first one that CUDA shows, GPU 0. Copy it there, or start the "
                    "program with CUDA_VISIBLE_DEVICES={}",
                    name, array.device.id, array.device.id));
  }
}

// As Numba's arrays show themselves, which do not speak DLPack.
dlpack::Taken by_cuda_interface(const py::handle& object, const std::string& name) {
  const py::dict array = object.attr("__cuda_array_interface__");
  const auto type = array["typestr"].cast<std::string>();
  if (type != "<f8" && type != "<f4") {
    throw py::type_error(fmt::format("{} holds {} on the GPU; float64 or float32 is needed there", name, type));
  }
  if (array.contains("stream") && !array["stream"].is_none() && array["stream"].cast<Index>() != 1) {
    throw py::value_error(
        fmt::format("{} belongs to a CUDA stream of its own; synchronize it, and give the array by DLPack", name));
  }
  const std::uint8_t size = type == "<f8" ? 8 : 4;
  const auto keep = std::make_shared<py::object>(py::reinterpret_borrow<py::object>(object));
  auto* data = reinterpret_cast<void*>(array["data"].cast<py::tuple>()[0].cast<std::uintptr_t>());
  dlpack::Taken result{keep, data, {dlpack::cuda, 0}, {dlpack::floating, static_cast<std::uint8_t>(8 * size), 1},
                       {},   {}};
  result.shape = array["shape"].cast<std::vector<Index>>();
  if (array.contains("strides") && !array["strides"].is_none()) {
    for (const Index bytes : array["strides"].cast<std::vector<Index>>()) result.strides.push_back(bytes / size);
  } else {
    result.strides.assign(result.shape.size(), 1);
    for (std::size_t i = result.shape.size(); i-- > 1;) result.strides[i - 1] = result.strides[i] * result.shape[i];
  }
  return result;
}

py::dtype dtype_of(const DeviceArray& array) {
  return array.doubles() ? py::dtype::of<double>() : py::dtype::of<float>();
}

std::string place(const DeviceArray& array) {
  return array.device() == Device::cuda ? fmt::format("cuda:{}", array.numbers().device.id) : "cpu";
}

// __dlpack__: what was computed is there already, whatever the consumer's stream.
py::capsule give(const DeviceArray& self, const py::object& /*stream*/, const py::object& max_version,
                 const py::object& device, const py::object& copy) {
  const auto refuse = [](const char* text) {
    PyErr_SetString(PyExc_BufferError, text);
    throw py::error_already_set();
  };
  if (!copy.is_none() && copy.cast<bool>()) refuse("cgmca passes arrays on without a copy; make one of the result");
  const dlpack::Device& own = self.numbers().device;
  if (!device.is_none()) {
    const py::tuple asked = device;
    if (asked[0].cast<std::int32_t>() != own.type || asked[1].cast<std::int32_t>() != own.id) {
      refuse("the array is on another device than asked for; copy the result");
    }
  }
  const bool versioned = !max_version.is_none() && py::tuple(max_version)[0].cast<int>() >= 1;
  return dlpack::give(self.numbers(), versioned);
}

py::dict cuda_interface(const DeviceArray& self) {
  if (self.device() != Device::cuda) throw py::attribute_error("the array is not on a GPU");
  const Index size = self.doubles() ? 8 : 4;
  const dlpack::Taken& numbers = self.numbers();
  py::dict result;
  result["shape"] = py::make_tuple(self.count(), self.features());
  result["typestr"] = self.doubles() ? "<f8" : "<f4";
  result["data"] = py::make_tuple(reinterpret_cast<std::uintptr_t>(numbers.data), false);
  result["strides"] = py::make_tuple(numbers.strides[0] * size, numbers.strides[1] * size);
  result["version"] = 3;
  result["stream"] = py::none();
  return result;
}

py::object from_dlpack(const py::object& object, const std::string& name) {
  if (on_gpu(object)) return py::cast(device_array(object, name));
  return host_array(object, name);
}

}  // namespace

DeviceArray::DeviceArray(DeviceMatrix matrix)
    : matrix_(std::move(matrix)),
      numbers_{std::make_shared<DeviceMatrix>(*matrix_),
               matrix_->data(),
               {matrix_->device() == Device::cuda ? dlpack::cuda : dlpack::cpu, 0},
               {dlpack::floating, 64, 1},
               {matrix_->cols(), matrix_->rows()},
               {matrix_->rows(), 1}} {}

DeviceArray::DeviceArray(dlpack::Taken numbers, const std::string& name) : numbers_(std::move(numbers)) {
  check_layout(numbers_, name);
}

SampleView DeviceArray::view() const {
  const Strided rows(count() > 1 ? numbers_.strides[0] : std::max<Index>(1, features()));
  if (doubles()) {
    return Eigen::Map<const Matrix, 0, Strided>(static_cast<const double*>(numbers_.data), features(), count(), rows);
  }
  return Eigen::Map<const Eigen::MatrixXf, 0, Strided>(static_cast<const float*>(numbers_.data), features(), count(),
                                                       rows);
}

Matrix DeviceArray::host() const { return matrix_ ? matrix_->to_host() : to_host(view(), device()); }

bool on_gpu(const py::handle& object) {
  if (py::isinstance<DeviceArray>(object)) return object.cast<const DeviceArray&>().device() == Device::cuda;
  if (const auto device = dlpack::device_of(object)) {
    if (dlpack::on_gpu(*device)) return true;
    if (dlpack::on_host(*device)) return false;
    throw py::type_error(fmt::format(
        "an array on a device of DLPack's kind {}; cgmca uses host memory (1) and NVIDIA GPUs (2)", device->type));
  }
  return py::hasattr(object, "__cuda_array_interface__");
}

DeviceArray device_array(const py::handle& object, const std::string& name) {
  if (py::isinstance<DeviceArray>(object)) return object.cast<const DeviceArray&>();
  if (const auto device = dlpack::device_of(object)) return {dlpack::take(object, *device), name};
  return {by_cuda_interface(object, name), name};
}

py::object host_array(const py::object& object, const std::string& name) {
  if (py::isinstance<py::array>(object) || py::hasattr(object, "__array__")) return object;
  const auto device = dlpack::device_of(object);
  if (!device || !dlpack::on_host(*device)) return object;
  const auto taken = std::make_unique<dlpack::Taken>(dlpack::take(object, *device));
  const dlpack::DataType& type = taken->dtype;
  const bool known = type.lanes == 1 && (type.code == dlpack::boolean || type.code <= dlpack::floating);
  if (!known) {
    throw py::type_error(
        fmt::format("{} holds {}; real numbers that NumPy knows are needed", name, dlpack::name(type)));
  }
  const auto dtype = py::dtype::from_args(py::str(dlpack::name(type)));
  std::vector<py::ssize_t> strides;
  for (const Index stride : taken->strides) strides.push_back(stride * dtype.itemsize());
  const std::vector<py::ssize_t> shape(taken->shape.begin(), taken->shape.end());
  auto owner = std::make_unique<std::shared_ptr<void>>(taken->owner);
  const py::capsule keep(owner.get(), [](void* pointer) { delete static_cast<std::shared_ptr<void>*>(pointer); });
  owner.release();
  return py::array(dtype, shape, strides, taken->data, keep);
}

void bind_device_array(py::module_& module) {
  py::class_<DeviceArray> type(module, "DeviceArray", R"(Numbers that stayed in the memory of a GPU, of shape (n, d).

`Model.apply` and `Model.translate` return one for arrays that are there. Estimators hand out the caller's own kind of
array instead, without a copy. ``torch.from_dlpack(array)``, ``cupy.from_dlpack(array)`` and
``jax.numpy.from_dlpack(array)`` do the same.)");
  refuse_pickle(type);
  type.def_property_readonly("shape",
                             [](const DeviceArray& self) { return py::make_tuple(self.count(), self.features()); })
      .def_property_readonly("ndim", [](const DeviceArray&) { return 2; })
      .def_property_readonly("dtype", &dtype_of)
      .def_property_readonly("device", &place, "'cuda:0', or 'cpu'.")
      .def("__len__", [](const DeviceArray& self) { return self.count(); })
      .def("__repr__",
           [](const DeviceArray& self) {
             return fmt::format("DeviceArray(shape=({}, {}), dtype={}, device='{}')", self.count(), self.features(),
                                self.doubles() ? "float64" : "float32", place(self));
           })
      .def(
          "numpy", [](const DeviceArray& self) { return to_rows(self.host()); }, "A copy in host memory, in float64.")
      .def("__array__",
           [](const DeviceArray& self, const py::args&, const py::kwargs&) -> py::array {
             throw py::type_error(
                 fmt::format("the array is on the device {}; numpy() copies it to host memory, and "
                             "from_dlpack of PyTorch, CuPy or JAX takes it as it is",
                             place(self)));
           })
      .def("__dlpack__", &give, py::kw_only(), py::arg("stream") = py::none(), py::arg("max_version") = py::none(),
           py::arg("dl_device") = py::none(), py::arg("copy") = py::none())
      .def("__dlpack_device__",
           [](const DeviceArray& self) {
             return py::make_tuple(static_cast<int>(self.numbers().device.type), self.numbers().device.id);
           })
      .def_property_readonly("__cuda_array_interface__", &cuda_interface)
      .def("_all_finite", [](const DeviceArray& self) {
        const SampleView X = self.view();
        const Device device = self.device();
        const py::gil_scoped_release release;
        return all_finite(X, device);
      });
  module.def(
      "cuda_device",
      [] {
        const DeviceReport found = cuda_device();
        return py::make_tuple(found.usable, found.description);
      },
      "Whether there is a GPU to use, and which one or why not.");
  module.def("from_dlpack", &from_dlpack, py::arg("array"), py::arg("name"),
             "A `DeviceArray` for one on a GPU, a NumPy array for one in host memory that speaks DLPack alone.");
  module.def(
      "to_device",
      [](const py::object& array, const std::string& device) {
        py::object keep;
        const Samples samples(array, "array");
        return DeviceArray(to_device(samples.block(0, samples.count(), keep), need_choice(device, kDevices, "device")));
      },
      py::arg("array"), py::arg("device") = "cuda", "A copy of a NumPy array in the memory of a device.");
}

}  // namespace cgmca::python
