// BLAS's own memory, asked for before any other.
#pragma once

namespace cgmca::cli {

// OpenBLAS takes 128 MiB of addresses for the calling thread and for each of its own. If it does not get them (ulimit
// -v), it tries for ever, and cannot be stopped: the process may not even exit as usual. So this takes that memory once,
// before the command's own, if there is enough of it. Throws TooLittleMemory, with the figures, if there is not; the
// process must then end by _exit. `started`: the number of threads that BLAS was loaded with. It costs a millisecond.
void ask_for_blas_memory(int started);

}  // namespace cgmca::cli
