#include "core/model/nuisance_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/tensor_file.hpp"
#include "core/data/domain_file.hpp"

namespace cgmca {

void save_nuisance(TensorWriter& file, const Nuisance& nuisance) {
  DomainInfo info(nuisance.values(), {}, nuisance.names);
  pack(file, "nuisance_", Domain::one, info);
  file.set("nuisance_rank", nuisance.rank);
  if (nuisance.unknown) file.set("nuisance_unknown", "true");
  file.add_vector("nuisance_mean", nuisance.mean);
  file.add("nuisance_inverse", nuisance.inverse);
  for (std::size_t i = 0; i < nuisance.effects.size(); ++i) {
    const auto domain = static_cast<Domain>(i + 1);
    file.set(numbered("nuisance_explains", domain), nuisance.explained[i]);
    if (nuisance.effects[i].size() > 0) file.add(numbered("nuisance_effects", domain), nuisance.effects[i]);
  }
}

std::optional<Nuisance> load_nuisance(const TensorReader& file, const Model& model) {
  if (!file.has_text("nuisance_rank")) return std::nullopt;
  const DomainInfo info = unpack_domain(file, "nuisance_", Domain::one);
  Nuisance nuisance;
  nuisance.names = info.feature_names;
  nuisance.rank = file.integer("nuisance_rank", 0);
  nuisance.unknown = file.has_text("nuisance_unknown");
  nuisance.mean = file.vector("nuisance_mean", info.features);
  nuisance.inverse = file.matrix("nuisance_inverse", info.features, info.features);
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    const auto domain = static_cast<Domain>(i + 1);
    nuisance.explained.push_back(file.real(numbered("nuisance_explains", domain)));
    nuisance.effects.emplace_back();
    if (!model.domains[i]) continue;
    nuisance.effects[i] =
        file.matrix(numbered("nuisance_effects", domain), model.domains[i]->features(), info.features);
  }
  if (nuisance.rank > info.features || !(model.total_weight - static_cast<double>(nuisance.rank) > 1)) {
    file.fail(fmt::format("a nuisance of rank {}", nuisance.rank));
  }
  return nuisance;
}

}  // namespace cgmca
