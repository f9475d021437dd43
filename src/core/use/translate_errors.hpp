// Error bars of lmmse that hold on new samples.
#pragma once

#include <cgmca/translate.hpp>

namespace cgmca {

// Of two domains: w = P diag(σ): x̂ = μ + w t.                                                                    (29)
ErrorBars error_bars(const Model& model, Domain from, Domain to, const Matrix& w);

// Of more, from the domains J: w = Cov(x, t_J) K⁺, given Cov(x, t_J) and K.                                       (42)
ErrorBars error_bars(const Model& model, const std::vector<Domain>& J, Domain to, const Matrix& w, const Matrix& cross,
                     const Matrix& K);

}  // namespace cgmca
