/* The C interface from C99: what it gives equals what other ways of the same question give, it says what is wrong, one
   sample costs no allocation, memory stays flat, and threads share objects. */
#define _DEFAULT_SOURCE /* clock_gettime */
#include <cgmca/cgmca.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int failures = 0;

#define EXPECT(condition)                                              \
  do {                                                                 \
    if (condition) break;                                              \
    ++failures;                                                        \
    fprintf(stderr, "%s:%d: %s fails\n", __FILE__, __LINE__, #condition); \
  } while (0)
#define OK(call)                                                                         \
  do {                                                                                   \
    const cgmca_status status_ = (call);                                                 \
    if (status_ == CGMCA_OK) break;                                                      \
    ++failures;                                                                          \
    fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cgmca_last_message()); \
  } while (0)

/* In place of glibc's, which new, Eigen and BLAS call. */
static __thread long allocations = 0;
#if defined(__GLIBC__) && !defined(CGMCA_SANITIZE)
#define COUNTS 1
void* __libc_malloc(size_t size);
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
#else
#define COUNTS 0
#endif

enum { N = 60, D1 = 7, D2 = 5, D3 = 4 };
static double a[N][D1], b[N][D2], d[N][D3];

static double uniform(void) {
  static unsigned long long state = 42;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(state >> 11) / 9007199254740992.0 - 0.5;
}

static void draw(void) {
  double load[3][D1 + D2 + D3];
  for (int j = 0; j < 3; ++j) {
    for (int f = 0; f < D1 + D2 + D3; ++f) load[j][f] = uniform();
  }
  for (int i = 0; i < N; ++i) {
    const double cause[3] = {uniform(), uniform(), uniform()};
    for (int f = 0; f < D1 + D2 + D3; ++f) {
      double x = 0.1 * uniform();
      for (int j = 0; j < 3; ++j) x += cause[j] * load[j][f];
      if (f < D1) a[i][f] = x + 2;
      else if (f < D1 + D2) b[i][f - D1] = x;
      else d[i][f - D1 - D2] = x;
    }
  }
}

static cgmca_view view(const void* data, int64_t columns) {
  const cgmca_view result = {data, N, columns, 0, 0, 0};
  return result;
}

static cgmca_fit_options with(const char* covariance) {
  cgmca_fit_options options = {0};
  options.size = sizeof options;
  options.covariance = covariance;
  return options;
}

static cgmca_model* fitted(const char* covariance) {
  const cgmca_view X[2] = {view(a, D1), view(b, D2)};
  const cgmca_fit_options options = with(covariance);
  cgmca_model* model = NULL;
  OK(cgmca_fit(X, 2, &options, &model));
  return model;
}

static double number(const cgmca_model* model, const char* name) {
  double value = NAN;
  OK(cgmca_model_number(model, name, &value));
  return value;
}

/* Rows, columns, strides and floats are views of the same samples. */
static void test_views(void) {
  cgmca_model* model = fitted("data1:3");
  double columns[D1][N], z[N][D1], zt[D1][N];
  float singles[N][D1];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < D1; ++j) columns[j][i] = a[i][j], singles[i][j] = (float)a[i][j];
  }
  const cgmca_view X = view(a, D1), Xt = {columns, N, D1, 1, N, 0}, Xf = {singles, N, D1, 0, 0, 1};
  const cgmca_buffer Z = {z, N, D1, 0, 0, 0}, Zt = {zt, N, D1, 1, N, 0};
  OK(cgmca_apply(model, 1, &X, &Z));
  OK(cgmca_apply(model, 1, &Xt, &Zt));
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < D1; ++j) EXPECT(z[i][j] == zt[j][i]);
  }
  float zf[N][D1];
  const cgmca_buffer Zf = {zf, N, D1, 0, 0, 1};
  OK(cgmca_apply(model, 1, &Xf, &Zf));
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < D1; ++j) EXPECT(fabs(zf[i][j] - z[i][j]) < 1e-4);
  }
  cgmca_model_free(model);
}

