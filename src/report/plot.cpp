#include "report/plot.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/axes.hpp"
#include "report/html.hpp"

namespace cgmca::report {
namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// Room for the points: where all are equal, or there are none, an interval around them.
Interval padded(const Range& range, double share) {
  if (range.low > range.high) return {0, 1};
  if (range.low == range.high) {
    const double room = range.low == 0 ? 1 : std::abs(range.low) / 2;
    return {range.low - room, range.high + room};
  }
  const double room = share * (range.high - range.low);
  return {range.low - room, range.high + room};
}

Interval y_interval(const std::vector<Series>& series, const Axes& axes, bool from_zero) {
  Range range;
  for (const Series& one : series) {
    for (const double value : one.y) range.include(value);
  }
  if (from_zero) range.include(0);
  Interval y = padded(range, 0.04);
  if (from_zero && range.low == 0) y.low = 0;
  if (from_zero && range.low < 0 && range.high == 0) y.high = 0;
  return {axes.y_low.value_or(y.low), axes.y_high.value_or(y.high)};
}

Frame frame_for(const std::vector<Series>& series, const Axes& axes, bool from_zero, double x_room) {
  Range x;
  std::vector<std::string> names;
  for (const Series& one : series) {
    if (one.x.size() != one.y.size()) {
      throw InvalidInput(fmt::format("series '{}' has {} x and {} y", one.name, one.x.size(), one.y.size()));
    }
    names.push_back(one.name);
    for (const double value : one.x) {
      if (!axes.log_x || value > 0) x.include(value);
    }
  }
  Interval range = padded(x, axes.log_x ? 0 : x_room);
  if (axes.log_x && range.low <= 0) range = {1, 10};
  return Frame(axes, range, y_interval(series, axes, from_zero), names);
}

std::string dot(const Frame& frame, const Series& one, std::size_t k, std::size_t index, double radius,
                double opacity) {
  return fmt::format(
      "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" fill-opacity=\"{}\"><title>{} ({:.6g}, "
      "{:.6g})</title></circle>",
      number(frame.x(one.x[k])), number(frame.y(one.y[k])), radius, colour(index), opacity, escape(one.name), one.x[k],
      one.y[k]);
}

// At most 64 cells each way, each the mean of a block.
Matrix thinned(const MatrixView& values) {
  const auto parts = [](Index size) { return std::min<Index>(size, 64); };
  const Index rows = parts(values.rows()), columns = parts(values.cols());
  return Matrix::NullaryExpr(rows, columns, [&](Index i, Index j) {
    const Index top = i * values.rows() / rows, left = j * values.cols() / columns;
    const Index height = (i + 1) * values.rows() / rows - top, width = (j + 1) * values.cols() / columns - left;
    return values.block(top, left, height, width).mean();
  });
}

}  // namespace

std::string line_plot(const std::vector<Series>& series, const Axes& axes) {
  Frame frame = frame_for(series, axes, false, 0);
  for (std::size_t index = 0; index < series.size(); ++index) {
    const Series& one = series[index];
    std::string path, dots;
    bool pen_down = false;
    for (std::size_t k = 0; k < one.x.size(); ++k) {
      if (!frame.shows(one.x[k], one.y[k])) {
        pen_down = false;
        continue;
      }
      path += fmt::format("{}{} {}", pen_down ? "L" : "M", number(frame.x(one.x[k])), number(frame.y(one.y[k])));
      pen_down = true;
      if (axes.markers) dots += dot(frame, one, k, index, 3, 1);
    }
    frame.add(
        fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>{}\n",
                    path, colour(index), dots));
  }
  return frame.svg();
}

std::string scatter(const std::vector<Series>& series, const Axes& axes) {
  Frame frame = frame_for(series, axes, false, 0.03);
  for (std::size_t index = 0; index < series.size(); ++index) {
    const Series& one = series[index];
    for (std::size_t k = 0; k < one.x.size(); ++k) {
      if (frame.shows(one.x[k], one.y[k])) frame.add(dot(frame, one, k, index, 3, 0.7) + "\n");
    }
  }
  return frame.svg();
}

std::string stems(const std::vector<Series>& series, const Axes& axes) {
  Frame frame = frame_for(series, axes, true, 0.02);
  for (std::size_t index = 0; index < series.size(); ++index) {
    const Series& one = series[index];
    for (std::size_t k = 0; k < one.x.size(); ++k) {
      if (!frame.shows(one.x[k], one.y[k])) continue;
      frame.add(fmt::format("<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"1.5\"/>",
                            number(frame.x(one.x[k])), number(frame.y(0)), number(frame.y(one.y[k])), colour(index)));
      frame.add(dot(frame, one, k, index, one.x.size() > 100 ? 1.5 : 3, 1) + "\n");
    }
  }
  return frame.svg();
}

std::string bars(const std::vector<std::string>& categories, const std::vector<Series>& series, const Axes& axes) {
  std::vector<std::string> names(series.size());
  std::transform(series.begin(), series.end(), names.begin(), [](const Series& one) { return one.name; });
  Frame frame(axes, categories, y_interval(series, axes, true), names);
  const double width = 0.8 / static_cast<double>(std::max<std::size_t>(1, series.size()));
  for (std::size_t index = 0; index < series.size(); ++index) {
    const Series& one = series[index];
    if (one.y.size() != categories.size()) {
      throw InvalidInput(
          fmt::format("series '{}' has {} bars for {} categories", one.name, one.y.size(), categories.size()));
    }
    for (std::size_t k = 0; k < categories.size(); ++k) {
      if (!std::isfinite(one.y[k])) continue;
      const double start = static_cast<double>(k) - 0.4 + static_cast<double>(index) * width;
      const double left = frame.x(start), right = frame.x(start + width), end = frame.y(one.y[k]), zero = frame.y(0);
      frame.add(fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{} {}: {:.4g}</title></rect>\n",
          number(left), number(std::min(end, zero)), number((right - left) * 0.94), number(std::abs(zero - end)),
          colour(index), escape(categories[k]), escape(one.name), one.y[k]));
    }
  }
  return frame.svg();
}

