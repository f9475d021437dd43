// What is known of a domain beside its samples: how many features, and the names a file or a user gave.
//
// Example:
//   Summary summary({{d1, "synthetic"}, {2, "measured", {"mass", "length"}}});
//   std::cout << describe(Domain::two, summary.domain(Domain::two)) << "\n";  // domain 2 (measured)
#pragma once

#include <cgmca/types.hpp>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// The size and the names of one domain. A number alone is a DomainInfo without names.
struct DomainInfo {
  Index features = 0;
  std::string name;                        // "synthetic"; empty where nobody gave one
  std::vector<std::string> feature_names;  // one a feature, or none

  DomainInfo() = default;
  DomainInfo(Index features_, std::string name_ = {}, std::vector<std::string> feature_names_ = {})  // NOLINT: a number
      : features(features_), name(std::move(name_)), feature_names(std::move(feature_names_)) {}
  bool operator==(const DomainInfo&) const = default;
};

// The domains 1 to count.
std::vector<Domain> all_domains(Index count);

// "domain 2", or "domain 2 (measured)" where it has a name: what messages call it.
std::string describe(Domain domain, const DomainInfo& info);

// Throws InvalidInput where there are no features or another number of names, or where a name occurs twice.
void check(Domain domain, const DomainInfo& info);

// The place of each expected feature among those given: expected[i] == given[order[i]]. Empty where nothing has to be
// moved: the order is the same already, or one of the two has no names. Throws InvalidInput, listing the names that
// only one of them has.
std::vector<Index> order_of(const std::vector<std::string>& expected, const std::vector<std::string>& given);

// How many features such an order moves.
Index moved_by(const std::vector<Index>& order);

// The first few of many, for a message: "'a', 'b', 'c' and 7 more".
std::string few_of(const std::vector<std::string>& names);

// What two descriptions of one domain say together: a name that only one of them has is kept, and features keep the
// order of the first. Throws WrongDimension where the numbers of features differ, InvalidInput where the names do.
DomainInfo joined(Domain domain, const DomainInfo& one, const DomainInfo& other);

}  // namespace cgmca
#pragma GCC visibility pop
