// Models and summaries in words and in JSON.
#pragma once

#include <cgmca/check_pairs.hpp>
#include <cgmca/incomplete.hpp>
#include <cgmca/model.hpp>
#include <cgmca/summary.hpp>

#include "shell/session.hpp"

namespace cgmca::cli {

Json describe(const Model& model);
std::string describe_text(const Model& model);

Json describe(const Summary& summary);
std::string describe_text(const Summary& summary);

Json describe(const IncompleteSummary& summary);
std::string describe_text(const IncompleteSummary& summary);

// "100", or "100 of the weight 250" where they have weights.
std::string pairs_text(Index pairs, double weight);

// The covariance a domain's constraint holds for: "Θ of 134 samples", "Θ + 0.012 I, Θ of 1345 samples".
std::string constrained_text(const Model& model, Domain domain);

Json list(const Vector& values);
Json describe(const Addition& addition);
Json describe(const Pattern& pattern);
// The most suspicious pairs, at most `shown`, by their numbers in the inputs.
std::string check_text(const PairCheck& check, const std::vector<Index>& numbers, Index shown);

// Of the fit of more than two domains.
bool agrees(const Start& start);                           // it ended at the best maps
std::string starts_text(const Certificate& certificate);   // "5, of which 4 ended at the same maps; 90 sweeps in all"
std::string optimum_text(const Certificate& certificate);  // proved or not, by what, and the gap in per cent
std::string graph_text(const Matrix& weights);             // who is compared with whom: "1–2, 1–3 (weight 0.5)"

}  // namespace cgmca::cli
