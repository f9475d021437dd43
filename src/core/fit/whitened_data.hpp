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

// The data that were whitened, for the proof. All fits of one PreparedFit share them.
struct SourceData {
  Moments moments;                           // of the matched samples
  ByDomain<linalg::Array> pooled;            // S_i of all samples of domain i if some are extra, else empty
  std::optional<double> samples_residual{};  // as that of Certificate
};

struct WhitenedData {
  Index samples = 0;        // matched ones
  double total_weight = 0;  // n: their weight
  SummaryForm form = SummaryForm::rows;
  ByDomain<WhitenedDomain> domains;
  ByDomain<ByDomain<linalg::Array>> cross;  // B_ij = W_i Θ_ij W_jᵀ, r_i×r_j, for i < j                   (8)
  bool saturated = false;                   // every B_ij is known to be I
  std::shared_ptr<const SourceData> source;

  Index count() const { return std::ssize(domains); }
  const WhitenedDomain& operator[](Domain domain) const { return domains[domain]; }
  const linalg::Array& B() const { return cross[0][1]; }  // of two domains
  std::string route() const;                              // "qr: gesdd, geqrf"
};

// Whitens each domain by its sample covariance, extra samples included. A domain whose entry in `spectrum` is false may
// get a triangle.
WhitenedData whiten_domains(const Summary& summary, const DataOptions& options, const std::vector<bool>& spectrum);

// Truncates each domain to its max_rank leading directions, and whitens by the regularized covariance. `whitened` must
// not be regularized yet, and must have the spectrum of each domain that is truncated or regularized. Throws
// InvalidInput.
WhitenedData regularize(const WhitenedData& whitened, const Regularization& options);
// The same for given covariances and ranks.
WhitenedData regularize(const WhitenedData& whitened, const std::vector<Regularized>& covariances,
                        const std::vector<Index>& ranks);

// diag Cov(x_1 - x_2) for two domains of the same features. `plain` is not regularized.
Vector difference_variance(const WhitenedData& plain);

}  // namespace cgmca