/* Blocks, merges and bytes give the fit of the whole. */
static void test_summaries(void) {
  const int64_t features[2] = {D1, D2};
  cgmca_summary *one = NULL, *two = NULL, *same = NULL;
  OK(cgmca_summary_new(features, 2, NULL, &one));
  OK(cgmca_summary_new(features, 2, NULL, &two));
  const cgmca_view first[2] = {{a, 20, D1, 0, 0, 0}, {b, 20, D2, 0, 0, 0}};
  const cgmca_view rest[2] = {{a[20], N - 20, D1, 0, 0, 0}, {b[20], N - 20, D2, 0, 0, 0}};
  OK(cgmca_summary_add(one, first, 2, NULL));
  OK(cgmca_summary_add(two, rest, 2, NULL));
  OK(cgmca_summary_merge(one, two));
  EXPECT(cgmca_summary_samples(one) == N);
  size_t size = 0, again = 0;
  OK(cgmca_summary_to_memory(one, NULL, 0, &size));
  char* bytes = malloc(size);
  OK(cgmca_summary_to_memory(one, bytes, size, &again));
  EXPECT(size == again);
  OK(cgmca_summary_from_memory(bytes, size, &same));
  cgmca_model *model = NULL, *whole = fitted("identity:2");
  const cgmca_fit_options options = with("identity:2");
  OK(cgmca_fit_summary(same, &options, &model));
  EXPECT(fabs(number(model, "objective") - number(whole, "objective")) < 1e-12);
  bytes[size / 2] ^= 1;
  cgmca_summary* broken = NULL;
  EXPECT(cgmca_summary_from_memory(bytes, size, &broken) == CGMCA_FORMAT && broken == NULL);
  free(bytes);
  cgmca_model_free(model);
  cgmca_model_free(whole);
  cgmca_summary_free(one);
  cgmca_summary_free(two);
  cgmca_summary_free(same);
}

/* A weight of 2 is the sample twice; "factor:1" is the first matrix; ridges and ranks reach the fit. */
static void test_options(void) {
  double twice1[N + 1][D1], twice2[N + 1][D2], weights[N];
  memcpy(twice1, a, sizeof a), memcpy(twice1[N], a[3], sizeof a[3]);
  memcpy(twice2, b, sizeof b), memcpy(twice2[N], b[3], sizeof b[3]);
  for (int i = 0; i < N; ++i) weights[i] = i == 3 ? 2 : 1;
  const double F[3] = {2, 1, 0.5}, ridge[2] = {0.1, CGMCA_AUTO};
  const int64_t max_rank[2] = {4, 0};
  const cgmca_view diagonal = {F, 1, 3, 0, 0, 0};
  cgmca_fit_options options = with("sd:1");
  options.matrices = &diagonal, options.matrix_count = 1, options.ridge = ridge, options.max_rank = max_rank;
  cgmca_model *weighted = NULL, *doubled = NULL;
  const cgmca_view X2[2] = {{twice1, N + 1, D1, 0, 0, 0}, {twice2, N + 1, D2, 0, 0, 0}};
  OK(cgmca_fit(X2, 2, &options, &doubled));
  options.weights = weights;
  const cgmca_view X[2] = {view(a, D1), view(b, D2)};
  OK(cgmca_fit(X, 2, &options, &weighted));
  EXPECT(number(weighted, "total_weight") == N + 1 && number(weighted, "samples") == N);
  EXPECT(fabs(number(weighted, "objective") - number(doubled, "objective")) < 1e-10);
  EXPECT(cgmca_model_dimension(weighted) == 3);
  EXPECT(strcmp(cgmca_model_text(weighted, "covariance", 1, 0), "diagonal 3×3 of rank 3") == 0);
  EXPECT(cgmca_model_text(weighted, "warning", 1, 99) == NULL);
  double got[2];
  int64_t rows = 0, columns = 0;
  const cgmca_buffer to = {got, 2, 1, 0, 0, 0};
  OK(cgmca_model_array(weighted, "ridge", 0, 0, &rows, &columns, &to));
  EXPECT(rows == 2 && columns == 1 && got[0] == 0.1 && got[1] == CGMCA_AUTO);
  cgmca_model_free(weighted);
  cgmca_model_free(doubled);
}

