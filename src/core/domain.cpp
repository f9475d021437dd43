#include <cgmca/domain.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace cgmca {
namespace {

// The first few names, for a message.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "), names.size() > most ? ", …" : "");
}

}  // namespace

std::string describe(Domain domain, const DomainInfo& info) {
  return info.name.empty() ? fmt::format("domain {}", number(domain))
                           : fmt::format("domain {} ({})", number(domain), info.name);
}

void check(Domain domain, const DomainInfo& info) {
  if (info.features < 1) {
    throw InvalidInput(fmt::format("a summary in which {} has {} features; at least 1 is needed",
                                   describe(domain, info), info.features));
  }
  const auto& names = info.feature_names;
  if (names.empty()) return;
  if (static_cast<Index>(names.size()) != info.features) {
    throw InvalidInput(
        fmt::format("{} names for the {} features of {}", names.size(), info.features, describe(domain, info)));
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw InvalidInput(fmt::format("two features of {} are called '{}'", describe(domain, info), name));
    }
  }
}

DomainInfo joined(Domain domain, const DomainInfo& one, const DomainInfo& other) {
  if (one.features != other.features) {
    throw WrongDimension(fmt::format("{} has {} features in one summary and {} in the other", describe(domain, one),
                                     one.features, other.features));
  }
  if (!one.name.empty() && !other.name.empty() && one.name != other.name) {
    throw InvalidInput(fmt::format("domain {} is called '{}' in one summary and '{}' in the other", number(domain),
                                   one.name, other.name));
  }
  if (!one.feature_names.empty() && !other.feature_names.empty() && one.feature_names != other.feature_names) {
    throw InvalidInput(fmt::format("the features of {} are called {} in one summary and {} in the other",
                                   describe(domain, one), listed(one.feature_names), listed(other.feature_names)));
  }
  return {one.features, one.name.empty() ? other.name : one.name,
          one.feature_names.empty() ? other.feature_names : one.feature_names};
}

}  // namespace cgmca
