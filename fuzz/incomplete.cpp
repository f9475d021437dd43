// Any bytes at all, called a summary of incomplete samples: refused, or a summary that can be added to and read.
#include <cgmca/incomplete.hpp>

#include "core/summary/moments.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  try {
    IncompleteSummary summary = IncompleteSummary::load(fuzz::sealed_file_of(data, size));
    const Index before = summary.samples();
    Index features = 0;
    MatchedSamples more;
    for (Index i = 1; i <= summary.domains(); ++i) {
      const Index own = summary.domain(static_cast<Domain>(i)).features;
      features += own;
      if (features > 1000) return 0;
      more.emplace_back(Matrix::Ones(own, 1));
    }
    summary.add(more);
    fuzz::check(summary.samples() == before + 1);
    fuzz::check(IncompleteSummary::from_bytes(summary.to_bytes()).samples() == before + 1);
    for (const auto& [domains, own] : summary.patterns()) moments(own);
  } catch (const Error&) {
  }
  return 0;
}
