#include "report/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/axes.hpp"
#include "report/html.hpp"

namespace cgmca::report {
namespace {

struct Box {
  double low = INFINITY, high = -INFINITY;
  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  Interval with_room() const {
    if (!(low < high)) return {low > high ? -1 : low - 1, low > high ? 1 : high + 1};
    const double room = 0.05 * (high - low);
    return {low - room, high + room};
  }
};

// There are six colours; series beyond them are rings.
std::string titled_dot(double x, double y, double radius, std::size_t series, double opacity,
                       const std::string& title) {
  if (series >= 6) {
    return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{}\"><title>{}</title></circle>\n",
                       cgmca::report::number(x), cgmca::report::number(y), radius, colour(series), escape(title));
  }
  return fmt::format(
      "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\" fill-opacity=\"{}\"><title>{}</title></circle>\n",
      cgmca::report::number(x), cgmca::report::number(y), radius, colour(series), opacity, escape(title));
}

struct Ellipse {
  double x = 0, y = 0, a = 0, b = 0, turn = 0;  // centre, half axes along and across the direction `turn`
};

// The eigenvectors of the 2×2 covariance; χ²_2 is below 5.991 with probability .95.
Ellipse ellipse_of(const std::vector<Mark>& marks) {
  const auto n = static_cast<double>(marks.size());
  Ellipse e;
  for (const Mark& one : marks) {
    e.x += one.x / n;
    e.y += one.y / n;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const Mark& one : marks) {
    xx += (one.x - e.x) * (one.x - e.x) / (n - 1);
    xy += (one.x - e.x) * (one.y - e.y) / (n - 1);
    yy += (one.y - e.y) * (one.y - e.y) / (n - 1);
  }
  const double half = (xx + yy) / 2, difference = std::hypot((xx - yy) / 2, xy);
  e.turn = 0.5 * std::atan2(2 * xy, xx - yy);
  e.a = std::sqrt(5.991 * std::max(0.0, half + difference));
  e.b = std::sqrt(5.991 * std::max(0.0, half - difference));
  return e;
}

template <class Place>
std::string outline(const Ellipse& e, std::size_t series, const std::string& name, const Place& place) {
  constexpr int steps = 48;
  std::string path;
  for (int k = 0; k < steps; ++k) {
    const double angle = 2 * 3.14159265358979 * k / steps, u = e.a * std::cos(angle), v = e.b * std::sin(angle);
    const auto [x, y] =
        place(e.x + u * std::cos(e.turn) - v * std::sin(e.turn), e.y + u * std::sin(e.turn) + v * std::cos(e.turn));
    path += fmt::format("{}{} {}", k == 0 ? "M" : "L", number(x), number(y));
  }
  return fmt::format("<path d=\"{}Z\" fill=\"{}\" fill-opacity=\"0.07\" stroke=\"{}\"><title>{}</title></path>\n", path,
                     colour(series), colour(series), escape(name));
}

// Names that would lie upon another are left out; hovering shows them.
class Labels {
 public:
  std::string add(double x, double y, const std::string& text) {
    const double width = 6.4 * static_cast<double>(text.size());
    x = std::min(x, Frame::kWidth - width);
    for (const auto& [left, right, height] : taken_) {
      if (x < right && x + width > left && std::abs(y - height) < 13) return {};
    }
    taken_.push_back({x, x + width, y});
    return text_at(x, y, "start", text) + "\n";
  }

 private:
  struct Place {
    double left, right, height;
  };
  std::vector<Place> taken_;
};

}  // namespace

std::string mark_plot(const std::vector<MarkGroup>& groups, const std::vector<Arrow>& arrows, const Axes& axes) {
  Box x, y;
  std::vector<std::string> names;
  for (const MarkGroup& group : groups) {
    names.push_back(group.name);
    for (const Mark& one : group.marks) {
      x.include(one.x);
      y.include(one.y);
    }
    if (!group.ellipse || group.marks.size() < 3) continue;
    const Ellipse e = ellipse_of(group.marks);
    const double wide = std::hypot(e.a * std::cos(e.turn), e.b * std::sin(e.turn));
    const double high = std::hypot(e.a * std::sin(e.turn), e.b * std::cos(e.turn));
    for (const double side : {-1.0, 1.0}) {
      x.include(e.x + side * wide);
      y.include(e.y + side * high);
    }
  }
  for (const Arrow& arrow : arrows) {
    for (const Mark* end : {&arrow.from, &arrow.to}) {
      x.include(end->x);
      y.include(end->y);
    }
  }
  Frame frame(axes, x.with_room(), y.with_room(), names);
  const auto place = [&](double at_x, double at_y) { return std::pair(frame.x(at_x), frame.y(at_y)); };
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups[k].ellipse && groups[k].marks.size() > 2) {
      frame.add(outline(ellipse_of(groups[k].marks), k, groups[k].name, place));
    }
  }
  Labels labels;
  for (const Arrow& arrow : arrows) {
    const auto [x1, y1] = place(arrow.from.x, arrow.from.y);
    const auto [x2, y2] = place(arrow.to.x, arrow.to.y);
    frame.add(
        fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-opacity=\"{}\" "
                    "stroke-width=\"{}\"><title>{}</title></line>\n",
                    number(x1), number(y1), number(x2), number(y2), arrow.named ? colour(arrow.colour) : "currentColor",
                    arrow.named ? 0.9 : 0.25, arrow.named ? 1.5 : 1, escape(arrow.to.name)));
    const double length = std::hypot(x2 - x1, y2 - y1);
    if (!arrow.named || !(length > 4)) continue;
    const double u = (x2 - x1) / length, v = (y2 - y1) / length;
    frame.add(fmt::format("<path d=\"M{} {}L{} {}L{} {}Z\" fill=\"{}\"/>\n", number(x2), number(y2),
                          number(x2 - 7 * u - 3 * v), number(y2 - 7 * v + 3 * u), number(x2 - 7 * u + 3 * v),
                          number(y2 - 7 * v - 3 * u), colour(arrow.colour)));
    frame.add(labels.add(x2 + 4, y2 + 4, arrow.to.name));
  }
  for (std::size_t k = 0; k < groups.size(); ++k) {
    for (const Mark& one : groups[k].marks) {
      if (!std::isfinite(one.x) || !std::isfinite(one.y)) continue;
      const auto [at_x, at_y] = place(one.x, one.y);
      frame.add(titled_dot(at_x, at_y, 3, k, 0.7, fmt::format("{}: {:.4g}, {:.4g}", one.name, one.x, one.y)));
    }
  }
  return frame.svg();
}

