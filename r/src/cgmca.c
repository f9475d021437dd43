/* The .Call routines: R's matrices are handed to the C interface where they lie, a status becomes an R error after
   everything is freed. A model is the bytes of its file, a raw vector: it can be copied and saved like every value. The
   model of the last call is kept with the header of its file, which holds the checksum of all its bytes, so that the next
   call with the same bytes need not read them again. */
#include <cgmca/cgmca.h>
#define R_NO_REMAP
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <Rinternals.h>
#include <stdlib.h>
#include <string.h>

/* What the present call has to free before it may raise an error. */
static struct {
  cgmca_model* model;
  cgmca_translation* translation;
  cgmca_tuning* tuning;
  cgmca_bootstrap* bootstrap;
  cgmca_diagnosis* diagnosis;
} held;

static struct {
  cgmca_model* model;
  char* header;
  size_t size; /* of the whole file */
} last;

static void free_held(void) {
  cgmca_model_free(held.model);
  cgmca_translation_free(held.translation);
  cgmca_tuning_free(held.tuning);
  cgmca_bootstrap_free(held.bootstrap);
  cgmca_diagnosis_free(held.diagnosis);
  memset(&held, 0, sizeof held);
}

/* An error of the class cgmca_KIND, so that tryCatch can tell them apart. */
static void need(cgmca_status status) {
  if (status == CGMCA_OK) return;
  free_held();
  SEXP call = PROTECT(Rf_lang3(Rf_install("cgmca_stop"), PROTECT(Rf_mkString(cgmca_last_kind())),
                               PROTECT(Rf_ScalarString(Rf_mkCharCE(cgmca_last_message(), CE_UTF8)))));
  SEXP name = PROTECT(Rf_mkString("cgmca"));
  SEXP space = PROTECT(R_FindNamespace(name));
  Rf_eval(call, space);
  UNPROTECT(5);
}

static void check(void* unused) {
  (void)unused;
  R_CheckUserInterrupt();
}

static int interrupted(void* unused) {
  (void)unused;
  return R_ToplevelExec(check, NULL) == FALSE;
}

/* An entry of a list, or NULL where it is absent or NULL itself. */
static SEXP entry(SEXP list, const char* name) {
  SEXP names = Rf_getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    if (strcmp(CHAR(STRING_ELT(names, i)), name) != 0) continue;
    SEXP value = VECTOR_ELT(list, i);
    return Rf_isNull(value) || Rf_xlength(value) == 0 ? NULL : value;
  }
  return NULL;
}

static const char* text_of(SEXP list, const char* name) {
  SEXP value = entry(list, name);
  return value && Rf_isString(value) ? Rf_translateCharUTF8(STRING_ELT(value, 0)) : NULL;
}

static double number_of(SEXP list, const char* name, double otherwise) {
  SEXP value = entry(list, name);
  return value ? Rf_asReal(value) : otherwise;
}

static const double* doubles_of(SEXP list, const char* name) {
  SEXP value = entry(list, name);
  return value ? REAL(value) : NULL;
}

static const int64_t* integers_of(SEXP list, const char* name, int64_t* count) {
  SEXP value = entry(list, name);
  if (!value) return NULL;
  int64_t* numbers = (int64_t*)R_alloc((size_t)Rf_xlength(value), sizeof *numbers);
  for (R_xlen_t i = 0; i < Rf_xlength(value); ++i) numbers[i] = (int64_t)REAL(value)[i];
  if (count) *count = (int64_t)Rf_xlength(value);
  return numbers;
}

static const char* const* texts_of(SEXP strings) {
  const char** texts = (const char**)R_alloc((size_t)Rf_xlength(strings) + 1, sizeof *texts);
  for (R_xlen_t i = 0; i < Rf_xlength(strings); ++i) texts[i] = Rf_translateCharUTF8(STRING_ELT(strings, i));
  return texts;
}

static cgmca_view view_of(SEXP X) {
  const int n = Rf_nrows(X);
  cgmca_view view = {REAL(X), n, Rf_ncols(X), 1, n > 0 ? n : 1, 0};
  return view;
}

