// Samples through a map, block by block: apply and translate.
#pragma once

#include <cgmca/io.hpp>
#include <functional>

#include "session.hpp"

namespace cgmca::cli {

// map(X) for all samples of the reader, `features` × n. Only one block of inputs is held at a time.
Matrix map_samples(const Session& session, BlockReader& reader, Index features,
                   const std::function<Matrix(const Matrix&)>& map);

}  // namespace cgmca::cli
