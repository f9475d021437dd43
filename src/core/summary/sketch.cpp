#include "core/summary/sketch.hpp"

#include <cgmca/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "core/base/thresholds.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;

bool held(const Backend& on, const MatchedSamples& X) {
  return std::any_of(X.begin(), X.end(), [&on](const SampleView& domain) { return on.holds(domain); });
}

// The weight of each sample, and 0 for the samples listed in `except`.
Vector weights_of(const WeightedSamples& samples, const std::vector<Index>& except) {
  Vector weights = samples.weights.size() > 0 ? samples.weights : Vector(Vector::Ones(samples.count()));
  weights(except).setZero();
  return weights;
}

// +1 or -1, by the bits of a number mixed by splitmix64.
double sign_of(Index feature, Index column) {
  std::uint64_t x = 0x9E3779B97F4A7C15U * (static_cast<std::uint64_t>(feature) + 1);
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return ((x ^ (x >> 31U)) >> static_cast<unsigned>(column) & 1U) != 0 ? 1 : -1;
}

// 2^-e for the smallest 2^e that is at least the size: multiplying by a power of 2 is exact.
double inverse_size(double size) {
  int exponent = 0;
  std::frexp(size, &exponent);
  return std::ldexp(1.0, -exponent);
}

// Sums over samples for some features, relative to the origin.
struct FeatureSizes {
  Vector squares, largest;  // Σ w z², max |z|
};

// The sizes of samples on the host.
FeatureSizes sizes_of(const WeightedSamples& samples, const Vector& weights, const Vector& origin,
                      const std::vector<Index>& places) {
  const Index n = samples.count(), count = std::ssize(places);
  std::vector<FeatureSizes> parts((n + kRange - 1) / kRange);
  parallel_for_columns(count, n, [&](Index first, Index columns) {
    FeatureSizes& part = parts[first / kRange];
    part = {Vector::Zero(count), Vector::Zero(count)};
    Index start = 0, begin = 0;
    for (const SampleView& domain : samples.X) {
      const Index d = domain.rows();
      Index end = begin;
      while (end < count && places[end] < start + d) ++end;
      domain.visit([&](const auto& X) {
        Vector z(end - begin);
        for (Index j = first; j < first + columns; ++j) {
          if (end - begin == d) {
            z = X.col(j).template cast<double>() - origin.segment(start, d);
          } else {
            for (Index k = begin; k < end; ++k) {
              const Index f = places[k];
              z(k - begin) = static_cast<double>(X(f - start, j)) - origin(f);
            }
          }
          part.squares.segment(begin, end - begin) += weights(j) * z.cwiseAbs2();
          part.largest.segment(begin, end - begin) = part.largest.segment(begin, end - begin).cwiseMax(z.cwiseAbs());
        }
      });
      begin = end;
      start += d;
    }
  });
  FeatureSizes all = std::move(parts.front());
  for (std::size_t k = 1; k < parts.size(); ++k) {
    all.squares += parts[k].squares;
    all.largest = all.largest.cwiseMax(parts[k].largest);
  }
  return all;
}

// The sizes of samples that a back end holds. They are loaded there, some at a time.
FeatureSizes sizes_on_device(const Backend& on, const WeightedSamples& samples, const Vector& origin,
                             const std::vector<Index>& places) {
  constexpr Index most = 8192;
  const auto count = std::ssize(places);
  FeatureSizes all{Vector::Zero(count), Vector::Zero(count)};
  for (Index first = 0; first < samples.count(); first += most) {
    const Index some = std::min(most, samples.count() - first);
    const Array Z = on.load(samples.X, first, some, origin, Vector::Zero(origin.size()), &places);
    all.largest = all.largest.cwiseMax(on.row_absolute_sums(Z));
    if (samples.weights.size() > 0) on.scale_columns(Z, samples.weights.segment(first, some).cwiseSqrt());
    all.squares += on.row_squared_norms(Z);
  }
  return all;
}

