#include "report/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/html.hpp"

namespace cgmca::report {
namespace {

constexpr double kFont = 12.5;

// Characters as shown, not bytes of UTF-8.
double text_width(const std::string& text) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return 0.56 * kFont * static_cast<double>(characters);
}

}  // namespace

std::vector<double> nice_ticks(double low, double high, int count) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / count, power = std::pow(10, std::floor(std::log10(raw)));
  const double ratio = raw / power;
  const double step = power * (ratio <= 1.5 ? 1 : ratio <= 3.5 ? 2 : ratio <= 7.5 ? 5 : 10);
  std::vector<double> ticks;
  const auto first = static_cast<long>(std::ceil(low / step - 1e-9)),
             last = static_cast<long>(std::floor(high / step + 1e-9));
  for (long k = first; k <= last; ++k) ticks.push_back(static_cast<double>(k) * step);
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const auto collect = [&](std::initializer_list<double> multiples) {
    std::vector<double> ticks;
    const int first = static_cast<int>(std::floor(std::log10(low))),
              last = static_cast<int>(std::ceil(std::log10(high)));
    const int stride = 1 + (last - first) / 8;
    for (int power = first; power <= last; power += stride) {
      for (const double multiple : multiples) {
        const double tick = multiple * std::pow(10, power);
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
    return ticks;
  };
  const std::vector<double> decades = collect({1});
  return decades.size() >= 4 ? decades : collect({1, 2, 5});
}

std::string tick_label(double value) {
  const double size = std::abs(value);
  if (size > 0 && (size < 1e-3 || size >= 1e6)) return fmt::format("{:.3g}", value);
  if (size >= 1e4) {
    const auto whole = static_cast<long>(std::lround(size));
    return fmt::format("{}{},{:03}", value < 0 ? "−" : "", whole / 1000, whole % 1000);
  }
  const std::string digits = fmt::format("{:.4g}", size);
  return value < 0 ? "−" + digits : digits;
}

std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string colour(std::size_t series) {
  constexpr std::array<const char*, 6> fallback{"#1f5fd0", "#d1480c", "#12805c", "#8b3fc7", "#a87900", "#c02565"};
  const std::size_t k = series % fallback.size();
  return fmt::format("var(--s{}, {})", k, fallback[k]);
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const std::string& more) {
  return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>", number(x), number(y), anchor, more,
                     escape(text));
}

std::string svg_document(const std::string& title, double width, double height, const std::string& body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"{}\" fill=\"currentColor\">\n{}</svg>\n",
      number(width), number(height), escape(title), kFont, body);
}

Frame::Frame(const Axes& axes, Interval x, Interval y, const std::vector<std::string>& legend)
    : axes_(axes), x_(x), y_(y) {
  draw_legend(legend);
  draw_y_axis();
  std::vector<std::pair<double, std::string>> ticks;
  for (const double tick : axes_.log_x ? log_ticks(x_.low, x_.high) : nice_ticks(x_.low, x_.high, 6)) {
    if (!axes_.whole_x || tick == std::round(tick)) ticks.emplace_back(tick, tick_label(tick));
  }
  draw_x_axis(ticks);
}

Frame::Frame(const Axes& axes, const std::vector<std::string>& categories, Interval y,
             const std::vector<std::string>& legend)
    : axes_(axes), x_{-0.5, static_cast<double>(categories.size()) - 0.5}, y_(y) {
  axes_.log_x = false;
  draw_legend(legend);
  draw_y_axis();
  std::vector<std::pair<double, std::string>> ticks;
  for (std::size_t k = 0; k < categories.size(); ++k) ticks.emplace_back(static_cast<double>(k), categories[k]);
  draw_x_axis(ticks);
}

double Frame::x(double value) const {
  const double part =
      axes_.log_x ? std::log(value / x_.low) / std::log(x_.high / x_.low) : (value - x_.low) / (x_.high - x_.low);
  return left_ + part * (right_ - left_);
}

double Frame::y(double value) const { return bottom_ - (value - y_.low) / (y_.high - y_.low) * (bottom_ - top_); }

bool Frame::shows(double x_value, double y_value) const {
  return std::isfinite(x_value) && std::isfinite(y_value) && (!axes_.log_x || x_value > 0);
}

void Frame::draw_legend(const std::vector<std::string>& names) {
  if (names.size() < 2) return;
  double at = left_, line = top_ + 10;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double width = 24 + text_width(names[k]);
    if (at + width > right_ && at > left_) {
      at = left_;
      line += 17;
    }
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/>", number(at),
                         number(line - 10), colour(k));
    body_ += text_at(at + 17, line, "start", names[k]) + "\n";
    at += width + 12;
  }
  top_ = line + 14;
}

void Frame::draw_y_axis() {
  std::vector<std::string> labels;
  const std::vector<double> ticks = nice_ticks(y_.low, y_.high, 5);
  double widest = 0;
  for (const double tick : ticks) widest = std::max(widest, text_width(labels.emplace_back(tick_label(tick))));
  left_ = widest + (axes_.y_label.empty() ? 12 : 30);
  for (std::size_t k = 0; k < ticks.size(); ++k) {
    body_ += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"var(--line, #d9dee7)\"/>",
                         number(left_), number(right_), number(y(ticks[k])));
    body_ += text_at(left_ - 6, y(ticks[k]) + 4, "end", labels[k]) + "\n";
  }
  if (axes_.y_label.empty()) return;
  const double middle = (top_ + bottom_) / 2;
  body_ +=
      text_at(13, middle, "middle", axes_.y_label, fmt::format(" transform=\"rotate(-90 13 {})\"", number(middle))) +
      "\n";
}

void Frame::draw_x_axis(const std::vector<std::pair<double, std::string>>& ticks) {
  body_ += fmt::format("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"currentColor\"/>\n", number(left_),
                       number(right_), number(bottom_));
  double free_from = -kWidth;  // labels that would touch the one before are left out, their ticks stay
  for (const auto& [value, label] : ticks) {
    const double at = x(value), half = text_width(label) / 2;
    body_ += fmt::format("<line x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\" stroke=\"currentColor\"/>", number(at),
                         number(bottom_), number(bottom_ + 4));
    if (at - half < free_from) continue;
    body_ += text_at(std::min(at, kWidth - half), bottom_ + 18, "middle", label) + "\n";
    free_from = at + half + 4;
  }
  if (!axes_.x_label.empty()) body_ += text_at((left_ + right_) / 2, kHeight - 8, "middle", axes_.x_label) + "\n";
}

std::string Frame::svg() const { return svg_document(axes_.title, kWidth, kHeight, body_); }

}  // namespace cgmca::report