static cgmca_buffer buffer_of(SEXP X) {
  const int n = Rf_nrows(X);
  cgmca_buffer buffer = {REAL(X), n, Rf_ncols(X), 1, n > 0 ? n : 1, 0};
  return buffer;
}

static const cgmca_view* views_of(SEXP list) {
  cgmca_view* views = (cgmca_view*)R_alloc((size_t)Rf_xlength(list) + 1, sizeof *views);
  memset(views, 0, ((size_t)Rf_xlength(list) + 1) * sizeof *views);
  for (R_xlen_t i = 0; i < Rf_xlength(list); ++i) {
    if (!Rf_isNull(VECTOR_ELT(list, i))) views[i] = view_of(VECTOR_ELT(list, i));
  }
  return views;
}

static const cgmca_names* names_of(SEXP blocks, SEXP features) {
  const R_xlen_t m = Rf_xlength(features);
  cgmca_names* names = (cgmca_names*)R_alloc((size_t)m + 1, sizeof *names);
  memset(names, 0, ((size_t)m + 1) * sizeof *names);
  for (R_xlen_t i = 0; i < m; ++i) {
    if (blocks && i < Rf_xlength(blocks)) names[i].name = Rf_translateCharUTF8(STRING_ELT(blocks, i));
    if (!Rf_isNull(VECTOR_ELT(features, i))) names[i].features = texts_of(VECTOR_ELT(features, i));
  }
  return names;
}

static cgmca_fit_options options_of(SEXP given) {
  cgmca_fit_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.stop = interrupted;
  if (Rf_isNull(given)) return options;
  SEXP covariance = entry(given, "covariance"), matrices = entry(given, "matrices"), extra = entry(given, "extra");
  SEXP features = entry(given, "features");
  if (covariance) options.covariances = texts_of(covariance);
  if (matrices) options.matrices = views_of(matrices), options.matrix_count = (int64_t)Rf_xlength(matrices);
  options.ridge = doubles_of(given, "ridge");
  options.max_rank = integers_of(given, "max_rank", NULL);
  options.rank_tol = number_of(given, "rank_tol", 0);
  options.weights = doubles_of(given, "weights");
  if (extra) options.extra = views_of(extra);
  if (features) options.names = names_of(entry(given, "blocks"), features);
  options.accumulate = text_of(given, "accumulate");
  options.graph = text_of(given, "graph");
  options.graph_weights = doubles_of(given, "graph_weights");
  options.seed = (uint64_t)number_of(given, "seed", 0);
  options.random_starts = (int64_t)number_of(given, "random_starts", 0);
  options.max_sweeps = (int64_t)number_of(given, "max_sweeps", 0);
  options.max_seconds = number_of(given, "max_seconds", 0);
  options.calibrate = (int64_t)number_of(given, "calibrate", 0);
  options.scale = number_of(given, "scale", 0) != 0;
  options.towards = text_of(given, "towards");
  options.missing = text_of(given, "missing");
  return options;
}

static SEXP bytes_of(const cgmca_model* model) {
  size_t size = 0;
  need(cgmca_model_to_memory(model, NULL, 0, &size));
  SEXP bytes = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)size));
  need(cgmca_model_to_memory(model, RAW(bytes), size, &size));
  UNPROTECT(1);
  return bytes;
}

/* The first bytes of a model's file: its length in eight bytes, and the header itself. */
static size_t header_size(const unsigned char* bytes, size_t size) {
  unsigned long long length = 0;
  for (int i = 7; i >= 0 && size >= 8; --i) length = length << 8 | bytes[i];
  return size < 8 || length > size - 8 ? size : 8 + (size_t)length;
}

static int is_last(const void* bytes, size_t size) {
  return last.header && last.size == size && memcmp(last.header, bytes, header_size(bytes, size)) == 0;
}

/* Keeps the model of these bytes, which is taken from *model. */
static void remember(cgmca_model** model, SEXP bytes) {
  const size_t size = (size_t)Rf_xlength(bytes), header = header_size(RAW(bytes), size);
  cgmca_model_free(last.model);
  free(last.header);
  last.model = *model, *model = NULL, last.size = size;
  last.header = malloc(header);
  if (last.header) memcpy(last.header, RAW(bytes), header);
}

