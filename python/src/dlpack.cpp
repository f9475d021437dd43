#include "dlpack.hpp"

#include <fmt/format.h>

#include <utility>

namespace cgmca::python::dlpack {
namespace {

constexpr const char *kName = "dltensor", *kUsed = "used_dltensor";
constexpr const char *kVersioned = "dltensor_versioned", *kUsedVersioned = "used_dltensor_versioned";

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

[[noreturn]] void raise_buffer_error(const std::string& text) {
  PyErr_SetString(PyExc_BufferError, text.c_str());
  throw py::error_already_set();
}

// The capsule's tensor, which is ours from now on, and the owner that calls its deleter.
template <class Kind>
std::pair<const Tensor*, std::shared_ptr<void>> taken_from(const py::capsule& capsule, const char* name,
                                                           const char* used) {
  auto* managed = static_cast<Kind*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr || PyCapsule_SetName(capsule.ptr(), used) != 0) throw py::error_already_set();
  std::shared_ptr<void> owner(managed, [](void* pointer) {
    auto* own = static_cast<Kind*>(pointer);
    if (own->deleter != nullptr) own->deleter(own);
  });
  if constexpr (std::is_same_v<Kind, ManagedVersioned>) {
    if (managed->major != 1) raise_buffer_error(fmt::format("DLPack {} is not known here; 1 is", managed->major));
  }
  return {&managed->tensor, std::move(owner)};
}

py::object asked(const py::handle& object, const Device& device) {
  py::dict options;
  if (on_gpu(device)) options["stream"] = 1;  // CUDA's default stream
  options["max_version"] = py::make_tuple(1, 0);
  try {
    return object.attr("__dlpack__")(**options);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  PyDict_DelItemString(options.ptr(), "max_version");  // older than DLPack 1
  return object.attr("__dlpack__")(**options);
}

// What we hand out, with the numbers of `array` that a tensor points to.
template <class Kind>
struct Given {
  Kind managed{};
  Taken array;
  std::vector<std::int64_t> shape, strides;

  explicit Given(const Taken& array_)
      : array(array_),
        shape(array.shape.begin(), array.shape.end()),
        strides(array.strides.begin(), array.strides.end()) {
    managed.tensor = {
        array.data, array.device, static_cast<std::int32_t>(shape.size()), array.dtype, shape.data(), strides.data(),
        0};
    managed.context = this;
    // Whoever is done with the tensor may not hold the GIL, which what keeps the numbers may need.
    managed.deleter = [](Kind* own) {
      if (Py_IsInitialized() == 0) return;
      const py::gil_scoped_acquire acquire;
      delete static_cast<Given*>(own->context);
    };
  }
};

template <class Kind>
py::capsule given(const Taken& array, const char* name, PyCapsule_Destructor destructor) {
  auto tensor = std::make_unique<Given<Kind>>(array);
  if constexpr (std::is_same_v<Kind, ManagedVersioned>) tensor->managed.major = 1;
  PyObject* capsule = PyCapsule_New(&tensor->managed, name, destructor);
  if (capsule == nullptr) throw py::error_already_set();
  tensor.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

// Of a capsule that nobody took.
template <class Kind>
void drop(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* managed = static_cast<Kind*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

}  // namespace

std::optional<Device> device_of(const py::handle& object) {
  if (!py::hasattr(object, "__dlpack__") || !py::hasattr(object, "__dlpack_device__")) return std::nullopt;
  const py::tuple device = object.attr("__dlpack_device__")();
  return Device{static_cast<std::int32_t>(py::int_(device[0])), static_cast<std::int32_t>(py::int_(device[1]))};
}

Taken take(const py::handle& object, const Device& device) {
  const py::object found = asked(object, device);
  if (!PyCapsule_CheckExact(found.ptr())) raise_buffer_error("__dlpack__ returned something else than a capsule");
  const auto capsule = py::reinterpret_borrow<py::capsule>(found);
  const bool versioned = PyCapsule_IsValid(found.ptr(), kVersioned) != 0;
  if (!versioned && PyCapsule_IsValid(found.ptr(), kName) == 0) {
    raise_buffer_error("__dlpack__ returned a capsule that was used before, or holds no tensor");
  }
  const auto [tensor, owner] = versioned ? taken_from<ManagedVersioned>(capsule, kVersioned, kUsedVersioned)
                                         : taken_from<Managed>(capsule, kName, kUsed);
  Taken result{owner, static_cast<char*>(tensor->data) + tensor->byte_offset, tensor->device, tensor->dtype, {}, {}};
  result.shape.assign(tensor->shape, tensor->shape + tensor->ndim);
  if (tensor->strides != nullptr) {
    result.strides.assign(tensor->strides, tensor->strides + tensor->ndim);
  } else {
    result.strides.assign(result.shape.size(), 1);
    for (std::size_t i = result.shape.size(); i-- > 1;) result.strides[i - 1] = result.strides[i] * result.shape[i];
  }
  return result;
}

py::capsule give(const Taken& array, bool versioned) {
  if (versioned) {
    return given<ManagedVersioned>(array, kVersioned,
                                   [](PyObject* capsule) { drop<ManagedVersioned>(capsule, kVersioned); });
  }
  return given<Managed>(array, kName, [](PyObject* capsule) { drop<Managed>(capsule, kName); });
}

std::string name(const DataType& dtype) {
  if (dtype.lanes != 1) return fmt::format("vectors of {} numbers", dtype.lanes);
  if (dtype.code == boolean) return "bool";
  if (dtype.code == integer) return fmt::format("int{}", dtype.bits);
  if (dtype.code == unsigned_integer) return fmt::format("uint{}", dtype.bits);
  if (dtype.code == floating) return fmt::format("float{}", dtype.bits);
  if (dtype.code == 4) return fmt::format("bfloat{}", dtype.bits);
  if (dtype.code == 5) return fmt::format("complex{}", dtype.bits);
  return fmt::format("numbers of the DLPack type {}", dtype.code);
}

}  // namespace cgmca::python::dlpack
