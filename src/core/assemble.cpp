#include "assemble.hpp"

#include <utility>

namespace cgmca {

Model assemble(const Solution& solution, const Factors& factors) {
  Model model;
  model.samples = factors.samples;
  model.total_weight = factors.total_weight;
  model.common_dimension = solution.maps[0].mixing.rows();
  for (const std::size_t i : {0U, 1U}) {
    const SolvedMap& map = solution.maps[i];
    const WhitenedDomain& domain = factors.domains[i];
    DomainMap result;
    result.mean = domain.mean;
    result.weights = linalg::download(map.weights).transpose();
    result.mixing = linalg::download(map.mixing);
    result.loadings = linalg::download(map.loadings);
    result.variance = domain.variance;
    model.covariances[i] = map.C.description;
    model.domains[i] = std::move(result);
  }
  model.certificate.singular_A = solution.singular_A;
  model.certificate.singular_B = solution.singular_B;
  return model;
}

}  // namespace cgmca
