#include <cgmca/incomplete.hpp>
#include <cgmca/verify.hpp>

#include "core/fit/representatives.hpp"

namespace cgmca {

Attained verify(const Model& model, const IncompleteSummary& summary) {
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
  verifier.add({samples.X.begin(), samples.X.end()}, samples.weights);
  Attained result = verifier.attained();
  result.samples = summary.samples();
  result.all_samples = samples.samples;
  return result;
}

}  // namespace cgmca
