/* The one MEX file of the package +cgmca: [results…] = cgmca_mex(command, arguments…). It hands matrices to the C
   interface where they lie, and turns a status into an error with an identifier, after everything is freed.

   A model is the bytes of its file, a row of uint8: it can be copied, compared and saved like every value. The model of
   the last call is kept with the header of its file, which holds the checksum of all its bytes, so that the next call with
   the same bytes need not read them again. */
#include <cgmca/cgmca.h>
#include <mex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* domains of one call */

/* What the call has to free before it may raise an error. Filled by the commands, emptied by mexFunction. */
static struct {
  cgmca_model* model;
  cgmca_translation* translation;
  cgmca_tuning* tuning;
  int outputs; /* that the call asks for */
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
  held.model = NULL, held.translation = NULL, held.tuning = NULL;
}

static void forget_last(void) {
  cgmca_model_free(last.model);
  free(last.header);
  memset(&last, 0, sizeof last);
}

static void at_exit(void) {
  free_held();
  forget_last();
}

static void raise_error(const char* kind, const char* message) {
  char id[64], text[4096];
  snprintf(id, sizeof id, "cgmca:%s", kind);
  snprintf(text, sizeof text, "%s", message);
  free_held();
  mexErrMsgIdAndTxt(id, "%s", text);
}

static void need(cgmca_status status) {
  if (status != CGMCA_OK) raise_error(cgmca_last_kind(), cgmca_last_message());
}

/* Whether Ctrl-C was pressed, in Octave and in MATLAB. */
#if defined(__GNUC__)
extern int octave_interrupt_state __attribute__((weak));
extern bool utIsInterruptPending(void) __attribute__((weak));
static int interrupted(void* user) {
  (void)user;
  if (&octave_interrupt_state != NULL) return octave_interrupt_state > 0;
  return utIsInterruptPending != NULL && utIsInterruptPending();
}
#define STOP interrupted
#else
#define STOP NULL
#endif

static const mxArray* field(const mxArray* options, const char* name) {
  const mxArray* value = options ? mxGetField(options, 0, name) : NULL;
  return value && !mxIsEmpty(value) ? value : NULL;
}

/* A text that is freed when the call ends, which Octave does not do with that of mxArrayToString. */
static char* string_of(const mxArray* text) {
  const size_t room = 4 * mxGetNumberOfElements(text) + 1;
  char* string = mxCalloc(room, 1);
  if (mxIsChar(text)) mxGetString(text, string, (mwSize)room);
  return string;
}

static const char* text_field(const mxArray* options, const char* name) {
  const mxArray* value = field(options, name);
  return value && mxIsChar(value) ? string_of(value) : NULL;
}

static double number_field(const mxArray* options, const char* name, double otherwise) {
  const mxArray* value = field(options, name);
  return value ? mxGetScalar(value) : otherwise;
}

static const double* doubles_field(const mxArray* options, const char* name) {
  const mxArray* value = field(options, name);
  return value ? mxGetPr(value) : NULL;
}

/* A list of doubles as whole numbers. */
static const int64_t* integers_field(const mxArray* options, const char* name, int64_t* count) {
  const mxArray* value = field(options, name);
  if (!value) return NULL;
  const size_t n = mxGetNumberOfElements(value);
  int64_t* numbers = mxMalloc(n * sizeof *numbers);
  for (size_t i = 0; i < n; ++i) numbers[i] = (int64_t)mxGetPr(value)[i];
  if (count) *count = (int64_t)n;
  return numbers;
}

static const char* const* texts_of(const mxArray* cell) {
  const size_t n = mxGetNumberOfElements(cell);
  const char** texts = mxMalloc((n + 1) * sizeof *texts);
  for (size_t i = 0; i < n; ++i) texts[i] = string_of(mxGetCell(cell, i));
  return texts;
}

