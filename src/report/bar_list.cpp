#include "report/bar_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/html.hpp"

namespace cgmca::report {
namespace {

// No line may break beside the "…" of a shortened name: it would stand alone. (U+2060 joins words.)
std::string kept_together(std::string label) {
  constexpr std::string_view dots = "…", joined = "&#8288;…&#8288;";
  for (std::size_t at = 0; (at = label.find(dots, at)) != std::string::npos; at += joined.size()) {
    label.replace(at, dots.size(), joined);
  }
  return label;
}

std::string row(const Bar& bar, Interval scale) {
  const auto place = [&](double value) {
    return 100 * (std::clamp(value, scale.low, scale.high) - scale.low) / (scale.high - scale.low);
  };
  const double zero = place(0), end = place(bar.value);
  const std::string name = escape(bar.name);
  return fmt::format(
      "<tr><th scope=\"row\"{}>{}</th><td aria-hidden=\"true\"><div class=\"bar\" style=\"--zero:{}%\">"
      "<i class=\"{}\" style=\"left:{}%;width:{}%\"></i></div></td><td>{}</td></tr>\n",
      bar.label == bar.name ? "" : fmt::format(" title=\"{0}\" aria-label=\"{0}\"", name),
      kept_together(escape(bar.label)), number(zero), bar.value < 0 ? "n" : "p", number(std::min(zero, end)),
      number(std::abs(end - zero)), escape(signed_value(bar.value)));
}

std::string table(const BarList& list, std::size_t first, std::size_t last, Interval scale) {
  std::string html = "<table class=\"bars\">";
  if (first == 0) html += fmt::format("<caption>{}</caption>", escape(list.title));
  html += fmt::format(
      "<colgroup><col class=\"name\"><col><col class=\"value\"></colgroup>"
      "<thead><tr><th scope=\"col\">{}</th><th scope=\"col\" colspan=\"2\">{}</th></tr></thead><tbody>\n",
      escape(list.name_column), escape(list.value_column));
  for (std::size_t k = first; k < last; ++k) html += row(list.bars[k], scale);
  return html + "</tbody></table>";
}

}  // namespace

std::string signed_value(double value) {
  if (value < -99) return "< −99";
  const std::string digits =
      std::abs(value) < 9.995 ? fmt::format("{:.2f}", std::abs(value)) : fmt::format("{:.0f}", std::abs(value));
  return value < 0 && digits != "0.00" ? "−" + digits : digits;
}

std::string bar_lists(const std::vector<BarList>& lists, Interval scale) {
  std::string html = "<div class=\"lists\">";
  for (const BarList& list : lists) {
    const std::size_t count = list.bars.size(), shown = std::min(list.shown, count);
    html += "<div>" + table(list, 0, shown, scale);
    if (shown < count) {
      html += fmt::format("<details><summary>{} more</summary>{}</details>", count - shown,
                          table(list, shown, count, scale));
    }
    if (!list.note.empty()) html += fmt::format("<p class=\"note\">{}</p>", escape(list.note));
    html += "</div>";
  }
  return html + "</div>\n";
}

}  // namespace cgmca::report
