// The errors on the pairs that a training set leaves out.
#pragma once

#include <array>
#include <cgmca/folds.hpp>
#include <cgmca/tune.hpp>
#include <vector>

#include "core/fit/whitened_data.hpp"

namespace cgmca {

// A training set in the coordinates of its own principal directions: y_i = U_iᵀ (x_i - mean_i), r_i of them instead of
// d_i. Maps, distances and translation errors are the same there, for every truncation and ridge.
WhitenedData reduce(WhitenedData whitened);

// The principal directions of each domain of a training set, its means, and the scale of its features.
struct Directions {
  ByDomain<Matrix> U;
  ByDomain<Vector> mean, scale;  // scale: empty vectors where it is 1

  Matrix scaled(Matrix X, Domain domain) const;  // D_i⁻¹ X   d_i×n
};
Directions directions_of(const WhitenedData& whitened);

// For more than two domains: labelled samples of a training set, and those held out, in those coordinates.
struct MultiLabels {
  std::vector<Matrix> training, held_out;  // r_i×n
  std::vector<int> training_labels, held_out_labels;
};

// The outputs f(x_1) of the pairs, and weights by how much they vary.
struct Downstream {
  std::function<Matrix(const Matrix&)> f;
  Matrix truth;    // q×n: f(x_1)
  Vector weights;  // q: 1/(variance · q), 0 for an output that does not vary
};
Downstream downstream_of(const TuneOptions& options);

// Held-out pairs in those coordinates: for every linear f, Σ_j ‖f(y_1j, y_2j)‖² = ‖f(H_1, H_2)‖_F².
struct HeldOut {
  double samples = 0;
  ByDomain<Matrix> H;        // r_i×m
  ByDomain<double> outside;  // Σ_j of the squared distance from the training set's directions
  ByDomain<double> total;    // Σ_j ‖x_ij - mean_i‖²
  // For TransferLabels. If the pairs are given, the references lack the partners of held-out samples, because new samples
  // have no partners among them.
  std::vector<Index> references_kept;  // their places
  Matrix labelled, queries;
  std::vector<int> reference_labels, query_labels;
  Matrix references, partnered;  // all samples of domain 1, the pairs' first, and the held-out ones of domain 2
  std::vector<Index> partners;   // the place of each one's partner among the references
  MultiLabels multi;             // of MatchedLabels
  // For two domains of the same number of features: R = X_1 - X_2, of deviations from the training means.
  bool comparable = false;
  std::array<double, 2> apart{};   // ‖D_i⁻¹ R‖²: at the scale of domain i
  std::array<Matrix, 2> R_inside;  // U_iᵀ R
  Matrix overlap;                  // U_1ᵀ U_2
  // Of Criterion::downstream.
  const Directions* directions = nullptr;
  const Downstream* downstream = nullptr;
  Matrix X2;  // d_2×m: the held-out pairs' deviations from the training mean
};
HeldOut hold_out(const Summary& part, const Directions& training);

// Samples in those coordinates.   d_i×n → r_i×n
Matrix coordinates(const Directions& training, Domain domain, const Matrix& X);

// Which labelled samples of domain 1 are those of the pairs: samples with equal numbers are the same sample.
struct LabelPlaces {
  std::vector<Index> of_pairs, of_references;  // -1: of no pair
};
LabelPlaces find_places(const TransferLabels& labels, const PairSamples& pairs);
void add_labels(HeldOut& held, const TransferLabels& labels, const LabelPlaces& places, const Directions& training,
                const Folds& folds, Index repeat, Index fold);
void add_pairs(HeldOut& held, const PairSamples& pairs, const Matrix& references, const Directions& training,
               const Folds& folds, Index repeat, Index fold);

// The queries of a fold, and all others. Queries that belong to no pair are dealt to the folds in turn.
struct Split {
  std::vector<Index> held_out, training;
};
Split split_of(const Folds& folds, Index repeat, Index fold, Index samples);

Matrix references_of(const PairSamples& pairs);  // domain 1: of the pairs, then without partners; or none

std::vector<int> picked(const std::vector<int>& labels, const std::vector<Index>& places);

// The mean of log r / log N over the queries: the partner is the r-th nearest of N references.                   (44)
double partner_error(const Matrix& references, const Matrix& queries, const std::vector<Index>& partners);
double guessed_partner(Index references);  // of a partner that may be at any place: log N! / (N log N)

using Errors = std::array<double, kCriteria.size()>;
inline double& error_of(Errors& errors, Criterion criterion) { return errors[static_cast<std::size_t>(criterion)]; }
Errors measure(const Model& model, const HeldOut& held, Towards towards);  // of two domains

// Estimates of domain 1 for the held-out pairs, d_1×m, for Criterion::downstream.
Matrix estimates(const Model& model, const HeldOut& held, Towards towards);
// The error of each of several sets of estimates, one beside the other, by one call of f.
std::vector<double> downstream_errors(const HeldOut& held, const std::vector<Matrix>& estimates);

}  // namespace cgmca
