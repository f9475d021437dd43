// Makes OpenBLAS use the kernels this processor deserves.
#pragma once

namespace cgmca::cli {

// OpenBLAS picks its kernels by the processor's model number. One newer than itself it takes for a Prescott of 2004 and
// runs about five times slower, without a word. It cannot be told otherwise once loaded, so where that has happened and
// the user has not chosen (OPENBLAS_CORETYPE), this chooses by what the processor can do and starts the program again.
void restart_with_fitting_kernels(char** argv);

}  // namespace cgmca::cli