std::string heat_map(const MatrixView& values, const Axes& axes) {
  if (values.size() == 0) throw InvalidInput("a heat map of no values");
  const Matrix cells = thinned(values);
  double strongest = 0, lowest = 0, highest = 0;
  for (const double value : cells.reshaped()) {
    if (!std::isfinite(value)) continue;
    strongest = std::max(strongest, std::abs(value));
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const double side = 360 / static_cast<double>(std::max(cells.rows(), cells.cols()));
  const double left = axes.y_label.empty() ? 4 : 24, top = 4;
  const double width = side * static_cast<double>(cells.cols()), height = side * static_cast<double>(cells.rows());
  std::string body = "<g shape-rendering=\"crispEdges\">";  // no seams between neighbours
  for (Index i = 0; i < cells.rows(); ++i) {
    for (Index j = 0; j < cells.cols(); ++j) {
      const double value = cells(i, j), strength = strongest > 0 ? std::abs(value) / strongest : 0;
      if (!std::isfinite(value) || strength < 0.002) continue;
      body += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{:.3f}\">"
          "<title>row {}, column {}: {:.3g}</title></rect>",
          number(left + side * static_cast<double>(j)), number(top + side * static_cast<double>(i)), number(side),
          number(side), colour(value < 0 ? 1 : 0), strength, i * values.rows() / cells.rows() + 1,
          j * values.cols() / cells.cols() + 1, value);
    }
    body += "\n";
  }
  body += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"currentColor\"/>",
                      number(left), number(top), number(width), number(height));
  // Scale: lowest to highest beside the cells.
  constexpr int kSteps = 32;
  const double bar = left + width + 14, step = height / kSteps;
  for (int k = 0; k < kSteps; ++k) {
    const double value = highest - (highest - lowest) * (k + 0.5) / kSteps;
    body += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"{}\" fill=\"{}\" fill-opacity=\"{:.3f}\"/>",
                        number(bar), number(top + step * k), number(step), colour(value < 0 ? 1 : 0),
                        strongest > 0 ? std::abs(value) / strongest : 0);
  }
  body += "</g>";
  body += text_at(bar + 18, top + 10, "start", tick_label(highest));
  body += text_at(bar + 18, top + height, "start", tick_label(lowest));
  if (!axes.x_label.empty()) body += text_at(left + width / 2, top + height + 18, "middle", axes.x_label);
  if (!axes.y_label.empty()) {
    const double middle = top + height / 2;
    body +=
        text_at(13, middle, "middle", axes.y_label, fmt::format(" transform=\"rotate(-90 13 {})\"", number(middle)));
  }
  return svg_document(axes.title, Frame::kWidth, top + height + (axes.x_label.empty() ? 6 : 26), body);
}

std::string grid_map(const MatrixView& values, const std::vector<std::string>& row_names,
                     const std::vector<std::string>& column_names, double low, double high,
                     const std::optional<std::pair<Index, Index>>& marked, const Axes& axes) {
  if (values.size() == 0 || values.rows() != std::ssize(row_names) || values.cols() != std::ssize(column_names)) {
    throw InvalidInput(fmt::format("a map of {}×{} values with {} and {} names", values.rows(), values.cols(),
                                   row_names.size(), column_names.size()));
  }
  constexpr double left = 78, top = 6, height = 26;
  const double width = std::min(72.0, (Frame::kWidth - left - 8) / static_cast<double>(values.cols()));
  std::string body;
  for (Index i = 0; i < values.rows(); ++i) {
    const double y = top + height * static_cast<double>(i);
    body += text_at(left - 6, y + height / 2 + 4, "end", row_names[i]);
    for (Index j = 0; j < values.cols(); ++j) {
      const double x = left + width * static_cast<double>(j), value = values(i, j);
      if (!std::isfinite(value)) continue;
      const double strength = high != low ? 0.06 + 0.6 * (high - value) / (high - low) : 0.4;
      const bool framed = marked && *marked == std::pair(i, j);
      body += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{:.3f}\"{}/>",
                          number(x + 1), number(y + 1), number(width - 2), number(height - 2), colour(0), strength,
                          framed ? " stroke=\"currentColor\" stroke-width=\"2\"" : "");
      body += text_at(x + width / 2, y + height / 2 + 4, "middle",
                      std::abs(value) < 10 ? fmt::format("{:.3f}", value) : fmt::format("{:.3g}", value));
    }
  }
  const double bottom = top + height * static_cast<double>(values.rows());
  for (Index j = 0; j < values.cols(); ++j) {
    body += text_at(left + width * (static_cast<double>(j) + 0.5), bottom + 16, "middle", column_names[j]);
  }
  body += text_at(left + width * static_cast<double>(values.cols()) / 2, bottom + 34, "middle", axes.x_label);
  const double middle = (top + bottom) / 2;
  body += text_at(13, middle, "middle", axes.y_label, fmt::format(" transform=\"rotate(-90 13 {})\"", number(middle)));
  return svg_document(axes.title, Frame::kWidth, bottom + 42, body);
}

}  // namespace cgmca::report