/* Extra samples, folds, names of features, one side alone, and shares of variance. */
static void test_more_options(void) {
  static const char* const of_b[D2] = {"p", "q", "r", "s", "t"};
  const cgmca_names names[2] = {{"clean", NULL}, {NULL, of_b}};
  const cgmca_view X[2] = {{a, 40, D1, 0, 0, 0}, {b, 40, D2, 0, 0, 0}};
  const cgmca_view extra[2] = {{NULL, 0, 0, 0, 0, 0}, {b[40], N - 40, D2, 0, 0, 0}};
  cgmca_fit_options options = with("identity:2");
  options.names = names;
  cgmca_model *plain = NULL, *more = NULL, *calibrated = NULL, *one = NULL;
  OK(cgmca_fit(X, 2, &options, &plain));
  options.extra = extra;
  OK(cgmca_fit(X, 2, &options, &more));
  EXPECT(number(more, "samples") == 40 && number(more, "objective") != number(plain, "objective"));
  options.extra = NULL, options.calibrate = 5;
  OK(cgmca_fit(X, 2, &options, &calibrated));
  EXPECT(number(calibrated, "calibration_folds") == 5);
  EXPECT(strcmp(cgmca_model_text(plain, "name", 1, 0), "clean") == 0);
  EXPECT(strcmp(cgmca_model_text(plain, "feature", 2, 4), "t") == 0 && !cgmca_model_text(plain, "feature", 1, 0));
  OK(cgmca_model_only(plain, 2, &one));
  EXPECT(cgmca_model_features(one, 2) == D2 && cgmca_model_features(one, 1) == 0);
  double shares[2][4];
  int64_t rows = 0, columns = 0;
  const cgmca_buffer to = {shares, 2, 4, 0, 0, 0};
  OK(cgmca_model_array(plain, "explained", 1, 2, &rows, &columns, &to));
  EXPECT(shares[1][1] > shares[0][0] && shares[1][1] < 1 && fabs(shares[0][0] - shares[0][1]) < 1e-12);
  cgmca_model_free(plain), cgmca_model_free(more), cgmca_model_free(calibrated), cgmca_model_free(one);
}

static void test_three_domains(void) {
  const cgmca_view X[3] = {view(a, D1), view(b, D2), view(d, D3)};
  cgmca_fit_options options = with("identity:2");
  options.graph = "star:1";
  const cgmca_names names[3] = {{"optical", NULL}, {"radar", NULL}, {"thermal", NULL}};
  options.names = names;
  cgmca_model* model = NULL;
  OK(cgmca_fit(X, 3, &options, &model));
  EXPECT(cgmca_model_domains(model) == 3 && number(model, "certified") == 1);
  EXPECT(strcmp(cgmca_model_text(model, "name", 2, 0), "radar") == 0);
  cgmca_translation* map = NULL;
  const int from[2] = {2, 3};
  OK(cgmca_translation_new(model, from, 2, 1, NULL, 0, &map));
  double y[N][D1], e[N][D1], m[N][D1];
  const cgmca_buffer Y = {y, N, D1, 0, 0, 0}, E = {e, N, D1, 0, 0, 0}, M = {m, N, D1, 0, 0, 0};
  OK(cgmca_translate(map, X + 1, &Y, &E, 0.9, &M));
  int within = 0;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < D1; ++j) within += fabs(y[i][j] - a[i][j]) < m[i][j];
  }
  EXPECT(within > 0.8 * N * D1 && within < 0.98 * N * D1 && e[0][0] > 0);
  double z[N][2], w[N][2];
  const cgmca_buffer Z = {z, N, 2, 0, 0, 0}, W = {w, N, 2, 0, 0, 0};
  OK(cgmca_fuse(model, from, 2, X + 1, NULL, &Z));
  OK(cgmca_fuse(model, from, 2, X + 1, "mean", &W));
  EXPECT(z[0][0] != w[0][0]);
  cgmca_verification found = {0};
  found.size = sizeof found;
  double residuals[3];
  OK(cgmca_verify(model, X, 3, NULL, &found, residuals));
  EXPECT(found.certified && residuals[2] < 1e-10 && found.worst_claim < 1e-8);
  cgmca_translation_free(map);
  cgmca_model_free(model);
}

