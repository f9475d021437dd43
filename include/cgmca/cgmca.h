/* The C interface of cgmca (C99): models, fits, summaries, translations, choosing and testing.

   Every front that is not C++ or Python is built on it. It links the core alone, so a program that applies a model ships
   libcgmca_c, libcgmca, fmt and a BLAS with LAPACK, and nothing that reads files of other formats.

   Samples are rows:

     double a[60 * 7];                      60 samples of 7 features, row by row
     cgmca_view A = {a, 60, 7};             strides of 0 are those of such an array, and numbers are doubles
     cgmca_view X[2] = {A, {b, 60, 5}};     sample i of both belongs together
     cgmca_fit_options options = {sizeof options};
     options.covariance = "data1:3";        what --cov of the command line takes
     cgmca_model* model = NULL;
     if (cgmca_fit(X, 2, &options, &model) != CGMCA_OK) fprintf(stderr, "%s\n", cgmca_last_message());

   Options are structs that begin with their size, so that they can grow; a field of 0 is its default. Domains are
   numbered from 1. A function that can fail returns a status, leaves its results as they were, and keeps a message for
   the calling thread. No exception and no longjmp crosses the interface.

   Threads: models, translations and tunings never change; several threads may use one at once. A summary may be read by
   several threads; a thread that changes it must be alone. */
#ifndef CGMCA_CGMCA_H
#define CGMCA_CGMCA_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Programs compiled with one number work with every library of that number. */
#define CGMCA_ABI_VERSION 1
int cgmca_abi_version(void);      /* of the library in use */
const char* cgmca_version(void);  /* of the library in use: "0.2.0" */

/* How a call ended. Python and C++ have the same classes of errors. */
typedef enum cgmca_status {
  CGMCA_OK = 0,
  CGMCA_INVALID_INPUT = 1, /* the data, an option or an argument cannot be used */
  CGMCA_INFEASIBLE = 2,    /* a prescribed covariance has a higher rank than the data */
  CGMCA_FORMAT = 3,        /* a file that is not what it should be */
  CGMCA_IO = 4,            /* a file that cannot be read or written */
  CGMCA_NUMERICAL = 5,     /* every factorization gave up, or a proof refutes the result */
  CGMCA_DEVICE = 6,        /* a GPU that is absent, too small, or lost */
  CGMCA_MEMORY = 7,        /* not enough memory */
  CGMCA_STOPPED = 8,       /* the caller's `stop` said so */
  CGMCA_INTERNAL = 9       /* a mistake in cgmca: please report it */
} cgmca_status;

/* What was wrong in the calling thread's last failed call, and the class of it as one word, such as "infeasible",
   "notFinite" or "wrongDimension". Valid until this thread's next call that fails. */
const char* cgmca_last_message(void);
const char* cgmca_last_kind(void);

/* Samples as rows, or any matrix: element (i, j) is data[i * row_stride + j * column_stride]. Strides count elements. A
   column_stride of 0 is 1, a row_stride of 0 is `columns`. So MATLAB's and R's n×d matrices are {p, n, d, 1, n}. */
typedef struct cgmca_view {
  const void* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
  int is_float; /* 0: double, 1: float */
} cgmca_view;

/* The same of memory that a result is written to. */
typedef struct cgmca_buffer {
  void* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;
  int is_float;
} cgmca_buffer;

/* The names of a domain and of its features, both may be NULL. */
typedef struct cgmca_names {
  const char* name;
  const char* const* features; /* one for each feature */
} cgmca_names;

typedef struct cgmca_model cgmca_model;
typedef struct cgmca_summary cgmca_summary;
typedef struct cgmca_translation cgmca_translation;
typedef struct cgmca_tuning cgmca_tuning;

/* ---- Covariances: the table that all fronts share ---------------------------------------------------------------- */

/* The i-th form, from 0, such as "data1:T", and what it means; NULL beyond the last. */
const char* cgmca_covariance_form(int64_t i);
const char* cgmca_covariance_meaning(int64_t i);

/* ---- Fits -------------------------------------------------------------------------------------------------------- */

#define CGMCA_AUTO (-1.0) /* a ridge that is found automatically */

