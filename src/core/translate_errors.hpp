// Error bars of lmmse that hold on new samples.
#pragma once

#include <cgmca/translate.hpp>

namespace cgmca {

// w = P diag(σ): x̂ = μ + w t.
ErrorBars error_bars(const Model& model, Domain from, Domain to, const Matrix& w);

}  // namespace cgmca
