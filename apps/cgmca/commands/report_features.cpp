// The part of the report for tables: features by their names.
#include <cgmca/explained.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "commands/report_parts.hpp"
#include "input/domains.hpp"
#include "output/describe.hpp"
#include "report/bar_list.hpp"
#include "report/labels.hpp"

namespace cgmca::cli {
namespace {

using report::BarList;
using report::Page;

constexpr std::size_t kBars = 12, kR2Bars = 16, kMoreR2Bars = 84;  // features shown of a direction; of R²; folded there
constexpr Index kOpenDirections = 6, kAllDirections = 40;          // shown open; shown at all
constexpr std::size_t kLabelWidth = 40;

struct Features {
  std::vector<std::string> names, labels;
};

Features features_of(const DomainMap& map) {
  Features result{map.feature_names, {}};
  for (Index f = 0; map.feature_names.empty() && f < map.features(); ++f) {
    result.names.push_back(fmt::format("feature {}", f + 1));
  }
  result.labels = report::short_labels(result.names, kLabelWidth);
  return result;
}

std::string counted(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// The places of the finite values, the largest first by `size`; equal ones in the order of the features.
template <class Size>
std::vector<Index> sorted(const Vector& values, const Size& size) {
  std::vector<Index> order;
  for (Index f = 0; f < values.size(); ++f) {
    if (std::isfinite(values(f))) order.push_back(f);
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size(values(a)) > size(values(b)); });
  return order;
}

void take(BarList& list, const Features& features, const Vector& values, const std::vector<Index>& order,
          std::size_t most) {
  for (std::size_t k = 0; k < std::min(most, order.size()); ++k) {
    const auto f = static_cast<std::size_t>(order[k]);
    list.bars.push_back({features.names[f], features.labels[f], values(order[k])});
  }
}

std::string constant_note(const Vector& values, const std::vector<Index>& order) {
  const auto constant = static_cast<std::size_t>(values.size()) - order.size();
  return constant == 0 ? ""
                       : fmt::format(" {} not vary measurably.",
                                     counted(constant, "feature") + (constant == 1 ? " does" : " do"));
}

BarList largest_correlations(const std::string& title, const Features& features, const Vector& values) {
  const auto size = [](double value) { return std::abs(value); };
  const std::vector<Index> order = sorted(values, size);
  BarList list{title, "feature", "correlation", {}, kBars};
  take(list, features, values, order, kBars);
  if (order.size() > kBars) {
    list.note = fmt::format("{} left out, none above {:.2f} in size.", counted(order.size() - kBars, "more feature"),
                            size(values(order[kBars])));
  }
  list.note += constant_note(values, order);
  return list;
}

BarList largest_r2(const std::string& title, const Features& features, const Vector& values) {
  const std::vector<Index> order = sorted(values, [](double value) { return value; });
  BarList list{title, "feature", "R²", {}, kR2Bars};
  take(list, features, values, order, kR2Bars + kMoreR2Bars);
  if (order.empty()) return list;
  double sum = 0;
  for (const Index f : order) sum += values(f);
  list.note = fmt::format("Mean of {}: {}.", counted(order.size(), "feature"),
                          report::signed_value(sum / static_cast<double>(order.size())));
  if (order.size() > list.bars.size()) {
    list.note += fmt::format(" {} left out, none above {}.", counted(order.size() - list.bars.size(), "feature"),
                             report::signed_value(values(order[list.bars.size()])));
  }
  list.note += constant_note(values, order);
  return list;
}

// The model holds the samples' covariances only as part of α Θ + β I. (24)
bool keeps_covariance(const Model& model, Domain domain) { return model.certificate.constrained[domain].data > 0; }

Index directions_of(const Model& model) {
  const auto& ranks = model.certificate.covariance_ranks;
  const Index least = *std::min_element(ranks.begin(), ranks.end());
  return model.count() == 2 ? std::min(least, model.certificate.singular_B.size()) : least;
}

// "correlation 0.912"; of more than two domains "correlations 0.512 to 0.912" of their j-th scores.
std::string correlation_text(const Model& model, Index j) {
  if (model.count() == 2) return fmt::format("correlation {:.3f}", model.certificate.singular_B(j));
  double least = INFINITY, most = -INFINITY;
  for (const Domain a : all_domains(model.count())) {
    for (const Domain b : all_domains(model.count())) {
      if (!(a < b) || !model.domains[a] || !model.domains[b]) continue;
      const double value = model.score_covariance(a, b)(j, j);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  return least > most ? "correlations not known" : fmt::format("correlations {:.3f} to {:.3f}", least, most);
}

void add_directions(Page& page, const Model& model, const std::vector<Domain>& tables) {
  const Index all = directions_of(model), count = std::min(all, kAllDirections);
  std::vector<Matrix> values;
  std::vector<Features> features;
  for (Domain domain : tables) {
    values.push_back(score_correlations(model, domain, domain).leftCols(count));
    features.push_back(features_of(model.domain(domain)));
  }
  page.text(
      "Correlation of each feature with the canonical score of its domain, over the samples of the fit. Units do not "
      "matter. Along a direction, features with bars to the same side rise together, also across the domains.");
  for (Index j = 0; j < count; ++j) {
    std::vector<BarList> lists;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      lists.push_back(largest_correlations(domain_title(model, tables[i]), features[i], values[i].col(j)));
    }
    page.fold(fmt::format("Direction {}: {}", j + 1, correlation_text(model, j)), report::bar_lists(lists, {-1, 1}),
              j < kOpenDirections);
  }
  if (count < all) page.text(fmt::format("{} more directions are left out.", all - count));
}

void add_r2(Page& page, const Model& model, const Seen* seen, const std::vector<Domain>& tables) {
  std::vector<BarList> lists;
  double low = 0;
  const bool two = model.count() == 2;
  for (Domain domain : tables) {
    const Vector r2 = seen != nullptr ? *seen->r2[domain] : translation_r2(model, domain).features;
    lists.push_back(largest_r2(fmt::format("{}, from {}", domain_title(model, domain),
                                           two ? domain_title(model, other(domain)) : "all others"),
                               features_of(model.domain(domain)), r2));
    for (const report::Bar& bar : lists.back().bars) low = std::min(low, bar.value);
  }
  page.section("Translation: R² of each feature");
  page.figure(report::bar_lists(lists, {std::max(low, -1.0), 1}),
              seen != nullptr
                  ? fmt::format("The share of each feature's variance that the translation from the other domain{} "
                                "(lmmse) explains, measured on the {} {} given. It is negative if the mean "
                                "would do better.",
                                two ? "" : "s", seen->verification.samples, matched_noun(model.count()))
                  : fmt::format("The share of each feature's variance that the translation from the other domain{0} "
                                "(lmmse) explains in the {1} of the fit, as the model claims it. New {1} are "
                                "explained less well: give some to `cgmca report` to measure that.",
                                two ? "" : "s", matched_noun(model.count())));
}

}  // namespace

void add_features(Page& page, const Model& model, const Seen* seen, const std::optional<Shape>& shape) {
  std::vector<Domain> tables;
  for (const Domain domain : all_domains(model.count())) {
    if (is_table(model, domain, shape)) tables.push_back(domain);
  }
  if (tables.empty()) return;
  page.section("Loadings: the features of each direction");
  std::vector<Domain> known;
  for (Domain domain : tables) {
    if (keeps_covariance(model, domain)) {
      known.push_back(domain);
    } else {
      page.text(
          fmt::format("Of {}: not known. The fit whitened it with {}, so the model does not hold its covariances.",
                      domain_title(model, domain), constrained_text(model, domain)));
    }
  }
  if (!known.empty()) add_directions(page, model, known);
  bool claims = true, whole = true;
  for (const Domain domain : all_domains(model.count())) {
    claims = claims && keeps_covariance(model, domain);
    whole = whole && model.domains[domain].has_value();
  }
  if (whole && (seen != nullptr || claims)) add_r2(page, model, seen, tables);
}

}  // namespace cgmca::cli
