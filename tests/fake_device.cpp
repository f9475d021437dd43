// A library that the core takes for the CUDA back end: the processor behind addresses that only it can reach. For tests
// of what a device makes different, and of one that is lost in mid-run: with CGMCA_FAKE_DEVICE_FAILS_AFTER=N in the
// environment every operation after the first N fails.
#include <cgmca/error.hpp>

#include <atomic>
#include <cstdlib>
#include <string>

#include "core/linalg/plugin.hpp"
#include "foreign_backend.hpp"

namespace cgmca {
namespace {

const linalg::Backend* host = nullptr;
std::atomic<long> counted = 0;

}  // namespace

// Each operation of ForeignBackend goes through here. The core's function of this name is not part of this library.
const linalg::Backend& linalg::cpu() {
  const char* most = std::getenv("CGMCA_FAKE_DEVICE_FAILS_AFTER");
  if (most != nullptr && ++counted > std::atol(most)) {
    throw DeviceError("the fake device was lost in mid-run, as it was told");
  }
  return *host;
}

}  // namespace cgmca

namespace {

std::string describe() { return "a fake device"; }

const cgmca::linalg::Backend& open_device(const cgmca::linalg::Backend& on_host) {
  cgmca::host = &on_host;
  static const cgmca::testing::ForeignBackend device(true);
  return device;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const cgmca::linalg::BackendPlugin* cgmca_backend_plugin() {
  static const cgmca::linalg::BackendPlugin plugin{cgmca::linalg::kPluginInterface, CGMCA_VERSION, describe,
                                                   open_device};
  return &plugin;
}
