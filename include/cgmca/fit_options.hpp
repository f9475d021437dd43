// The options of a fit, besides the data and the covariances.
//
// Example:
//   FitOptions options;
//   options.ridge = 0.01;
//   options.matching.graph = "star:1";  // domain 1 is compared with every other
//   const Model model = fit({X1, X2, X3}, {C, C, C}, options);
#pragma once

#include <cgmca/device.hpp>
#include <cgmca/regularization.hpp>
#include <cgmca/summary.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Options of the data, which several fits share.
struct DataOptions {
  std::optional<double> rank_tol;  // a domain's rank counts σ_j > rank_tol·σ_1; default max(d, n)·eps
  ByDomain<const Summary*> extra;  // samples without partners: for each domain a summary of it alone, or null. They
                                   // improve its mean and covariance
  std::optional<Device> device{};  // where it is computed; default: where the summary is
  // Features are divided by their standard deviations first, so that ridges, max_rank, `data` covariances and tune do not
  // depend on their units. The maps are of the data as they are.                          docs/method.md (62)
  bool scale = false;
  // Whether the nuisance of a summary that has one is unknown of new samples: the maps are then blind to it, A_i Γ_i = 0.
  // Otherwise they take its values below the features of a sample. docs/method.md section 14
  bool nuisance_unknown = false;
};

// Which domains are compared with which, and how much: "full" (every pair), "star:D" (domain D with every other),
// "path" (1-2, 2-3, …), each with weights 1; or the m×m weights themselves, symmetric, none negative, zero on the
// diagonal and connecting all domains. Of two domains the one weight scales the objective.
using Graph = std::variant<std::string, Matrix>;

// The weights of a graph of m domains, checked.   m×m
// Throws NotSquare, NotSymmetric, NotPositive, NotFinite or InvalidInput if it is not a graph of so many domains.
Matrix weights_of(const Graph& graph, Index domains);

// The progress of the search for more than two domains.
struct MatchingProgress {
  std::string stage;  // the kind of the start, as Start::kind, or "proof" of the optimum
  Index start;        // the number of the start; during a proof, the number of starts before it
  Index sweep;        // sweeps of this ascent, or iterations of this proof
  double f;           // the value reached so far; it never falls within one ascent
};

// Options of matching domains. All options but the graph concern the search for more than two domains; two domains have a
// closed form.
struct MatchingOptions {
  Graph graph = "full";     // which domains are compared
  std::uint64_t seed = 0;   // of the random starts; the answer depends on it, not on the number of threads
  Index random_starts = 3;  // besides two that the data suggest
  Index max_sweeps = 5000;  // of one ascent
  // The limit for all ascents together, and for each proof. After it no new start begins, except for the first; the
  // certificate lists those that did.
  double max_seconds = std::numeric_limits<double>::infinity();
  std::function<void(const MatchingProgress&)> progress = nullptr;  // one call at a time; may throw to stop
};

// All options of one fit.
struct FitOptions {
  std::optional<double> rank_tol{};  // as that of DataOptions
  PerDomain<Index> max_rank{};       // as that of Regularization
  PerDomain<Ridge> ridge{};          // as that of Regularization
  ByDomain<const Summary*> extra{};  // as that of DataOptions
  MatchingOptions matching{};        // the graph, and the search for more than two domains
  // Where it is computed. Default: where the summary is, or the processor for data in memory.
  std::optional<Device> device{};
  bool scale = false;               // as that of DataOptions
  Towards towards = Towards::zero;  // as that of Regularization
  bool nuisance_unknown = false;    // as that of DataOptions

  DataOptions data() const { return {rank_tol, extra, device, scale, nuisance_unknown}; }  // the options of the data
  Regularization regularization() const { return {max_rank, ridge, towards}; }             // the options of one fit
};

}  // namespace cgmca
#pragma GCC visibility pop