/* Samples are rows of a matrix, or columns. */
static cgmca_view view_of(const mxArray* X, int by_columns) {
  const int64_t m = (int64_t)mxGetM(X), n = (int64_t)mxGetN(X);
  cgmca_view rows = {mxGetData(X), m, n, 1, m > 0 ? m : 1, mxIsSingle(X)};
  cgmca_view columns = {mxGetData(X), n, m, m > 0 ? m : 1, 1, mxIsSingle(X)};
  return by_columns ? columns : rows;
}

static const cgmca_view* views_of(const mxArray* cell, int by_columns, int* count) {
  const size_t n = mxGetNumberOfElements(cell);
  cgmca_view* views = mxCalloc(n + 1, sizeof *views);
  for (size_t i = 0; i < n; ++i) {
    const mxArray* X = mxGetCell(cell, i);
    if (X && !mxIsEmpty(X)) views[i] = view_of(X, by_columns);
  }
  if (count) *count = (int)n;
  return views;
}

/* A new matrix for n samples of d numbers, and the buffer that writes it. */
static mxArray* result_matrix(int64_t n, int64_t d, int by_columns, int is_float, cgmca_buffer* buffer) {
  const mwSize rows = (mwSize)(by_columns ? d : n), columns = (mwSize)(by_columns ? n : d);
  mxArray* matrix = mxCreateNumericMatrix(rows, columns, is_float ? mxSINGLE_CLASS : mxDOUBLE_CLASS, mxREAL);
  buffer->data = mxGetData(matrix), buffer->rows = n, buffer->columns = d, buffer->is_float = is_float;
  buffer->row_stride = by_columns ? (d > 0 ? d : 1) : 1;
  buffer->column_stride = by_columns ? 1 : (n > 0 ? n : 1);
  return matrix;
}

static const cgmca_names* names_of(const mxArray* options) {
  const mxArray *names = field(options, "names"), *features = field(options, "features");
  if (!names && !features) return NULL;
  cgmca_names* all = mxCalloc(MOST, sizeof *all);
  for (int i = 0; i < MOST; ++i) {
    const mxArray* name = names && (size_t)i < mxGetNumberOfElements(names) ? mxGetCell(names, i) : NULL;
    const mxArray* list = features && (size_t)i < mxGetNumberOfElements(features) ? mxGetCell(features, i) : NULL;
    if (name && !mxIsEmpty(name)) all[i].name = string_of(name);
    if (list && !mxIsEmpty(list)) all[i].features = texts_of(list);
  }
  return all;
}

static cgmca_fit_options options_of(const mxArray* given) {
  const int by_columns = number_field(given, "columns", 0) != 0;
  cgmca_fit_options options = {0};
  options.size = sizeof options;
  options.covariance = text_field(given, "covariance");
  const mxArray* each = field(given, "covariance");
  if (each && mxIsCell(each)) options.covariances = texts_of(each);
  const mxArray* matrices = field(given, "matrices");
  if (matrices) {
    int count = 0;
    options.matrices = views_of(matrices, 0, &count);
    options.matrix_count = count;
  }
  options.ridge = doubles_field(given, "ridge");
  options.max_rank = integers_field(given, "max_rank", NULL);
  options.rank_tol = number_field(given, "rank_tol", 0);
  options.weights = doubles_field(given, "weights");
  const mxArray* extra = field(given, "extra");
  if (extra) options.extra = views_of(extra, by_columns, NULL);
  options.names = names_of(given);
  options.accumulate = text_field(given, "accumulate");
  options.graph = text_field(given, "graph");
  const mxArray* graph = field(given, "graph");
  if (graph && mxIsDouble(graph)) options.graph_weights = mxGetPr(graph);
  options.seed = (uint64_t)number_field(given, "seed", 0);
  options.random_starts = (int64_t)number_field(given, "random_starts", 0);
  options.max_sweeps = (int64_t)number_field(given, "max_sweeps", 0);
  options.max_seconds = number_field(given, "max_seconds", 0);
  options.calibrate = (int64_t)number_field(given, "calibrate", 0);
  options.scale = number_field(given, "scale", 0) != 0;
  options.towards = text_field(given, "towards");
  options.missing = text_field(given, "missing");
  options.stop = STOP;
  return options;
}

