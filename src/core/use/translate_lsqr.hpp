// Translations by LSQR.                                                                           docs/method.md (19)
#pragma once

#include <cgmca/lsqr.hpp>
#include <cgmca/model.hpp>
#include <functional>

#include "core/linalg/backend.hpp"

namespace cgmca {

// points(first, count): z of `count` samples from `first` on, n in all. Several threads may call it at once.
using Points = std::function<Matrix(Index first, Index count)>;
Matrix by_lsqr(const linalg::Backend& on, const DomainMap& map, Index n, const Points& points,
               const LsqrOptions& options);

}  // namespace cgmca
