// A model from the maps that were solved for, and what a fit was asked for from its model.
#pragma once

#include <cgmca/covariance.hpp>
#include <cgmca/fit_options.hpp>
#include <cgmca/model.hpp>
#include <vector>

#include "core/fit/solve.hpp"

namespace cgmca {

// Everything but the certificate, of which singular_A and singular_B are filled in.
Model assemble(const Solution& solution, const WhitenedData& whitened);

// What the fit of a model was asked for, so that it can be repeated.
struct Asked {
  std::vector<Covariance> covariances;  // of each domain; those given by their entries are M Mᵀ
  FitOptions options;                   // without extra samples
};
// Throws MissingDomain, or InvalidInput for a covariance that is none.
Asked asked_of(const Model& model);

}  // namespace cgmca