typedef struct cgmca_fit_options {
  size_t size;                    /* sizeof(cgmca_fit_options) */
  const char* covariance;         /* of all domains, as --cov; NULL: "identity" */
  const char* const* covariances; /* or one for each domain, as --cov1, --cov2, … */
  const cgmca_view* matrices;     /* what "file:1", "factor:2" or "sd:3" names, counted from 1 */
  int64_t matrix_count;
  const double* ridge;            /* one for each domain, CGMCA_AUTO or a number; NULL: 0 */
  const int64_t* max_rank;        /* one for each domain, 0: no limit; NULL: no limits */
  double rank_tol;                /* 0: max(d, n)·eps */
  const double* weights;          /* one for each sample; NULL: 1 */
  const cgmca_view* extra;        /* for each domain samples without partners, or data NULL; NULL: none */
  const cgmca_names* names;       /* of each domain; NULL: none */
  const char* accumulate;         /* "auto", "qr" or "gram"; NULL: "auto" */
  const char* graph;              /* for more than two domains: "full", "star:1", "path"; NULL: "full" */
  const double* graph_weights;    /* or m×m weights */
  uint64_t seed;                  /* of the random starts for more than two domains */
  int64_t random_starts;          /* 0: 3; -1: none */
  int64_t max_sweeps;             /* 0: 5000 */
  double max_seconds;             /* 0: no limit */
  int64_t calibrate;              /* folds to measure the errors of translations with; 0: not measured */
  int (*stop)(void* user);        /* asked about 20 times a second, in the calling thread; not 0: give up. The samples
                                     are copied first. NULL: the work is done in the calling thread */
  void* user;                     /* handed to stop */
  int scale;                      /* not 0: each feature is divided by its standard deviation first */
  const char* towards;            /* what a ridge shrinks translations towards: "zero" (NULL) or "identity", the sample
                                     itself, for two domains of the same features */
  const char* missing;            /* a sample that holds NaN in a domain is an "error" (NULL), or with "keep" it lacks
                                     that domain and is used for the others */
} cgmca_fit_options;

/* Fits m = `domains` matched sets of samples, all with the same number of rows. options may be NULL. */
cgmca_status cgmca_fit(const cgmca_view* X, int domains, const cgmca_fit_options* options, cgmca_model** model);

/* All that a fit needs to know of samples that come in blocks. `options` are those of samples: names, accumulate,
   missing. */
cgmca_status cgmca_summary_new(const int64_t* features, int domains, const cgmca_fit_options* options,
                               cgmca_summary** summary);
cgmca_status cgmca_summary_add(cgmca_summary* summary, const cgmca_view* X, int domains, const double* weights);
cgmca_status cgmca_summary_merge(cgmca_summary* summary, const cgmca_summary* other);
cgmca_status cgmca_summary_save(const cgmca_summary* summary, const char* path);
cgmca_status cgmca_summary_load(const char* path, cgmca_summary** summary);
/* The bytes of such a file: their number goes to *size, and they are written if `capacity` is enough for them. */
cgmca_status cgmca_summary_to_memory(const cgmca_summary* summary, void* bytes, size_t capacity, size_t* size);
cgmca_status cgmca_summary_from_memory(const void* bytes, size_t size, cgmca_summary** summary);
int64_t cgmca_summary_samples(const cgmca_summary* summary);
/* Fits a summary; the options of samples must not be given. */
cgmca_status cgmca_fit_summary(const cgmca_summary* summary, const cgmca_fit_options* options, cgmca_model** model);
void cgmca_summary_free(cgmca_summary* summary); /* NULL is allowed, as in the other functions that free */

/* ---- Models ------------------------------------------------------------------------------------------------------ */

cgmca_status cgmca_model_load(const char* path, cgmca_model** model);
cgmca_status cgmca_model_save(const cgmca_model* model, const char* path);
cgmca_status cgmca_model_from_memory(const void* bytes, size_t size, cgmca_model** model);
cgmca_status cgmca_model_to_memory(const cgmca_model* model, void* bytes, size_t capacity, size_t* size);
/* The model without the maps of the other domains, for shipping one side alone. */
cgmca_status cgmca_model_only(const cgmca_model* model, int domain, cgmca_model** one);
void cgmca_model_free(cgmca_model* model);

int cgmca_model_domains(const cgmca_model* model);                  /* m */
int64_t cgmca_model_dimension(const cgmca_model* model);            /* k of the common space */
int64_t cgmca_model_features(const cgmca_model* model, int domain); /* d; 0 if the model lacks the domain */

/* A number of the model or of its certificate: "samples", "total_weight", "objective", "bound", "covariance_trace",
   "gap", "certified" (0 or 1), "min_gap", "samples_residual" (NaN if unknown), "sweeps", "stopped_early",
   "calibration_folds", "starts", "seed". */
