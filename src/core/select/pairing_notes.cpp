#include <cgmca/correlation_tests.hpp>
#include <cgmca/diagnose.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "core/base/thresholds.hpp"

namespace cgmca {

std::vector<std::string> pairing_notes(const Model& model) {
  if (model.count() != 2) return {};
  const auto& ranks = model.certificate.ranks;
  const Vector& sigma = model.certificate.singular_B;
  const bool saturated = model.samples - 1 <= ranks[0] + ranks[1];
  if (!saturated && sigma.size() >= std::min(ranks[0], ranks[1]) && sigma.minCoeff() > 1 - thresholds::kSaturated) {
    return {"every correlation is 1: one domain is a function of the other, as if the same data were given twice"};
  }
  try {
    const double p = correlation_tests(model).front().wilks.p;
    if (p > 0.05) {
      return {fmt::format("no correlation is above chance (Wilks, p = {:.2g}): are the pairs in the same order?", p)};
    }
  } catch (const InvalidInput&) {  // the theory says nothing of this fit
  }
  return {};
}

}  // namespace cgmca