static mxArray* bytes_of(const cgmca_model* model) {
  size_t size = 0;
  need(cgmca_model_to_memory(model, NULL, 0, &size));
  mxArray* bytes = mxCreateNumericMatrix(1, (mwSize)size, mxUINT8_CLASS, mxREAL);
  need(cgmca_model_to_memory(model, mxGetData(bytes), size, &size));
  return bytes;
}

/* The first bytes of a model's file: its length in eight bytes, and the header itself. */
static size_t header_size(const unsigned char* bytes, size_t size) {
  unsigned long long length = 0;
  for (int i = 7; i >= 0 && size >= 8; --i) length = length << 8 | bytes[i];
  return size < 8 || length > size - 8 ? size : 8 + (size_t)length;
}

/* Keeps the model of these bytes, which is taken from *model. */
static void remember(cgmca_model** model, const void* bytes, size_t size) {
  const size_t header = header_size(bytes, size);
  forget_last();
  last.model = *model, *model = NULL, last.size = size;
  last.header = malloc(header);
  if (last.header) memcpy(last.header, bytes, header);
}

static const cgmca_model* model_of(const mxArray* given) {
  const size_t size = mxGetNumberOfElements(given);
  if (!mxIsUint8(given)) raise_error("invalidInput", "the model's bytes are not of class uint8");
  const void* bytes = mxGetData(given);
  if (last.header && last.size == size && memcmp(last.header, bytes, header_size(bytes, size)) == 0) return last.model;
  cgmca_model* model = NULL;
  need(cgmca_model_from_memory(bytes, size, &model));
  remember(&model, bytes, size);
  return last.model;
}

static mxArray* array_of(const cgmca_model* model, const char* name, int domain, int other) {
  int64_t rows = 0, columns = 0;
  need(cgmca_model_array(model, name, domain, other, &rows, &columns, NULL));
  cgmca_buffer buffer;
  mxArray* result = result_matrix(rows, columns, 0, 0, &buffer);
  need(cgmca_model_array(model, name, domain, other, &rows, &columns, &buffer));
  return result;
}

static mxArray* row_of(const cgmca_model* model, const char* name) {
  int64_t rows = 0, columns = 0;
  need(cgmca_model_array(model, name, 0, 0, &rows, &columns, NULL));
  cgmca_buffer buffer;
  mxArray* row = result_matrix(columns, rows, 0, 0, &buffer);
  const cgmca_buffer turned = {buffer.data, rows, columns, 1, 1, 0}; /* one column, written to a row */
  need(cgmca_model_array(model, name, 0, 0, &rows, &columns, &turned));
  return row;
}

static mxArray* text_value(const cgmca_model* model, const char* name, int domain, int64_t i) {
  const char* text = cgmca_model_text(model, name, domain, i);
  return text ? mxCreateString(text) : NULL;
}

static mxArray* number_value(const cgmca_model* model, const char* name) {
  double value = 0;
  need(cgmca_model_number(model, name, &value));
  return mxCreateDoubleScalar(value);
}

