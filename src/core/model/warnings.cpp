// What the user should know before trusting a model.
#include <cgmca/domain.hpp>
#include <cgmca/model.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"
#include "core/model/regularization.hpp"

namespace cgmca {
namespace {

bool is_plain(const Model& model, std::size_t i) { return model.certificate.constrained[i].plain(); }

// How many canonical correlations of two domains their ranks r_i force to be 1: n centred samples span n - 1 dimensions,
// in which two subspaces have at least r_1 + r_2 - (n - 1) in common.
Index forced(const Model& model, std::size_t i, std::size_t j) {
  if (!is_plain(model, i) || !is_plain(model, j)) return 0;
  return std::max<Index>(0, model.certificate.ranks[i] + model.certificate.ranks[j] - (model.samples - 1));
}

std::string forced_text(const Model& model, std::size_t i, std::size_t j) {
  const Index count = forced(model, i, j), r_i = model.certificate.ranks[i], r_j = model.certificate.ranks[j];
  return fmt::format(
      "the fit is half saturated: the ranks {} and {} of domains {} and {} add up to more than {} {} less 1, so that "
      "{} "
      "of their {} canonical correlations {} 1 whatever the data, and the maps will not carry over to new samples. "
      "Limit "
      "max_rank to well below {}, give a ridge (auto, for instance), or let tune choose",
      r_i, r_j, i + 1, j + 1, model.samples, model.count() == 2 ? "pairs" : "matched samples", count,
      std::min(r_i, r_j), count == 1 ? "is" : "are", (model.samples - 1) / 2);
}

// Warnings about domains whose units decide what a ridge or max_rank leaves.
void warn_of_units(const Model& model, std::vector<std::string>& result) {
  if (model.settings.scale) return;
  for (std::size_t i = 0; i < model.domains.size(); ++i) {
    const bool used = !is_plain(model, i) || model.certificate.ranks[i] == model.settings.max_rank[i];
    if (!used || !model.domains[i]) continue;
    const auto domain = domain_at(i);
    const Vector variance = model.sample_variance(domain);
    std::string sentence = units_decide(domain, variance.array().isNaN().select(0, variance));
    if (!sentence.empty()) result.push_back(std::move(sentence));
  }
}

void warn_of_two(const Model& model, std::vector<std::string>& result) {
  const Vector& correlations = model.certificate.singular_B;
  const Index most = std::max(model.certificate.ranks[0], model.certificate.ranks[1]);
  if (model.samples - 1 <= most && correlations(correlations.size() - 1) > 1 - thresholds::kSaturated) {
    result.push_back(
        fmt::format("the fit is saturated: with {} pairs and a domain of rank {} every canonical correlation is 1 "
                    "whatever the data, so the maps will not carry over to new samples. Limit max_rank to well below "
                    "{}, give a ridge (auto, for instance), or let tune choose",
                    model.samples, most, model.samples - 1));
  } else if (const Index count = std::min(forced(model, 0, 1), correlations.size());
             count > 0 && std::abs(correlations(count - 1) - 1) < thresholds::kSaturated) {
    result.push_back(forced_text(model, 0, 1));
  }
  if (correlations(0) > 1 + thresholds::kSaturated) {
    const Index above = (correlations.array() > 1 + thresholds::kSaturated).count();
    result.push_back(
        fmt::format("{} canonical correlation{} above 1 (the largest is {:.3g}): the few pairs' cross-covariance does "
                    "not fit the covariances whitened with, which extra samples changed. The "
                    "maps hold, but standard errors are too small. Limit max_rank, or give a ridge by number",
                    above, above == 1 ? " is" : "s are", correlations(0)));
  }
}

// The least and the largest singular value of all R_ij in the model.
std::pair<double, double> range_of_correlations(const Model& model) {
  double least = INFINITY, most = 0;
  for (const auto& row : model.score_covariances) {
    for (const Matrix& R : row) {
      if (R.size() == 0) continue;
      const Vector s = linalg::singular_values(R);
      least = std::min(least, s(s.size() - 1));
      most = std::max(most, s(0));
    }
  }
  return {least, most};
}

void warn_of_more(const Model& model, std::vector<std::string>& result) {
  const auto [least, most] = range_of_correlations(model);
  const Index rank = *std::max_element(model.certificate.ranks.begin(), model.certificate.ranks.end());
  if (model.samples - 1 <= rank && least > 1 - thresholds::kSaturated && std::isfinite(least)) {
    result.push_back(
        fmt::format("the fit is saturated: with {} matched samples and a domain of rank {} all common directions are "
                    "correlated by 1 whatever the data, so the maps will not carry over to new samples. Limit max_rank "
                    "to well below {}, or give a ridge (auto, for instance)",
                    model.samples, rank, model.samples - 1));
  } else {
    std::pair<std::size_t, std::size_t> worst{0, 1};
    for (std::size_t i = 0; i < model.domains.size(); ++i) {
      for (std::size_t j = i + 1; j < model.domains.size(); ++j) {
        if (forced(model, i, j) > forced(model, worst.first, worst.second)) worst = {i, j};
      }
    }
    if (forced(model, worst.first, worst.second) > 0) result.push_back(forced_text(model, worst.first, worst.second));
  }
  if (most > 1 + thresholds::kSaturated) {
    result.push_back(
        fmt::format("scores of two domains are correlated above 1 (the largest is {:.3g}): the matched samples' "
                    "cross-covariance does not fit the covariances whitened with, which extra samples "
                    "changed. The maps hold, but standard errors are too small. Limit max_rank, or give a ridge "
                    "by number",
                    most));
  }
  const Certificate& certificate = model.certificate;
  if (!certificate.certified) {
    result.push_back(
        fmt::format("the maps are not proven to be the best: what they maximize is within {:.2g} % of the best "
                    "possible (bound: {}){}",
                    100 * certificate.gap, certificate.proof,
                    certificate.stopped_early ? "; the search stopped at a limit on sweeps, seconds or trials" : ""));
  }
}

void warn_of_residuals(const Model& model, std::vector<std::string>& result) {
  const std::vector<double>& residuals = model.certificate.constraint_residuals;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (residuals[i] <= thresholds::kRefusedCertificate) continue;
    result.push_back(
        fmt::format("the covariance of domain {}'s output differs from the prescribed one by {:.1e} of it: rounding, "
                    "because the data are ill-conditioned for the form '{}' of the summary. The form 'auto' loses "
                    "least; a ridge or a lower max_rank helps too",
                    i + 1, residuals[i], model.certificate.route.substr(0, model.certificate.route.find(':'))));
  }
}

// Samples and their mean are rounded to eps of their size: by as much as ‖(T_jf eps μ_f)_f‖ score j, of unit variance,
// may be that rounding alone.
void warn_of_rounding(const Model& model, std::vector<std::string>& result) {
  for (const Domain domain : all_domains(model.count())) {
    const auto& map = model.domains[domain];
    if (!map) continue;
    const Matrix rounding = map->weights * (thresholds::kEpsilon * map->mean).asDiagonal();
    const double most = std::sqrt(rounding.rowwise().squaredNorm().maxCoeff());
    if (!(most > thresholds::kRefusedCertificate)) continue;
    result.push_back(
        fmt::format("features of domain {} lie so far from 0 that their rounding shows: it is up to {:.2g} of the "
                    "standard deviation of a score. Subtract a constant from each feature where the data come from, "
                    "or leave out features that others determine (rank_tol)",
                    number(domain), most));
  }
}

// Warnings about pairs of domains that no sample had together.
void warn_of_patterns(const Model& model, std::vector<std::string>& result) {
  for (const Domain i : all_domains(model.fitted_count())) {
    for (const Domain j : all_domains(model.fitted_count())) {
      if (!(i < j) || model.together({i, j}).samples > 0) continue;
      result.push_back(
          fmt::format("no sample had both domain {} and domain {}: what relates them is what they share with the other "
                      "domains, on the assumption that nothing else does. No data can tell",
                      number(i), number(j)));
    }
  }
}

// A domain of which a nuisance explains nearly all.
void warn_of_nuisance(const Model& model, std::vector<std::string>& result) {
  constexpr double nearly_all = 0.9;
  for (std::size_t i = 0; model.nuisance && i < model.nuisance->explained.size(); ++i) {
    const double share = model.nuisance->explained[i];
    if (share < nearly_all) continue;
    result.push_back(fmt::format(
        "the nuisance explains {:.3g} % of the variance of domain {}: the maps see only the rest. If what is "
        "sought differs with the nuisance, it was removed too",
        100 * share, i + 1));
  }
}

void warn_of_additions(const Model& model, std::vector<std::string>& result) {
  for (const Domain domain : all_domains(model.count())) {
    const Addition* addition = model.addition(domain);
    if (addition == nullptr) continue;
    if (!addition->unique) {
      result.push_back(
          fmt::format("the map of domain {}, which was added, is not the only best one: the domains it was matched "
                      "with say nothing of some of its directions, which are chosen by its own variance",
                      number(domain)));
    }
    const Index rank = model.certificate.ranks[domain];
    const Regularized& constrained = model.certificate.constrained[domain];
    if (addition->samples - 1 <= rank && constrained.plain()) {
      result.push_back(
          fmt::format("domain {} was added from {} matched samples and has rank {}: every direction can be matched "
                      "whatever the data, so its map will not carry over to new samples. Give a ridge (auto, for "
                      "instance), or limit max_rank to well below {}",
                      number(domain), addition->samples, rank, addition->samples - 1));
    }
  }
}

}  // namespace

std::vector<std::string> Model::warnings() const {
  std::vector<std::string> result;
  if (!additions.empty()) {
    result = fitted().warnings();
    warn_of_additions(*this, result);
    return result;
  }
  count() == 2 ? warn_of_two(*this, result) : warn_of_more(*this, result);
  warn_of_residuals(*this, result);
  warn_of_rounding(*this, result);
  warn_of_units(*this, result);
  warn_of_patterns(*this, result);
  warn_of_nuisance(*this, result);
  return result;
}

}  // namespace cgmca