cgmca_status cgmca_model_number(const cgmca_model* model, const char* name, double* value);

/* A text, or NULL: "proof", "route", "towards", "warning" number i (from 0); of a domain "name", "feature" i, "covariance", and
   "kind", the name of the covariance without its number. Valid until the thread's next call of this function. */
const char* cgmca_model_text(const cgmca_model* model, const char* name, int domain, int64_t i);

/* A matrix, of a domain or of two: "matrix" A (k×d), "offset" b, "mean", "variance", "weights" T (c×d), "mixing" M (k×c),
   "loadings" P (d×q), "cross_loadings" (d×c of `other`), "score_covariance", "common_correlations" (k), "spectrum" of
   C = M Mᵀ, "held_out_error"; "explained" by the scores of `other` (c×4: alone and cumulated, by variance and of
   standardized features), "score_correlations" of the features with the scores of `other` (d×c), "importance" (d),
   "translation_r2" (d; both with `other` any domain), "shared_correlations" (d×d); of the model "correlations",
   "prescribed", "constraint_residuals", "ranks", "covariance_ranks", "tolerances", "max_rank", "ridge" (-1: auto),
   "components", "graph", "start_values", and "tests": a row for each hypothesis that the correlations from `first` on
   are zero: first, correlation, then value, F, df1, df2, p of Wilks, Pillai, Hotelling and Roy, then chi², its degrees
   of freedom and p. Vectors are one column. The shape goes to *rows and *columns; `out` is written unless it is NULL. */
cgmca_status cgmca_model_array(const cgmca_model* model, const char* name, int domain, int other, int64_t* rows,
                               int64_t* columns, const cgmca_buffer* out);

/* ---- Use --------------------------------------------------------------------------------------------------------- */

/* No result may overlap the samples it is made from. Blocks of samples are mapped and translated by BLAS. Nothing is
   allocated after the thread's first call as long as blocks do not become larger, with buffers and strides of any kind;
   the thread keeps memory for at most 4096 samples. Three things do allocate: the method lsqr, samples that lack a
   domain, and OpenBLAS if it uses several threads (half a megabyte in each large product; none after
   cgmca_set_threads(1)). */

/* Z = A (x - mean) of each sample.   X: n×d, Z: n×k */
cgmca_status cgmca_apply(const cgmca_model* model, int domain, const cgmca_view* X, const cgmca_buffer* Z);
/* The same for one sample, for real time: in doubles, by the calling thread alone, without allocation after the thread's
   first call.   x: d, z: k */
cgmca_status cgmca_apply_one(const cgmca_model* model, int domain, const double* x, double* z);
cgmca_status cgmca_apply_one_float(const cgmca_model* model, int domain, const float* x, float* z);

/* A translation from one domain or several to another, made ready. method: "lmmse" (NULL), "exact", "mahalanobis" or
   "lsqr" with so many iterations (0: min(k, d, 20)). The model may be freed before it. */
cgmca_status cgmca_translation_new(const cgmca_model* model, const int* from, int count, int to, const char* method,
                                   int64_t iterations, cgmca_translation** translation);
/* Translates matched samples, n×d_i of each source in the order of `from`, to n×d. From several sources by lmmse a sample
   that holds NaN in a domain is translated from the others. `errors` gets standard errors of new samples, `margins` half
   the widths of intervals that hold the true values with that probability; both may be NULL. */
cgmca_status cgmca_translate(const cgmca_translation* translation, const cgmca_view* X, const cgmca_buffer* Y,
                             const cgmca_buffer* errors, double probability, const cgmca_buffer* margins);
/* One sample, as cgmca_apply_one. x: those of all sources one after the other, y and errors: d; errors may be NULL. */
cgmca_status cgmca_translate_one(const cgmca_translation* translation, const double* x, double* y, double* errors);
cgmca_status cgmca_translate_one_float(const cgmca_translation* translation, const float* x, float* y, float* errors);
void cgmca_translation_free(cgmca_translation* translation);

/* Samples of a domain from points of the common space.   Z: n×k, X: n×d. method NULL: "exact" */
cgmca_status cgmca_invert(const cgmca_model* model, int domain, const cgmca_view* Z, const char* method,
                          int64_t iterations, const cgmca_buffer* X);
