// Any bytes at all, called a model: refused, or a model that can be used on samples of its own dimensions.
#include <cgmca/translate.hpp>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cgmca;
  try {
    const Model model = Model::load(fuzz::sealed_file_of(data, size));
    for (Domain domain : {Domain::one, Domain::two}) {
      if (!model.domains[domain]) continue;
      const Matrix Z = apply(model, domain, Matrix::Zero(model.domain(domain).features(), 2));
      fuzz::check(Z.rows() == model.common_dimension && Z.cols() == 2);
    }
    if (model.domains[0] && model.domains[1]) translation(model, Domain::two, Domain::one);
  } catch (const Error&) {
  }
  return 0;
}
