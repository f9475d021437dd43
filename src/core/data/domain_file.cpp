#include "core/data/domain_file.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cgmca {

std::string numbered(const std::string& name, Domain domain) { return fmt::format("{}{}", name, number(domain)); }

// Names are one text, a JSON list: safetensors has no lists of texts.
void pack(TensorWriter& file, const std::string& prefix, Domain domain, const DomainInfo& info) {
  file.set(prefix + numbered("features", domain), info.features);
  if (info.nuisance) file.set(prefix + numbered("nuisance", domain), "true");
  try {
    (void)nlohmann::json(info.name).dump();  // throws if it is not UTF-8
    if (!info.name.empty()) file.set(prefix + numbered("name", domain), info.name);
    if (!info.feature_names.empty()) {
      file.set(prefix + numbered("feature_names", domain), nlohmann::json(info.feature_names).dump());
    }
  } catch (const nlohmann::json::exception&) {
    throw InvalidInput(fmt::format("a name of domain {} is not valid UTF-8", number(domain)));
  }
}

DomainInfo unpack_domain(const TensorReader& file, const std::string& prefix, Domain domain) {
  DomainInfo info(file.integer(prefix + numbered("features", domain), 1));
  const std::string name_key = prefix + numbered("name", domain),
                    names_key = prefix + numbered("feature_names", domain);
  info.nuisance = file.has_text(prefix + numbered("nuisance", domain));
  if (file.has_text(name_key)) info.name = file.text(name_key);
  if (file.has_text(names_key)) {
    const auto names = nlohmann::json::parse(file.text(names_key), nullptr, false);
    const bool texts =
        names.is_array() && std::all_of(names.begin(), names.end(), [](const auto& name) { return name.is_string(); });
    if (!texts) file.fail(fmt::format("'{}' is not a list of names", names_key));
    info.feature_names = names.get<std::vector<std::string>>();
  }
  try {
    check(domain, info);
  } catch (const InvalidInput& problem) {
    file.fail(problem.what());
  }
  return info;
}

}  // namespace cgmca
