// The version of cgmca: of these headers at compile time, of the library in use at run time.
//
// Example:
//   static_assert(CGMCA_VERSION_MAJOR == 0);  // the headers
//   std::cout << version() << "\n";           // the library
#pragma once

#include <cgmca/types.hpp>

#define CGMCA_VERSION_MAJOR 0
#define CGMCA_VERSION_MINOR 2
#define CGMCA_VERSION_PATCH 0

#pragma GCC visibility push(default)

// The version of the library in use, such as "0.2.0". It has C linkage, so that other languages and dlsym can ask too.
extern "C" const char* cgmca_version();

namespace cgmca {

// The same as cgmca_version().
const char* version();
// The newest format of summary files that this library writes and reads. Processes that send summaries to each other
// compare it.
Index summary_format_version();

}  // namespace cgmca
#pragma GCC visibility pop
