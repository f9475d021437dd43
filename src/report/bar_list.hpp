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

// "0.25", "−0.03", "−12"; below -99 "< −99".
std::string signed_value(double value);

}  // namespace cgmca::report
