#include "experiments/drawn_digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/purposes.hpp"

namespace cgmca::experiments {
using namespace random_numbers;

namespace {

constexpr Index kSide = 28;

struct Point {
  double x, y;  // the unit square, y downwards
};
Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(double s, Point a) { return {s * a.x, s * a.y}; }
double dot(Point a, Point b) { return a.x * b.x + a.y * b.y; }

using Stroke = std::vector<Point>;

const std::array<std::vector<Stroke>, 10>& strokes_of_digits() {
  static const std::array<std::vector<Stroke>, 10> strokes{{
      {{{.5, .1}, {.78, .3}, {.78, .7}, {.5, .9}, {.22, .7}, {.22, .3}, {.5, .1}}},
      {{{.36, .25}, {.55, .1}}, {{.55, .1}, {.53, .9}}},
      {{{.22, .3}, {.4, .1}, {.7, .15}, {.75, .4}, {.5, .65}, {.22, .9}}, {{.22, .9}, {.8, .88}}},
      {{{.25, .18}, {.55, .1}, {.75, .28}, {.48, .47}}, {{.48, .47}, {.8, .65}, {.6, .88}, {.22, .82}}},
      {{{.55, .1}, {.2, .62}}, {{.2, .62}, {.82, .6}}, {{.64, .36}, {.6, .92}}},
      {{{.75, .12}, {.32, .12}}, {{.32, .12}, {.28, .45}}, {{.28, .45}, {.6, .4}, {.78, .62}, {.6, .88}, {.24, .84}}},
      {{{.65, .1}, {.36, .35}, {.22, .65}, {.4, .9}, {.68, .85}, {.75, .65}, {.5, .52}, {.25, .7}}},
      {{{.2, .14}, {.78, .12}}, {{.78, .12}, {.55, .5}, {.42, .9}}},
      {{{.5, .48}, {.25, .28}, {.5, .1}, {.75, .28}, {.5, .48}, {.22, .7}, {.5, .92}, {.78, .7}, {.5, .48}}},
      {{{.75, .3}, {.5, .1}, {.25, .3}, {.45, .5}, {.75, .32}, {.72, .6}, {.6, .92}}},
  }};
  return strokes;
}

// A Catmull-Rom curve through the points of a stroke, as short straight pieces.
Stroke smooth(const Stroke& points) {
  const auto at = [&](std::ptrdiff_t k) { return points[std::clamp<std::ptrdiff_t>(k, 0, std::ssize(points) - 1)]; };
  constexpr int kPieces = 4;
  Stroke curve{points[0]};
  for (std::ptrdiff_t k = 0; k + 1 < std::ssize(points); ++k) {
    const Point a = at(k - 1), b = at(k), c = at(k + 1), d = at(k + 2);
    for (int piece = 1; piece <= kPieces; ++piece) {
      const double t = static_cast<double>(piece) / kPieces;
      curve.push_back(
          0.5 * (2 * b + t * (c - a) + t * t * (2 * a - 5 * b + 4 * c - d) + t * t * t * (3 * b - a - 3 * c + d)));
    }
  }
  return curve;
}

double squared_distance(Point p, Point a, Point b) {
  const Point ab = b - a, ap = p - a;
  const double length = dot(ab, ab), t = length > 0 ? std::clamp(dot(ap, ab) / length, 0.0, 1.0) : 0;
  const Point gap = ap - t * ab;
  return dot(gap, gap);
}

void draw(const std::vector<Stroke>& strokes, Stream random, double* image) {
  // x ↦ middle + M (x - middle) + shift
  const double xx = 0.62 * (1 + 0.08 * random.normal()), xy = -0.12 + 0.1 * random.normal();
  const double yx = 0.05 * random.normal(), yy = 0.72 * (1 + 0.06 * random.normal());
  const Point shift{0.5 + 0.025 * random.normal(), 0.5 + 0.025 * random.normal()};
  const double thickness = std::clamp(0.045 + 0.012 * random.normal(), 0.02, 0.08), softness = 0.04;
  std::vector<Stroke> curves;
  for (Stroke stroke : strokes) {
    for (Point& point : stroke) {
      const Point p{point.x - 0.5 + 0.025 * random.normal(), point.y - 0.5 + 0.025 * random.normal()};
      point = shift + Point{xx * p.x + xy * p.y, yx * p.x + yy * p.y};
    }
    curves.push_back(smooth(stroke));
  }
  for (Index i = 0; i < kSide; ++i) {
    for (Index j = 0; j < kSide; ++j) {
      const Point centre{(static_cast<double>(j) + 0.5) / kSide, (static_cast<double>(i) + 0.5) / kSide};
      double nearest = 4;
      for (const Stroke& curve : curves) {
        for (std::size_t k = 0; k + 1 < curve.size(); ++k) {
          nearest = std::min(nearest, squared_distance(centre, curve[k], curve[k + 1]));
        }
      }
      image[i * kSide + j] = std::clamp((thickness + softness - std::sqrt(nearest)) / softness, 0.0, 1.0);
    }
  }
}

}  // namespace

Dataset draw_digits(std::uint32_t per_class, std::uint64_t seed) {
  Dataset data{"digits drawn by cgmca", {kSide, kSide}, Matrix(kSide * kSide, 10 * static_cast<Index>(per_class)), {}};
  for (std::uint32_t j = 0; j < 10 * per_class; ++j) {
    const std::uint32_t digit = j / per_class;
    data.labels.push_back(static_cast<int>(digit));
    draw(strokes_of_digits()[digit], Stream(seed, kDrawing, j), data.images.col(j).data());
  }
  return data;
}

}  // namespace cgmca::experiments
