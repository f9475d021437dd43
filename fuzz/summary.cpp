// Any bytes at all, called a summary: refused, or a summary that can be added to and read.
#include <cgmca/summary.hpp>

#include "core/summary/moments.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  try {
    Summary summary = Summary::load(fuzz::sealed_file_of(data, size));
    const Index before = summary.samples();
    Index features = 0;
    MatchedSamples more;
    for (Index i = 1; i <= summary.domains(); ++i) {
      features += summary.dimension(static_cast<Domain>(i));
      if (features > 1000) return 0;
      more.emplace_back(Matrix::Ones(summary.dimension(static_cast<Domain>(i)), 1));
    }
    summary.add(more);
    fuzz::check(summary.samples() == before + 1);
    moments(summary);
  } catch (const Error&) {
  }
  return 0;
}