/* What users see of the last model, but for its bytes. */
static mxArray* description(void) {
  static const char* names[] = {"k", "features", "samples", "covariance", "names", "A", "b",
                                "correlations", "ranks", "objective", "bound", "warnings"};
  const cgmca_model* model = last.model;
  const int m = cgmca_model_domains(model);
  mxArray* seen = mxCreateStructMatrix(1, 1, 12, names);
  mxArray *features = mxCreateDoubleMatrix(1, (mwSize)m, mxREAL), *covariance = mxCreateCellMatrix(1, (mwSize)m);
  mxArray *named = mxCreateCellMatrix(1, (mwSize)m), *A = mxCreateCellMatrix(1, (mwSize)m);
  mxArray* b = mxCreateCellMatrix(1, (mwSize)m);
  for (int i = 0; i < m; ++i) {
    char number[32];
    snprintf(number, sizeof number, "domain %d", i + 1);
    mxArray* name = text_value(model, "name", i + 1, 0);
    mxGetPr(features)[i] = (double)cgmca_model_features(model, i + 1);
    mxSetCell(covariance, (mwIndex)i, text_value(model, "covariance", i + 1, 0));
    mxSetCell(named, (mwIndex)i, name && !mxIsEmpty(name) ? name : mxCreateString(number));
    if (cgmca_model_features(model, i + 1) == 0) continue;
    mxSetCell(A, (mwIndex)i, array_of(model, "matrix", i + 1, 0));
    mxSetCell(b, (mwIndex)i, array_of(model, "offset", i + 1, 0));
  }
  int64_t count = 0;
  while (cgmca_model_text(model, "warning", 1, count)) ++count;
  mxArray* warnings = mxCreateCellMatrix(count > 0 ? 1 : 0, (mwSize)count);
  for (int64_t i = 0; i < count; ++i) mxSetCell(warnings, (mwIndex)i, text_value(model, "warning", 1, i));
  mxArray* values[] = {mxCreateDoubleScalar((double)cgmca_model_dimension(model)),
                       features,
                       number_value(model, "samples"),
                       covariance,
                       named,
                       A,
                       b,
                       row_of(model, "correlations"),
                       row_of(model, "ranks"),
                       number_value(model, "objective"),
                       number_value(model, "bound"),
                       warnings};
  for (int i = 0; i < 12; ++i) mxSetField(seen, 0, names[i], values[i]);
  return seen;
}

/* The bytes of held.model and, if it is asked for, its description. It becomes the last model. */
static void give_model(mxArray** bytes, mxArray** seen) {
  *bytes = bytes_of(held.model);
  remember(&held.model, mxGetData(*bytes), mxGetNumberOfElements(*bytes));
  if (seen) *seen = description();
}

static void do_fit(mxArray** out, const mxArray** in) { /* cell of matrices, options → bytes, description */
  int domains = 0;
  const cgmca_fit_options options = options_of(in[1]);
  const cgmca_view* X = views_of(in[0], number_field(in[1], "columns", 0) != 0, &domains);
  if (domains > MOST) raise_error("invalidInput", "more than 64 domains");
  need(cgmca_fit(X, domains, &options, &held.model));
  give_model(&out[0], held.outputs > 1 ? &out[1] : NULL);
}

static void do_apply(mxArray** out, const mxArray** in) { /* bytes, domain, X, by columns → Z */
  const cgmca_model* model = model_of(in[0]);
  const int by_columns = mxGetScalar(in[3]) != 0;
  const cgmca_view X = view_of(in[2], by_columns);
  cgmca_buffer Z;
  out[0] = result_matrix(X.rows, cgmca_model_dimension(model), by_columns, X.is_float, &Z);
  need(cgmca_apply(model, (int)mxGetScalar(in[1]), &X, &Z));
}

/* bytes, cell of matrices, from, to, method, iterations, probability, by columns, number of results → Y, se, margins */
static void do_translate(mxArray** out, const mxArray** in) {
  const cgmca_model* model = model_of(in[0]);
  int from[MOST], count = 0;
  const int to = (int)mxGetScalar(in[3]), by_columns = mxGetScalar(in[7]) != 0, results = (int)mxGetScalar(in[8]);
  const double probability = mxGetScalar(in[6]);
  const cgmca_view* X = views_of(in[1], by_columns, &count);
  if ((size_t)count != mxGetNumberOfElements(in[2]) || count > MOST) {
    raise_error("invalidInput", "From names another number of domains than there are matrices");
  }
  for (int i = 0; i < count; ++i) from[i] = (int)mxGetPr(in[2])[i];
  need(cgmca_translation_new(model, from, count, to, string_of(in[4]), (int64_t)mxGetScalar(in[5]),
                             &held.translation));
  cgmca_buffer buffers[3];
  for (int i = 0; i < results; ++i) {
    out[i] = result_matrix(X[0].rows, cgmca_model_features(model, to), by_columns, X[0].is_float, &buffers[i]);
  }
  need(cgmca_translate(held.translation, X, &buffers[0], results > 1 ? &buffers[1] : NULL, probability,
                       results > 2 ? &buffers[2] : NULL));
}

