// Matrices that stay in the memory of a GPU, and maps that are applied there.
//
// Example:
//   const DeviceMap to_common = device_map(model, Domain::one, Device::automatic);  // the map travels once
//   const DeviceMatrix Z = to_common(X1);  // X1 in host memory, or a Map of an address of the GPU
//   double* const there = Z.data();        // Z.rows() × Z.cols() doubles, for your own kernels
//   const Matrix here = Z.to_host();
//
// With Device::cpu all of this is in host memory.
//
// Threads: none of these objects is changed by its use; several threads may use one at once.
#pragma once

#include <cgmca/device.hpp>
#include <cgmca/model.hpp>
#include <cgmca/samples.hpp>
#include <cgmca/translate.hpp>
#include <memory>

#pragma GCC visibility push(default)
namespace cgmca {

namespace linalg {
class Array;
}

// An m×n matrix of doubles in the memory of a device. Copies share the numbers, which live as long as one of them.
class DeviceMatrix {
 public:
  explicit DeviceMatrix(linalg::Array array);  // for this library itself

  Index rows() const;     // m
  Index cols() const;     // n
  Device device() const;  // cpu or cuda
  // An address of the device, where column j begins at data() + j·rows(). What was computed is there already: programs
  // may read it in any CUDA stream.
  double* data() const;
  Matrix to_host() const;  // a copy; throws DeviceError

 private:
  std::shared_ptr<const linalg::Array> array_;
};

// An affine map x ↦ A (x - x0) + y0 whose matrix is in the memory of a device.
class DeviceMap {
 public:
  Index rows() const;  // of what it returns
  Index cols() const;  // d, the features of the samples it takes
  // Maps samples, floats or doubles, in host memory or in that of the device.   X: d×n → rows()×n. Returns when X has
  // been read and the result is there. Throws WrongDimension, DeviceError.
  DeviceMatrix operator()(const SampleView& X) const;

 private:
  struct Impl;
  explicit DeviceMap(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  friend DeviceMap device_map(const Model& model, Domain domain, Device device);
  friend DeviceMap device_map(const Translation& translation, Device device);
  std::shared_ptr<const Impl> impl_;
};
// A domain's map into the common space, what apply() does. Throws MissingDomain, DeviceError.
DeviceMap device_map(const Model& model, Domain domain, Device device = Device::cuda);
// A translation. Throws DeviceError.
DeviceMap device_map(const Translation& translation, Device device = Device::cuda);

// A copy in the memory of a device. Throws DeviceError.
DeviceMatrix to_device(const MatrixView& X, Device device = Device::cuda);
// Samples in host memory, as doubles, wherever X is. Throws DeviceError.
Matrix to_host(const SampleView& X, Device device = Device::cuda);
// Whether no entry is NaN or infinite, wherever X is. Throws DeviceError.
bool all_finite(const SampleView& X, Device device = Device::cuda);

}  // namespace cgmca
#pragma GCC visibility pop
