// What a library with another back end shows: a function of this name that returns a BackendPlugin.
#pragma once

#include <string>

#include "core/linalg/backend.hpp"

namespace cgmca::linalg {

inline constexpr const char* kPluginSymbol = "cgmca_backend_plugin";
// Raised whenever Backend or BackendPlugin changes: an older library is then refused.
inline constexpr int kPluginInterface = 3;

struct BackendPlugin {
  int interface;
  const char* version;        // of cgmca
  std::string (*describe)();  // the device; throws DeviceError if none can be used
  // Lives until the process ends. `host` does what the device has no routine for. Throws DeviceError.
  const Backend& (*open)(const Backend& host);
};
using FindPlugin = const BackendPlugin*();

}  // namespace cgmca::linalg
