// Where the heavy part of a summary, of a fit and of the use of a model is computed.
//
// The CUDA back end is a separate library, libcgmca_cuda.so. It is loaded when a GPU is first requested, so one program
// serves machines with and without a GPU. It is searched for beside this library, then like any shared library.
//
// Example:
//   if (cuda_device().usable) std::cout << cuda_device().description << "\n";
//   Summary summary({d1, d2}, Accumulate::automatic, Device::automatic);
#pragma once

#include <array>
#include <string>

#pragma GCC visibility push(default)
namespace cgmca {

// A place to compute.
enum class Device {
  cpu,        // the processor
  cuda,       // the first NVIDIA GPU that CUDA shows; DeviceError if there is none
  automatic,  // cuda if one can be used, otherwise cpu
};
// All choices of Device.
inline constexpr std::array kDevices = {Device::cpu, Device::cuda, Device::automatic};
const char* name(Device device);  // "cpu", "cuda", "auto"

// Whether there is a GPU to use.
struct DeviceReport {
  bool usable;              // a fit can run there
  std::string description;  // "NVIDIA H200, 139.8 GiB, CUDA 13.0", or why none can be used
};
// Looks for a GPU, and loads the back end if it is installed. Does not throw.
DeviceReport cuda_device();

}  // namespace cgmca
#pragma GCC visibility pop
