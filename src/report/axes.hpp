// The frame of a plot: where a value lies on the canvas, ticks, labels, legend.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/plot.hpp"

namespace cgmca::report {

// Round numbers 1, 2 or 5 · 10^m apart that cover [low, high], about `count` of them.
std::vector<double> nice_ticks(double low, double high, int count);
// Powers of ten inside [low, high]; also 2 and 5 times those where they would be fewer than four.
std::vector<double> log_ticks(double low, double high);
// As short as tells the ticks apart: "0.05", "1e-8", "20,000".
std::string tick_label(double value);

std::string number(double value);        // a coordinate, two decimals at most
std::string colour(std::size_t series);  // var(--s0, #…), …

struct Interval {
  double low, high;
};

class Frame {
 public:
  static constexpr double kWidth = 480, kHeight = 300;

  // Draws axes and legend; series go inside by add().
  Frame(const Axes& axes, Interval x, Interval y, const std::vector<std::string>& legend);
  // Categories instead of numbers along x: their centres are at 0, 1, 2, …
  Frame(const Axes& axes, const std::vector<std::string>& categories, Interval y,
        const std::vector<std::string>& legend);

  double x(double value) const;
  double y(double value) const;
  bool shows(double x_value, double y_value) const;  // finite, and positive where the axis is logarithmic
  void add(const std::string& markup) { body_ += markup; }
  std::string svg() const;

 private:
  void draw_legend(const std::vector<std::string>& names);
  void draw_y_axis();
  void draw_x_axis(const std::vector<std::pair<double, std::string>>& ticks);

  Axes axes_;
  Interval x_, y_;
  double left_ = 56, right_ = kWidth - 12, top_ = 10, bottom_ = kHeight - 44;
  std::string body_;
};

// Text for SVG's own <text>; x, y in canvas units, anchor start, middle or end.
std::string text_at(double x, double y, const char* anchor, const std::string& text, const std::string& more = {});
std::string svg_document(const std::string& title, double width, double height, const std::string& body);

}  // namespace cgmca::report
