// The BLAS of this process, and its number of threads.
//
// Example:
//   set_threads(1);
//   {
//     const SerialBlas serial;  // one thread within these braces, whatever was set before
//   }
//   std::cout << blas_description() << ", " << threads() << " threads\n";
#pragma once

#include <string>

#pragma GCC visibility push(default)
namespace cgmca {

// The number of threads BLAS uses; 0 if the library in use does not tell.
int threads();

// Sets the number of threads that BLAS uses. Throws InvalidInput for count < 1. It has no effect on a BLAS without a
// way to set it (OpenBLAS, MKL and BLIS have one).
void set_threads(int count);

// The number of threads that the calling thread divides its work among: as many as are set for BLAS, or all cores if it
// does not tell.
int worker_count();

// While an object of this class exists, BLAS uses one thread, and so does the library for what the calling thread asks
// of it: for work that is itself divided among threads. Objects on several threads are counted, and the last one
// destroyed restores the number that was set before the first. To be destroyed by the thread that made it.
class SerialBlas {
 public:
  SerialBlas() : SerialBlas(1) {}
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 protected:
  explicit SerialBlas(int workers);

 private:
  int before_;
};

// While an object of this class exists, BLAS uses one thread, and the library divides work among as many as before.
// OpenBLAS lets its own threads spin for 0.1 s after each call, which takes cores from the library's.
class BlasThreadScope : public SerialBlas {
 public:
  BlasThreadScope() : SerialBlas(worker_count()) {}
};

// The BLAS in use, for instance "OpenBLAS 0.3.21 …"; "unknown BLAS" if the library does not tell. If OpenBLAS runs on
// kernels that are far slower than this processor allows, it says so and names the remedy (blas_kernels.hpp).
std::string blas_description();

}  // namespace cgmca
#pragma GCC visibility pop