struct PartialSketch {
  FirstMoments count;
  Matrix Y;
};

// Σ w (z - mean)(z - mean)ᵀ U of samples first … first + count - 1, z = x - origin.
PartialSketch sketch_of(const WeightedSamples& samples, const Vector& weights, const Vector& origin, const Matrix& U,
                        Index first, Index count) {
  constexpr Index together = 16;  // few enough to stay in a core's own cache
  const Index p = origin.size();
  const auto w = weights.segment(first, count);
  const double total = w.sum();
  PartialSketch part{{(w.array() > 0).count(), total, Vector::Zero(p)}, Matrix::Zero(p, U.cols())};
  if (total == 0) return part;
  const auto each_domain = [&](const auto& work) {
    Index start = 0;
    for (const SampleView& domain : samples.X) {
      domain.visit([&](const auto& X) { work(X, start); });
      start += domain.rows();
    }
  };
  Vector& mean = part.count.mean;
  each_domain([&](const auto& X, Index start) {
    for (Index j = first; j < first + count; ++j) {
      mean.segment(start, X.rows()) +=
          weights(j) * (X.col(j).template cast<double>() - origin.segment(start, X.rows()));
    }
  });
  mean /= total;
  Matrix Z(p, together);
  for (Index begin = first; begin < first + count; begin += together) {
    const Index some = std::min(together, first + count - begin);
    each_domain([&](const auto& X, Index start) {
      const Index d = X.rows();
      for (Index j = 0; j < some; ++j) {
        Z.col(j).segment(start, d) =
            (X.col(begin + j).template cast<double>() - origin.segment(start, d)) - mean.segment(start, d);
      }
    });
    for (Index j = 0; j < some; ++j) {
      for (Index k = 0; k < U.cols(); ++k) {
        part.Y.col(k) += weights(begin + j) * Z.col(j).dot(U.col(k)) * Z.col(j);
      }
    }
  }
  return part;
}

// The same for samples that a back end holds.
PartialSketch sketch_on_device(const Backend& on, const WeightedSamples& samples, const Vector& origin, const Matrix& U,
                               Index first, Index count) {
  const Array Z = on.load(samples.X, first, count, origin, Vector::Zero(origin.size()));
  const Vector w = samples.weights.size() > 0 ? Vector(samples.weights.segment(first, count)) : Vector::Ones(count);
  const double total = w.sum();
  PartialSketch part{{count, total, on.download(on.AB(Z, on.upload(w))) / total}, {}};
  on.add_outer(Z, part.count.mean, Vector::Ones(count), -1);
  on.scale_columns(Z, w.cwiseSqrt());
  part.Y = on.download(on.AB(Z, on.AtB(Z, on.upload(U))));
  return part;
}

}  // namespace

void Sketch::move_origin(const Vector& to, double weight) {
  count.mean += origin - to;
  origin = to;
  origin_weight = weight;
}

// The origin must not be a sample of little weight. It may be far from all others, and x - origin would lose digits.
void Sketch::set_origin(const Backend& on, const WeightedSamples& samples) {
  Index heaviest = 0;
  const double weight = samples.weights.size() > 0 ? samples.weights.maxCoeff(&heaviest) : 1;
  const bool first = origin.size() == 0;
  if (!first && weight <= thresholds::kHeavierOrigin * origin_weight) return;
  Index p = 0;
  for (const SampleView& domain : samples.X) p += domain.rows();
  Vector sample(p);
  Index start = 0;
  for (const SampleView& domain : samples.X) {
    sample.segment(start, domain.rows()) = on.fetched(domain, heaviest, 1);
    start += domain.rows();
  }
  if (!first) return move_origin(sample, weight);
  origin = std::move(sample);
  origin_weight = weight;
  count.mean = Vector::Zero(p);
  U = Y = Matrix::Zero(p, kColumns);
}