static void test_choosing(void) {
  const cgmca_view X[2] = {view(a, D1), view(b, D2)};
  const char* const families[1] = {"correlation"};
  const int64_t ranks[2] = {1, 3};
  const double ridges[2] = {0, CGMCA_AUTO};
  cgmca_tune_options options = {0};
  options.size = sizeof options;
  options.families = families, options.family_count = 1, options.ranks = ranks, options.rank_count = 2;
  options.ridges = ridges, options.ridge_count = 2, options.criterion = "translation";
  cgmca_tuning* tuning = NULL;
  OK(cgmca_tune(X, 2, &options, NULL, &tuning));
  EXPECT(cgmca_tuning_trials(tuning) == 4);
  cgmca_trial trial = {0};
  trial.size = sizeof trial;
  OK(cgmca_tuning_trial(tuning, cgmca_tuning_chosen(tuning), &trial));
  EXPECT(strcmp(trial.covariance, "correlation:3") == 0 && trial.error[1] < 0.2);
  cgmca_model* model = NULL;
  OK(cgmca_tuning_fit(tuning, cgmca_tuning_chosen(tuning), NULL, &model));
  EXPECT(cgmca_model_dimension(model) == 3);
  EXPECT(cgmca_tuning_trial(tuning, 4, &trial) == CGMCA_INVALID_INPUT);
  double p[8];
  int64_t count = 0, significant = 0;
  OK(cgmca_permutation_test(X, 2, NULL, 50, 0, 0, p, 8, &count, &significant));
  EXPECT(count == 5 && significant == 3);
  cgmca_model_free(model);
  cgmca_tuning_free(tuning);
}

static void test_statistics(void) {
  const cgmca_view X[2] = {view(a, D1), view(b, D2)};
  const cgmca_fit_options options = with("identity:3");
  cgmca_bootstrap_options how = {0};
  how.size = sizeof how;
  how.replicas = 40;
  cgmca_bootstrap* spread = NULL;
  OK(cgmca_bootstrap_new(X, 2, &options, &how, &spread));
  EXPECT(cgmca_bootstrap_replicas(spread) == 40);
  double lower[8], estimate[8];
  int64_t rows = 0, columns = 0;
  OK(cgmca_bootstrap_array(spread, "correlations", "lower", 0, &rows, &columns, NULL));
  EXPECT(rows >= 3 && rows <= 8 && columns == 1);
  const cgmca_buffer to = {lower, rows, 1, 0, 0, 0}, point = {estimate, rows, 1, 0, 0, 0};
  OK(cgmca_bootstrap_array(spread, "correlations", "lower", 0, &rows, &columns, &to));
  OK(cgmca_bootstrap_array(spread, "correlations", "estimate", 0, &rows, &columns, &point));
  EXPECT(lower[0] > 0.5 && lower[0] < estimate[0] && estimate[0] < 1);
  EXPECT(cgmca_bootstrap_array(spread, "weights", "upper", 3, &rows, &columns, NULL) == CGMCA_INVALID_INPUT);
  EXPECT(cgmca_bootstrap_array(spread, "weights", "middle", 1, &rows, &columns, NULL) == CGMCA_INVALID_INPUT);
  cgmca_bootstrap_free(spread);

  cgmca_model* model = fitted("identity:3");
  double swapped[N][D2];
  memcpy(swapped, b, sizeof b);
  memcpy(swapped[7], b[30], sizeof b[0]), memcpy(swapped[30], b[7], sizeof b[0]);
  const cgmca_view mixed[2] = {view(a, D1), view(swapped, D2)};
  cgmca_diagnosis* found = NULL;
  OK(cgmca_diagnose(model, mixed, 2, NULL, 0, &found));
  double suspects[N][6], p[N];
  OK(cgmca_diagnosis_array(found, "suspects", 0, &rows, &columns, NULL));
  EXPECT(rows >= 1 && rows <= N && columns == 6);
  const cgmca_buffer list = {suspects, rows, 6, 0, 0, 0}, all = {p, N, 1, 0, 0, 0};
  OK(cgmca_diagnosis_array(found, "suspects", 0, &rows, &columns, &list));
  EXPECT(suspects[0][0] == 8 || suspects[0][0] == 31);
  OK(cgmca_diagnosis_array(found, "pair_p", 0, &rows, &columns, &all));
  EXPECT(p[7] < 0.01 && p[30] < 0.01);
  cgmca_diagnosis_free(found);
  cgmca_model_free(model);
}

static int soon(void* user) { return ++*(int*)user > 2; }

