// The back end of a device.
#pragma once

#include <cgmca/device.hpp>

#include "core/linalg/backend.hpp"

namespace cgmca {

// Throws DeviceError if it cannot be used.
const linalg::Backend& backend_of(Device device);

}  // namespace cgmca
