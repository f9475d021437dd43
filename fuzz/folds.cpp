// Any bytes at all, called a set of folds: refused, or folds that can be added to and joined.
#include <cgmca/folds.hpp>

#include "core/summary/moments.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  try {
    Folds folds = Folds::load(fuzz::sealed_file_of(data, size));
    const Summary all = folds.all();
    const Index before = all.samples();
    Index features = 0;
    MatchedSamples more;
    for (Index i = 1; i <= all.domains(); ++i) {
      features += all.dimension(static_cast<Domain>(i));
      if (features > 100) return 0;
      more.emplace_back(Matrix::Ones(all.dimension(static_cast<Domain>(i)), 1));
    }
    folds.add(more);
    fuzz::check(folds.all().samples() == before + 1);
    moments(folds.all());
  } catch (const Error&) {
  }
  return 0;
}