static void test_errors(void) {
  const cgmca_view X[2] = {view(a, D1), view(b, D2)};
  cgmca_model* model = NULL;
  cgmca_fit_options options = with("identity:9");
  EXPECT(cgmca_fit(X, 2, &options, &model) == CGMCA_INFEASIBLE && model == NULL);
  EXPECT(strstr(cgmca_last_message(), "rank 5") != NULL && strcmp(cgmca_last_kind(), "infeasible") == 0);
  options.covariance = "identitty:2";
  EXPECT(cgmca_fit(X, 2, &options, &model) == CGMCA_INVALID_INPUT);
  EXPECT(strstr(cgmca_last_message(), "did you mean 'identity'") != NULL);
  options.covariance = "file:2";
  EXPECT(cgmca_fit(X, 2, &options, &model) == CGMCA_INVALID_INPUT);
  options.size = 3;
  EXPECT(cgmca_fit(X, 2, &options, &model) == CGMCA_INVALID_INPUT);
  EXPECT(cgmca_fit(NULL, 2, NULL, &model) == CGMCA_INVALID_INPUT);
  EXPECT(cgmca_fit(X, 0, NULL, &model) == CGMCA_INVALID_INPUT);
  const cgmca_view unequal[2] = {view(a, D1), {b, N - 1, D2, 0, 0, 0}};
  EXPECT(cgmca_fit(unequal, 2, NULL, &model) == CGMCA_INVALID_INPUT);
  EXPECT(strcmp(cgmca_last_kind(), "unequalSamples") == 0);
  const double before = a[4][2];
  a[4][2] = NAN;
  EXPECT(cgmca_fit(X, 2, NULL, &model) == CGMCA_INVALID_INPUT && strcmp(cgmca_last_kind(), "notFinite") == 0);
  a[4][2] = before;
  EXPECT(cgmca_model_load("no/such/model", &model) == CGMCA_IO);
  EXPECT(cgmca_model_from_memory("nonsense", 8, &model) == CGMCA_FORMAT);
  model = fitted("identity:2");
  double z[3];
  const cgmca_buffer small = {z, 1, 3, 0, 0, 0};
  EXPECT(cgmca_apply(model, 1, X, &small) == CGMCA_INVALID_INPUT && strcmp(cgmca_last_kind(), "wrongDimension") == 0);
  EXPECT(cgmca_apply(model, 3, X, &small) == CGMCA_INVALID_INPUT && strcmp(cgmca_last_kind(), "missingDomain") == 0);
  cgmca_model* left = NULL;
  int asked = 0;
  options = with(NULL);
  options.stop = soon, options.user = &asked;
  double p[8];
  int64_t count = 0, significant = 0;
  EXPECT(cgmca_permutation_test(X, 2, &options, 2000000, 0, 0, p, 8, &count, &significant) == CGMCA_STOPPED);
  EXPECT(left == NULL && asked == 3);
  cgmca_model_free(model);
}

static void* apply_often(void* model) {
  double z[2], first[2];
  OK(cgmca_apply_one(model, 1, a[0], first));
  const long before = allocations;
  for (int i = 0; i < 20000; ++i) {
    OK(cgmca_apply_one(model, 1, a[0], z));
    EXPECT(z[0] == first[0] && z[1] == first[1]);
  }
  if (COUNTS) EXPECT(allocations == before);
  return NULL;
}

/* One model on four threads; one sample is the row of the whole, and costs no allocation. */
static void test_one_sample(void) {
  cgmca_model* model = fitted("identity:2");
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) EXPECT(pthread_create(&threads[i], NULL, apply_often, model) == 0);
  for (int i = 0; i < 4; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  cgmca_translation* map = NULL;
  const int from = 2;
  OK(cgmca_translation_new(model, &from, 1, 1, "lmmse", 0, &map));
  double y[N][D1], one[D1], e[D1];
  float single[D2], ysingle[D1];
  const cgmca_view X = view(b, D2);
  const cgmca_buffer Y = {y, N, D1, 0, 0, 0};
  OK(cgmca_translate(map, &X, &Y, NULL, 0, NULL));
  for (int j = 0; j < D2; ++j) single[j] = (float)b[5][j];
  OK(cgmca_translate_one(map, b[5], one, e));
  OK(cgmca_translate_one_float(map, single, ysingle, NULL));
  const long before = allocations;
  OK(cgmca_translate_one(map, b[5], one, e));
  OK(cgmca_translate_one_float(map, single, ysingle, NULL));
  if (COUNTS) EXPECT(allocations == before);
  for (int j = 0; j < D1; ++j) EXPECT(fabs(one[j] - y[5][j]) < 1e-14 && fabs(ysingle[j] - one[j]) < 1e-5);
  double back[N][D1], z[N][2];
  const cgmca_view A = view(a, D1), Zv = {z, N, 2, 0, 0, 0};
  const cgmca_buffer Z = {z, N, 2, 0, 0, 0}, Back = {back, N, D1, 0, 0, 0};
  OK(cgmca_apply(model, 1, &A, &Z));
  OK(cgmca_invert(model, 1, &Zv, NULL, 0, &Back));
  cgmca_translation_free(map);
  cgmca_model_free(model);
}

