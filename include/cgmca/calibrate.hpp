// Error bars measured on samples that a fit has not seen (docs/method.md section 5).
//
// Example:
//   Folds folds({d1, d2}, {.folds = 10});  // one pass over the data
//   folds.add(X1, X2);
//   const Model calibrated = calibrate(fit(folds.all(), C, C), folds, C, C);
//   std::cout << calibrated.calibration_folds << " folds\n";
//
// Threads: several calibrations may run at once, also of one set of folds.
#pragma once

#include <cgmca/fit.hpp>
#include <cgmca/folds.hpp>
#include <functional>

#pragma GCC visibility push(default)
namespace cgmca {

// Returns the model with the errors of its translations, to each domain from all others, measured by cross-fitting:
// each fold is translated by a fit to all others, with the same covariances and options. Fewer samples than folds are
// left out one at a time. `progress` gets the part done after each fold and may throw to stop. Throws TooFewSamples, or
// InvalidInput if the folds do not belong to the model or if a training set does not allow the covariances. (30)
Model calibrate(Model model, const Folds& folds, const Covariance& c1, const Covariance& c2,
                const FitOptions& options = {}, const std::function<void(double done)>& progress = {});
// The same for m >= 2 domains, with one covariance for all or one for each, as for fit. Throws as above.
Model calibrate(Model model, const Folds& folds, const std::vector<Covariance>& covariances,
                const FitOptions& options = {}, const std::function<void(double done)>& progress = {});

}  // namespace cgmca
#pragma GCC visibility pop
