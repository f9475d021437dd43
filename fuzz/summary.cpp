// Any bytes at all, called a summary: refused, or a summary that can be added to and read.
#include <cgmca/summary.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  try {
    PairSummary summary = PairSummary::load(fuzz::file_of(data, size));
    const Index d1 = summary.dimension(Domain::one), d2 = summary.dimension(Domain::two), before = summary.samples();
    if (d1 + d2 > 1000) return 0;
    summary.add(Matrix::Ones(d1, 1), Matrix::Ones(d2, 1));
    fuzz::check(summary.samples() == before + 1);
    summary.moments();
  } catch (const Error&) {
  }
  return 0;
}
