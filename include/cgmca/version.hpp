// Which cgmca this is, for processes that send summaries to each other.
#pragma once

#include <cgmca/types.hpp>

#pragma GCC visibility push(default)
namespace cgmca {

const char* version();           // of the library: "0.1.0"
Index summary_format_version();  // the newest format of summaries that it writes and reads

}  // namespace cgmca
#pragma GCC visibility pop