static const cgmca_model* model_of(SEXP bytes) {
  const size_t size = (size_t)Rf_xlength(bytes);
  if (TYPEOF(bytes) != RAWSXP) Rf_error("the model's bytes are not a raw vector");
  if (is_last(RAW(bytes), size)) return last.model;
  cgmca_model* model = NULL;
  need(cgmca_model_from_memory(RAW(bytes), size, &model));
  remember(&model, bytes);
  return last.model;
}

static const char* name_or_null(SEXP text) { return Rf_isNull(text) ? NULL : CHAR(STRING_ELT(text, 0)); }

static SEXP r_fit(SEXP X, SEXP given) {
  free_held(); /* of a call that ended in an error of R itself */
  const cgmca_fit_options options = options_of(given);
  need(cgmca_fit(views_of(X), (int)Rf_length(X), &options, &held.model));
  SEXP bytes = PROTECT(bytes_of(held.model));
  remember(&held.model, bytes);
  free_held();
  UNPROTECT(1);
  return bytes;
}

static SEXP r_apply(SEXP bytes, SEXP domain, SEXP X) {
  const cgmca_model* model = model_of(bytes);
  const cgmca_view view = view_of(X);
  SEXP Z = PROTECT(Rf_allocMatrix(REALSXP, Rf_nrows(X), (int)cgmca_model_dimension(model)));
  const cgmca_buffer buffer = buffer_of(Z);
  need(cgmca_apply(model, Rf_asInteger(domain), &view, &buffer));
  UNPROTECT(1);
  return Z;
}

/* list(fit, se, half width), the last two NULL unless they are asked for */
static SEXP r_translate(SEXP bytes, SEXP X, SEXP from, SEXP to, SEXP method, SEXP iterations, SEXP errors,
                        SEXP probability) {
  free_held();
  const cgmca_model* model = model_of(bytes);
  const int n = Rf_nrows(VECTOR_ELT(X, 0)), d = (int)cgmca_model_features(model, Rf_asInteger(to));
  const int limits = !Rf_isNull(probability);
  need(cgmca_translation_new(model, INTEGER(from), (int)Rf_length(from), Rf_asInteger(to), name_or_null(method),
                             (int64_t)Rf_asReal(iterations), &held.translation));
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 3));
  cgmca_buffer buffers[3];
  for (int i = 0; i < 3; ++i) {
    if ((i == 1 && !Rf_asLogical(errors)) || (i == 2 && !limits)) continue;
    SET_VECTOR_ELT(result, i, Rf_allocMatrix(REALSXP, n, d));
    buffers[i] = buffer_of(VECTOR_ELT(result, i));
  }
  need(cgmca_translate(held.translation, views_of(X), &buffers[0], Rf_asLogical(errors) ? &buffers[1] : NULL,
                       limits ? Rf_asReal(probability) : 0, limits ? &buffers[2] : NULL));
  free_held();
  UNPROTECT(1);
  return result;
}

static SEXP r_invert(SEXP bytes, SEXP domain, SEXP Z, SEXP method) {
  const cgmca_model* model = model_of(bytes);
  const cgmca_view view = view_of(Z);
  SEXP X = PROTECT(Rf_allocMatrix(REALSXP, Rf_nrows(Z), (int)cgmca_model_features(model, Rf_asInteger(domain))));
  const cgmca_buffer buffer = buffer_of(X);
  need(cgmca_invert(model, Rf_asInteger(domain), &view, name_or_null(method), 0, &buffer));
  UNPROTECT(1);
  return X;
}

static SEXP r_fuse(SEXP bytes, SEXP domains, SEXP X, SEXP how) {
  const cgmca_model* model = model_of(bytes);
  SEXP Z = PROTECT(Rf_allocMatrix(REALSXP, Rf_nrows(VECTOR_ELT(X, 0)), (int)cgmca_model_dimension(model)));
  const cgmca_buffer buffer = buffer_of(Z);
  need(cgmca_fuse(model, INTEGER(domains), (int)Rf_length(domains), views_of(X), name_or_null(how), &buffer));
  UNPROTECT(1);
  return Z;
}

