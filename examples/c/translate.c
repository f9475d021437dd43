/* Fits two sensors, keeps the model as bytes, and translates the second into the first with error bars, as an embedded
   program would: the model comes from memory, and the loop allocates nothing.

     cc -std=c99 translate.c $(pkg-config --cflags --libs cgmca-c) -o translate && ./translate */
#include <cgmca/cgmca.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 200, D1 = 3, D2 = 4 };

static void check(cgmca_status status) {
  if (status == CGMCA_OK) return;
  fprintf(stderr, "%s: %s\n", cgmca_last_kind(), cgmca_last_message());
  exit(1);
}

int main(void) {
  static double x1[N][D1], x2[N][D2]; /* sample i of both belongs together */
  unsigned state = 1;
  for (int i = 0; i < N; ++i) {
    double cause[2];
    for (int j = 0; j < 2; ++j) cause[j] = (double)(state = state * 1664525u + 1013904223u) / 4294967296.0;
    for (int j = 0; j < D1; ++j) x1[i][j] = cause[0] * (j + 1) + cause[1];
    for (int j = 0; j < D2; ++j) {
      const double noise = (double)(state = state * 1664525u + 1013904223u) / 4294967296.0 - 0.5;
      x2[i][j] = cause[0] - cause[1] * (j + 1) + 0.1 * noise;
    }
  }

  const cgmca_view X[2] = {{x1, N, D1, 0, 0, 0}, {x2, N, D2, 0, 0, 0}};
  cgmca_fit_options options = {0};
  options.size = sizeof options;
  options.covariance = "data1:2";
  cgmca_model* fitted = NULL;
  check(cgmca_fit(X, 2, &options, &fitted));

  size_t size = 0;
  check(cgmca_model_to_memory(fitted, NULL, 0, &size));
  void* bytes = malloc(size);
  check(cgmca_model_to_memory(fitted, bytes, size, &size));
  cgmca_model* model = NULL;
  check(cgmca_model_from_memory(bytes, size, &model));

  cgmca_translation* back = NULL;
  const int from = 2;
  check(cgmca_translation_new(model, &from, 1, 1, NULL, 0, &back));
  double worst = 0;
  for (int i = 0; i < N; ++i) {
    double y[D1], error[D1];
    check(cgmca_translate_one(back, x2[i], y, error));
    for (int j = 0; j < D1; ++j) {
      const double off = (y[j] - x1[i][j]) / error[j];
      if (off * off > worst) worst = off * off;
    }
  }
  printf("%zu bytes of model; the worst of %d translations is off by less than %.0f standard errors\n", size, N,
         worst < 25 ? 5.0 : worst);
  cgmca_translation_free(back);
  cgmca_model_free(model);
  cgmca_model_free(fitted);
  free(bytes);
  return worst < 25 ? 0 : 1;
}
