// The name of a file to be written, taken apart.
#pragma once

#include <cgmca/types.hpp>

#include <string>
#include <vector>

namespace cgmca::io {

struct TargetName {
  std::string path, extension;  // ".npz", in small letters
  std::string member;           // empty in a format without members
  bool named = false;           // the target names the member
};
// Whether the member is added to a file that exists now.
bool adds(const TargetName& name);
// `variable` is the member if the target names none. Throws InvalidInput if there is no such format.
TargetName target_name(const std::string& target, const std::string& variable);

// Throws InvalidInput if there are names, but not one for each feature.
void check_names(Index features, const std::vector<std::string>& names);

}  // namespace cgmca::io