static SEXP r_verify(SEXP bytes, SEXP X, SEXP given) {
  const cgmca_model* model = model_of(bytes);
  const cgmca_fit_options options = options_of(given);
  cgmca_verification found;
  memset(&found, 0, sizeof found);
  found.size = sizeof found;
  SEXP residuals = PROTECT(Rf_allocVector(REALSXP, cgmca_model_domains(model)));
  need(cgmca_verify(model, views_of(X), (int)Rf_length(X), &options, &found, REAL(residuals)));
  const char* names[] = {"certified", "samples", "objective", "best_objective", "shortfall", "residuals",
                         "worst_claim", "proof", ""};
  SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
  SET_VECTOR_ELT(result, 0, Rf_ScalarLogical(found.certified));
  SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)found.samples));
  SET_VECTOR_ELT(result, 2, Rf_ScalarReal(found.objective));
  SET_VECTOR_ELT(result, 3, Rf_ScalarReal(found.best_objective));
  SET_VECTOR_ELT(result, 4, Rf_ScalarReal((found.objective - found.best_objective) / found.covariance_trace));
  SET_VECTOR_ELT(result, 5, residuals);
  SET_VECTOR_ELT(result, 6, Rf_ScalarReal(found.worst_claim));
  SET_VECTOR_ELT(result, 7, Rf_mkString(found.proof));
  UNPROTECT(2);
  return result;
}

/* The sentences that of(i) gives, until it gives none. */
static SEXP sentences(const char* (*of)(int64_t i)) {
  int count = 0;
  while (of(count)) ++count;
  SEXP texts = PROTECT(Rf_allocVector(STRSXP, count));
  for (int i = 0; i < count; ++i) SET_STRING_ELT(texts, i, Rf_mkCharCE(of(i), CE_UTF8));
  UNPROTECT(1);
  return texts;
}

static const char* remark(int64_t i) { return cgmca_tuning_remark(held.tuning, i); }
static const char* recommendation(int64_t i) { return cgmca_tuning_recommendation(held.tuning, i); }
static const char* diagnosis_remark(int64_t i) { return cgmca_diagnosis_remark(held.diagnosis, i); }

/* list(covariance, max_rank, ridge, error, standard_error, c(chosen, best, alike, criterion, expected), remarks, bytes,
   towards, recommendation) */
