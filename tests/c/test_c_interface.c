/* The C interface from C99: what it gives equals what other ways of the same question give, it says what is wrong, one
   sample costs no allocation, memory stays flat, and threads share objects. */
#include <cgmca/cgmca.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A block in every layout: doubles in rows, in columns, every second row of a wider array, and floats. */
enum { LAYOUTS = 4, WIDE = 11 };
typedef struct block {
  double doubles[2 * N][WIDE], columns[WIDE][N];
  float floats[N][WIDE];
} block;
static cgmca_view view_in(block* in, int layout, int64_t columns) {
  const cgmca_view views[LAYOUTS] = {{in->doubles, N, columns, WIDE, 1, 0},
                                     {in->columns, N, columns, 1, N, 0},
                                     {in->doubles[1], N, columns, 2 * WIDE, 1, 0},
                                     {in->floats, N, columns, WIDE, 1, 1}};
  return views[layout];
}
static cgmca_buffer buffer_in(block* in, int layout, int64_t columns) {
  const cgmca_view v = view_in(in, layout, columns);
  const cgmca_buffer result = {(void*)v.data, v.rows, v.columns, v.row_stride, v.column_stride, v.is_float};
  return result;
}
static double* double_at(block* in, int layout, int i, int j) {
  return layout == 0 ? &in->doubles[i][j] : layout == 1 ? &in->columns[j][i] : &in->doubles[2 * i + 1][j];
}
static double number_in(block* in, int layout, int i, int j) {
  return layout == 3 ? (double)in->floats[i][j] : *double_at(in, layout, i, j);
}
static void put(block* in, int layout, int i, int j, double value) {
  if (layout == 3) in->floats[i][j] = (float)value;
  else *double_at(in, layout, i, j) = value;
}

/* What many threads share, and use at once. */
typedef struct shared_objects {
  const cgmca_model* model;
  const cgmca_translation *one, *two;
} shared_objects;

static void use_blocks(const shared_objects* use, int from, int to, block* memory, block* out) {
  const cgmca_view X[2] = {view_in(&memory[0], from, D2), view_in(&memory[1], from, D3)};
  const cgmca_buffer Y = buffer_in(&out[0], to, D1), E = buffer_in(&out[1], to, D1), M = buffer_in(&out[2], to, D1);
  const cgmca_buffer Z = buffer_in(&out[3], to, 2), Y2 = buffer_in(&out[4], to, D1), E2 = buffer_in(&out[5], to, D1);
  OK(cgmca_apply(use->model, 2, X, &Z));
  OK(cgmca_translate(use->one, X, &Y, &E, 0.9, &M));
  OK(cgmca_translate(use->two, X, &Y2, &E2, 0, NULL));
}

/* Every layout to every layout gives the same numbers, and the second call allocates nothing. */
static void* blocks_in_every_layout(void* shared) {
  const shared_objects* use = shared;
  block *memory = malloc(2 * sizeof *memory), *out = malloc(6 * sizeof *out), *plain = malloc(6 * sizeof *plain);
  for (int layout = 0; layout < LAYOUTS; ++layout) {
    for (int i = 0; i < N; ++i) {
      for (int j = 0; j < D2; ++j) put(&memory[0], layout, i, j, b[i][j]);
      for (int j = 0; j < D3; ++j) put(&memory[1], layout, i, j, d[i][j]);
    }
    if (layout == 0) use_blocks(use, 0, 0, memory, plain);
    for (int to = 0; to < LAYOUTS; ++to) {
      use_blocks(use, layout, to, memory, out);
      const long before = allocations;
      use_blocks(use, layout, to, memory, out);
      if (COUNTS) EXPECT(allocations == before);
      for (int result = 0; result < 6; ++result) {
        for (int i = 0; i < N; ++i) {
          const double expected = number_in(&plain[result], 0, i, 0), found = number_in(&out[result], to, i, 0);
          if (layout < 3 && to < 3) EXPECT(found == expected);
          EXPECT(fabs(found - expected) < 1e-5);
        }
      }
    }
  }
  free(memory), free(out), free(plain);
  return NULL;
}