static long resident(void) { /* kilobytes */
  FILE* status = fopen("/proc/self/status", "r");
  char line[256];
  long kilobytes = 0;
  while (status && fgets(line, sizeof line, status)) {
    if (strncmp(line, "VmRSS:", 6) == 0) kilobytes = strtol(line + 6, NULL, 10);
  }
  if (status) fclose(status);
  return kilobytes;
}

static void test_memory_stays_flat(int calls) {
  long before = 0;
  for (int i = 0; i < calls; ++i) {
    if (i == calls / 10) before = resident();
    cgmca_model* model = fitted(i % 2 ? "identity:2" : "data1:3");
    cgmca_model_free(model);
    const cgmca_view X[2] = {view(a, D1), view(b, D2)};
    const cgmca_fit_options wrong = with("identity:99");
    EXPECT(cgmca_fit(X, 2, &wrong, &model) == CGMCA_INFEASIBLE);
  }
  if (COUNTS && calls >= 1000) EXPECT(resident() - before < 500);
  printf("%d fits: %ld kB at the start, %ld kB at the end\n", calls, before, resident());
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* One sample of 784 features to 50 dimensions beside a plain product by the same matrix. */
static void time_one_sample(void) {
  enum { P = 784, K = 50, SAMPLES = 900 };
  double* x = malloc(sizeof(double) * P * SAMPLES);
  double* y = malloc(sizeof(double) * P * SAMPLES);
  double* A = malloc(sizeof(double) * K * P);
  for (int i = 0; i < P * SAMPLES; ++i) x[i] = uniform(), y[i] = x[i] + uniform();
  const cgmca_view X[2] = {{x, SAMPLES, P, 0, 0, 0}, {y, SAMPLES, P, 0, 0, 0}};
  const cgmca_fit_options options = with("identity:50");
  cgmca_model* model = NULL;
  OK(cgmca_fit(X, 2, &options, &model));
  int64_t rows = 0, columns = 0;
  const cgmca_buffer to = {A, K, P, 0, 0, 0};
  OK(cgmca_model_array(model, "matrix", 1, 0, &rows, &columns, &to));
  double z[K], plain[K];
  const int times = 2000;
  OK(cgmca_apply_one(model, 1, x, z));
  double start = seconds();
  for (int i = 0; i < times; ++i) OK(cgmca_apply_one(model, 1, x + P * (i % SAMPLES), z));
  const double ours = (seconds() - start) / times;
  start = seconds();
  double sum = 0;
  for (int i = 0; i < times; ++i) {
    for (int r = 0; r < K; ++r) {
      double s = 0;
      for (int j = 0; j < P; ++j) s += A[r * P + j] * x[P * (i % SAMPLES) + j];
      plain[r] = s;
    }
    sum += plain[0];
  }
  const double product = (seconds() - start) / times;
  printf("one sample, 784 features to 50 dimensions: %.1f us and no allocation; a plain product %.1f us (%g)\n",
         1e6 * ours, 1e6 * product, sum * 0);
  cgmca_model_free(model);
  free(x), free(y), free(A);
}

int main(int count, char** arguments) {
  const int calls = count > 1 ? atoi(arguments[1]) : 1000;
  draw();
  EXPECT(cgmca_abi_version() == CGMCA_ABI_VERSION);
  for (int64_t i = 0; cgmca_covariance_form(i) != NULL; ++i) EXPECT(strlen(cgmca_covariance_meaning(i)) > 10);
  test_views();
  test_summaries();
  test_options();
  test_more_options();
  test_three_domains();
  test_choosing();
  test_statistics();
  test_errors();
  test_one_sample();
  test_memory_stays_flat(calls);
  if (count <= 1) time_one_sample();
  printf("%d failures\n", failures);
  return failures != 0;
}
