// Which BLAS serves this process, and on how many threads.
#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace cgmca {

// The number of threads BLAS uses; 0 where the library in use does not tell.
int threads();

// Throws InvalidInput for count < 1. No effect on a BLAS without a way to set it (OpenBLAS, MKL and
// BLIS have one).
void set_threads(int count);

// While one of these lives BLAS uses one thread, for work that is itself shared among threads. Several at once, on
// several threads, count: the last to go restores what was there before the first.
class SerialBlas {
 public:
  SerialBlas();
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;
};

// For instance "OpenBLAS 0.3.21 …"; "unknown BLAS" where the library in use does not tell.
std::string blas_description();

}  // namespace cgmca
#pragma GCC visibility pop
