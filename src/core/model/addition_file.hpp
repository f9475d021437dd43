// What a model file holds of incomplete samples, and of the domains that were added after the fit.
#pragma once

#include <cgmca/model.hpp>
#include <vector>

#include "core/base/tensor_file.hpp"

namespace cgmca {

void save_additions(TensorWriter& file, const std::vector<Addition>& additions);

void save_patterns(TensorWriter& file, const std::vector<Pattern>& patterns);

// Of a model of so many domains; none where the file tells of none. Throws FormatError.
std::vector<Pattern> load_patterns(const TensorReader& file, Index domains);
// Of a model of so many domains; none where the file tells of none. Throws FormatError.
std::vector<Addition> load_additions(const TensorReader& file, Index domains);

}  // namespace cgmca
