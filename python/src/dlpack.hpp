// DLPack, by which libraries pass on arrays without a copy: the structures of version 1 that we need, arrays of others
// taken over, and our own handed out.                                                    https://dmlc.github.io/dlpack
#pragma once

#include <pybind11/pybind11.h>
#include <cgmca/types.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cgmca::python::dlpack {

namespace py = pybind11;

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, rocm_host = 11, cuda_managed = 13 };
enum TypeCode : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, boolean = 6 };

struct Device {
  std::int32_t type, id;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in entries; nullptr: rows one after another
  std::uint64_t byte_offset;
};

// Where an object says that its numbers are; nothing if it does not speak DLPack. Throws what the object raises.
std::optional<Device> device_of(const py::handle& object);
inline bool on_host(const Device& device) {
  return device.type == cpu || device.type == cuda_host || device.type == rocm_host;
}
inline bool on_gpu(const Device& device) { return device.type == cuda || device.type == cuda_managed; }

// An array as its owner keeps it, until the last copy of this is gone. Needs the GIL, also to be destroyed.
struct Taken {
  std::shared_ptr<void> owner;
  void* data;  // of the first entry
  Device device;
  DataType dtype;
  std::vector<Index> shape, strides;  // in entries
};
// The numbers of an object. Those on a GPU are ready for CUDA's default stream, and so for ours, which wait for it.
// Throws what the object raises, and BufferError where it does not keep to the protocol.
Taken take(const py::handle& object, const Device& device);

// A capsule with a tensor that keeps `array` alive: a versioned one where the consumer knows these.
py::capsule give(const Taken& array, bool versioned);

// "float64", "bfloat16", …
std::string name(const DataType& dtype);

}  // namespace cgmca::python::dlpack