/* Four threads use the same model and translations at once. A sample that lacks a domain is translated from the other. */
static void test_blocks(void) {
  OK(cgmca_set_threads(1)); /* OpenBLAS with several threads allocates a table in each product */
  const cgmca_view X[3] = {view(a, D1), view(b, D2), view(d, D3)};
  cgmca_fit_options options = with("identity:2");
  cgmca_model* model = NULL;
  OK(cgmca_fit(X, 3, &options, &model));
  const int from[2] = {3, 2}, two = 2;
  cgmca_translation *one = NULL, *both = NULL;
  OK(cgmca_translation_new(model, &two, 1, 1, NULL, 0, &one));
  const int sources[2] = {2, 3};
  OK(cgmca_translation_new(model, sources, 2, 1, NULL, 0, &both));
  shared_objects use = {model, one, both};
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) EXPECT(pthread_create(&threads[i], NULL, blocks_in_every_layout, &use) == 0);
  for (int i = 0; i < 4; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);

  static double y[N][D1], turned[N][D1], alone[N][D1], gaps[N][D3];
  const cgmca_buffer Y = {y, N, D1, 0, 0, 0}, T = {turned, N, D1, 0, 0, 0}, A = {alone, N, D1, 0, 0, 0};
  cgmca_translation* other_order = NULL;
  OK(cgmca_translation_new(model, from, 2, 1, NULL, 0, &other_order));
  const cgmca_view reversed[2] = {X[2], X[1]};
  OK(cgmca_translate(both, X + 1, &Y, NULL, 0, NULL));
  OK(cgmca_translate(other_order, reversed, &T, NULL, 0, NULL));
  EXPECT(memcmp(y, turned, sizeof y) == 0);
  memcpy(gaps, d, sizeof d);
  gaps[5][1] = NAN;
  const cgmca_view lacking[2] = {X[1], view(gaps, D3)};
  OK(cgmca_translate(both, lacking, &T, NULL, 0, NULL));
  OK(cgmca_translate(one, X + 1, &A, NULL, 0, NULL));
  for (int j = 0; j < D1; ++j) EXPECT(fabs(turned[5][j] - alone[5][j]) < 1e-12 && fabs(turned[6][j] - y[6][j]) < 1e-12);
  gaps[5][1] = INFINITY;
  EXPECT(cgmca_translate(both, lacking, &T, NULL, 0, NULL) == CGMCA_INVALID_INPUT);
  const cgmca_buffer short_of = {y, N, D1 - 1, 0, 0, 0};
  EXPECT(cgmca_translate(one, X + 1, &short_of, NULL, 0, NULL) == CGMCA_INVALID_INPUT);
  EXPECT(cgmca_translate(one, X, &Y, NULL, 0, NULL) == CGMCA_INVALID_INPUT);
  cgmca_translation_free(one), cgmca_translation_free(both), cgmca_translation_free(other_order);
  cgmca_model_free(model);
}

/* More samples than are mapped at a time: each has the point that it has alone. */
static void test_long_blocks(void) {
  enum { LONG = 9001 };
  OK(cgmca_set_threads(1));
  float(*x)[D1] = malloc(LONG * sizeof *x);
  double(*z)[2] = malloc(LONG * sizeof *z), (*y)[D2] = malloc(LONG * sizeof *y), alone[2], back[D2], spread[D2];
  double(*e)[D2] = malloc(LONG * sizeof *e);
  for (int i = 0; i < LONG; ++i) {
    for (int j = 0; j < D1; ++j) x[i][j] = (float)a[i % N][j] + (float)uniform();
  }
  cgmca_model* model = fitted("identity:2");
  cgmca_translation* map = NULL;
  const int one = 1;
  OK(cgmca_translation_new(model, &one, 1, 2, NULL, 0, &map));
  const cgmca_view X = {x, LONG, D1, 0, 0, 1};
  const cgmca_buffer Z = {z, LONG, 2, 0, 0, 0}, Y = {y, LONG, D2, 0, 0, 0}, E = {e, LONG, D2, 0, 0, 0};
  long before = 0;
  for (int call = 0; call < 2; ++call) {
    before = allocations;
    OK(cgmca_apply(model, 1, &X, &Z));
    OK(cgmca_translate(map, &X, &Y, &E, 0, NULL));
  }
  if (COUNTS) EXPECT(allocations == before);
  for (int i = 0; i < LONG; i += 97) {
    double sample[D1];
    for (int j = 0; j < D1; ++j) sample[j] = x[i][j];
    OK(cgmca_apply_one(model, 1, sample, alone));
    OK(cgmca_translate_one(map, sample, back, spread));
    EXPECT(fabs(alone[0] - z[i][0]) < 1e-13 && fabs(alone[1] - z[i][1]) < 1e-13);
    EXPECT(fabs(back[4] - y[i][4]) < 1e-13 && fabs(spread[4] - e[i][4]) < 1e-13);
  }
  cgmca_translation_free(map);
  cgmca_model_free(model);
  free(x), free(z), free(y), free(e);
}

