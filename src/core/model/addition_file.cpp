#include "core/model/addition_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace cgmca {
namespace {

Addition load_addition(const TensorReader& file, const nlohmann::json& entries, Index before) {
  Addition addition;
  for (const int matched : entries.at("matched").get<std::vector<int>>()) {
    if (matched < 1 || matched > before) file.fail(fmt::format("a domain was matched with domain {}", matched));
    addition.matched.push_back(Domain{matched});
  }
  addition.weights = entries.at("weights").get<std::vector<double>>();
  addition.samples = entries.at("samples").get<Index>();
  addition.total_weight = entries.at("total_weight").get<double>();
  addition.transported = entries.at("transported").get<bool>();
  addition.objective = entries.at("objective").get<double>();
  addition.bound = entries.at("bound").get<double>();
  addition.scale = entries.at("scale").get<double>();
  const auto singular = entries.at("singular_G").get<std::vector<double>>();
  addition.singular_G = Eigen::Map<const Vector>(singular.data(), std::ssize(singular));
  addition.unique = entries.at("unique").get<bool>();
  const bool sound = !addition.matched.empty() && addition.weights.size() == addition.matched.size() &&
                     addition.samples >= 2 && addition.total_weight > 1;
  if (!sound) file.fail("'additions' does not describe matched samples");
  return addition;
}

}  // namespace

void save_additions(TensorWriter& file, const std::vector<Addition>& additions) {
  nlohmann::json all = nlohmann::json::array();
  for (const Addition& one : additions) {
    std::vector<int> matched;
    for (const Domain domain : one.matched) matched.push_back(number(domain));
    all.push_back({{"matched", matched},
                   {"weights", one.weights},
                   {"samples", one.samples},
                   {"total_weight", one.total_weight},
                   {"transported", one.transported},
                   {"objective", one.objective},
                   {"bound", one.bound},
                   {"scale", one.scale},
                   {"singular_G", std::vector<double>(one.singular_G.begin(), one.singular_G.end())},
                   {"unique", one.unique}});
  }
  file.set("additions", all.dump());
}

std::vector<Addition> load_additions(const TensorReader& file, Index domains) {
  if (!file.has_text("additions")) return {};
  const auto listed = nlohmann::json::parse(file.text("additions"), nullptr, false);
  if (!listed.is_array()) file.fail("'additions' is not a list");
  const Index fitted = domains - std::ssize(listed);
  if (fitted < 2) file.fail(fmt::format("{} of {} domains were added", listed.size(), domains));
  std::vector<Addition> additions;
  try {
    for (const nlohmann::json& one : listed)
      additions.push_back(load_addition(file, one, fitted + std::ssize(additions)));
  } catch (const nlohmann::json::exception&) {
    file.fail("'additions' does not describe added domains");
  }
  return additions;
}

void save_patterns(TensorWriter& file, const std::vector<Pattern>& patterns) {
  nlohmann::json all = nlohmann::json::array();
  for (const Pattern& one : patterns) {
    std::vector<int> domains;
    for (const Domain domain : one.domains) domains.push_back(number(domain));
    all.push_back({{"domains", domains}, {"samples", one.samples}, {"total_weight", one.total_weight}});
  }
  file.set("patterns", all.dump());
}

std::vector<Pattern> load_patterns(const TensorReader& file, Index domains) {
  if (!file.has_text("patterns")) return {};
  const auto listed = nlohmann::json::parse(file.text("patterns"), nullptr, false);
  if (!listed.is_array()) file.fail("'patterns' is not a list");
  std::vector<Pattern> patterns;
  try {
    for (const nlohmann::json& one : listed) {
      Pattern pattern{{}, one.at("samples").get<Index>(), one.at("total_weight").get<double>()};
      for (const int domain : one.at("domains").get<std::vector<int>>()) {
        const bool ascending = pattern.domains.empty() || domain > number(pattern.domains.back());
        if (domain < 1 || domain > domains || !ascending) file.fail("'patterns' names domains that there are not");
        pattern.domains.push_back(Domain{domain});
      }
      if (pattern.samples < 1 || !(pattern.total_weight > 0)) file.fail("'patterns' has one without samples");
      patterns.push_back(std::move(pattern));
    }
  } catch (const nlohmann::json::exception&) {
    file.fail("'patterns' does not describe samples");
  }
  return patterns;
}

}  // namespace cgmca
