// The description of a domain in the metadata of a file.
#pragma once

#include <cgmca/domain.hpp>

#include "core/base/tensor_file.hpp"

namespace cgmca {

// "features2", with a prefix where a file holds several summaries.
std::string numbered(const std::string& name, Domain domain);

void pack(TensorWriter& file, const std::string& prefix, Domain domain, const DomainInfo& info);
DomainInfo unpack_domain(const TensorReader& file, const std::string& prefix, Domain domain);

}  // namespace cgmca
