// The page that `cgmca tune -o` writes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "input/domains.hpp"
#include "options/tuning.hpp"
#include "report/html.hpp"
#include "report/plot.hpp"

namespace cgmca::cli {
namespace {

template <class Value, class Key>
std::vector<Value> distinct(const TuneResult& result, const Key& key) {
  std::vector<Value> values;
  for (const Trial& trial : result.trials) {
    const Value value = key(trial.candidate);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

}  // namespace

void write_tuning_report(const std::string& path, const TuneResult& result, const PermutationTest* test) {
  const auto families = distinct<Family>(result, [](const Candidate& c) { return c.family; });
  const auto ranks = distinct<Index>(result, [](const Candidate& c) { return c.rank; });
  const auto max_ranks = distinct<Index>(result, [](const Candidate& c) { return c.max_rank; });
  const auto ridges = distinct<std::string>(result, [](const Candidate& c) { return name(c.ridge); });
  std::vector<std::string> rank_names, max_rank_names;
  for (Index rank : ranks) rank_names.push_back(max_rank_text(rank));
  for (Index rank : max_ranks) max_rank_names.push_back(max_rank_text(rank));

  report::Page page("Cross-validation",
                    fmt::format("{} {}, {} folds, {} repeat{}, criterion: {}", result.samples,
                                matched_noun(result.domains), result.folds.folds, result.folds.repeats,
                                result.folds.repeats == 1 ? "" : "s", name(result.criterion)));
  const Trial& best = result.trials[result.best];
  const Trial& chosen = result.trials[result.chosen];
  const auto score_text = [&](const Trial& trial) {
    return fmt::format("{:.4f} ± {:.4f}", trial[result.criterion].mean, trial[result.criterion].standard_error);
  };
  page.section("The choice")
      .text(fmt::format("Chosen: {} (error {}). The best: {} (error {}). The choice is the {}.",
                        chosen.candidate.description(), score_text(chosen), best.candidate.description(),
                        score_text(best), result.chosen == result.best ? "best" : rule_text(result)));
  for (const auto& [what, score] : baselines(result)) {
    page.text(fmt::format("Beside it {}: error {:.4f} ± {:.4f}.", what, score.mean, score.standard_error));
  }
  page.text(fmt::format("{}", fmt::join(result.recommendation, " ")));
  for (const std::string& remark : result.remarks) page.text(fmt::format("Note: {}.", remark));
  if (test != nullptr) page.text(describe_text(*test));

  page.section("The grid");
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const Trial& trial : result.trials) {
    least = std::min(least, trial[result.criterion].mean);
    most = std::max(most, trial[result.criterion].mean);
  }
  for (Family family : families) {
    for (const std::string& ridge : ridges) {
      Matrix values =
          Matrix::Constant(std::ssize(max_ranks), std::ssize(ranks), std::numeric_limits<double>::quiet_NaN());
      std::optional<std::pair<Index, Index>> marked;
      for (std::size_t t = 0; t < result.trials.size(); ++t) {
        const Candidate& candidate = result.trials[t].candidate;
        if (candidate.family != family || name(candidate.ridge) != ridge) continue;
        if (candidate.towards != Towards::zero) continue;  // these are in the table
        const auto i = std::find(max_ranks.begin(), max_ranks.end(), candidate.max_rank) - max_ranks.begin();
        const auto j = std::find(ranks.begin(), ranks.end(), candidate.rank) - ranks.begin();
        values(i, j) = result.trials[t][result.criterion].mean;
        if (t == result.chosen) marked = {i, j};
      }
      page.figure(
          report::grid_map(
              values, max_rank_names, rank_names, least, most, marked,
              {.title = fmt::format("{}, ridge {}", name(family), ridge), .x_label = "rank", .y_label = "max rank"}),
          fmt::format("{}, ridge {}: held-out error by rank and max rank; a stronger colour is a smaller error."
                      "{}",
                      name(family), ridge, marked ? " The choice is framed." : ""));
    }
  }

  report::Table table{{"covariance", "max rank", "ridge"}, {}, "All settings that were tried, the best first.", 3};
  std::vector<Criterion> shown;
  for (Criterion criterion : kCriteria) {
    if (!std::isfinite(best[criterion].mean)) continue;
    shown.push_back(criterion);
    table.columns.emplace_back(name(criterion));
  }
  for (std::size_t t : by_merit(result)) {
    const Trial& trial = result.trials[t];
    const Candidate& candidate = trial.candidate;
    std::vector<std::string> row = {
        fmt::format("{}{}", candidate.covariance_name(),
                    t == result.chosen ? " (chosen)"
                    : t == result.best ? " (best)"
                                       : ""),
        max_rank_text(candidate.max_rank),
        fmt::format("{}{}", name(candidate.ridge), candidate.towards == Towards::identity ? " towards identity" : "")};
    for (Criterion criterion : shown) {
      row.push_back(fmt::format("{:.4f} ± {:.4f}", trial[criterion].mean, trial[criterion].standard_error));
    }
    table.rows.push_back(std::move(row));
  }
  page.section("All trials").table(table);
  page.write(path);
}

}  // namespace cgmca::cli
