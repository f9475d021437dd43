// What a fit may be told beside the data and the covariances.
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
  std::optional<double> rank_tol;     // a domain's rank counts σ_j > rank_tol·σ_1; default max(d, n)·eps
  std::vector<const Summary*> extra;  // samples without partners, a summary of one domain for each domain (or null):
                                      // they improve its mean and covariance
  std::optional<Device> device{};     // where it is computed; default: where the summary is
};

// Which domains are compared with which, and how much: "full" (every pair), "star:D" (domain D with every other),
// "path" (1-2, 2-3, …), each with weights 1; or the m×m weights themselves, symmetric, none negative, zero on the
// diagonal and connecting all domains. Of two domains the one weight scales the objective.
using Graph = std::variant<std::string, Matrix>;

// The weights of a graph of so many domains, checked.   m×m
// Throws NotSquare, NotSymmetric, NotPositive, NotFinite or InvalidInput where it cannot be one, and says why.
Matrix weights_of(const Graph& graph, Index domains);

// How far the search for more than two domains has come.
struct MatchingProgress {
  std::string stage;  // the kind of the start, as Start::kind, or "proof" of the optimum
  Index start;        // its number; of a proof, how many there were before it
  Index sweep;        // of this ascent, or iterations of this proof
  double f;           // reached so far; it never falls within one ascent
};

// How domains are matched. All options but the graph concern the search for more than two domains; two domains have a
// closed form.
struct MatchingOptions {
  Graph graph = "full";
  std::uint64_t seed = 0;   // of the random starts; the answer depends on it, not on the number of threads
  Index random_starts = 3;  // besides two that the data suggest
  Index max_sweeps = 5000;  // of one ascent
  // Of the ascents, and of each proof. No start but the first begins after it: the certificate lists those that did.
  double max_seconds = std::numeric_limits<double>::infinity();
  std::function<void(const MatchingProgress&)> progress = nullptr;  // one call at a time; may throw to stop
};

// All options of one fit.
struct FitOptions {
  std::optional<double> rank_tol{};
  PerDomain<Index> max_rank{};
  PerDomain<Ridge> ridge{};
  std::vector<const Summary*> extra{};
  MatchingOptions matching{};
  std::optional<Device> device{};  // where it is computed; default: where the summary is, of data at hand the processor

  DataOptions data() const { return {rank_tol, extra, device}; }       // those of the data
  Regularization regularization() const { return {max_rank, ridge}; }  // those of one fit
};

}  // namespace cgmca
#pragma GCC visibility pop
