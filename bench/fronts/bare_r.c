/* .Call("bare", X, Y, covariance), .Call("now") */
#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "bare.h"

SEXP bare(SEXP X, SEXP Y, SEXP covariance) {
  return Rf_ScalarReal(bare_fit(REAL(X), REAL(Y), Rf_nrows(X), Rf_ncols(X), Rf_ncols(Y), CHAR(STRING_ELT(covariance, 0))));
}

SEXP now(void) { return Rf_ScalarReal(processor_seconds()); }
