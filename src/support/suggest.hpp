// "did you mean …": the near one of what there is.
#pragma once

#include <string>
#include <vector>

namespace cgmca {

// ", did you mean 'X'?" or nothing where none is near. Letters are compared without case.
std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& known);

}  // namespace cgmca
