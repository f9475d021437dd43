/* The fit alone, of two n×d matrices by columns as MATLAB and R hold them: seconds of processor time that it takes. */
#include <cgmca/cgmca.h>
#include <sys/resource.h>

static double processor_seconds(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static double bare_fit(const double* X, const double* Y, int n, int d1, int d2, const char* covariance) {
  const cgmca_view views[2] = {{X, n, d1, 1, n, 0}, {Y, n, d2, 1, n, 0}};
  cgmca_fit_options options = {0};
  cgmca_model* model = 0;
  options.size = sizeof options;
  options.covariance = covariance;
  const double start = processor_seconds();
  const cgmca_status status = cgmca_fit(views, 2, &options, &model);
  const double taken = processor_seconds() - start;
  cgmca_model_free(model);
  return status == CGMCA_OK ? taken : -1;
}