static SEXP r_tune(SEXP X, SEXP tuning, SEXP given) {
  free_held(); /* of a call that ended in an error of R itself */
  const cgmca_fit_options fit = options_of(given);
  cgmca_tune_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  SEXP families = entry(tuning, "families"), labels = entry(tuning, "labels");
  if (families) options.families = texts_of(families), options.family_count = (int64_t)Rf_xlength(families);
  options.ranks = integers_of(tuning, "ranks", &options.rank_count);
  options.max_ranks = integers_of(tuning, "max_ranks", &options.max_rank_count);
  options.ridges = doubles_of(tuning, "ridges");
  if (options.ridges) options.ridge_count = (int64_t)Rf_xlength(entry(tuning, "ridges"));
  options.criterion = text_of(tuning, "criterion");
  if (labels) options.labels = INTEGER(labels);
  options.folds = (int64_t)number_of(tuning, "folds", 0);
  options.repeats = (int64_t)number_of(tuning, "repeats", 0);
  options.seed = (uint64_t)number_of(tuning, "seed", 0);
  SEXP towards = entry(tuning, "towards"), downstream = entry(tuning, "downstream");
  if (towards) options.towards = texts_of(towards), options.towards_count = (int64_t)Rf_xlength(towards);
  cgmca_view coefficients;
  if (downstream) coefficients = view_of(downstream), options.downstream_coefficients = &coefficients;
  need(cgmca_tune(views_of(X), (int)Rf_length(X), &options, &fit, &held.tuning));
  need(cgmca_tuning_fit(held.tuning, cgmca_tuning_chosen(held.tuning), &fit, &held.model));
  const int count = (int)cgmca_tuning_trials(held.tuning);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 10));
  SET_VECTOR_ELT(result, 0, Rf_allocVector(STRSXP, count));
  SET_VECTOR_ELT(result, 8, Rf_allocVector(STRSXP, count));
  SET_VECTOR_ELT(result, 1, Rf_allocVector(REALSXP, count));
  SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, count));
  SET_VECTOR_ELT(result, 3, Rf_allocMatrix(REALSXP, count, CGMCA_CRITERIA));
  SET_VECTOR_ELT(result, 4, Rf_allocMatrix(REALSXP, count, CGMCA_CRITERIA));
  for (int i = 0; i < count; ++i) {
    cgmca_trial trial;
    memset(&trial, 0, sizeof trial);
    trial.size = sizeof trial;
    need(cgmca_tuning_trial(held.tuning, i, &trial));
    SET_STRING_ELT(VECTOR_ELT(result, 0), i, Rf_mkChar(trial.covariance));
    SET_STRING_ELT(VECTOR_ELT(result, 8), i, Rf_mkChar(trial.towards));
    REAL(VECTOR_ELT(result, 1))[i] = (double)trial.max_rank;
    REAL(VECTOR_ELT(result, 2))[i] = trial.ridge;
    for (int c = 0; c < CGMCA_CRITERIA; ++c) {
      REAL(VECTOR_ELT(result, 3))[i + c * count] = trial.error[c];
      REAL(VECTOR_ELT(result, 4))[i + c * count] = trial.standard_error[c];
    }
  }
  SET_VECTOR_ELT(result, 5, Rf_allocVector(REALSXP, 5));
  REAL(VECTOR_ELT(result, 5))[0] = (double)cgmca_tuning_chosen(held.tuning) + 1;
  REAL(VECTOR_ELT(result, 5))[1] = (double)cgmca_tuning_best(held.tuning) + 1;
  REAL(VECTOR_ELT(result, 5))[2] = (double)cgmca_tuning_alike(held.tuning);
  REAL(VECTOR_ELT(result, 5))[3] = cgmca_tuning_criterion(held.tuning) + 1;
  REAL(VECTOR_ELT(result, 5))[4] = cgmca_tuning_expected(held.tuning);
  SET_VECTOR_ELT(result, 6, sentences(remark));
  SET_VECTOR_ELT(result, 9, sentences(recommendation));
  SET_VECTOR_ELT(result, 7, bytes_of(held.model));
  remember(&held.model, VECTOR_ELT(result, 7));
  free_held();
  UNPROTECT(1);
  return result;
}

/* c(significant, p values) */
static SEXP r_permutation(SEXP X, SEXP given, SEXP permutations, SEXP seed, SEXP level) {
  enum { MOST = 100000 };
  const cgmca_fit_options options = options_of(given);
  double* p = (double*)R_alloc(MOST, sizeof *p);
  int64_t count = 0, significant = 0;
  need(cgmca_permutation_test(views_of(X), (int)Rf_length(X), &options, (int64_t)Rf_asReal(permutations),
                              (uint64_t)Rf_asReal(seed), Rf_asReal(level), p, MOST, &count, &significant));
  SEXP result = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)count + 1));
  REAL(result)[0] = (double)significant;
  memcpy(REAL(result) + 1, p, (size_t)count * sizeof *p);
  UNPROTECT(1);
  return result;
}

static SEXP bootstrap_array(const char* name, const char* part, int domain) {
  int64_t rows = 0, columns = 0;
  need(cgmca_bootstrap_array(held.bootstrap, name, part, domain, &rows, &columns, NULL));
  SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)columns));
  const cgmca_buffer buffer = buffer_of(result);
  need(cgmca_bootstrap_array(held.bootstrap, name, part, domain, &rows, &columns, &buffer));
  UNPROTECT(1);
  return result;
}

