// From a summary to what the algorithms work on: each domain whitened and regularized, and the cross matrices B_ij.
#pragma once

#include <cgmca/fit_options.hpp>
#include <cgmca/summary.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fit/whiten.hpp"
#include "core/summary/moments.hpp"

namespace cgmca {

// The data themselves, for the proof: shared by all fits of one factorization.
struct FactorizedData {
  Moments moments;                           // of the matched samples
  std::vector<linalg::Array> pooled;         // S_i of all samples of domain i if some are extra, else empty
  std::optional<double> samples_residual{};  // as that of Certificate
};

struct Factors {
  Index samples = 0;        // matched ones
  double total_weight = 0;  // n: their weight
  SummaryForm form = SummaryForm::rows;
  std::vector<WhitenedDomain> domains;
  std::vector<std::vector<linalg::Array>> cross;  // B_ij = W_i Θ_ij W_jᵀ, r_i×r_j, for i < j                   (8)
  bool saturated = false;                         // every B_ij is known to be I
  std::shared_ptr<const FactorizedData> data;

  Index count() const { return static_cast<Index>(domains.size()); }
  const WhitenedDomain& operator[](Domain domain) const { return domains[slot(domain)]; }
  const linalg::Array& B() const { return cross[0][1]; }  // of two domains
  std::string route() const;                              // "qr: gesdd, geqrf"
};

// The factors of the plain sample covariances, extra samples included. A domain whose entry in `spectrum` is false may
// get a triangle.
Factors factorize(const Summary& summary, const DataOptions& options, const std::vector<bool>& spectrum);

// With the max_rank leading directions of each domain, whitened by the regularized covariance. `factors` must be plain
// and, where a domain is truncated or regularized, have its spectrum. Throws InvalidInput.
Factors regularize(const Factors& factors, const Regularization& options);
// The same for covariances and ranks that are known.
Factors regularize(const Factors& factors, const std::vector<Regularized>& covariances,
                   const std::vector<Index>& ranks);

// The variance of each feature's difference of the first two domains, which have as many: diag Cov(x_1 - x_2). `plain`
// is not regularized.
Vector difference_variance(const Factors& plain);

}  // namespace cgmca
