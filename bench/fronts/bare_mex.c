/* seconds = bare_mex(X, Y, covariance);  now = bare_mex() */
#include <mex.h>

#include "bare.h"

void mexFunction(int nlhs, mxArray* plhs[], int nrhs, const mxArray* prhs[]) {
  char covariance[32] = "";
  (void)nlhs;
  if (nrhs < 3) {
    plhs[0] = mxCreateDoubleScalar(processor_seconds());
    return;
  }
  mxGetString(prhs[2], covariance, sizeof covariance);
  plhs[0] = mxCreateDoubleScalar(bare_fit(mxGetPr(prhs[0]), mxGetPr(prhs[1]), (int)mxGetM(prhs[0]),
                                          (int)mxGetN(prhs[0]), (int)mxGetN(prhs[1]), covariance));
}
