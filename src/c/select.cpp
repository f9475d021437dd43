// Cross-validation and permutation tests.
#include <cgmca/error.hpp>
#include <cgmca/permutation.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "c/inside.hpp"
#include "support/choice.hpp"

namespace cgmca::c {
namespace {

template <class T>
std::vector<T> list_of(const T* values, int64_t count) {
  return values == nullptr ? std::vector<T>() : std::vector<T>(values, values + count);
}

// All that a search uses, alive as long as it runs.
struct Search {
  Folds folds;
  std::shared_ptr<Settings> settings;
  std::vector<Matrix> samples;
  TuneOptions options;
};

FoldOptions fold_options(const cgmca_tune_options& given, const Request& request) {
  FoldOptions folds;
  if (given.folds != 0) folds.folds = given.folds;
  folds.repeats = given.repeats;
  if (given.seed != 0) folds.seed = given.seed;
  folds.accumulate = request.accumulate;
  return folds;
}

void give_labels(Search& search, const std::vector<int>& labels) {
  if (search.samples.size() > 2) {
    for (const Matrix& X : search.samples) search.options.matched.samples.push_back(&X);
    search.options.matched.labels = labels;
    return;
  }
  search.options.labels = {&search.samples[0], labels, &search.samples[1], labels};
}

// What the caller's function or coefficients make of samples of domain 1.   d1×n → q×n
std::function<Matrix(const Matrix&)> downstream_of(const cgmca_tune_options& given) {
  if (given.downstream_coefficients != nullptr) {  // q×d1 of the caller
    if (given.downstream != nullptr) throw InvalidInput("give downstream or downstream_coefficients, not both");
    return [B = Matrix(Columns(*given.downstream_coefficients).map())](const Matrix& X) {
      if (B.rows() == X.rows()) return Matrix(B.transpose() * X);
      throw WrongDimension(
          fmt::format("downstream has coefficients of {} features; domain 1 has {}", B.rows(), X.rows()));
    };
  }
  if (given.downstream == nullptr) return nullptr;
  const int64_t outputs = given.downstream_outputs;
  if (outputs < 1) throw InvalidInput(fmt::format("downstream_outputs is {}; give how many there are", outputs));
  return [outputs, f = given.downstream, user = given.downstream_user](const Matrix& X) {
    Matrix Y(outputs, X.cols());
    if (f(X.data(), X.cols(), X.rows(), Y.data(), user) != 0) throw InvalidInput("the function downstream failed");
    return Y;
  };
}

// What to try.
void read_grid(const cgmca_tune_options& given, TuneOptions& options) {
  for (const char* family : list_of(given.families, given.family_count)) {
    options.families.push_back(need_choice(family, kFamilies, "covariance to tune"));
  }
  for (const int64_t rank : list_of(given.ranks, given.rank_count)) options.ranks.push_back(rank);
  for (const int64_t rank : list_of(given.max_ranks, given.max_rank_count)) options.max_ranks.push_back(rank);
  for (const double ridge : list_of(given.ridges, given.ridge_count)) {
    options.ridges.push_back(ridge == CGMCA_AUTO ? Ridge::from_data() : Ridge(ridge));
  }
  for (const char* towards : list_of(given.towards, given.towards_count)) {
    options.towards.push_back(need_choice(towards, kTowards, "towards"));
  }
  options.downstream = downstream_of(given);
  if (given.criterion != nullptr) options.criterion = need_choice(given.criterion, kCriteria, "criterion");
  if (options.downstream && !options.criterion) options.criterion = Criterion::downstream;
}

// The samples themselves, where the criterion needs them.
void keep_samples(Search& search, const Request& request, const cgmca_tune_options& given) {
  TuneOptions& options = search.options;
  const bool used = options.criterion == Criterion::partner || options.criterion == Criterion::downstream;
  if (!used && given.labels == nullptr) return;
  if (request.weights.size() > 0) {
    throw InvalidInput(
        "labels and the criteria 'partner' and 'downstream' are for samples without weights; leave one of them out");
  }
  for (const Columns& one : request.samples) search.samples.emplace_back(one.map());
  if (search.samples.size() == 2) options.pairs = {&search.samples[0], &search.samples[1]};
  if (given.labels != nullptr) give_labels(search, list_of(given.labels, request.samples[0].cols()));
}

std::shared_ptr<Search> search_of(const Request& request, const cgmca_tune_options& given) {
  auto search = std::make_shared<Search>(
      Search{Folds(request.domains, fold_options(given, request)), request.settings(), {}, {}});
  request.add_to(search->folds);
  read_grid(given, search->options);
  search->options.data = search->settings->options.data();
  search->options.graph = graph_of(request.given, request.samples.size());
  keep_samples(*search, request, given);
  return search;
}

void write_scores(const std::array<Score, kCriteria.size()>& scores, cgmca_trial& trial) {
  static_assert(kCriteria.size() == CGMCA_CRITERIA);
  for (std::size_t i = 0; i < CGMCA_CRITERIA; ++i) {
    trial.error[i] = scores[i].mean;
    trial.standard_error[i] = scores[i].standard_error;
  }
}

const Trial& trial_of(const cgmca_tuning* tuning, int64_t i) {
  need(tuning, "tuning");
  if (i >= 0 && i < std::ssize(tuning->result.trials)) return tuning->result.trials[i];
  throw InvalidInput(fmt::format("there is no trial {} of {}; they count from 0", i, tuning->result.trials.size()));
}

}  // namespace
}  // namespace cgmca::c

using namespace cgmca;
using namespace cgmca::c;