static void do_invert(mxArray** out, const mxArray** in) { /* bytes, domain, Z, method, iterations, by columns → X */
  const cgmca_model* model = model_of(in[0]);
  const int by_columns = mxGetScalar(in[5]) != 0, domain = (int)mxGetScalar(in[1]);
  const cgmca_view Z = view_of(in[2], by_columns);
  cgmca_buffer X;
  out[0] = result_matrix(Z.rows, cgmca_model_features(model, domain), by_columns, Z.is_float, &X);
  need(cgmca_invert(model, domain, &Z, string_of(in[3]), (int64_t)mxGetScalar(in[4]), &X));
}

static void do_fuse(mxArray** out, const mxArray** in) { /* bytes, domains, cell of matrices, how, by columns → Z */
  const cgmca_model* model = model_of(in[0]);
  const int by_columns = mxGetScalar(in[4]) != 0;
  int domains[MOST], count = 0;
  const cgmca_view* X = views_of(in[2], by_columns, &count);
  if ((size_t)count != mxGetNumberOfElements(in[1]) || count > MOST || count == 0) {
    raise_error("invalidInput", "Domains names another number of domains than there are matrices");
  }
  for (int i = 0; i < count; ++i) domains[i] = (int)mxGetPr(in[1])[i];
  cgmca_buffer Z;
  out[0] = result_matrix(X[0].rows, cgmca_model_dimension(model), by_columns, X[0].is_float, &Z);
  need(cgmca_fuse(model, domains, count, X, string_of(in[3]), &Z));
}

static void do_verify(mxArray** out, const mxArray** in) { /* bytes, cell of matrices, options → struct */
  static const char* names[] = {"samples", "objective", "best_objective", "shortfall", "gap", "certified",
                                "constraint_residuals", "worst_claim", "worst_claim_name", "proof"};
  const cgmca_model* model = model_of(in[0]);
  int domains = 0;
  const cgmca_fit_options options = options_of(in[2]);
  const cgmca_view* X = views_of(in[1], number_field(in[2], "columns", 0) != 0, &domains);
  cgmca_verification found = {0};
  found.size = sizeof found;
  mxArray* residuals = mxCreateDoubleMatrix(1, (mwSize)cgmca_model_domains(model), mxREAL);
  need(cgmca_verify(model, X, domains, &options, &found, mxGetPr(residuals)));
  out[0] = mxCreateStructMatrix(1, 1, 10, names);
  mxSetField(out[0], 0, "samples", mxCreateDoubleScalar((double)found.samples));
  mxSetField(out[0], 0, "objective", mxCreateDoubleScalar(found.objective));
  mxSetField(out[0], 0, "best_objective", mxCreateDoubleScalar(found.best_objective));
  mxSetField(out[0], 0, "shortfall",
             mxCreateDoubleScalar((found.objective - found.best_objective) / found.covariance_trace));
  mxSetField(out[0], 0, "gap", mxCreateDoubleScalar(found.gap));
  mxSetField(out[0], 0, "certified", mxCreateLogicalScalar(found.certified != 0));
  mxSetField(out[0], 0, "constraint_residuals", residuals);
  mxSetField(out[0], 0, "worst_claim", mxCreateDoubleScalar(found.worst_claim));
  mxSetField(out[0], 0, "worst_claim_name", mxCreateString(found.worst_claim_name));
  mxSetField(out[0], 0, "proof", mxCreateString(found.proof));
}

