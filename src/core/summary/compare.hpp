// Whether the covariances that a fit uses are those of the samples.                                 docs/method.md (61)
#pragma once

#include <cgmca/summary.hpp>
#include <optional>

#include "core/summary/moments.hpp"

namespace cgmca {

// max_f ‖(Θ U - Y/(n-1))_f‖ / (σ_f ‖u∘σ‖), and the like of the means: how far the moments of a summary are from its
// sketch. Nothing if there is no sketch of all samples. Throws CertificateMismatch if that is more than rounding.
std::optional<double> distance_from_samples(const Summary& summary, const Moments& moments);

}  // namespace cgmca
