// Makes OpenBLAS use the fastest kernels that this processor supports.
#pragma once

namespace cgmca::cli {

// OpenBLAS picks its kernels by the processor's model number. It takes a processor newer than itself for a Prescott of
// 2004, and then runs about five times slower without a warning. This cannot be changed once it is loaded. So if that
// has happened and the user has not set OPENBLAS_CORETYPE, this sets it to what the processor supports and starts the
// program again.
void restart_with_fitting_kernels(char** argv);

}  // namespace cgmca::cli
