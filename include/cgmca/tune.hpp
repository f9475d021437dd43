// Chooses covariance, rank, max_rank, ridge and what it shrinks towards, by cross-validation over matched samples of two
// or more domains (docs/method.md sections 6 and 8).
//
// Example:
//   Folds folds({d1, d2});  // one pass over the data
//   folds.add(X1, X2);
//   TuneOptions options;
//   options.ranks = {1, 2, 5};
//   options.ridges = {0.0, 0.1};
//   const TuneResult result = tune(folds, options);
//   const Model model = fit(folds.all(), result.choice());
//
// Threads: several searches may run at once, also of one set of folds; each uses all threads for its candidates.
#pragma once

#include <array>
#include <cgmca/fit.hpp>
#include <cgmca/folds.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// The covariances to try, by their names in the table of covariances. The likelihoods take no rank. They are for two
// domains, and need a ridge, or more samples than features.
enum class Family { identity, correlation, data1, data2, likelihood1, likelihood2 };
// All families.
inline constexpr std::array kFamilies = {Family::identity, Family::correlation, Family::data1,
                                         Family::data2,    Family::likelihood1, Family::likelihood2};
const char* name(Family family);  // "identity", "data1", …
bool has_rank(Family family);     // whether it takes a rank: all but the likelihoods do

// One setting to try.
struct Candidate {
  Family family = Family::identity;  // the covariance
  Index rank = 1;                    // K or T of the covariance; 0 for a likelihood, which uses all directions
  Index max_rank = 0;                // for all domains; 0: no limit
  Ridge ridge;                       // for all domains
  Towards towards = Towards::zero;   // of translations

  Covariance covariance() const;                           // to be prescribed for every domain
  std::string covariance_name() const;                     // "correlation:40", "likelihood2"
  Regularization regularization() const;                   // with this max_rank and ridge
  FitOptions options(const DataOptions& data = {}) const;  // with this max_rank and ridge
  std::string description() const;                         // "identity:40, max rank 50, ridge 0.1 towards identity"
};

// The errors measured on the held-out pairs: smaller is better. For more than two domains there are
// distance, translation and classification.
enum class Criterion {
  distance,     // mean squared distance of the mapped pairs / (tr C1 + tr C2): 1 is that of unrelated samples. It
                // considers only the directions used, so it favours few of them: use it to compare ridges, not ranks.
                // For more domains Σ w_ij ‖z_i - z_j‖² / Σ deg_i tr C_i
  translation,  // lmmse from domain 2 to 1: squared error / squared distance from the mean, 1 - R². For more domains
                // the mean over all of them, each translated from all others
  translation_to2,  // the same from domain 1 to 2
  classification,   // 1 - accuracy of the nearest neighbour; needs labels (TransferLabels, for more than two
                    // domains MatchedLabels)
  likelihood,       // -2 log p(x_2 | x_1) / p(x_2): how much more likely a sample becomes given its partner. Needs no
                    // labels. NaN if a correlation is 1                                                          (32)
  partner,     // log r / log N: of the N samples of domain 1 the partner is the r-th nearest. 0: always the nearest,
               // 1: always the farthest. Needs the pairs themselves (TuneOptions::pairs)                   (44)
  downstream,  // how far f(x̂_1), x̂_1 translated from domain 2, is from f(x_1): the mean over the outputs of their
               // squared differences over their variance. Needs f and the pairs (TuneOptions::downstream, pairs)  (68)
};
// All criteria.
inline constexpr std::array kCriteria = {Criterion::distance,       Criterion::translation, Criterion::translation_to2,
                                         Criterion::classification, Criterion::likelihood,  Criterion::partner,
                                         Criterion::downstream};
const char* name(Criterion criterion);  // "distance", "translation", …

// For Criterion::classification of two domains: labelled samples of domain 1 classify held-out samples of domain 2.
struct TransferLabels {
  const Matrix* samples = nullptr;  // d1×m, labelled; they need no partners
  std::vector<int> sample_labels;   // m
  // d2×(n or more): the pairs' domain 2, in the order they were added, then others that have no partners. Each is
  // classified in the folds that it is held out from.
  const Matrix* queries = nullptr;
  std::vector<int> query_labels;  // one for each query
};

// For Criterion::partner and downstream, and ties of classification: the pairs, in the order they were added to the folds.
struct PairSamples {
  const Matrix *X1 = nullptr, *X2 = nullptr;  // d1×n, d2×n
  const Matrix* more1 = nullptr;  // d1×any: other samples of domain 1, without partners, to rank them among; optional
};

// For Criterion::classification of more than two domains: a held-out sample has the class of the nearest of the others,
// each by the mean of its domains' points in the common space.
struct MatchedLabels {
  ByDomain<const Matrix*> samples;  // d_i×n of each domain, in the order they were added to the folds
  std::vector<int> labels;          // n
};

