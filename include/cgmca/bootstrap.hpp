// The bootstrap: how much correlations, weights and structure correlations would differ in other samples.
//                                                                                       docs/method.md section 10
//
// A replica is a fit of the same samples in which each group of samples counts as often as a Poisson number of mean 1
// says. While there are few samples (n <= 2p), each is its own group, and replicas are fits of weighted samples. More
// are dealt at random to 200 groups (fewer, but 40 at least, if their products would take 1 GiB), of which only the
// cross-products are kept: one pass over the data, memory that does not grow with n, and a small fit for each replica.
//
// Example:
//   BootstrapSamples samples({d1, d2});
//   samples.add({X1, X2});
//   const Bootstrap found = bootstrap(samples, {Covariance::identity(2)}, {}, {.replicas = 20});
//   std::cout << found.correlations.lower(0, 0) << " to " << found.correlations.upper(0, 0) << "\n";
//   std::cout << found.domains[0].structure.standard_error << "\n";   // d1×2
//
// Threads: several bootstraps may run at once; each uses all threads for its replicas.
#pragma once

#include <cgmca/fit.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Matched samples in resampling groups.
class BootstrapSamples {
 public:
  // Empty; of domains given by their numbers of features, {d1, d2}, or with names. The seed deals samples to groups.
  explicit BootstrapSamples(std::vector<DomainInfo> domains, std::uint64_t seed = 1);
  ~BootstrapSamples();
  BootstrapSamples(BootstrapSamples&&) noexcept;
  BootstrapSamples& operator=(BootstrapSamples&&) noexcept;

  // Adds n matched samples, d_i×n of each domain, with weights if there are any, as Summary::add. Samples of one unit
  // (a person measured several times, say) are always resampled together; without units each is its own. Throws as
  // Summary::add does, and UnequalSamples if there is not one unit for each sample.
  void add(const MatchedSamples& X, const Vector& weights = {}, const std::vector<std::int64_t>& units = {});

  Index samples() const;  // the number of those of a weight above 0
  Index groups() const;   // into which they are dealt; a unit or more each

  struct State;
  // What it holds; not for users.
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// Options of a bootstrap: the replicas and the statistics.
struct BootstrapOptions {
  Index replicas = 200;
  std::uint64_t seed = 1;  // of the Poisson numbers: the same replicas on any number of threads
  double level = 0.95;     // that intervals are to cover
  Index directions = 10;   // examined at most: the first ones
  Index strongest = 10;    // among how many a feature is counted, see DomainBootstrap::selected
  // Whether all examined directions of a replica are turned together towards the fit's (Procrustes), or each to its side
  // (false). Turned together they say how well the space of these directions is known, also where correlations are
  // nearly equal and no direction is; but not how far a single one may be turned within that space.      section 10
  bool rotate = false;
  std::function<void(double done)> progress = {};  // may throw to stop; called by one thread at a time
};

// Numbers of the fit to all samples, and how they spread in the replicas.
struct Bootstrapped {
  Matrix estimate, standard_error;
  Matrix lower, upper;  // of the interval
  Matrix p, q;          // that it is zero; Benjamini and Hochberg's false discovery rate among all of this kind
};

// The statistics of one domain, features by directions, d×c.
struct DomainBootstrap {
  Bootstrapped weights;    // Tᵀ
  Bootstrapped structure;  // correlations of the features with the scores
  Matrix selected;         // in which part of the replicas a feature is among the strongest of a direction
};

// The result of a bootstrap.
struct Bootstrap {
  Bootstrapped correlations;  // of the scores of two domains: direction by pair of domains, 1-2, 1-3, …, 2-3, …
  ByDomain<DomainBootstrap> domains;
  Index replicas = 0, failed = 0;  // that could be fitted, and that could not
  Index groups = 0;                // of samples
};

// Refits replicas and compares them with the fit of all samples, direction by direction, once the replica's directions
// are turned towards the fit's. Throws as fit does, TooFewSamples for fewer than 4 groups, and InvalidInput, also if
// more than half of the replicas cannot be fitted.
Bootstrap bootstrap(const BootstrapSamples& samples, const std::vector<Covariance>& covariances,
                    const FitOptions& options = {}, const BootstrapOptions& how = {});

// The same with the covariances and options that a model was fitted with. Throws InvalidInput if it was fitted with extra
// samples, which it does not hold, or to incomplete ones, or has domains that were added.
Bootstrap bootstrap(const BootstrapSamples& samples, const Model& model, const BootstrapOptions& how = {});

}  // namespace cgmca
#pragma GCC visibility pop
