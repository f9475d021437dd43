/* One sample through the C interface beside a plain matrix-vector product, both in this thread: microseconds of
   processor time (median, least and most of 15 runs in turn) and calls of malloc. Prints one JSON line, and fails where
   a call allocates or the answers differ.

     build/bench/one_sample [FEATURES [DIMENSIONS]] */
#define _DEFAULT_SOURCE /* clock_gettime */
#include <cgmca/cgmca.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long allocations = 0;
#ifdef __GLIBC__
void* __libc_malloc(size_t size);
void* malloc(size_t size) { /* in place of glibc's, which new, Eigen and BLAS call */
  ++allocations;
  return __libc_malloc(size);
}
#endif

static double microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static double uniform(void) {
  static unsigned long long state = 42;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static void check(cgmca_status status) {
  if (status == CGMCA_OK) return;
  fprintf(stderr, "%s\n", cgmca_last_message());
  exit(1);
}

/* z = A (x - mean) by rows of A, as a program without cgmca would write it. */
static void plain_product(const double* A, const double* b, int k, int d, const double* x, double* z) {
  for (int r = 0; r < k; ++r) {
    double sum = b[r];
    for (int j = 0; j < d; ++j) sum += A[(size_t)r * (size_t)d + (size_t)j] * x[j];
    z[r] = sum;
  }
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int count, char** arguments) {
  const int d = count > 1 ? atoi(arguments[1]) : 784, k = count > 2 ? atoi(arguments[2]) : 50;
  const int n = d + 200, times = 500;
  enum { RUNS = 15 };
  double* x = malloc(sizeof *x * (size_t)d * (size_t)n);
  double* y = malloc(sizeof *y * (size_t)d * (size_t)n);
  double *A = malloc(sizeof *A * (size_t)k * (size_t)d), *b = malloc(sizeof *b * (size_t)k);
  double *z = malloc(sizeof *z * (size_t)k), *plain = malloc(sizeof *plain * (size_t)k);
  for (int i = 0; i < d * n; ++i) x[i] = uniform(), y[i] = x[i] + uniform();
  char covariance[32];
  snprintf(covariance, sizeof covariance, "identity:%d", k);
  cgmca_fit_options options = {0};
  options.size = sizeof options;
  options.covariance = covariance;
  const cgmca_view X[2] = {{x, n, d, 0, 0, 0}, {y, n, d, 0, 0, 0}};
  cgmca_model* model = NULL;
  check(cgmca_fit(X, 2, &options, &model));
  int64_t rows = 0, columns = 0;
  const cgmca_buffer matrix = {A, k, d, 0, 0, 0}, offset = {b, k, 1, 0, 0, 0};
  check(cgmca_model_array(model, "matrix", 1, 0, &rows, &columns, &matrix));
  check(cgmca_model_array(model, "offset", 1, 0, &rows, &columns, &offset));

  double ours[RUNS], theirs[RUNS], apart = 0;
  check(cgmca_apply_one(model, 1, x, z)); /* the thread's first call */
  const long before = allocations;
  for (int run = 0; run < RUNS; ++run) { /* in turn, so that both meet the same machine */
    double start = microseconds();
    for (int i = 0; i < times; ++i) check(cgmca_apply_one(model, 1, x + (size_t)d * (size_t)(i % n), z));
    ours[run] = (microseconds() - start) / times;
    start = microseconds();
    for (int i = 0; i < times; ++i) plain_product(A, b, k, d, x + (size_t)d * (size_t)(i % n), plain);
    theirs[run] = (microseconds() - start) / times;
    for (int j = 0; j < k; ++j) {
      const double off = z[j] > plain[j] ? z[j] - plain[j] : plain[j] - z[j];
      if (off > apart) apart = off;
    }
  }
  const double allocated = (double)(allocations - before) / (RUNS * times);
  qsort(ours, RUNS, sizeof *ours, ascending), qsort(theirs, RUNS, sizeof *theirs, ascending);
  printf("{\"features\": %d, \"dimensions\": %d, \"apply_one_us\": %.2f, \"apply_one_range\": [%.2f, %.2f], "
         "\"allocations\": %g, \"plain_product_us\": %.2f, \"plain_range\": [%.2f, %.2f], \"differ_by\": %.1e}\n",
         d, k, ours[RUNS / 2], ours[0], ours[RUNS - 1], allocated, theirs[RUNS / 2], theirs[0], theirs[RUNS - 1], apart);
  cgmca_model_free(model);
  free(x), free(y), free(A), free(b), free(z), free(plain);
  return allocated > 0 || apart > 1e-9;
}
