#include <cgmca/incomplete.hpp>
#include <cgmca/verify.hpp>

#include "core/fit/representatives.hpp"

namespace cgmca {

Verification verify(const Model& model, const IncompleteSummary& summary) {
  Model plain = model.fitted();
  const Representatives samples = representatives_of(summary, PerDomain<Ridge>(plain.settings.ridge));
  plain.samples = samples.weights.size();
  plain.patterns.clear();
  for (std::size_t i = 0; i < samples.X.size(); ++i) {
    plain.settings.ridge[i] = Ridge(0);
    plain.certificate.constrained[i] = {1, 0, plain.samples};
    if (plain.domains[i]) plain.domains[i]->variance -= samples.unseen_variance[i];
  }
  Verifier verifier(plain);
  verifier.add(MatchedSamples(samples.X.begin(), samples.X.end()), samples.weights);
  Verification result = verifier.verification();
  result.samples = summary.samples();
  result.all_samples = samples.samples;
  return result;
}

}  // namespace cgmca
