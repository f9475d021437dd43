#include <cgmca/domain.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace cgmca {
namespace {

// Those of `names` that are not among `others`.
std::vector<std::string> missing_in(const std::vector<std::string>& others, const std::vector<std::string>& names) {
  const std::set<std::string> known(others.begin(), others.end());
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!known.contains(name)) missing.push_back(name);
  }
  return missing;
}

}  // namespace

std::vector<Domain> all_domains(Index count) {
  std::vector<Domain> result;
  for (Index i = 1; i <= count; ++i) result.push_back(static_cast<Domain>(i));
  return result;
}

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
  if (std::ssize(names) != info.features) {
    throw InvalidInput(fmt::format("{} names for the {} features of {}; give one for each", names.size(), info.features,
                                   describe(domain, info)));
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      throw InvalidInput(
          fmt::format("two features of {} are called '{}'; give them different names", describe(domain, info), name));
    }
  }
}

std::string few_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", names[i]);
  }
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

std::vector<Index> order_of(const std::vector<std::string>& expected, const std::vector<std::string>& given) {
  if (expected.empty() || given.empty() || expected == given) return {};
  const auto lacking = missing_in(given, expected), unknown = missing_in(expected, given);
  if (!lacking.empty() || !unknown.empty()) {
    throw InvalidInput(fmt::format("the features have other names: {}{}{}",
                                   lacking.empty() ? "" : fmt::format("{} missing", few_of(lacking)),
                                   lacking.empty() || unknown.empty() ? "" : ", ",
                                   unknown.empty() ? "" : fmt::format("{} not expected", few_of(unknown))));
  }
  std::map<std::string, Index> place;
  for (std::size_t i = 0; i < given.size(); ++i) place[given[i]] = static_cast<Index>(i);
  if (place.size() != given.size() || expected.size() != given.size()) {
    throw InvalidInput("the features cannot be told apart by name: one occurs twice");
  }
  std::vector<Index> order;
  for (const std::string& name : expected) order.push_back(place.at(name));
  return order;
}

Index moved_by(const std::vector<Index>& order) {
  Index moved = 0;
  for (std::size_t i = 0; i < order.size(); ++i) moved += order[i] != static_cast<Index>(i) ? 1 : 0;
  return moved;
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
  try {
    order_of(one.feature_names, other.feature_names);
  } catch (const InvalidInput& problem) {
    throw InvalidInput(fmt::format("{} in two summaries: {}", describe(domain, one), problem.what()));
  }
  if (one.nuisance != other.nuisance) {
    throw InvalidInput(fmt::format("domain {} is a nuisance in one summary and not in the other", number(domain)));
  }
  DomainInfo result(one.features, one.name.empty() ? other.name : one.name,
                    one.feature_names.empty() ? other.feature_names : one.feature_names);
  result.nuisance = one.nuisance;
  return result;
}

}  // namespace cgmca