void Sketch::set_signs(const Backend& on, const WeightedSamples& samples) {
  const bool there = held(on, samples.X);
  std::vector<Index> unset;
  for (Index f = 0; f < origin.size(); ++f) {
    if (U(f, 0) == 0) unset.push_back(f);
  }
  if (unset.empty()) return;
  const FeatureSizes found =
      there ? sizes_on_device(on, samples, origin, unset) : sizes_of(samples, weights_of(samples, {}), origin, unset);
  const double total = samples.total();
  for (std::size_t k = 0; k < unset.size(); ++k) {
    const auto place = static_cast<Index>(k);
    if (!(found.largest(place) > thresholds::kNoVariation)) continue;
    const double size = std::sqrt(found.squares(place) / total);  // 0 where the squares underflow
    const double scale = inverse_size(size > 0 ? size : found.largest(place));
    for (Index column = 0; column < kColumns; ++column) U(unset[k], column) = sign_of(unset[k], column) * scale;
  }
}

void Sketch::join(const FirstMoments& added, const Matrix& products) {
  const Vector s = count.step_to(added);
  // A feature may be constant in each of the two sets and still vary in their union.
  const double weight = count.weight + added.weight;
  for (Index f = 0; f < s.size(); ++f) {
    if (U(f, 0) != 0 || !(std::abs(s(f)) > thresholds::kNoVariation)) continue;
    const double scale = inverse_size(std::abs(s(f)) / std::sqrt(weight));
    for (Index column = 0; column < kColumns; ++column) U(f, column) = sign_of(f, column) * scale;
  }
  Y += products + s * (s.transpose() * U);
  count.join(added);
}

void Sketch::add(const Backend& on, const WeightedSamples& samples, const std::vector<Index>& except) {
  const Index n = samples.count();
  if (!known || n == std::ssize(except)) return;
  set_origin(on, samples);
  set_signs(on, samples);
  if (held(on, samples.X)) {  // none of these is ever left out
    constexpr Index most = 8192;
    for (Index first = 0; first < n; first += most) {
      const PartialSketch part = sketch_on_device(on, samples, origin, U, first, std::min(most, n - first));
      join(part.count, part.Y);
    }
    return;
  }
  const Vector weights = weights_of(samples, except);
  std::vector<PartialSketch> parts((n + kRange - 1) / kRange);
  parallel_for_columns(kColumns * origin.size(), n, [&](Index first, Index columns) {
    parts[first / kRange] = sketch_of(samples, weights, origin, U, first, columns);
  });
  for (const PartialSketch& part : parts) {
    if (part.count.samples > 0) join(part.count, part.Y);
  }
}

void Sketch::merge(const Sketch& sketch, const Other& other) {
  if (!known || !sketch.known) {
    *this = {};
    known = false;
    return;
  }
  Matrix change = Matrix::Zero(U.rows(), U.cols());
  for (Index f = 0; f < U.rows(); ++f) {
    if (U(f, 0) == 0) U.row(f) = sketch.U.row(f);
    if (sketch.U(f, 0) != 0) change.row(f) = U.row(f) - sketch.U.row(f);
  }
  Matrix theirs = sketch.Y;
  noise = std::max(noise, sketch.noise);
  if ((change.array() != 0).any()) {
    theirs += other.products(change);
    const Vector sizes = other.sizes();
    noise = std::max({noise, U.col(0).cwiseProduct(sizes).norm(), sketch.U.col(0).cwiseProduct(sizes).norm()});
  }
  if (sketch.origin_weight > thresholds::kHeavierOrigin * origin_weight) {
    move_origin(sketch.origin, sketch.origin_weight);
  }
  FirstMoments added = sketch.count;
  added.mean += sketch.origin - origin;
  join(added, theirs);
}

void Sketch::reorder(const linalg::Indices& places) {
  if (origin.size() == 0) return;
  origin = Vector(origin(places));
  count.mean = Vector(count.mean(places));
  U = Matrix(U(places, Eigen::all));
  Y = Matrix(Y(places, Eigen::all));
}

}  // namespace cgmca
