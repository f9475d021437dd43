// What a bootstrap compares, of the fit and of its replicas.
#pragma once

#include <optional>
#include <vector>

#include "core/select/bootstrap_samples.hpp"

namespace cgmca {

// Of all pairs of domains R_ij = Cov(t_i, t_j) of the first c scores, whose diagonals are their correlations; of each
// domain weights Tᵀ and structure correlations, d×c, and the covariance of its scores among the samples, c×c.
struct Numbers {
  std::vector<Matrix> R;
  ByDomain<Matrix> weights, structure, spread;
};

Numbers numbers_of(const Model& model, Index c);

// Numbers of replicas of two domains in closed form, from the moments alone. They are those of the fit, but for the
// signs and for the turn of directions whose correlations are equal, at a small part of its cost.
class QuickReplicas {
 public:
  // `whole` is the fit to all samples. Nothing if the closed form does not hold for all replicas alike: if samples are
  // few, of more than two domains, or dependent features, and where max_rank, automatic ridges or rank_tol decide.
  static std::optional<QuickReplicas> of(const BootstrapSamples::State& state, const Model& whole,
                                         const FitOptions& options, Index c);
  // Nothing if the replica is near to a singular one, of which the fit must judge.
  std::optional<Numbers> operator()(const Drawn& drawn) const;

 private:
  QuickReplicas(const BootstrapSamples::State& state, const FitOptions& options, Index c);
  const BootstrapSamples::State* state_;
  std::vector<double> ridge_;
  bool scale_;
  Index c_;
};

// Correlations of the scores of a replica, whose weights are given, in the samples that it leaves out.   as correlations
Matrix held_out_correlations(const BootstrapSamples::State& state, const ByDomain<Matrix>& weights,
                             const Drawn& left_out);

}  // namespace cgmca
