// The nuisance of a model in its file.
#pragma once

#include <cgmca/model.hpp>
#include <optional>

namespace cgmca {

void save_nuisance(TensorWriter& file, const Nuisance& nuisance);
// None if the file has none. `model` has its maps.
std::optional<Nuisance> load_nuisance(const TensorReader& file, const Model& model);

}  // namespace cgmca
