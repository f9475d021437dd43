// The description of a domain: its number of features, and names from a file or a user.
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
  Index features = 0;                      // d
  std::string name;                        // such as "synthetic"; empty if there is none
  std::vector<std::string> feature_names;  // one for each feature, or none
  // Whether these are values of a nuisance, which a fit removes from the other domains: the last domain of a summary,
  // such as batches, instruments or ages. docs/method.md section 14
  bool nuisance = false;

  DomainInfo() = default;
  // A domain of so many features, with or without names.
  DomainInfo(Index features_, std::string name_ = {}, std::vector<std::string> feature_names_ = {})  // NOLINT: a number
      : features(features_), name(std::move(name_)), feature_names(std::move(feature_names_)) {}
  // A nuisance of so many values a sample.
  static DomainInfo of_nuisance(Index features, std::vector<std::string> names = {}) {
    DomainInfo info(features, {}, std::move(names));
    info.nuisance = true;
    return info;
  }
  bool operator==(const DomainInfo&) const = default;
};

// The domains 1 to count.
std::vector<Domain> all_domains(Index count);

// The name of a domain in messages: "domain 2", or "domain 2 (measured)" if it has a name.
std::string describe(Domain domain, const DomainInfo& info);

// Throws InvalidInput if there are no features, if the number of names is not that of features, or if a name occurs
// twice.
void check(Domain domain, const DomainInfo& info);

// The place of each expected feature among those given: expected[i] == given[order[i]]. Empty if nothing has to be
// moved, because the order is the same or because one of the two has no names. Throws InvalidInput if the names differ,
// and lists those that only one of them has.
std::vector<Index> order_of(const std::vector<std::string>& expected, const std::vector<std::string>& given);

// The number of features that the result of order_of moves.
Index moved_by(const std::vector<Index>& order);

// The first few of many names, for a message: "'a', 'b', 'c' and 7 more".
std::string few_of(const std::vector<std::string>& names);

// Combines two descriptions of one domain. A name that only one of them has is kept, and features keep the order of the
// first. Throws WrongDimension if the numbers of features differ, InvalidInput if the names do.
DomainInfo joined(Domain domain, const DomainInfo& one, const DomainInfo& other);

}  // namespace cgmca
#pragma GCC visibility pop
