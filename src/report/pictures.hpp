// Pictures of scores and features: groups with ellipses, arrows, a circle of correlations, intervals. SVG as in plot.hpp;
// every mark has its name and values as a title.
#pragma once

#include <string>
#include <vector>

#include "report/plot.hpp"

namespace cgmca::report {

// A mark, with what is read where it is pointed at.
struct Mark {
  double x = 0, y = 0;
  std::string name;
};

struct MarkGroup {
  std::string name;  // in the legend where there are several
  std::vector<Mark> marks;
  bool ellipse = false;  // that holds 95 % of a normal distribution with the mean and covariance of the marks
};

// From one point to another, with a name at its end if there is one.
struct Arrow {
  Mark from, to;
  std::size_t colour = 0;
  bool named = false;
};

std::string mark_plot(const std::vector<MarkGroup>& groups, const std::vector<Arrow>& arrows, const Axes& axes);

// Marks in the unit circle, with the circles of 1 and .5; names are written beside them where there is room.
std::string circle_plot(const std::vector<MarkGroup>& groups, const Axes& axes);

struct IntervalMark {
  std::string name, label;  // whole; as shown
  double value = 0, low = 0, high = 0;
};
// One line a name: an interval, a dot, and a vertical line at zero.
std::string interval_plot(const std::vector<IntervalMark>& marks, const Axes& axes);

}  // namespace cgmca::report
