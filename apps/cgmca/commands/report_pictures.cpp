// The part of the report that shows scores, features, diagnostics and intervals as pictures.
#include <cgmca/explained.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "commands/report_parts.hpp"
#include "commands/statistics.hpp"
#include "input/domains.hpp"
#include "report/labels.hpp"
#include "report/pictures.hpp"

namespace cgmca::cli {
namespace {

using report::Arrow;
using report::Axes;
using report::IntervalMark;
using report::Mark;
using report::MarkGroup;
using report::Page;

constexpr Index kBarDirections = 10, kCircleFeatures = 12, kArrowFeatures = 5, kIntervals = 15;
constexpr std::size_t kPairArrows = 200, kLabelled = 20;
constexpr std::size_t kShortName = 22;

// Scores 1 and 2 of a domain may be correlated by a ridge; along the part of score 2 that score 1 leaves, no feature
// leaves the circle: x = a_1, y = (a_2 - r a_1) / √(1 - r²).
Matrix circle_of(const Model& model, Domain domain) {
  Matrix a = score_correlations(model, domain, domain).leftCols(2);
  const Regularized& covariance = model.certificate.constrained[domain];
  const Matrix T = model.domain(domain).weights.topRows(2);
  const Matrix G = (Matrix::Identity(2, 2) - covariance.ridge * T * T.transpose()) / covariance.data;
  const double r = covariance.plain() ? 0 : G(0, 1) / std::sqrt(G(0, 0) * G(1, 1));
  a.col(1) = (a.col(1) - r * a.col(0)) / std::sqrt(1 - r * r);
  return a;
}

std::vector<Index> strongest(const Vector& size, Index most) {
  std::vector<Index> order;
  for (Index f = 0; f < size.size(); ++f) {
    if (std::isfinite(size(f))) order.push_back(f);
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size(a) > size(b); });
  order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
  return order;
}

// Whether the model has two directions of all domains, and their covariances.
bool has_plane(const Model& model) {
  for (const Domain domain : all_domains(model.count())) {
    if (!model.domains[domain] || model.domain(domain).scores() < 2) return false;
    if (!(model.certificate.constrained[domain].data > 0)) return false;
  }
  return true;
}

void add_shares(Page& page, const Model& model) {
  page.section("Shares of variance");
  for (const Domain domain : all_domains(model.count())) {
    const Shares own = explained(model, domain, domain).standardized;
    const Index count = std::min(own.alone.size(), kBarDirections);
    std::vector<std::string> categories;
    for (Index j = 1; j <= count; ++j) categories.push_back(fmt::format("{}", j));
    const auto series = [&](const std::string& name, const Vector& alone) {
      std::vector<double> y(alone.begin(), alone.begin() + std::min(count, alone.size()));
      y.resize(static_cast<std::size_t>(count), 0.0);
      return report::Series{name, {}, y};
    };
    std::vector<report::Series> all = {series("own score", own.alone)};
    std::string totals = fmt::format("{:.3f} by its own", own.total());
    for (const Domain by : model.others(domain)) {
      const Shares cross = explained(model, domain, by).standardized;
      all.push_back(series("score of " + domain_title(model, by), cross.alone));
      totals += fmt::format(", {:.3f} by those of {}", cross.total(), domain_title(model, by));
    }
    page.figure(report::bars(categories, all,
                             {.title = "Shares of variance of " + domain_title(model, domain),
                              .x_label = "direction",
                              .y_label = "share of variance"}),
                fmt::format("{}: the share of its features' variance (at unit variance) that each score carries or "
                            "explains. All scores together: {}.",
                            domain_title(model, domain), totals));
  }
}

void add_circle(Page& page, const Model& model) {
  std::vector<MarkGroup> groups;
  for (const Domain domain : all_domains(model.count())) {
    const Matrix a = circle_of(model, domain);
    const std::vector<std::string> names = names_of_features(model, domain);
    const auto labels = report::short_labels(names, kShortName);
    MarkGroup group{domain_title(model, domain), {}};
    for (const Index f : strongest(a.rowwise().norm(), kCircleFeatures)) {
      group.marks.push_back({a(f, 0), a(f, 1), labels[f]});
    }
    groups.push_back(std::move(group));
  }
  page.section("Correlation circle")
      .figure(report::circle_plot(groups, {.title = "Correlation circle",
                                           .x_label = "correlation with score 1",
                                           .y_label = "correlation with score 2"}),
              fmt::format("The {} features of each domain that are most correlated with its first two scores. Features "
                          "near each other, and near the outer circle, rise and fall together.",
                          kCircleFeatures));
}

void add_cross_correlations(Page& page, const Model& model) {
  if (model.count() > 3) return;
  page.section("Cross-correlations");
  for (const Domain a : all_domains(model.count())) {
    for (const Domain b : all_domains(model.count())) {
      if (!(a < b)) continue;
      Matrix shared = shared_correlations(model, a, b);
      shared = shared.array().isFinite().select(shared, 0.0);
      page.figure(report::heat_map(shared, {.title = "Cross-correlations",
                                            .x_label = "features of " + domain_title(model, b),
                                            .y_label = "features of " + domain_title(model, a)}),
                  fmt::format("What the common directions say of the correlation of every feature of {} with every "
                              "feature of {}. `cgmca explain --edges` lists the strongest.",
                              domain_title(model, a), domain_title(model, b)));
    }
  }
}

Mark mark_of(const Seen& seen, std::size_t domain, Index k) {
  const Matrix& t = seen.scores[domain];
  return {t(0, k), t(1, k), fmt::format("sample {}", seen.numbers[k] + 1)};
}

// Scores by label; without labels of the domains, with arrows between partners.
void add_scores(Page& page, const Model& model, const Seen& seen) {
  const Axes axes{.title = "Scores", .x_label = "score 1", .y_label = "score 2"};
  const Index n = seen.scores.front().cols();
  if (!seen.labels.empty()) {
    std::map<std::string, std::vector<Index>> classes;
    for (Index k = 0; k < n; ++k) classes[seen.labels[k]].push_back(k);
    page.section("Scores by label");
    if (classes.size() > kLabelled) {
      page.text(fmt::format("There are {} labels; up to {} are shown as groups.", classes.size(), kLabelled));
      return;
    }
    for (const Domain domain : all_domains(model.count())) {
      std::vector<MarkGroup> groups;
      for (const auto& [label, members] : classes) {
        MarkGroup group{label, {}, true};
        for (const Index k : members) {
          Mark mark = mark_of(seen, index(domain), k);
          mark.name += ", " + label;
          group.marks.push_back(mark);
        }
        groups.push_back(std::move(group));
      }
      page.figure(report::mark_plot(groups, {}, axes),
                  fmt::format("{}: first two canonical scores of {} samples. The ellipses hold 95 % of a normal "
                              "distribution with each label's mean and covariance.",
                              domain_title(model, domain), n));
    }
  }
  std::vector<MarkGroup> domains;
  std::vector<Arrow> arrows;
  for (const Domain domain : all_domains(model.count())) {
    MarkGroup group{domain_title(model, domain), {}};
    for (Index k = 0; k < std::min<Index>(n, kPairArrows); ++k) {
      group.marks.push_back(mark_of(seen, index(domain), k));
      if (index(domain) > 0) arrows.push_back({mark_of(seen, 0, k), group.marks.back()});
    }
    domains.push_back(std::move(group));
  }
  page.section("Partners")
      .figure(report::mark_plot(domains, arrows, axes),
              "Samples of each domain in the plane of the first two scores, with a line from each "
              "sample of domain 1 to its partners: the shorter, the better matched.");
}

void add_biplot(Page& page, const Model& model, const Seen& seen) {
  const Index n = seen.scores.front().cols();
  MarkGroup samples{"samples", {}};
  double size = 0;
  for (Index k = 0; k < n; ++k) {
    samples.marks.push_back(mark_of(seen, 0, k));
    size = std::max({size, std::abs(samples.marks.back().x), std::abs(samples.marks.back().y)});
  }
  std::vector<Arrow> arrows;
  for (const Domain domain : all_domains(model.count())) {
    const Matrix a = circle_of(model, domain);
    const auto labels = report::short_labels(names_of_features(model, domain), kShortName);
    for (const Index f : strongest(a.rowwise().norm(), kArrowFeatures)) {
      Arrow arrow;
      arrow.from = {0, 0, ""};
      arrow.to = {size * a(f, 0), size * a(f, 1), labels[f]};
      arrow.colour = index(domain) + 1;
      arrow.named = true;
      arrows.push_back(arrow);
    }
  }
  page.section("Biplot").figure(
      report::mark_plot({samples}, arrows, {.title = "Biplot", .x_label = "score 1", .y_label = "score 2"}),
      fmt::format("Samples by the scores of domain 1, and the {} features of each domain that are most correlated with "
                  "its scores, as arrows (a colour for each domain).",
                  kArrowFeatures));
}

void add_diagnosis(Page& page, const Model& model, const Diagnosis& found) {
  page.section("Diagnostics: T² and Q");
  std::vector<bool> suspicious(static_cast<std::size_t>(found.pair_p.size()));
  for (const Suspect& one : found.suspects) suspicious[one.sample] = true;
  for (const Domain domain : all_domains(model.count())) {
    const DomainDiagnosis& own = found.domains[domain];
    MarkGroup usual{"usual", {}}, suspects{"suspicious", {}};
    for (Index k = 0; k < own.t_squared.size(); ++k) {
      MarkGroup& group = suspicious[k] ? suspects : usual;
      group.marks.push_back({own.t_squared(k), own.residual(k), fmt::format("sample {}", k + 1)});
    }
    page.figure(
        report::mark_plot({usual, suspects}, {},
                          {.title = "T² and Q", .x_label = "T² within the common space", .y_label = "Q outside"}),
        fmt::format("{}: the distance of each sample from the mean, within the common space and outside of it.",
                    domain_title(model, domain)));
  }
  report::Table table{{"sample", "why", "domain", "likeliest partner", "p", "q"}, {}, "", 3};
  for (std::size_t k = 0; k < std::min<std::size_t>(found.suspects.size(), 30); ++k) {
    const Suspect& one = found.suspects[k];
    table.rows.push_back({fmt::format("{}", one.sample + 1), name(one.suspicion), fmt::format("{}", number(one.domain)),
                          one.partner >= 0 ? fmt::format("{}", one.partner + 1) : "", fmt::format("{:.2g}", one.p),
                          fmt::format("{:.2g}", one.q)});
  }
  if (table.rows.empty()) {
    page.text("No sample looks mispaired or unlike the others at a false discovery rate of .05.");
  } else {
    table.caption = fmt::format(
        "Samples that look mispaired or unlike the others, at a false discovery rate of .05; {} "
        "in all.",
        found.suspects.size());
    page.table(table);
  }
  for (const std::string& remark : found.remarks) page.text("Note: " + remark + ".");
}

std::vector<IntervalMark> marks_of(const Bootstrapped& found, Index direction, const std::vector<std::string>& names) {
  const auto labels = report::short_labels(names, kShortName);
  std::vector<IntervalMark> marks;
  for (const Index f : strongest(found.estimate.col(direction).cwiseAbs(), kIntervals)) {
    marks.push_back(
        {names[f], labels[f], found.estimate(f, direction), found.lower(f, direction), found.upper(f, direction)});
  }
  return marks;
}

void add_bootstrap_figures(Page& page, const Model& model, const Bootstrap& found) {
  page.section("Bootstrap");
  std::vector<IntervalMark> correlations;
  Index pair = 0;
  for (const Domain a : all_domains(model.count())) {
    for (const Domain b : all_domains(model.count())) {
      if (!(a < b)) continue;
      for (Index j = 0; j < found.correlations.estimate.rows(); ++j) {
        const std::string name = model.count() == 2 ? fmt::format("direction {}", j + 1)
                                                    : fmt::format("{}-{}, direction {}", number(a), number(b), j + 1);
        correlations.push_back({name, name, found.correlations.estimate(j, pair), found.correlations.lower(j, pair),
                                found.correlations.upper(j, pair)});
      }
      ++pair;
    }
  }
  page.figure(report::interval_plot(correlations, {.title = "Correlations", .x_label = "correlation"}),
              fmt::format("Correlations with 95 % intervals of {} replicas.", found.replicas));
  for (const Domain domain : all_domains(model.count())) {
    const std::vector<std::string> names = names_of_features(model, domain);
    for (const auto& [what, numbers] : {std::pair("weight", &found.domains[domain].weights),
                                        std::pair("correlation with the score", &found.domains[domain].structure)}) {
      page.figure(report::interval_plot(marks_of(*numbers, 0, names), {.title = what, .x_label = what}),
                  fmt::format("{}, direction 1: {} of the {} strongest features, with 95 % intervals. Those that hold "
                              "zero have the second colour.",
                              domain_title(model, domain), what, std::min<std::size_t>(names.size(), kIntervals)));
    }
  }
}

}  // namespace

void add_pictures(Page& page, const Model& model, const Seen* seen) {
  if (!has_plane(model)) return;
  add_shares(page, model);
  add_circle(page, model);
  add_cross_correlations(page, model);
  if (seen == nullptr) return;
  if (seen->scores.front().rows() >= 2) {
    add_scores(page, model, *seen);
    add_biplot(page, model, *seen);
  }
  if (seen->diagnosis) add_diagnosis(page, model, *seen->diagnosis);
  if (seen->bootstrap) add_bootstrap_figures(page, model, *seen->bootstrap);
}

}  // namespace cgmca::cli