/* list(replicas, correlations, list of weights, list of structure, list of selected); all but the last of six matrices */
static SEXP r_bootstrap(SEXP X, SEXP given, SEXP how) {
  static const char* parts[] = {"estimate", "standard_error", "lower", "upper", "p", "q", ""};
  static const char* names[] = {"correlations", "weights", "structure", "selected"};
  free_held();
  const cgmca_fit_options fit = options_of(given);
  cgmca_bootstrap_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.replicas = (int64_t)number_of(how, "replicas", 0);
  options.seed = (uint64_t)number_of(how, "seed", 0);
  options.level = number_of(how, "level", 0);
  options.directions = (int64_t)number_of(how, "directions", 0);
  options.strongest = (int64_t)number_of(how, "strongest", 0);
  options.units = integers_of(how, "units", NULL);
  need(cgmca_bootstrap_new(views_of(X), (int)Rf_length(X), &fit, &options, &held.bootstrap));
  const int m = (int)Rf_length(X);
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 5));
  SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)cgmca_bootstrap_replicas(held.bootstrap)));
  for (int name = 0; name < 4; ++name) {
    SET_VECTOR_ELT(result, name + 1, Rf_allocVector(VECSXP, name == 0 ? 1 : m));
    for (int i = 0; i < (name == 0 ? 1 : m); ++i) {
      if (name == 3) {
        SET_VECTOR_ELT(VECTOR_ELT(result, 4), i, bootstrap_array("selected", "estimate", i + 1));
        continue;
      }
      SET_VECTOR_ELT(VECTOR_ELT(result, name + 1), i, Rf_mkNamed(VECSXP, parts));
      for (int part = 0; part < 6; ++part) {
        SET_VECTOR_ELT(VECTOR_ELT(VECTOR_ELT(result, name + 1), i), part,
                       bootstrap_array(names[name], parts[part], i + 1));
      }
    }
  }
  free_held();
  UNPROTECT(1);
  return result;
}

static SEXP diagnosis_array(const char* name, int domain) {
  int64_t rows = 0, columns = 0;
  need(cgmca_diagnosis_array(held.diagnosis, name, domain, &rows, &columns, NULL));
  SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)columns));
  const cgmca_buffer buffer = buffer_of(result);
  need(cgmca_diagnosis_array(held.diagnosis, name, domain, &rows, &columns, &buffer));
  UNPROTECT(1);
  return result;
}

/* list(suspects, p of the pairs, list of a list of columns for each domain, remarks) */
static SEXP r_diagnose(SEXP bytes, SEXP X, SEXP rate) {
  static const char* names[] = {"t_squared", "t_squared_p", "residual",   "residual_p", "distance", "distance_p",
                                "evidence",  "evidence_p",  "rank", "likeliest", ""};
  free_held();
  const cgmca_model* model = model_of(bytes);
  const cgmca_fit_options options = options_of(R_NilValue);
  const int m = (int)Rf_length(X);
  need(cgmca_diagnose(model, views_of(X), m, &options, Rf_asReal(rate), &held.diagnosis));
  SEXP result = PROTECT(Rf_allocVector(VECSXP, 4));
  SET_VECTOR_ELT(result, 0, diagnosis_array("suspects", 0));
  SET_VECTOR_ELT(result, 1, diagnosis_array("pair_p", 0));
  SET_VECTOR_ELT(result, 2, Rf_allocVector(VECSXP, m));
  for (int i = 0; i < m; ++i) {
    SET_VECTOR_ELT(VECTOR_ELT(result, 2), i, Rf_mkNamed(VECSXP, names));
    for (int j = 0; j < 10; ++j) {
      SET_VECTOR_ELT(VECTOR_ELT(VECTOR_ELT(result, 2), i), j, diagnosis_array(names[j], i + 1));
    }
  }
  SET_VECTOR_ELT(result, 3, sentences(diagnosis_remark));
  free_held();
  UNPROTECT(1);
  return result;
}

static SEXP r_array(SEXP bytes, SEXP name, SEXP domain, SEXP other) {
  const cgmca_model* model = model_of(bytes);
  int64_t rows = 0, columns = 0;
  need(cgmca_model_array(model, CHAR(STRING_ELT(name, 0)), Rf_asInteger(domain), Rf_asInteger(other), &rows, &columns,
                         NULL));
  SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)columns));
  const cgmca_buffer buffer = buffer_of(result);
  need(cgmca_model_array(model, CHAR(STRING_ELT(name, 0)), Rf_asInteger(domain), Rf_asInteger(other), &rows, &columns,
                         &buffer));
  UNPROTECT(1);
  return result;
}