static mxArray* trials_of(const cgmca_tuning* tuning) {
  static const char* names[] = {"covariance", "max_rank", "ridge", "towards", "error", "standard_error"};
  const int64_t count = cgmca_tuning_trials(tuning);
  mxArray* trials = mxCreateStructMatrix(1, (mwSize)count, 6, names);
  for (int64_t i = 0; i < count; ++i) {
    cgmca_trial trial = {0};
    trial.size = sizeof trial;
    need(cgmca_tuning_trial(tuning, i, &trial));
    mxArray *error = mxCreateDoubleMatrix(1, CGMCA_CRITERIA, mxREAL), *se = mxCreateDoubleMatrix(1, CGMCA_CRITERIA, mxREAL);
    memcpy(mxGetPr(error), trial.error, sizeof trial.error);
    memcpy(mxGetPr(se), trial.standard_error, sizeof trial.standard_error);
    mxSetField(trials, (mwIndex)i, "covariance", mxCreateString(trial.covariance));
    mxSetField(trials, (mwIndex)i, "max_rank", mxCreateDoubleScalar((double)trial.max_rank));
    mxSetField(trials, (mwIndex)i, "ridge", mxCreateDoubleScalar(trial.ridge));
    mxSetField(trials, (mwIndex)i, "towards", mxCreateString(trial.towards));
    mxSetField(trials, (mwIndex)i, "error", error);
    mxSetField(trials, (mwIndex)i, "standard_error", se);
  }
  return trials;
}

/* A cell of the sentences that of(tuning, i) gives. */
static mxArray* sentences_of(const cgmca_tuning* tuning, const char* (*of)(const cgmca_tuning*, int64_t)) {
  int64_t count = 0;
  while (of(tuning, count)) ++count;
  mxArray* cell = mxCreateCellMatrix((mwSize)count, 1);
  for (int64_t i = 0; i < count; ++i) mxSetCell(cell, (mwIndex)i, mxCreateString(of(tuning, i)));
  return cell;
}

/* cell of matrices, tune options, fit options → trials, [chosen best alike criterion expected], cell of remarks, cell of
   recommendations, bytes, description */
static void do_tune(mxArray** out, const mxArray** in) {
  int domains = 0;
  const cgmca_fit_options fit = options_of(in[2]);
  const cgmca_view* X = views_of(in[0], number_field(in[2], "columns", 0) != 0, &domains);
  cgmca_tune_options options = {0};
  options.size = sizeof options;
  const mxArray* families = field(in[1], "families");
  if (families) options.families = texts_of(families), options.family_count = (int64_t)mxGetNumberOfElements(families);
  options.ranks = integers_field(in[1], "ranks", &options.rank_count);
  options.max_ranks = integers_field(in[1], "max_ranks", &options.max_rank_count);
  options.ridges = doubles_field(in[1], "ridges");
  if (options.ridges) options.ridge_count = (int64_t)mxGetNumberOfElements(field(in[1], "ridges"));
  options.criterion = text_field(in[1], "criterion");
  const mxArray* labels = field(in[1], "labels");
  if (labels) {
    int* own = mxMalloc(mxGetNumberOfElements(labels) * sizeof *own);
    for (size_t i = 0; i < mxGetNumberOfElements(labels); ++i) own[i] = (int)mxGetPr(labels)[i];
    options.labels = own;
  }
  options.folds = (int64_t)number_field(in[1], "folds", 0);
  options.repeats = (int64_t)number_field(in[1], "repeats", 0);
  options.seed = (uint64_t)number_field(in[1], "seed", 0);
  const mxArray *towards = field(in[1], "towards"), *downstream = field(in[1], "downstream");
  if (towards) options.towards = texts_of(towards), options.towards_count = (int64_t)mxGetNumberOfElements(towards);
  cgmca_view coefficients;
  if (downstream) coefficients = view_of(downstream, 0), options.downstream_coefficients = &coefficients;
  need(cgmca_tune(X, domains, &options, &fit, &held.tuning));
  need(cgmca_tuning_fit(held.tuning, cgmca_tuning_chosen(held.tuning), &fit, &held.model));
  out[0] = trials_of(held.tuning);
  out[1] = mxCreateDoubleMatrix(1, 5, mxREAL);
  mxGetPr(out[1])[0] = (double)cgmca_tuning_chosen(held.tuning) + 1;
  mxGetPr(out[1])[1] = (double)cgmca_tuning_best(held.tuning) + 1;
  mxGetPr(out[1])[2] = (double)cgmca_tuning_alike(held.tuning);
  mxGetPr(out[1])[3] = cgmca_tuning_criterion(held.tuning) + 1;
  mxGetPr(out[1])[4] = cgmca_tuning_expected(held.tuning);
  out[2] = sentences_of(held.tuning, cgmca_tuning_remark);
  out[3] = sentences_of(held.tuning, cgmca_tuning_recommendation);
  give_model(&out[4], &out[5]);
}

