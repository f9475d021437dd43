#include <cgmca/version.hpp>

#include "summary/file.hpp"

namespace cgmca {

const char* version() { return CGMCA_VERSION; }
Index summary_format_version() { return kWeightedVersion; }

}  // namespace cgmca