std::string circle_plot(const std::vector<MarkGroup>& groups, const Axes& axes) {
  constexpr double centre_x = 240, centre_y = 236, radius = 200;
  std::string body;
  for (const double part : {1.0, 0.5}) {
    body += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"none\" stroke=\"{}\"/>\n", centre_x, centre_y,
                        part * radius, part == 1 ? "currentColor" : "var(--line, #d9dee7)");
  }
  body += fmt::format("<path d=\"M{} {}H{}M{} {}V{}\" stroke=\"var(--line, #d9dee7)\"/>\n", centre_x - radius, centre_y,
                      centre_x + radius, centre_x, centre_y - radius, centre_y + radius);
  double legend = 8;
  Labels labels;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (groups.size() > 1) {
      body +=
          fmt::format("<rect x=\"{}\" y=\"4\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/>", legend, colour(k));
      body += text_at(legend + 17, 14, "start", groups[k].name) + "\n";
      legend += 40 + 6.6 * static_cast<double>(groups[k].name.size());
    }
    for (const Mark& one : groups[k].marks) {
      const double x = centre_x + radius * one.x, y = centre_y - radius * one.y;
      body += titled_dot(x, y, 3.5, k, 0.9, fmt::format("{}: {:.3f}, {:.3f}", one.name, one.x, one.y));
      const bool room = x + 8 + 6.4 * static_cast<double>(one.name.size()) < Frame::kWidth;
      if (room) body += labels.add(x + 6, y + 4, one.name);
    }
  }
  body += text_at(centre_x, centre_y + radius + 18, "middle", axes.x_label) + "\n";
  body +=
      text_at(13, centre_y, "middle", axes.y_label, fmt::format(" transform=\"rotate(-90 13 {})\"", centre_y)) + "\n";
  return svg_document(axes.title, Frame::kWidth, centre_y + radius + 26, body);
}

std::string interval_plot(const std::vector<IntervalMark>& marks, const Axes& axes) {
  constexpr double left = 170, right = Frame::kWidth - 10, top = 8, line = 19;
  Box box;
  box.include(0);
  for (const IntervalMark& one : marks) {
    box.include(one.low);
    box.include(one.high);
    box.include(one.value);
  }
  const Interval x = box.with_room();
  const auto place = [&](double value) { return left + (value - x.low) / (x.high - x.low) * (right - left); };
  const double bottom = top + line * static_cast<double>(marks.size());
  std::string body = fmt::format("<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\" stroke=\"currentColor\"/>\n",
                                 number(place(0)), top, number(bottom));
  for (const double tick : nice_ticks(x.low, x.high, 5)) {
    if (tick < x.low || tick > x.high) continue;
    body += fmt::format("<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\" stroke=\"var(--line, #d9dee7)\"/>",
                        number(place(tick)), top, number(bottom));
    body += text_at(place(tick), bottom + 15, "middle", tick_label(tick)) + "\n";
  }
  for (std::size_t k = 0; k < marks.size(); ++k) {
    const IntervalMark& one = marks[k];
    const double y = top + line * (static_cast<double>(k) + 0.5);
    const bool clear = one.low > 0 || one.high < 0;
    body += text_at(left - 8, y + 4, "end", one.label) + "\n";
    if (!std::isfinite(one.value)) continue;
    body += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"3\" "
        "stroke-opacity=\"0.45\"/>",
        number(place(one.low)), number(place(one.high)), number(y), number(y), colour(clear ? 0 : 1));
    body += titled_dot(place(one.value), y, 4, clear ? 0 : 1, 1,
                       fmt::format("{}: {:.4g}, from {:.4g} to {:.4g}", one.name, one.value, one.low, one.high));
  }
  body += text_at((left + right) / 2, bottom + 32, "middle", axes.x_label) + "\n";
  return svg_document(axes.title, Frame::kWidth, bottom + 40, body);
}

}  // namespace cgmca::report