/* Samples that lack domains: fitted at once, in blocks, from bytes; the command line's answers are in test_c_fronts. */
static void test_incomplete(void) {
  static double gaps[N][D2];
  memcpy(gaps, b, sizeof b);
  for (int i = 0; i < 15; ++i) gaps[i][i % D2] = NAN;
  const cgmca_view X[2] = {view(a, D1), view(gaps, D2)};
  const double ridge[2] = {0.1, 0.1};
  cgmca_fit_options options = with("identity:2");
  options.ridge = ridge;
  cgmca_model *whole = NULL, *blocks = NULL;
  EXPECT(cgmca_fit(X, 2, &options, &whole) == CGMCA_INVALID_INPUT && strcmp(cgmca_last_kind(), "notFinite") == 0);
  options.missing = "keep";
  OK(cgmca_fit(X, 2, &options, &whole));
  options.calibrate = 5;
  EXPECT(cgmca_fit(X, 2, &options, &blocks) == CGMCA_INVALID_INPUT);
  options.calibrate = 0, options.missing = "keeep";
  EXPECT(cgmca_fit(X, 2, &options, &blocks) == CGMCA_INVALID_INPUT && strstr(cgmca_last_message(), "'keep'") != NULL);
  cgmca_fit_options keeping = {0};
  keeping.size = sizeof keeping, keeping.missing = "keep";
  const int64_t features[2] = {D1, D2};
  cgmca_summary *one = NULL, *two = NULL, *same = NULL, *plain = NULL;
  OK(cgmca_summary_new(features, 2, &keeping, &one));
  OK(cgmca_summary_new(features, 2, &keeping, &two));
  OK(cgmca_summary_new(features, 2, NULL, &plain));
  const cgmca_view first[2] = {{a, 20, D1, 0, 0, 0}, {gaps, 20, D2, 0, 0, 0}};
  const cgmca_view rest[2] = {{a[20], N - 20, D1, 0, 0, 0}, {gaps[20], N - 20, D2, 0, 0, 0}};
  OK(cgmca_summary_add(one, first, 2, NULL));
  OK(cgmca_summary_add(two, rest, 2, NULL));
  EXPECT(cgmca_summary_merge(one, plain) == CGMCA_INVALID_INPUT);
  OK(cgmca_summary_merge(one, two));
  EXPECT(cgmca_summary_samples(one) == N);
  size_t size = 0;
  OK(cgmca_summary_to_memory(one, NULL, 0, &size));
  char* bytes = malloc(size);
  OK(cgmca_summary_to_memory(one, bytes, size, &size));
  OK(cgmca_summary_from_memory(bytes, size, &same));
  options.missing = NULL;
  OK(cgmca_fit_summary(same, &options, &blocks));
  EXPECT(fabs(number(blocks, "objective") - number(whole, "objective")) < 1e-9);
  cgmca_verification found = {0};
  found.size = sizeof found;
  OK(cgmca_verify(whole, X, 2, &keeping, &found, NULL));
  EXPECT(found.certified);
  free(bytes);
  cgmca_summary_free(one), cgmca_summary_free(two), cgmca_summary_free(same), cgmca_summary_free(plain);
  cgmca_model_free(whole), cgmca_model_free(blocks);
}

/* The sum of features, which is what downstream models here give. */
static int sum_of_features(const double* X, int64_t samples, int64_t features, double* Y, void* user) {
  ++*(int*)user;
  for (int64_t i = 0; i < samples; ++i) {
    Y[i] = 0;
    for (int64_t j = 0; j < features; ++j) Y[i] += X[i * features + j];
  }
  return 0;
}
static int fails_always(const double* X, int64_t samples, int64_t features, double* Y, void* user) {
  return X == NULL || samples < 0 || features < 0 || Y == NULL || user == NULL ? 2 : 1;
}

