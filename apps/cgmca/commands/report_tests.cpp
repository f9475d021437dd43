// Whether the correlations are more than chance, on the page that `cgmca report` writes.
#include <cgmca/correlation_tests.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands/report_parts.hpp"

namespace cgmca::cli {
namespace {

constexpr std::size_t kMostShown = 30;

std::string p_text(double p) { return std::isfinite(p) ? fmt::format("{:.3g}", p) : "not known"; }

}  // namespace

void add_correlation_tests(report::Page& page, const Model& model) {
  if (model.count() != 2) return;
  page.section("Are the correlations more than chance?");
  std::vector<CorrelationTest> tests;
  try {
    tests = correlation_tests(model);
  } catch (const InvalidInput& why) {
    page.text(fmt::format("Not tested: {}.", why.what()));
    return;
  }
  report::Table table{{"from", "correlation", "Wilks' Λ", "F", "df1", "df2", "p", "χ² p"}, {}, "", 1};
  for (std::size_t k = 0; k < std::min(kMostShown, tests.size()); ++k) {
    const CorrelationTest& test = tests[k];
    table.rows.push_back({fmt::format("{}", test.first), fmt::format("{:.4f}", test.correlation),
                          fmt::format("{:.4g}", test.wilks.value), fmt::format("{:.4g}", test.wilks.F),
                          fmt::format("{:.4g}", test.wilks.df1), fmt::format("{:.5g}", test.wilks.df2),
                          p_text(test.wilks.p), p_text(test.chi_p)});
  }
  table.caption = fmt::format(
      "Each line tests whether the correlations from its number on are zero: Rao's F of Wilks' Λ, and the χ² of "
      "Bartlett and Lawley. The theory is that of normal data.{}",
      tests.size() > kMostShown ? fmt::format(" The first {} of {} lines.", kMostShown, tests.size()) : "");
  page.table(table);
  const CorrelationTest& all = tests.front();
  page.text(fmt::format(
      "At the level .05, {} of {} correlations are not zero. That all are zero has p {} by Pillai's trace, {} by that "
      "of Hotelling and Lawley, and at least {} by Roy's largest root.",
      significant_correlations(tests), tests.size(), p_text(all.pillai.p), p_text(all.hotelling.p), p_text(all.roy.p)));
}

}  // namespace cgmca::cli
