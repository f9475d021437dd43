// Arrays that may be in the memory of a GPU: what transform() and translate() return for such arrays, and those of
// PyTorch, CuPy, JAX or Numba where they are.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <cgmca/device_matrix.hpp>
#include <cgmca/samples.hpp>

#include <optional>
#include <string>

#include "dlpack.hpp"

namespace cgmca::python {

namespace py = pybind11;

// Two dimensions, (n, d); float64 or float32. Needs the GIL.
class DeviceArray {
 public:
  explicit DeviceArray(DeviceMatrix matrix);                    // a d×n matrix is an (n, d) array
  DeviceArray(dlpack::Taken numbers, const std::string& name);  // of another library; throws ValueError, TypeError

  Index count() const { return numbers_.shape[0]; }
  Index features() const { return numbers_.shape[1]; }
  bool doubles() const { return numbers_.dtype.bits == 64; }
  Device device() const { return dlpack::on_gpu(numbers_.device) ? Device::cuda : Device::cpu; }
  const dlpack::Taken& numbers() const { return numbers_; }
  SampleView view() const;  // d×n, where it lies
  Matrix host() const;      // d×n, a copy

 private:
  std::optional<DeviceMatrix> matrix_;  // where it is ours
  dlpack::Taken numbers_;
};

// Whether an object's numbers are in the memory of a GPU, as it tells by DLPack or `__cuda_array_interface__`.
bool on_gpu(const py::handle& object);
// What messages call the array is `name`. ValueError and TypeError say what is wrong with it.
DeviceArray device_array(const py::handle& object, const std::string& name);
// The NumPy array, without a copy, of an object that speaks DLPack but not NumPy's protocols; any other as it is.
py::object host_array(const py::object& object, const std::string& name);

}  // namespace cgmca::python