cgmca_status cgmca_tune(const cgmca_view* X, int domains, const cgmca_tune_options* options,
                        const cgmca_fit_options* fit, cgmca_tuning** tuning) {
  return guarded([&] {
    need(tuning, "tuning");
    const cgmca_tune_options given = read_options(options);
    const Request request(X, domains, fit, Columns::Hold::view);  // the folds take what they need before work begins
    const std::shared_ptr<Search> search = search_of(request, given);
    TuneResult found = stoppable<TuneResult>(request.given, [=](const Report& report) {
      search->options.progress = report;
      return tune(search->folds, search->options);
    });
    *tuning = new cgmca_tuning{std::move(search->folds), std::move(found)};
  });
}

int64_t cgmca_tuning_trials(const cgmca_tuning* tuning) {
  return tuning == nullptr ? 0 : std::ssize(tuning->result.trials);
}

int64_t cgmca_tuning_chosen(const cgmca_tuning* tuning) {
  return tuning == nullptr ? 0 : static_cast<int64_t>(tuning->result.chosen);
}

int64_t cgmca_tuning_best(const cgmca_tuning* tuning) {
  return tuning == nullptr ? 0 : static_cast<int64_t>(tuning->result.best);
}

int64_t cgmca_tuning_alike(const cgmca_tuning* tuning) {
  return tuning == nullptr ? 0 : static_cast<int64_t>(tuning->result.alike);
}

int cgmca_tuning_criterion(const cgmca_tuning* tuning) {
  return tuning == nullptr ? 0 : static_cast<int>(tuning->result.criterion);
}

const char* cgmca_tuning_remark(const cgmca_tuning* tuning, int64_t i) {
  return tuning == nullptr ? nullptr : text_at(tuning->result.remarks, i);
}

const char* cgmca_tuning_recommendation(const cgmca_tuning* tuning, int64_t i) {
  return tuning == nullptr ? nullptr : text_at(tuning->result.recommendation, i);
}

double cgmca_tuning_expected(const cgmca_tuning* tuning) {
  return tuning == nullptr ? std::numeric_limits<double>::quiet_NaN() : tuning->result.expected.mean;
}

cgmca_status cgmca_tuning_trial(const cgmca_tuning* tuning, int64_t i, cgmca_trial* trial) {
  return guarded([&] {
    const Trial& tried = trial_of(tuning, i);
    cgmca_trial result = {};
    copy_text(tried.candidate.covariance_name(), result.covariance, sizeof result.covariance);
    copy_text(name(tried.candidate.towards), result.towards, sizeof result.towards);
    result.max_rank = tried.candidate.max_rank;
    result.ridge = tried.candidate.ridge.automatic ? CGMCA_AUTO : tried.candidate.ridge.value;
    write_scores(tried.scores, result);
    write_result(result, trial);
  });
}

cgmca_status cgmca_tuning_baselines(const cgmca_tuning* tuning, cgmca_trial* unmapped, cgmca_trial* target_only) {
  return guarded([&] {
    need(tuning, "tuning");
    cgmca_trial one = {}, two = {};
    write_scores(tuning->result.unmapped, one);
    write_scores(tuning->result.target_only, two);
    write_result(one, unmapped);
    write_result(two, target_only);
  });
}

cgmca_status cgmca_tuning_fit(const cgmca_tuning* tuning, int64_t i, const cgmca_fit_options* options,
                              cgmca_model** model) {
  return guarded([&] {
    need(model, "model");
    const Candidate candidate = trial_of(tuning, i).candidate;
    const cgmca_fit_options given = read_options(options);
    std::vector<Index> features;
    for (const Domain domain : all_domains(tuning->folds.domains()))
      features.push_back(tuning->folds.dimension(domain));
    const auto settings = settings_of(given, features);
    const auto summary = std::make_shared<const Summary>(tuning->folds.all());
    *model = new cgmca_model{stoppable<Model>(given, [=](const Report& report) {
      MatchingOptions matching = settings->options.matching;
      matching.progress = [&report](const MatchingProgress&) { report(0); };
      return fit(*summary, candidate, settings->options.data(), matching);
    })};
  });
}

void cgmca_tuning_free(cgmca_tuning* tuning) { delete tuning; }

cgmca_status cgmca_permutation_test(const cgmca_view* X, int domains, const cgmca_fit_options* options,
                                    int64_t permutations, uint64_t seed, double level, double* p, int64_t capacity,
                                    int64_t* count, int64_t* significant) {
  return guarded([&] {
    need(p, "p"), need(count, "count"), need(significant, "significant");
    const auto request = std::make_shared<const Request>(X, domains, options);
    const cgmca_fit_options& given = request->given;
    PermutationOptions test;
    if (permutations != 0) test.permutations = permutations;
    if (seed != 0) test.seed = seed;
    if (level != 0) test.level = level;
    if (given.rank_tol != 0) test.rank_tol = given.rank_tol;
    test.scale = given.scale != 0;
    test.graph = graph_of(given, request->samples.size());
    const Regularization regularization = regularization_of(given, request->samples.size());
    const auto found = stoppable<PermutationTest>(given, [=](const Report& report) {
      PermutationOptions told = test;
      told.progress = report;
      const MatchedSamples all = matched(request->samples);
      return request->weights.size() > 0 ? permutation_test(all, request->weights, regularization, told)
                                         : permutation_test(all, regularization, told);
    });
    *count = std::ssize(found.p_values);
    *significant = found.significant;
    std::copy_n(found.p_values.begin(), std::min(*count, std::max<int64_t>(capacity, 0)), p);
  });
}
