#include "report/bar_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "report/html.hpp"

namespace cgmca::report {
namespace {

struct Character {
  std::string_view bytes;
  std::size_t columns;
};

// The characters of UTF-8. A byte that is none counts as one.
std::vector<Character> characters(const std::string& text) {
  std::vector<Character> result;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t claimed = first >= 0xF0U ? 4 : first >= 0xE0U ? 3 : first >= 0xC0U ? 2 : 1;
    std::size_t length = 1;
    while (length < claimed && at + length < text.size() &&
           (static_cast<unsigned char>(text[at + length]) & 0xC0U) == 0x80U) {
      ++length;
    }
    // Three bytes from U+3000 on, and four: nearly all of them are wide.
    result.push_back({std::string_view(text).substr(at, length), first >= 0xE3U && length >= 3 ? 2U : 1U});
    at += length;
  }
  return result;
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
      bar.label == bar.name ? "" : fmt::format(" title=\"{0}\" aria-label=\"{0}\"", name), escape(bar.label),
      number(zero), bar.value < 0 ? "n" : "p", number(std::min(zero, end)), number(std::abs(end - zero)),
      escape(signed_value(bar.value)));
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

std::string shortened(const std::string& name, std::size_t width) {
  const std::vector<Character> all = characters(name);
  std::size_t columns = 0;
  for (const Character& one : all) columns += one.columns;
  if (columns <= width) return name;
  // The front gets the larger half of what "…" leaves.
  const std::size_t back_room = (width - 1) / 2, front_room = width - 1 - back_room;
  std::string front, back;
  std::size_t used = 0;
  for (std::size_t k = 0; used + all[k].columns <= front_room; ++k) {
    front += all[k].bytes;
    used += all[k].columns;
  }
  used = 0;
  for (std::size_t k = all.size() - 1; used + all[k].columns <= back_room; --k) {
    back.insert(0, all[k].bytes);
    used += all[k].columns;
  }
  return front + "…" + back;
}

std::vector<std::string> short_labels(const std::vector<std::string>& names, std::size_t width) {
  std::vector<std::string> labels;
  std::map<std::string, std::set<std::string>> alike;
  for (const std::string& name : names) alike[labels.emplace_back(shortened(name, width))].insert(name);
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (alike[labels[k]].size() == 1) continue;
    const std::string place = fmt::format(" ({})", k + 1);
    labels[k] = shortened(names[k], width - std::min(width - 3, place.size())) + place;
  }
  return labels;
}

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
