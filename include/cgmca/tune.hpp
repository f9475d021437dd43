// Which rank, max_rank and ridge: cross-validation over the pairs, or the matched samples of more than two domains
// (docs/method.md sections 6 and 8).
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

// The covariances to try. The likelihoods take no rank; they are of two domains, and need a ridge, or more samples than
// features.
enum class Family { identity, correlation, data1, data2, likelihood1, likelihood2 };
inline constexpr std::array kFamilies = {Family::identity, Family::correlation, Family::data1,
                                         Family::data2,    Family::likelihood1, Family::likelihood2};
const char* name(Family family);
bool has_rank(Family family);  // whether a rank is chosen with it: not of the likelihoods

// One setting to try.
struct Candidate {
  Family family = Family::identity;
  Index rank = 1;      // K or T of the covariance; 0: of a likelihood, which uses all directions
  Index max_rank = 0;  // of all domains; 0: no limit
  Ridge ridge;         // of all domains

  Covariance covariance() const;                           // to be prescribed for every domain
  std::string covariance_name() const;                     // "correlation:40", "likelihood2"
  Regularization regularization() const;                   // with this max_rank and ridge
  FitOptions options(const DataOptions& data = {}) const;  // with this max_rank and ridge
  std::string description() const;                         // "correlation:40, max rank 50, ridge 0.1"
};

// What is measured on the held-out pairs; all are errors, smaller is better. More than two domains have distance,
// translation and classification.
enum class Criterion {
  distance,     // mean squared distance of the mapped pairs / (tr C1 + tr C2): 1 is as far as unrelated ones. It looks
                // only at the directions used, so it favours few: for comparing ridges, not ranks. Of more domains
                // Σ w_ij ‖z_i - z_j‖² / Σ deg_i tr C_i
  translation,  // lmmse from domain 2 to 1: squared error / squared distance from the mean, 1 - R². Of more domains the
                // mean over all of them, each from all others
  translation_to2,  // the same from domain 1 to 2
  classification,   // 1 - accuracy of the nearest neighbour; needs labels (TransferLabels, for more than two
                    // domains MatchedLabels)
  likelihood,  // -2 log of how much likelier the partner makes a sample, p(x_2 | x_1) / p(x_2); needs no labels. Not
               // a number where a correlation is 1                                                          (32)
  partner,     // log r / log N: of the N samples of domain 1 the partner is the r-th nearest; 0: always the nearest, 1:
               // always the farthest. Needs the pairs themselves (TuneOptions::pairs)                         (44)
};
inline constexpr std::array kCriteria = {Criterion::distance,       Criterion::translation, Criterion::translation_to2,
                                         Criterion::classification, Criterion::likelihood,  Criterion::partner};
const char* name(Criterion criterion);

// For Criterion::classification: held-out samples of domain 2 are classified by labelled ones of domain 1.
struct TransferLabels {
  const Matrix* samples = nullptr;  // d1×m, labelled; they need no partners
  std::vector<int> sample_labels;   // m
  // d2×(n or more): the pairs' domain 2, in the order they were added, then others that have no partners. Each is
  // classified in the folds that it is held out from.
  const Matrix* queries = nullptr;
  std::vector<int> query_labels;
};

// For Criterion::partner, and to break ties of classification: the pairs, in the order they were added to the folds.
struct PairSamples {
  const Matrix *X1 = nullptr, *X2 = nullptr;  // d1×n, d2×n
  const Matrix* more1 = nullptr;  // d1×any: samples of domain 1 that have no partners, to be told from them; optional
};

// For Criterion::classification of more than two domains: a held-out sample has the class of the nearest of the others,
// each by the mean of its domains' points in the common space.
struct MatchedLabels {
  std::vector<const Matrix*> samples;  // d_i×n of each domain, in the order they were added to the folds
  std::vector<int> labels;             // n
};

// What to try, and what to choose by.
struct TuneOptions {
  // Empty: identity; for likelihood and partner likelihood2; for classification likelihood2, identity, correlation,
  // data1, data2 (of more than two domains identity and correlation).
  std::vector<Family> families;
  std::vector<Index> ranks;  // empty: 1, 2, 5, 10, … as far as the smallest training set allows
  // Each with each ridge. Empty: no limit with every ridge, and without a ridge 5, 10, 20, … too.
  std::vector<Index> max_ranks;
  std::vector<Ridge> ridges;           // empty: 0, 0.01, 0.1, 1, 3, 10, 30, 100, auto
  std::optional<Criterion> criterion;  // default: classification where there are labels, else translation
  TransferLabels labels;
  PairSamples pairs;
  MatchedLabels matched;                      // of more than two domains, instead of labels and pairs
  Graph graph = "full";                       // of more than two domains, as that of a fit
  DataOptions data;                           // rank_tol and extra samples
  std::function<void(double done)> progress;  // after each training set's grid, part done; may throw to stop
};

// An error on held-out samples.
struct Score {
  double mean = 0;            // over the held-out folds of all repeats
  double standard_error = 0;  // sd of the folds' scores / √folds: repeats use the same pairs, so they do not lower it
};

// A candidate that was tried, with its errors.
struct Trial {
  Candidate candidate;
  std::array<Score, kCriteria.size()> scores;  // by Criterion; NaN where it needs what is not given
  const Score& operator[](Criterion criterion) const { return scores[static_cast<std::size_t>(criterion)]; }
};

// What was tried, what was chosen, and what there is without any map.
struct TuneResult {
  std::vector<Trial> trials;          // feasible in every training set, in the order of the grid
  std::vector<Candidate> infeasible;  // those that were not
  Criterion criterion = Criterion::translation;
  std::size_t best = 0;  // the trial of the smallest mean
  // How many cannot be told from it: their errors exceed its by no more than the standard error of the difference over
  // the same folds.
  std::size_t alike = 0;
  // Of those: by likelihood and partner the best; by classification the best likelihood if one is among them, else the
  // least error of tie_break; else the simplest: least rank, then least max_rank, then largest ridge.
  std::size_t chosen = 0;
  std::optional<Criterion> tie_break;  // classification: partner where the pairs are given, else translation
  // What there is without us, by the same folds; NaN where a criterion has no such thing. Domain 2 as it is, in place
  // of domain 1 (as many features); the target domain alone (its matched samples classify, its mean is the estimate).
  // Classification of more than two domains: all features one above the other, each domain scaled to one variance in
  // all; and the one domain whose own features classify best.
  std::array<Score, kCriteria.size()> unmapped, target_only;
  // Sentences: where a baseline does as well or better, where nothing can be told apart.
  std::vector<std::string> remarks;
  Index domains = 2;
  Index samples = 0;
  FoldOptions folds;  // with the repeats that were made

  const Candidate& choice() const { return trials[chosen].candidate; }  // the one to take
};

// Tries every candidate on every training set. For more than two domains each fit is a search from two starts, without
// a proof. Throws InvalidInput where there are too few pairs, the grid holds nothing feasible, labels are missing or of
// another number than the samples, or something is asked for that only two domains have.
TuneResult tune(const Folds& folds, const TuneOptions& options = {});

// The fit of a candidate, with this graph and search where there are more than two domains. Throws as fit does.
Model fit(const Summary& summary, const Candidate& candidate, const DataOptions& data = {},
          const MatchingOptions& matching = {});

}  // namespace cgmca
#pragma GCC visibility pop
