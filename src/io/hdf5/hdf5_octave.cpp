// What Octave's save -hdf5 lays out; see hdf5.cpp.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/hdf5/hdf5.hpp"

namespace cgmca::io {

// Whether the object belongs to a variable of Octave: "/x" itself.
bool is_octaves_group(hid_t file, const std::string& name) {
  return H5Aexists_by_name(file, name.c_str(), "OCTAVE_NEW_FORMAT", H5P_DEFAULT) > 0;
}

bool is_octaves_value(hid_t file, const std::string& name) {
  constexpr std::string_view octaves_value = "/value";
  return name.size() > octaves_value.size() && name.ends_with(octaves_value) &&
         is_octaves_group(file, name.substr(0, name.size() - octaves_value.size()));
}

// For features that were flattened in row-major order: where each one is whose axes, in reversed
// order, are flattened in row-major order.
std::vector<Index> reversed_order(const std::vector<hsize_t>& axes) {
  std::vector<Index> order = {0};
  Index stride = 1;
  for (std::size_t axis = axes.size(); axis-- > 0; stride *= static_cast<Index>(axes[axis])) {
    std::vector<Index> longer;
    for (const Index place : order)
      for (Index i = 0; i < static_cast<Index>(axes[axis]); ++i) longer.push_back(place + i * stride);
    order = std::move(longer);
  }
  return order;
}

}  // namespace cgmca::io
