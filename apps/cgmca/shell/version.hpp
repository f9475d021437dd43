// What this build is, see version.cmake.
#pragma once

namespace cgmca::cli {
extern const char* const kVersion;
}
