// The errors of lmmse among the samples fitted, and error bars that hold on new samples.
#pragma once

#include <cgmca/translate.hpp>

namespace cgmca {

// The errors of a translation from one domain among the samples fitted and for new samples, where x̂ = μ + left t or, of
// two domains towards identity, x_from + left t.                                                             (23) (29)
void set_errors(Translation& translation, const Model& model, Domain to);

// The same from several domains J, given cross = Cov(x, t_J) and K, with left = cross K⁺.                         (42)
void set_errors(Translation& translation, const Model& model, Domain to, const Matrix& cross, const Matrix& K);

}  // namespace cgmca
