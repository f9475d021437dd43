// One HTML page in one file: no network, no script, light or dark as the reader's system is, readable on a phone.
//
//   Page page("Fit of X1 and X2", "n = 1,000 pairs");
//   page.section("Canonical correlations").figure(line_plot(series, axes), "What the two domains share.");
//   page.write("report.html");
//
// All text is escaped; only figure() and fold() take markup, which must come from plot.hpp or bar_list.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/png.hpp"

namespace cgmca::report {

// & < > " ' as entities.
std::string escape(std::string_view text);

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as columns
  std::string caption = {};
  std::size_t text_columns = 1;  // leading columns that hold words, aligned left; the others hold numbers
  bool last_row_sums = false;    // the last row is a mean or a total of the others
};

struct Picture {
  std::string label;
  Image image;
};

class Page {
 public:
  explicit Page(std::string title, std::string subtitle = {});

  Page& section(std::string_view title);
  Page& text(std::string_view paragraph);
  Page& code(std::string_view lines);
  Page& table(const Table& table);  // throws InvalidInput where a row has another length than the header
  Page& figure(std::string_view markup, std::string_view caption);
  // A part that the reader opens and closes by its title.
  Page& fold(std::string_view title, std::string_view markup, bool open);
  // Side by side, wrapping; each pixel is drawn `scale` screen pixels wide, less where the screen is narrower.
  Page& pictures(const std::vector<Picture>& pictures, std::string_view caption, double scale = 4);
  // One below the other with the label in front: the rows of a montage.
  Page& strips(const std::vector<Picture>& rows, std::string_view caption);

  std::string html() const;
  std::size_t write(const std::string& path) const;  // how many bytes; atomic; throws IoError

 private:
  std::string title_, subtitle_, body_;
};

}  // namespace cgmca::report
