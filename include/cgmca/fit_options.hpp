// What a fit may be told beside the data and the covariances.
#pragma once

#include <cgmca/regularization.hpp>
#include <cgmca/summary.hpp>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)
namespace cgmca {

// Of the data: what several fits share.
struct DataOptions {
  std::optional<double> rank_tol;     // a domain's rank counts σ_j > rank_tol·σ_1; default max(d, n)·eps
  std::vector<const Summary*> extra;  // samples without partner, a summary of one domain for each domain (or null):
                                      // they improve its mean and covariance
};

// Of one fit: both together.
struct FitOptions {
  std::optional<double> rank_tol{};
  PerDomain<Index> max_rank{};
  PerDomain<Ridge> ridge{};
  std::vector<const Summary*> extra{};

  DataOptions data() const { return {rank_tol, extra}; }
  Regularization regularization() const { return {max_rank, ridge}; }
};

}  // namespace cgmca
#pragma GCC visibility pop
