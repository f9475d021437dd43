// LAPACK that always fails, for the whole programs: preloaded (LD_PRELOAD), every factorization cgmca asks for reports
// the info code of the variable LAPACK_INFO and does nothing.
#include <stdlib.h>

static int info(void) {
  const char* text = getenv("LAPACK_INFO");
  return text ? atoi(text) : 1;
}

#define FAILS(routine) \
  int LAPACKE_##routine##_work(void) { return info(); }

FAILS(dgesdd)
FAILS(dgesvd)
FAILS(dgesvj)
FAILS(dsyevd)
FAILS(dsyev)
FAILS(dgeqrt)
FAILS(dgeqrf)