// The settings to try, and the criterion to choose by.
struct TuneOptions {
  // Empty: depends on the criterion. For likelihood and partner likelihood2; for classification likelihood2, identity,
  // correlation, data1, data2 (for more than two domains identity and correlation); otherwise identity.
  std::vector<Family> families;
  std::vector<Index> ranks;  // empty: 1, 2, 5, 10, … as far as the smallest training set allows
  // Each is tried with each ridge. Empty: no limit with every ridge, and without a ridge 5, 10, 20, … too.
  std::vector<Index> max_ranks;
  // Empty: 0, 1e-6 … 1e-2, 0.03, 0.1, … 100, 1000, auto, and 1e9, with which translations are the mean of the target,
  // or the sample moved by the difference of the means: no choice is worse than these.
  std::vector<Ridge> ridges;
  // Empty: zero, and for translation and downstream of two domains of as many features identity too. Identity goes with
  // the largest rank and max_rank only, because all that domain 2 has is used.
  std::vector<Towards> towards;
  std::optional<Criterion> criterion;  // default: classification if there are labels, else translation
  TransferLabels labels;               // for classification of two domains
  PairSamples pairs;                   // for partner, downstream, and ties of classification of two domains
  std::function<Matrix(const Matrix& X1)> downstream;  // f, for downstream: d1×n → q×n; called by one thread at a time
  MatchedLabels matched;                               // for more than two domains, instead of labels and pairs
  Graph graph = "full";                                // for more than two domains, as that of a fit
  DataOptions data;  // rank_tol, extra samples, and scale, with which errors are of scaled features
  std::function<void(double done)> progress;  // told the part done after each training set; may throw to stop
};

// An error on held-out samples.
struct Score {
  double mean = 0;            // over the held-out folds of all repeats
  double standard_error = 0;  // sd of the folds' scores / √folds: repeats use the same pairs, so they do not lower it
};

// A candidate that was tried, with its errors.
struct Trial {
  Candidate candidate;                         // the setting
  std::array<Score, kCriteria.size()> scores;  // by Criterion; NaN if it needs something that was not given
  // The score by a criterion.
  const Score& operator[](Criterion criterion) const { return scores[static_cast<std::size_t>(criterion)]; }
};

// The trials, the choice, and the scores of two baselines.
struct TuneResult {
  std::vector<Trial> trials;                     // feasible in every training set, in the order of the grid
  std::vector<Candidate> infeasible;             // those that were not
  Criterion criterion = Criterion::translation;  // what was chosen by
  std::size_t best = 0;                          // the trial of the smallest mean
  // How many cannot be told from the best: their errors exceed its error by no more than the standard error of the
  // difference over the same folds.
  std::size_t alike = 0;
  // The trial chosen: the best. Only by classification it is, among those alike, the best likelihood if there is one,
  // else the one with the least error of tie_break.
  std::size_t chosen = 0;
  // The error to expect of the choice on new samples: of each fold, that of the setting which the other folds of the
  // same repeat choose. The least of many errors is smaller than that by luck.
  Score expected;
  Score with_half;                     // the choice's error with half of the pairs; NaN if they are too few
  std::optional<Criterion> tie_break;  // classification: partner where the pairs are given, else translation
  // Baselines without a fit, on the same folds; NaN for criteria that have none. unmapped: domain 2 as it is, in place
  // of domain 1, if both have as many features. offset: the same, moved by the difference of the means. target_only: the
  // target alone; its samples classify, its mean is the estimate. For classification of more than two domains: all
  // features, each domain scaled to a total variance of one; and the one domain whose own features classify best.
  std::array<Score, kCriteria.size()> unmapped, offset, target_only;
  // Sentences for people: if a baseline does as well or better, or if nothing can be told apart.
  std::vector<std::string> remarks;
  // Three sentences: what was chosen, how it compares with the baselines, what more pairs would bring.
  std::vector<std::string> recommendation;
  Index domains = 2;   // m
  Index samples = 0;   // matched ones
  FoldOptions folds;   // with the repeats that were made
  bool scale = false;  // as it was asked for

  const Candidate& choice() const { return trials[chosen].candidate; }  // the one to use
};

// Tries every candidate on every training set. For more than two domains each fit is a search from two starts, without
// a proof. Throws InvalidInput if there are too few pairs, if the grid holds nothing feasible, if labels are missing or
// do not match the samples in number, or if something is asked for that only two domains have.
TuneResult tune(const Folds& folds, const TuneOptions& options = {});

// Fits with a candidate's settings; `matching` is for more than two domains. Throws as fit does.
Model fit(const Summary& summary, const Candidate& candidate, const DataOptions& data = {},
          const MatchingOptions& matching = {});

}  // namespace cgmca
#pragma GCC visibility pop
