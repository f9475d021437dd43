#include "report/html.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include "support/atomic_file.hpp"

namespace cgmca::report {
namespace {

// --s0 … --s5 colour the series of a plot; the plots name nothing but these variables and currentColor.
constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --bg: #ffffff; --fg: #1d2433; --muted: #5c667a; --line: #d9dee7; --panel: #f5f7fa;
  --s0: #1f5fd0; --s1: #d1480c; --s2: #12805c; --s3: #8b3fc7; --s4: #a87900; --s5: #c02565; }
@media (prefers-color-scheme: dark) { :root { --bg: #12161d; --fg: #e4e8ef; --muted: #9aa5b8; --line: #323a48;
  --panel: #1a202a; --s0: #74a7ff; --s1: #ff9b62; --s2: #4fcf9f; --s3: #c79bff; --s4: #e6bd4a; --s5: #ff86b5; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 1.25rem 1rem 4rem; max-width: 62rem; background: var(--bg); color: var(--fg);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .5rem 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--line); }
p { margin: .6rem 0; max-width: 46rem; }
.subtitle, figcaption { color: var(--muted); font-size: .92rem; }
figure { margin: 1.2rem 0; }
figure svg { display: block; width: 100%; max-width: 600px; height: auto; }
figcaption { margin-top: .4rem; max-width: 46rem; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; overflow-x: auto;
  font: .85rem/1.5 ui-monospace, "Liberation Mono", monospace; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .3rem .65rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { color: var(--muted); font-weight: 600; vertical-align: bottom; }
.w { text-align: left; }
tr.sum td { border-top: 2px solid var(--muted); font-weight: 600; }
details { margin: .5rem 0; }
summary { cursor: pointer; font-weight: 600; padding: .25rem 0; }
.lists { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .5rem 2rem;
  align-items: start; }
.lists summary { font-weight: 400; color: var(--muted); font-size: .92rem; }
.note { color: var(--muted); font-size: .92rem; margin: .3rem 0 .6rem; }
table.bars { table-layout: fixed; width: 100%; }
.bars caption { text-align: left; font-weight: 600; padding: .2rem 0; overflow-wrap: anywhere; }
.bars th, .bars td { padding: .15rem 0 .15rem .6rem; }
.bars .name { width: 46%; }
.bars .value { width: 3.6rem; }
.bars th:first-child { padding-left: 0; text-align: left; }
.bars tbody th { color: inherit; font-weight: 400; white-space: normal; overflow-wrap: anywhere; line-height: 1.3;
  vertical-align: middle; }
.bar { position: relative; height: .9rem; }
.bar::before { content: ""; position: absolute; left: var(--zero); top: -.2rem; bottom: -.2rem;
  border-left: 1px solid var(--muted); }
.bar i { position: absolute; top: 0; bottom: 0; min-width: 1px; background: var(--s0);
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.bar i.n { background: var(--s1); }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; }
.pictures div { max-width: 100%; font-size: .92rem; }
.strips { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem .75rem; align-items: center; }
.strips span { font-size: .92rem; }
.strips img { width: 100%; }
img { display: block; max-width: 100%; height: auto; image-rendering: pixelated; }
@media (max-width: 540px) { .strips { grid-template-columns: minmax(0, 1fr); } .strips span { margin-top: .35rem; }
  h1 { font-size: 1.4rem; } th, td { padding: .3rem .35rem; white-space: normal; } }
@media print { body { max-width: none; } figure, table, .lists { break-inside: avoid; } }
)css";

std::string image_tag(const Picture& picture, const std::string& style) {
  return fmt::format("<img src=\"{}\" alt=\"{}\" width=\"{}\" height=\"{}\"{}>", data_uri(picture.image),
                     escape(picture.label), picture.image.width, picture.image.height, style);
}

std::string caption_tag(std::string_view caption) {
  return caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>", escape(caption));
}

}  // namespace

std::string escape(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

Page::Page(std::string title, std::string subtitle) : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

Page& Page::section(std::string_view title) {
  body_ += fmt::format("<h2>{}</h2>\n", escape(title));
  return *this;
}

Page& Page::text(std::string_view paragraph) {
  body_ += fmt::format("<p>{}</p>\n", escape(paragraph));
  return *this;
}

Page& Page::code(std::string_view lines) {
  body_ += fmt::format("<pre>{}</pre>\n", escape(lines));
  return *this;
}

Page& Page::table(const Table& table) {
  const auto cell = [&](const char* tag, std::size_t column, const std::string& content) {
    return fmt::format("<{}{}>{}</{}>", tag, column < table.text_columns ? " class=\"w\"" : "", escape(content), tag);
  };
  // The caption stays put where a narrow screen scrolls the table.
  std::string html = "<figure><div class=\"wide\"><table><thead><tr>";
  for (std::size_t j = 0; j < table.columns.size(); ++j) html += cell("th", j, table.columns[j]);
  html += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    if (row.size() != table.columns.size()) {
      throw InvalidInput(
          fmt::format("row {} of a table has {} cells, its header has {}", i, row.size(), table.columns.size()));
    }
    html += table.last_row_sums && i + 1 == table.rows.size() ? "<tr class=\"sum\">" : "<tr>";
    for (std::size_t j = 0; j < row.size(); ++j) html += cell("td", j, row[j]);
    html += "</tr>\n";
  }
  body_ += html + "</tbody></table></div>" + caption_tag(table.caption) + "</figure>\n";
  return *this;
}

Page& Page::figure(std::string_view markup, std::string_view caption) {
  body_ += fmt::format("<figure>{}{}</figure>\n", markup, caption_tag(caption));
  return *this;
}

Page& Page::fold(std::string_view title, std::string_view markup, bool open) {
  body_ += fmt::format("<details{}><summary>{}</summary>{}</details>\n", open ? " open" : "", escape(title), markup);
  return *this;
}

Page& Page::pictures(const std::vector<Picture>& pictures, std::string_view caption, double scale) {
  std::string html = "<figure><div class=\"pictures\">";
  for (const Picture& picture : pictures) {
    const double width = static_cast<double>(picture.image.width) * scale;
    html += fmt::format("<div>{}{}</div>", image_tag(picture, fmt::format(" style=\"width:{:.0f}px\"", width)),
                        escape(picture.label));
  }
  body_ += html + "</div>" + caption_tag(caption) + "</figure>\n";
  return *this;
}

Page& Page::strips(const std::vector<Picture>& rows, std::string_view caption) {
  std::string html = "<figure><div class=\"strips\">";
  for (const Picture& row : rows) {
    const double width = 2.7 * static_cast<double>(row.image.width);
    html += fmt::format("<span>{}</span>{}", escape(row.label),
                        image_tag(row, fmt::format(" style=\"max-width:min(100%, {:.0f}px)\"", width)));
  }
  body_ += html + "</div>" + caption_tag(caption) + "</figure>\n";
  return *this;
}

std::string Page::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n<p class=\"subtitle\">{2}</p>\n{3}"
      "</body></html>\n",
      escape(title_), kStyle, escape(subtitle_), body_);
}

std::size_t Page::write(const std::string& path) const {
  const std::string text = html();
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
  return text.size();
}

}  // namespace cgmca::report