static void do_array(mxArray** out, const mxArray** in) { /* bytes, name, domain, other → matrix */
  out[0] = array_of(model_of(in[0]), string_of(in[1]), (int)mxGetScalar(in[2]), (int)mxGetScalar(in[3]));
}

static void do_number(mxArray** out, const mxArray** in) { /* bytes, name → number */
  double value = 0;
  need(cgmca_model_number(model_of(in[0]), string_of(in[1]), &value));
  out[0] = mxCreateDoubleScalar(value);
}

static void do_text(mxArray** out, const mxArray** in) { /* bytes, name, domain, i from 1 → text, empty where none is */
  const char* text = cgmca_model_text(model_of(in[0]), string_of(in[1]), (int)mxGetScalar(in[2]),
                                      (int64_t)mxGetScalar(in[3]) - 1);
  out[0] = mxCreateString(text ? text : "");
}

static void do_load(mxArray** out, const mxArray** in) { /* path → bytes, description */
  need(cgmca_model_load(string_of(in[0]), &held.model));
  give_model(&out[0], held.outputs > 1 ? &out[1] : NULL);
}

static void do_save(mxArray** out, const mxArray** in) { /* bytes, path */
  (void)out;
  need(cgmca_model_save(model_of(in[0]), string_of(in[1])));
}

static void do_version(mxArray** out, const mxArray** in) {
  (void)in;
  out[0] = mxCreateString(cgmca_version());
}

static const struct {
  const char* name;
  int inputs, outputs;
  void (*run)(mxArray** out, const mxArray** in);
} commands[] = {
    {"fit", 2, 2, do_fit},       {"apply", 4, 1, do_apply},   {"translate", 9, 3, do_translate},
    {"invert", 6, 1, do_invert}, {"fuse", 5, 1, do_fuse},     {"verify", 3, 1, do_verify},
    {"tune", 3, 6, do_tune},     {"array", 4, 1, do_array},   {"number", 2, 1, do_number},
    {"text", 4, 1, do_text},     {"load", 1, 2, do_load},     {"save", 2, 0, do_save},
    {"version", 0, 1, do_version},
};

void mexFunction(int nlhs, mxArray* plhs[], int nrhs, const mxArray* prhs[]) {
  static int registered = 0;
  if (!registered) {
    mexAtExit(at_exit);
    mexLock(); /* a fit that was stopped may still be at work */
    registered = 1;
  }
  free_held(); /* of a call that ended in an error of MATLAB itself */
  char name[16] = "";
  if (nrhs > 0 && mxIsChar(prhs[0])) mxGetString(prhs[0], name, sizeof name);
  for (size_t i = 0; i < sizeof commands / sizeof *commands; ++i) {
    if (strcmp(name, commands[i].name) != 0) continue;
    if (nrhs != commands[i].inputs + 1 || nlhs > commands[i].outputs) {
      raise_error("usage", "cgmca_mex is for the functions of the package cgmca: see help cgmca");
    }
    held.outputs = nlhs;
    commands[i].run(plhs, prhs + 1);
    free_held();
    return;
  }
  raise_error("usage", "cgmca_mex is for the functions of the package cgmca: see help cgmca");
}
