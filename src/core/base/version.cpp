#include <cgmca/version.hpp>

#include <string_view>

#define CGMCA_TEXT_OF(x) #x
#define CGMCA_TEXT(x) CGMCA_TEXT_OF(x)
static_assert(std::string_view(CGMCA_VERSION) == CGMCA_TEXT(CGMCA_VERSION_MAJOR) "." CGMCA_TEXT(
                                                     CGMCA_VERSION_MINOR) "." CGMCA_TEXT(CGMCA_VERSION_PATCH),
              "CMakeLists.txt and cgmca/version.hpp must name the same version");

const char* cgmca_version() { return CGMCA_VERSION; }

namespace cgmca {

const char* version() { return CGMCA_VERSION; }

}  // namespace cgmca
