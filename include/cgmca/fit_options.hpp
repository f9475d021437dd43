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

struct FitOptions : DataOptions, Regularization {};

}  // namespace cgmca
#pragma GCC visibility pop
