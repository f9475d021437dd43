// Cross-validation and permutation tests.
#include <cgmca/error.hpp>
#include <cgmca/permutation.hpp>

#include <fmt/format.h>

#include <algorithm>

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

  Search(Folds folds_, std::shared_ptr<Settings> settings_)
      : folds(std::move(folds_)), settings(std::move(settings_)) {}
};

FoldOptions fold_options(const cgmca_tune_options& given, const cgmca_fit_options& fit) {
  FoldOptions folds;
  if (given.folds != 0) folds.folds = given.folds;
  folds.repeats = given.repeats;
  if (given.seed != 0) folds.seed = given.seed;
  folds.accumulate = accumulate_of(fit);
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

std::shared_ptr<Search> search_of(const std::vector<Columns>& X, const cgmca_tune_options& given,
                                  const cgmca_fit_options& fit) {
  const std::vector<Index> features = features_of(X);
  auto search =
      std::make_shared<Search>(Folds(domains_of(fit, features), fold_options(given, fit)), settings_of(fit, features));
  const Vector weights = sample_weights(fit.weights, X[0].cols());
  weights.size() > 0 ? search->folds.add(matched(X), weights) : search->folds.add(matched(X));
  TuneOptions& options = search->options;
  for (int64_t i = 0; given.families != nullptr && i < given.family_count; ++i) {
    options.families.push_back(need_choice(given.families[i], kFamilies, "covariance to tune"));
  }
  for (const int64_t rank : list_of(given.ranks, given.rank_count)) options.ranks.push_back(rank);
  for (const int64_t rank : list_of(given.max_ranks, given.max_rank_count)) options.max_ranks.push_back(rank);
  for (const double ridge : list_of(given.ridges, given.ridge_count)) {
    options.ridges.push_back(ridge == CGMCA_AUTO ? Ridge::from_data() : Ridge(ridge));
  }
  if (given.criterion != nullptr) options.criterion = need_choice(given.criterion, kCriteria, "criterion");
  if (options.criterion == Criterion::downstream) {
    throw InvalidInput("the criterion 'downstream' needs a function, which this interface does not take");
  }
  options.towards = {Towards::zero};  // trials and models of this interface know no other
  options.data = search->settings->options.data();
  options.graph = graph_of(fit, X.size());
  const bool pairs = options.criterion == Criterion::partner || given.labels != nullptr;
  if (pairs && weights.size() > 0) {
    throw InvalidInput("labels and the criterion 'partner' are for samples without weights; leave one of them out");
  }
  if (!pairs) return search;
  for (const Columns& one : X) search->samples.emplace_back(one.map());
  if (X.size() == 2) options.pairs = {&search->samples[0], &search->samples[1]};
  if (given.labels != nullptr) {
    give_labels(*search, list_of(given.labels, X[0].cols()));
  }
  return search;
}

void write_scores(const std::array<Score, kCriteria.size()>& scores, cgmca_trial& trial) {
  static_assert(kCriteria.size() == CGMCA_CRITERIA + 1);  // all but downstream, which needs a function
  for (std::size_t i = 0; i < CGMCA_CRITERIA; ++i) {
    trial.error[i] = scores[i].mean;
    trial.standard_error[i] = scores[i].standard_error;
  }
}

const Trial& trial_of(const cgmca_tuning* tuning, int64_t i) {
  need(tuning, "tuning");
  if (i >= 0 && i < std::ssize(tuning->result.trials)) return tuning->result.trials[static_cast<std::size_t>(i)];
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
    const cgmca_fit_options data = read_options(fit);
    const std::shared_ptr<Search> search = search_of(columns_of(X, domains), given, data);
    const auto found = std::make_shared<std::optional<TuneResult>>();
    run_stoppable(data, [=](const Report& report) {
      search->options.progress = report;
      *found = tune(search->folds, search->options);
    });
    *tuning = new cgmca_tuning{std::move(search->folds), std::move(**found)};
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
  if (tuning == nullptr || i < 0 || i >= std::ssize(tuning->result.remarks)) return nullptr;
  return tuning->result.remarks[static_cast<std::size_t>(i)].c_str();
}

cgmca_status cgmca_tuning_trial(const cgmca_tuning* tuning, int64_t i, cgmca_trial* trial) {
  return guarded([&] {
    const Trial& tried = trial_of(tuning, i);
    cgmca_trial result = {};
    const std::string covariance = tried.candidate.covariance_name();
    std::copy_n(covariance.begin(), std::min(covariance.size(), sizeof result.covariance - 1), result.covariance);
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
    const auto found = std::make_shared<std::optional<Model>>();
    run_stoppable(given, [=](const Report& report) {
      MatchingOptions matching = settings->options.matching;
      matching.progress = [&report](const MatchingProgress&) { report(0); };
      *found = fit(*summary, candidate, settings->options.data(), matching);
    });
    *model = new cgmca_model{std::move(**found)};
  });
}

void cgmca_tuning_free(cgmca_tuning* tuning) { delete tuning; }

cgmca_status cgmca_permutation_test(const cgmca_view* X, int domains, const cgmca_fit_options* options,
                                    int64_t permutations, uint64_t seed, double level, double* p, int64_t capacity,
                                    int64_t* count, int64_t* significant) {
  return guarded([&] {
    need(p, "p"), need(count, "count"), need(significant, "significant");
    const cgmca_fit_options given = read_options(options);
    const std::vector<Columns> samples = columns_of(X, domains, hold_for(given));
    const Vector weights = sample_weights(given.weights, samples[0].cols());
    PermutationOptions test;
    if (permutations != 0) test.permutations = permutations;
    if (seed != 0) test.seed = seed;
    if (level != 0) test.level = level;
    if (given.rank_tol != 0) test.rank_tol = given.rank_tol;
    test.scale = given.scale != 0;
    test.graph = graph_of(given, samples.size());
    const Regularization regularization = regularization_of(given, samples.size());
    const auto found = std::make_shared<PermutationTest>();
    run_stoppable(given, [=](const Report& report) {
      PermutationOptions told = test;
      told.progress = report;
      *found = weights.size() > 0 ? permutation_test(matched(samples), weights, regularization, told)
                                  : permutation_test(matched(samples), regularization, told);
    });
    *count = std::ssize(found->p_values);
    *significant = found->significant;
    std::copy_n(found->p_values.begin(), std::min(*count, std::max<int64_t>(capacity, 0)), p);
  });
}