/* One point from all domains present, by "estimate" (NULL) or "mean".   X_i: n×d_i, Z: n×k */
cgmca_status cgmca_fuse(const cgmca_model* model, const int* domains, int count, const cgmca_view* X, const char* how,
                        const cgmca_buffer* Z);

/* What a model attains on matched samples, computed from them and its maps alone. */
typedef struct cgmca_verification {
  size_t size; /* sizeof(cgmca_verification), set by the caller */
  int64_t samples;
  double total_weight;
  double objective, best_objective; /* no maps with these covariances go below the second */
  double covariance_trace;          /* the scale of both */
  double gap;
  int certified; /* 1: the maps are the best, to rounding */
  double worst_claim;        /* how far the model is from the truth about itself, at most */
  char worst_claim_name[48]; /* in what */
  char proof[24];
} cgmca_verification;

/* residuals: of the covariances, one for each domain, or NULL. Takes `weights`, `missing`, `stop` and `user` of the
   options. */
cgmca_status cgmca_verify(const cgmca_model* model, const cgmca_view* X, int domains, const cgmca_fit_options* options,
                          cgmca_verification* found, double* residuals);

/* ---- Choosing and testing ---------------------------------------------------------------------------------------- */

typedef struct cgmca_tune_options {
  size_t size;                 /* sizeof(cgmca_tune_options) */
  const char* const* families; /* "identity", "correlation", "data1", …; NULL: by the criterion */
  int64_t family_count;
  const int64_t* ranks; /* NULL: 1, 2, 5, 10, … */
  int64_t rank_count;
  const int64_t* max_ranks; /* 0: no limit; NULL: none with every ridge, and some without one */
  int64_t max_rank_count;
  const double* ridges; /* CGMCA_AUTO or numbers; NULL: 0, 1e-6, …, 1000, 1e9, auto */
  int64_t ridge_count;
  const char* criterion; /* "distance", "translation", "translation-to-2", "classification", "likelihood", "partner",
                            "downstream"; NULL: downstream or classification if they are given, else translation */
  const int* labels;     /* n classes, for classification; NULL: none */
  int64_t folds;         /* 0: 5 */
  int64_t repeats;       /* 0: by the number of samples */
  uint64_t seed;         /* 0: 1 */
  const char* const* towards; /* "zero", "identity"; NULL: both where identity is possible */
  int64_t towards_count;
  /* What settings are to be good for: a model of domain 1, applied to translations. Either linear functions, a row of d_1
     coefficients each, or a function that writes n×outputs numbers to Y for n samples, row by row, and returns 0. It is
     called by one thread at a time, with `stop` not by the calling one, and then perhaps for a moment after the call was
     stopped. */
  const cgmca_view* downstream_coefficients;
  int (*downstream)(const double* X, int64_t samples, int64_t features, double* Y, void* downstream_user);
  int64_t downstream_outputs;
  void* downstream_user;
} cgmca_tune_options;

/* Tries every setting on every training set. `fit` has the options of samples and of the data: weights, extra, rank_tol,
   graph, scale, names, accumulate, stop; both options may be NULL. */
cgmca_status cgmca_tune(const cgmca_view* X, int domains, const cgmca_tune_options* options,
                        const cgmca_fit_options* fit, cgmca_tuning** tuning);

#define CGMCA_CRITERIA 7 /* in the order of the names above */
typedef struct cgmca_trial {
  size_t size; /* sizeof(cgmca_trial), set by the caller */
  char covariance[32];
  int64_t max_rank; /* 0: no limit */
  double ridge;     /* CGMCA_AUTO or a number */
  double error[CGMCA_CRITERIA], standard_error[CGMCA_CRITERIA]; /* NaN if not known */
  char towards[16];
} cgmca_trial;

