// Where the heavy part of a summary, a fit, and of what uses a model is computed.
//
// The CUDA back end is a library of its own, libcgmca_cuda.so, which is loaded when somebody first asks for it: one
// program serves machines with and without a GPU. It is looked for beside this library, then as any shared library is.
#pragma once

#include <array>
#include <string>

#pragma GCC visibility push(default)
namespace cgmca {

enum class Device {
  cpu,
  cuda,       // the first NVIDIA GPU that CUDA shows; DeviceError where there is none
  automatic,  // cuda where one can be used, otherwise cpu
};
inline constexpr std::array kDevices = {Device::cpu, Device::cuda, Device::automatic};
const char* name(Device device);  // "cpu", "cuda", "auto"

// What was found: "NVIDIA H200, 139.8 GiB, CUDA 13.0", or why none can be used.
struct DeviceReport {
  bool usable;
  std::string description;
};
DeviceReport cuda_device();

}  // namespace cgmca
#pragma GCC visibility pop