/* Translations towards the sample itself, and settings chosen by what a model of domain 1 makes of translations. */
static void test_towards_and_downstream(void) {
  static double moved[N][D1];
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < D1; ++j) moved[i][j] = a[i][j] + 3 + 0.05 * uniform();
  }
  const cgmca_view X[2] = {view(a, D1), view(moved, D1)};
  const double ridge[2] = {1e6, 1e6};
  cgmca_fit_options options = with("identity:3");
  options.ridge = ridge, options.towards = "identity";
  cgmca_model* model = NULL;
  OK(cgmca_fit(X, 2, &options, &model));
  EXPECT(strcmp(cgmca_model_text(model, "towards", 1, 0), "identity") == 0);
  const int from = 2;
  cgmca_translation* back = NULL;
  OK(cgmca_translation_new(model, &from, 1, 1, NULL, 0, &back));
  static double y[N][D1];
  const cgmca_buffer Y = {y, N, D1, 0, 0, 0};
  OK(cgmca_translate(back, X + 1, &Y, NULL, 0, NULL));
  for (int j = 0; j < D1; ++j) EXPECT(fabs(y[0][j] - a[0][j]) < 0.1); /* a huge ridge: the sample, less 3 */
  options.towards = "nowhere";
  cgmca_model* none = NULL;
  EXPECT(cgmca_fit(X, 2, &options, &none) == CGMCA_INVALID_INPUT);

  const double ones[D1] = {1, 1, 1, 1, 1, 1, 1}, ridges[2] = {0.01, 1};
  const int64_t ranks[2] = {1, 3};
  const cgmca_view coefficients = {ones, 1, D1, 0, 0, 0};
  int called = 0;
  cgmca_tune_options tune = {0};
  tune.size = sizeof tune;
  tune.ranks = ranks, tune.rank_count = 2, tune.ridges = ridges, tune.ridge_count = 2;
  cgmca_tune_options by_function = tune;
  tune.downstream_coefficients = &coefficients;
  by_function.downstream = sum_of_features, by_function.downstream_outputs = 1, by_function.downstream_user = &called;
  cgmca_tuning *linear = NULL, *function = NULL;
  OK(cgmca_tune(X, 2, &tune, NULL, &linear));
  OK(cgmca_tune(X, 2, &by_function, NULL, &function));
  EXPECT(cgmca_tuning_criterion(linear) == 6 && called > 0);
  EXPECT(cgmca_tuning_trials(linear) == cgmca_tuning_trials(function) && cgmca_tuning_expected(linear) > 0);
  EXPECT(cgmca_tuning_recommendation(linear, 0) != NULL && cgmca_tuning_recommendation(linear, 99) == NULL);
  int towards_identity = 0;
  for (int64_t i = 0; i < cgmca_tuning_trials(linear); ++i) {
    cgmca_trial one = {0}, two = {0};
    one.size = sizeof one, two.size = sizeof two;
    OK(cgmca_tuning_trial(linear, i, &one));
    OK(cgmca_tuning_trial(function, i, &two));
    EXPECT(fabs(one.error[6] - two.error[6]) <= 1e-12 * one.error[6]);
    towards_identity += strcmp(one.towards, "identity") == 0;
  }
  EXPECT(towards_identity > 0);
  by_function.downstream = fails_always;
  cgmca_tuning* broken = NULL;
  EXPECT(cgmca_tune(X, 2, &by_function, NULL, &broken) == CGMCA_INVALID_INPUT && broken == NULL);
  cgmca_tuning_free(linear), cgmca_tuning_free(function);
  cgmca_translation_free(back);
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

int main(int count, char** arguments) {
  const int calls = count > 1 ? atoi(arguments[1]) : 1000;
  draw();
  EXPECT(cgmca_abi_version() == CGMCA_ABI_VERSION);
  for (int64_t i = 0; cgmca_covariance_form(i) != NULL; ++i) EXPECT(strlen(cgmca_covariance_meaning(i)) > 10);
  test_views();
  test_blocks();
  test_long_blocks();
  test_incomplete();
  test_towards_and_downstream();
  test_summaries();
  test_options();
  test_more_options();
  test_three_domains();
  test_choosing();
  test_statistics();
  test_errors();
  test_one_sample();
  test_memory_stays_flat(calls);
  printf("%d failures\n", failures);
  return failures != 0;
}