static SEXP r_number(SEXP bytes, SEXP name) {
  double value = 0;
  need(cgmca_model_number(model_of(bytes), CHAR(STRING_ELT(name, 0)), &value));
  return Rf_ScalarReal(value);
}

/* A text, or NULL */
static SEXP r_text(SEXP bytes, SEXP name, SEXP domain, SEXP i) {
  const char* text = cgmca_model_text(model_of(bytes), CHAR(STRING_ELT(name, 0)), Rf_asInteger(domain),
                                      (int64_t)Rf_asInteger(i) - 1);
  return text ? Rf_ScalarString(Rf_mkCharCE(text, CE_UTF8)) : R_NilValue;
}

/* The names of a domain's features, or NULL */
static SEXP r_features(SEXP bytes, SEXP domain) {
  const cgmca_model* model = model_of(bytes);
  const int d = (int)cgmca_model_features(model, Rf_asInteger(domain));
  if (d == 0 || !cgmca_model_text(model, "feature", Rf_asInteger(domain), 0)) return R_NilValue;
  SEXP names = PROTECT(Rf_allocVector(STRSXP, d));
  for (int i = 0; i < d; ++i) {
    SET_STRING_ELT(names, i, Rf_mkCharCE(cgmca_model_text(model, "feature", Rf_asInteger(domain), i), CE_UTF8));
  }
  UNPROTECT(1);
  return names;
}

static SEXP r_shape(SEXP bytes) { /* c(k, d_1, …, d_m) */
  const cgmca_model* model = model_of(bytes);
  const int m = cgmca_model_domains(model);
  SEXP shape = PROTECT(Rf_allocVector(INTSXP, m + 1));
  INTEGER(shape)[0] = (int)cgmca_model_dimension(model);
  for (int i = 1; i <= m; ++i) INTEGER(shape)[i] = (int)cgmca_model_features(model, i);
  UNPROTECT(1);
  return shape;
}

static SEXP r_read(SEXP path) {
  free_held(); /* of a call that ended in an error of R itself */
  need(cgmca_model_load(Rf_translateChar(STRING_ELT(path, 0)), &held.model));
  SEXP bytes = PROTECT(bytes_of(held.model));
  remember(&held.model, bytes);
  free_held();
  UNPROTECT(1);
  return bytes;
}

static SEXP r_write(SEXP bytes, SEXP path) {
  need(cgmca_model_save(model_of(bytes), Rf_translateChar(STRING_ELT(path, 0))));
  return R_NilValue;
}

static const R_CallMethodDef routines[] = {
    {"C_fit", (DL_FUNC)&r_fit, 2},           {"C_apply", (DL_FUNC)&r_apply, 3},
    {"C_translate", (DL_FUNC)&r_translate, 8}, {"C_invert", (DL_FUNC)&r_invert, 4},
    {"C_fuse", (DL_FUNC)&r_fuse, 4},         {"C_verify", (DL_FUNC)&r_verify, 3},
    {"C_tune", (DL_FUNC)&r_tune, 3},         {"C_permutation", (DL_FUNC)&r_permutation, 5},
    {"C_bootstrap", (DL_FUNC)&r_bootstrap, 3}, {"C_diagnose", (DL_FUNC)&r_diagnose, 3},
    {"C_array", (DL_FUNC)&r_array, 4},       {"C_number", (DL_FUNC)&r_number, 2},
    {"C_text", (DL_FUNC)&r_text, 4},         {"C_shape", (DL_FUNC)&r_shape, 1},
    {"C_features", (DL_FUNC)&r_features, 2},
    {"C_read", (DL_FUNC)&r_read, 1},         {"C_write", (DL_FUNC)&r_write, 2},
    {NULL, NULL, 0}};

void R_init_cgmca(DllInfo* info) {
  R_registerRoutines(info, NULL, routines, NULL, NULL);
  R_useDynamicSymbols(info, FALSE);
}
