// Which domains are compared with which: the weights w_ij of a graph.   w: m×m
#pragma once

#include <cgmca/types.hpp>
#include <string>

namespace cgmca::multi {

// `full`: every pair; `star:D`: domain D (from 1) with every other; `path`: 1-2, 2-3, …; each with weight 1.
Matrix graph_weights(const std::string& spec, Index domains);

// The weights of a user, exactly symmetric: throws if they are not m×m, symmetric to rounding, at least 0, zero on
// the diagonal and connected; the message names the entry or the domains.
Matrix checked_weights(const MatrixView& weights, Index domains);

}  // namespace cgmca::multi
