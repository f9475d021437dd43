// Named values, each with a bar on one common scale: tables whose bars lie to either side of a zero line. Names may be
// long and many. Markup for Page::figure and Page::fold; all text in it is escaped.
#pragma once

#include <string>
#include <vector>

#include "report/axes.hpp"

namespace cgmca::report {

struct Bar {
  std::string name;   // whole
  std::string label;  // as shown: the name, or it shortened
  double value;       // finite
};

struct BarList {
  std::string title;                      // above the list
  std::string name_column, value_column;  // the table's header
  std::vector<Bar> bars;
  std::size_t shown = 12;  // bars after these are folded away
  std::string note = {};   // below the list
};

// Side by side where there is room, one below the other on a phone. A value outside the scale has a bar to its end.
std::string bar_lists(const std::vector<BarList>& lists, Interval scale);

// At most `width` columns wide, cut in the middle: "mean corpuscu…centration". A wide character (Chinese, for instance)
// counts as two columns.
std::string shortened(const std::string& name, std::size_t width);

// Each name shortened. Where two different names would then look alike, their places follow: "gene_…_mean (17)".
std::vector<std::string> short_labels(const std::vector<std::string>& names, std::size_t width);

// "0.25", "−0.03", "−12"; below -99 "< −99".
std::string signed_value(double value);

}  // namespace cgmca::report
