// Plots as SVG text, for Page::figure or a file of their own. They name only currentColor and the page's CSS
// variables (with a fallback each), so one drawing suits the light and the dark theme. Hand-written because plotting
// libraries write fixed colours, and a drawing of ours is a few hundred lines of text.
#pragma once

#include <cgmca/types.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cgmca::report {

struct Series {
  std::string name;          // in the legend where there are several
  std::vector<double> x, y;  // of equal length; a point that is not finite interrupts the line
};

struct Axes {
  std::string title = {};  // read out to those who cannot see the plot
  std::string x_label = {}, y_label = {};
  bool log_x = false;                             // points with x <= 0 are left out
  bool whole_x = false;                           // x counts something: no ticks between whole numbers
  std::optional<double> y_low = {}, y_high = {};  // else from the data
  bool markers = false;                           // line_plot: a dot at every point
};

std::string line_plot(const std::vector<Series>& series, const Axes& axes);
std::string scatter(const std::vector<Series>& series, const Axes& axes);
// A vertical line from 0 to every y.
std::string stems(const std::vector<Series>& series, const Axes& axes);

// One group of bars per category, one bar per series in each; series.x is not used.
std::string bars(const std::vector<std::string>& categories, const std::vector<Series>& series, const Axes& axes);

// Cell (i, j) is drawn in row i from the top, the stronger the larger |value|, in another colour where negative.
// Blocks of cells are averaged so that at most 64 remain each way.
std::string heat_map(const MatrixView& values, const Axes& axes);

// Cells with their values, rows and columns named; the colour is strongest at `low` and faint at `high`. NaN is left
// empty, the cell `marked` is framed.
std::string grid_map(const MatrixView& values, const std::vector<std::string>& row_names,
                     const std::vector<std::string>& column_names, double low, double high,
                     const std::optional<std::pair<Index, Index>>& marked, const Axes& axes);

}  // namespace cgmca::report