int64_t cgmca_tuning_trials(const cgmca_tuning* tuning);
int64_t cgmca_tuning_chosen(const cgmca_tuning* tuning);         /* from 0 */
int64_t cgmca_tuning_best(const cgmca_tuning* tuning);           /* from 0 */
int64_t cgmca_tuning_alike(const cgmca_tuning* tuning);          /* how many cannot be told from the best */
int cgmca_tuning_criterion(const cgmca_tuning* tuning);          /* from 0 */
double cgmca_tuning_expected(const cgmca_tuning* tuning);        /* the error to expect of the choice on new samples */
/* Sentences for people, or NULL beyond the last: what to beware of; what was chosen, and what more samples would bring. */
const char* cgmca_tuning_remark(const cgmca_tuning* tuning, int64_t i);
const char* cgmca_tuning_recommendation(const cgmca_tuning* tuning, int64_t i);
cgmca_status cgmca_tuning_trial(const cgmca_tuning* tuning, int64_t i, cgmca_trial* trial);
/* The scores of two baselines without a fit: the domains as they are, and the target domain alone. */
cgmca_status cgmca_tuning_baselines(const cgmca_tuning* tuning, cgmca_trial* unmapped, cgmca_trial* target_only);
/* The fit of all samples with the settings of a trial; `options` has those that were not chosen, or is NULL. */
cgmca_status cgmca_tuning_fit(const cgmca_tuning* tuning, int64_t i, const cgmca_fit_options* options,
                              cgmca_model** model);
void cgmca_tuning_free(cgmca_tuning* tuning);

/* Tests by permutations how many common directions are more than chance. `options`: weights, ridge, max_rank, rank_tol,
   scale, graph, stop; `permutations` 0: 1000; seed 0: 1; level 0: 0.05. p gets at most `capacity` p values, *count says how
   many there are, *significant how many are at or below the level. */
cgmca_status cgmca_permutation_test(const cgmca_view* X, int domains, const cgmca_fit_options* options,
                                    int64_t permutations, uint64_t seed, double level, double* p, int64_t capacity,
                                    int64_t* count, int64_t* significant);

/* How much correlations, weights and structure correlations would differ in other samples. */
typedef struct cgmca_bootstrap_options {
  size_t size;          /* sizeof(cgmca_bootstrap_options) */
  int64_t replicas;     /* 0: 200 */
  uint64_t seed;        /* 0: 1 */
  double level;         /* that intervals are to cover; 0: 0.95 */
  int64_t directions;   /* examined at most; 0: 10 */
  int64_t strongest;    /* among how many a feature is counted; 0: 10 */
  const int64_t* units; /* n: samples of one unit are resampled together; NULL: each is its own */
} cgmca_bootstrap_options;
typedef struct cgmca_bootstrap cgmca_bootstrap;

cgmca_status cgmca_bootstrap_new(const cgmca_view* X, int domains, const cgmca_fit_options* options,
                                 const cgmca_bootstrap_options* how, cgmca_bootstrap** bootstrap);
/* name: "correlations" (directions by pairs of domains); "weights", "structure" (features by directions) and "selected"
   (part of the replicas in which a feature is among the strongest) of a domain. part: "estimate", "standard_error",
   "lower", "upper", "p" that it is zero, "q" the false discovery rate. Shapes and `out` as in cgmca_model_array. */
cgmca_status cgmca_bootstrap_array(const cgmca_bootstrap* bootstrap, const char* name, const char* part, int domain,
                                   int64_t* rows, int64_t* columns, const cgmca_buffer* out);
int64_t cgmca_bootstrap_replicas(const cgmca_bootstrap* bootstrap); /* that could be fitted */
void cgmca_bootstrap_free(cgmca_bootstrap* bootstrap);

/* How far each sample is from the rest of its domain and from its partners; takes `stop` of the options. rate: the false
   discovery rate of the list of suspects, 0: 0.05. */
typedef struct cgmca_diagnosis cgmca_diagnosis;
cgmca_status cgmca_diagnose(const cgmca_model* model, const cgmca_view* X, int domains,
                            const cgmca_fit_options* options, double rate, cgmca_diagnosis** diagnosis);
/* name: "pair_p" (n); "suspects", a row each: sample and likeliest partner from 1 (column 6; 0: none), kind (0 mispaired,
   1 swapped, 2 far out, 3 unlike the fit), domain, p, q in columns 1 to 5; of a domain, n each, "t_squared", "residual",
   "distance", "evidence", the same with "_p", "rank" of the partner and the "likeliest" one, from 1. */
cgmca_status cgmca_diagnosis_array(const cgmca_diagnosis* diagnosis, const char* name, int domain, int64_t* rows,
                                   int64_t* columns, const cgmca_buffer* out);
const char* cgmca_diagnosis_remark(const cgmca_diagnosis* diagnosis, int64_t i); /* a sentence for people, or NULL */
void cgmca_diagnosis_free(cgmca_diagnosis* diagnosis);

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

int cgmca_threads(void);                   /* that BLAS uses; 0 if it does not tell */
cgmca_status cgmca_set_threads(int count); /* for the whole process */

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#endif
