// What the BLAS in use says of itself.
#pragma once

#include <string>

namespace cgmca {

std::string blas_config();  // "OpenBLAS 0.3.21 … Haswell MAX_THREADS=64"; "unknown BLAS" if it does not tell

}  // namespace cgmca
