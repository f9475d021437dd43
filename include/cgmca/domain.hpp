// What is known of a domain beside its samples: how many features, and the names a file or a user gave.
#pragma once

#include <cgmca/types.hpp>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

struct DomainInfo {
  Index features = 0;
  std::string name;                        // "synthetic"; empty where nobody gave one
  std::vector<std::string> feature_names;  // one a feature, or none

  DomainInfo() = default;
  DomainInfo(Index features_, std::string name_ = {}, std::vector<std::string> feature_names_ = {})  // NOLINT: a number
      : features(features_), name(std::move(name_)), feature_names(std::move(feature_names_)) {}
  bool operator==(const DomainInfo&) const = default;
};

// "domain 2", or "domain 2 (measured)" where it has a name: what messages call it.
std::string describe(Domain domain, const DomainInfo& info);

// Throws InvalidInput where there are no features or another number of names, or where a name occurs twice.
void check(Domain domain, const DomainInfo& info);

// What two descriptions of one domain say together: a name that only one of them has is kept. Throws WrongDimension
// where the numbers of features differ, InvalidInput where the names do.
DomainInfo joined(Domain domain, const DomainInfo& one, const DomainInfo& other);

}  // namespace cgmca
#pragma GCC visibility pop
