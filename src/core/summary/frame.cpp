#include "core/summary/frame.hpp"

#include <cgmca/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/summary/scaled.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Indices;

// 0 … p - 1 without the given features.
Indices others(const Indices& named, Index p) {
  std::vector<bool> is_named(p);
  for (const Index j : named) is_named[j] = true;
  Indices result;
  for (Index j = 0; j < p; ++j) {
    if (!is_named[j]) result.push_back(j);
  }
  return result;
}

// The triangular factor of the given rows of Z, by Householder's QR.
OrderedTriangle ordered_triangle(const Deviations& Z, const Indices& rows) {
  const Backend& on = Z.on();
  Array R = on.triangular_factor(Z.transposed(rows));
  const Index a = R.cols();
  const Vector size = on.column_squared_norms(R).cwiseSqrt(), own = on.diagonal(R).cwiseAbs();
  if ((own.array() >= thresholds::kClearlyIndependent * size.array()).all()) return {rows, std::move(R), a};

  // Because of rounding, a determined feature may seem independent, and its direction may seem to determine others. So
  // columns are scaled to unit length and pivoted: the next feature is always the one that those before explain least.
  // Then directions that are only rounding come last.
  linalg::ArrayPivoted pivoted =
      on.pivoted_triangular_factor(linalg::scaled_columns(std::move(R), size.cwiseInverse()));
  OrderedTriangle result{{}, std::move(pivoted.R), 0};
  const Vector left = on.diagonal(result.P).cwiseAbs();
  while (result.independent < a && left(result.independent) >= thresholds::kDetermined) ++result.independent;
  on.scale_columns(result.P, size(pivoted.order));
  for (const Index j : pivoted.order) result.order.push_back(rows[j]);
  return result;
}

// The diagonal entry of a determined feature is only rounding, which cannot be divided by. So it is replaced by a small
// part of the feature's norm.
void hold_determined(const Array& P, Index independent) {
  const Backend& on = P.on();
  const Index determined = P.rows() - independent;
  if (determined == 0) return;
  const Vector size = on.column_squared_norms(P).cwiseSqrt().tail(determined);
  on.assign(P.bottom(determined), on.zeros(determined, P.cols()));
  on.assign_diagonal(P.block(independent, independent, determined, determined), thresholds::kDetermined * size);
}

// G with its features divided by their sizes.
Array at_unit_size(const Array& G, const Vector& sizes) {
  const Array unit = G.on().copy(G);
  G.on().scale_rows(unit, sizes.cwiseInverse());
  G.on().scale_columns(unit, sizes.cwiseInverse());
  return unit;
}

// κ of G (upper triangle) at unit size of the features, because rounding in G is relative to its diagonal.
bool well_conditioned(const Array& G) {
  const Backend& on = G.on();
  if (G.empty()) return true;
  const Vector sizes = on.diagonal(G).cwiseSqrt();
  const Array unit = at_unit_size(G, (sizes.array() > 0).select(sizes, 1.0));
  return linalg::condition_is_at_most(unit, thresholds::kSafeGramCondition);
}

// The upper triangle of Y Yᵀ, without the products among the scaled features of one domain, which are known.
void add_all_but_own(const Array& G, const Frame& frame, const Array& Y) {
  const Backend& on = Y.on();
  const auto add = [&](Index row, Index rows, Index column, Index columns) {
    if (rows == 0 || columns == 0) return;
    on.add_ABt(G.block(row, column, rows, columns), Y.block(row, 0, rows, Y.cols()),
               Y.block(column, 0, columns, Y.cols()));
  };
  for (Index i = 0; i < frame.parts.domains(); ++i) {
    const Index start = frame.parts.start(i), end = frame.parts.start(i + 1);
    const Index weak = start + frame.diagonal[i];
    add(start, weak - start, weak, frame.size() - weak);
    on.add_gram(G.block(weak, weak, end - weak, end - weak), Y.block(weak, 0, end - weak, Y.cols()));
    add(weak, end - weak, end, frame.size() - end);
  }
}

}  // namespace

Frame identity_frame(const Layout& layout) {
  Indices all(layout.size());
  std::iota(all.begin(), all.end(), Index{0});
  return {layout, layout, std::move(all), {}};
}

Array Frame::block(const Array& G, Index i, Index j) const {
  return G.block(parts.start(i), parts.start(j), parts.features(i), parts.features(j));
}

Indices Frame::features_of(Index domain) const {
  Indices result(features.begin() + parts.start(domain), features.begin() + parts.start(domain + 1));
  for (Index& feature : result) feature -= layout.start(domain);
  return result;
}

void Frame::enter(const Array& X) const {
  for (std::size_t i = 0; i < P.size(); ++i) {
    const auto place = static_cast<Index>(i);
    P[i]->solve_transposed_in_place(X.block(parts.start(place), 0, parts.features(place), X.cols()));
  }
}

Array Frame::times(Index domain, const Array& E) const {
  return identity() ? E : E.on().upper_times(triangle(domain), E);
}

Array Frame::transposed_times(Index domain, const Array& E) const {
  return identity() ? E : E.on().upper_transposed_times(triangle(domain), E);
}

Array Frame::whole(const Backend& on) const {
  if (identity()) return on.identity(size(), size());
  const Array all = on.zeros(size(), size());
  for (Index i = 0; i < parts.domains(); ++i) on.assign(block(all, i, i), triangle(i));
  return all;
}

bool Frame::scaled() const {
  return std::any_of(diagonal.begin(), diagonal.end(), [](Index rows) { return rows > 0; });
}

bool Frame::outgrown(const Array& G) const {
  if (G.empty()) return false;
  const Backend& on = G.on();
  if (scaled()) {
    for (Index i = 0; i < parts.domains(); ++i) {
      if (!well_conditioned(block(G, i, i))) return true;
    }
    return false;
  }
  constexpr int steps = 6;  // of power iteration, which may miss a factor of 2
  Index axis = 0;
  on.diagonal(G).maxCoeff(&axis);
  Vector x = Vector::Unit(G.rows(), axis);
  double gain = 0;
  for (int k = 0; k < steps && !(gain > thresholds::kOutgrown); ++k) {
    x = on.symmetric_times(G, x);
    gain = x.norm();
    x /= gain;
  }
  return !(gain <= thresholds::kOutgrown);
}

std::optional<Frame> Frame::from_whole(const Backend& on, const Matrix& P, Indices features,
                                       std::vector<Index> diagonal, const Layout& layout) {
  const Index a = P.rows(), p = layout.size();
  const bool inside = std::all_of(features.begin(), features.end(), [p](Index j) { return j >= 0 && j < p; });
  if (!inside || a != std::ssize(features) || (P.diagonal().array() == 0).any()) return std::nullopt;
  Frame frame{layout, Layout(std::vector<Index>{}), {}, others(features, p)};
  Index start = 0;
  for (Index i = 0; i < layout.domains(); ++i) {
    Index end = start;
    while (end < a && layout.domain_of(features[end]) == i) ++end;
    const Index rows = diagonal[i];
    if (rows < 0 || rows > end - start) return std::nullopt;
    const Matrix own = P.block(start, start, end - start, end - start).triangularView<Eigen::Upper>();
    if (rows > 0 && !own.topLeftCorner(rows, rows).isDiagonal(0)) return std::nullopt;
    frame.P.push_back(frame_solver(on.upload(own), rows));
    frame.parts.starts.push_back(end);
    start = end;
  }
  frame.diagonal = std::move(diagonal);
  if (start != a || std::ssize(frame.constant) != p - a) return std::nullopt;  // unsorted, named twice
  frame.features = std::move(features);
  return frame;
}

NewFrame make_frame(const Deviations& Z, const Layout& layout, Scales scales, const Array& products) {
  const Backend& on = Z.on();
  const Vector spread = Z.spread();
  std::vector<OrderedTriangle> triangles(layout.domains());
  std::vector<std::pair<Index, Indices>> others_by_qr;  // domains, and their features that vary
  Index largest = 0;
  for (Index i = 0; i < layout.domains(); ++i) {
    Indices varying;
    for (Index j = layout.start(i); j < layout.start(i + 1); ++j) {
      if (spread(j) > thresholds::kNoVariation) varying.push_back(j);
    }
    std::optional<OrderedTriangle> quick;
    if (scales == Scales::allowed) quick = triangle_by_products(Z, varying, products);
    if (quick) {
      triangles[i] = std::move(*quick);
    } else {
      others_by_qr.emplace_back(i, std::move(varying));
      largest = std::max(largest, layout.features(i));
    }
  }
  for_each_domain(std::ssize(others_by_qr), largest, [&](Index k) {
    const auto& [i, varying] = others_by_qr[k];
    triangles[i] = ordered_triangle(Z, varying);
  });
  NewFrame result{{layout, Layout(std::vector<Index>{}), {}, {}}, {}};
  Frame& frame = result.frame;
  std::vector<double> one_more;  // G is kept from being singular as if there were one more sample
  for (auto& [order, P, independent, diagonal, gram] : triangles) {
    hold_determined(P, independent);
    for (Index j = 0; j < P.rows(); ++j) {
      one_more.push_back(j < independent ? 0 : std::pow(thresholds::kDeterminedSample / thresholds::kDetermined, 2));
    }
    frame.features.insert(frame.features.end(), order.begin(), order.end());
    frame.P.push_back(frame_solver(P, diagonal));
    frame.parts.starts.push_back(frame.parts.size() + P.rows());
    frame.diagonal.push_back(diagonal);
  }
  frame.constant = others(frame.features, layout.size());

  const bool scaled = std::all_of(frame.diagonal.begin(), frame.diagonal.end(), [](Index rows) { return rows > 0; });
  const auto add = [&](ArraySum& G, const Array& Y, Index) {
    frame.enter(Y);
    scaled ? add_all_but_own(G.A, frame, Y) : on.add_gram(G.A, Y);
  };
  result.G = Z.summed(ArraySum{on.zeros(frame.size(), frame.size())}, frame.size(), add, &frame.features).A;
  for (std::size_t i = 0; scaled && i < triangles.size(); ++i) {
    const Index start = frame.parts.start(static_cast<Index>(i));
    on.assign(result.G.block(start, start, frame.diagonal[i], frame.diagonal[i]), triangles[i].gram);
  }
  on.add_diagonal(result.G, Vector::Map(one_more.data(), frame.size()));
  return result;
}

FrameSums FrameSums::zero() const {
  return {G.on().zeros(G.rows(), G.cols()), Vector::Zero(sum.size()), Vector::Zero(sum_in_frame.size()), 0, {}};
}

void FrameSums::join(const FrameSums& other) {
  G.on().add(G, other.G);
  sum_in_frame += other.sum_in_frame;
  weight += other.weight;
  outliers.insert(outliers.end(), other.outliers.begin(), other.outliers.end());
}

FrameSums enter_frame(const Frame& frame, const Deviations& Z, Array G) {
  const Backend& on = Z.on();
  const Indices* features = frame.identity() ? nullptr : &frame.features;
  const auto find_outliers = [&](FrameSums& part, const Array& Y, Index first) -> Indices {
    if (frame.identity()) return {};
    const Vector sizes = on.column_squared_norms(Y);
    const Vector news =
        frame.constant.empty() ? Vector::Zero(Y.cols()) : on.column_largest(Z.tile(first, Y.cols(), &frame.constant));
    Indices outliers;
    for (Index j = 0; j < Y.cols(); ++j) {
      const bool alike = news(j) <= thresholds::kNoVariation && sizes(j) <= thresholds::kAlike;
      if (alike) continue;  // NaN is unlike
      outliers.push_back(j);
      part.outliers.push_back(first + j);
    }
    on.zero_columns(Y, outliers);
    return outliers;
  };
  const auto add = [&](FrameSums& part, const Array& Y, Index first) {
    frame.enter(Y);
    const Indices outliers = find_outliers(part, Y, first);
    on.add_gram(part.G, Y);
    part.weight += Z.weight(first, Y.cols(), outliers);
    part.sum_in_frame += Z.sqrt_weighted_sums(Y, first);
  };
  FrameSums result = Z.summed(FrameSums{std::move(G), Vector::Zero(Z.features()), Vector::Zero(frame.size()), 0, {}},
                              frame.size(), add, features);
  // Σ z = Pᵀ Σ y; features that do not vary add nothing
  Vector sum = result.sum_in_frame;
  for (Index i = 0; !frame.identity() && i < frame.parts.domains(); ++i) {
    auto part = sum.segment(frame.parts.start(i), frame.parts.features(i));
    part = on.download(frame.transposed_times(i, on.upload(part)));
  }
  result.sum(frame.features) = sum;
  return result;
}

Array SquareRoot::in_order() const {
  if (order.empty()) return K;
  const Backend& on = K.on();
  return on.transposed(on.scatter_rows(on.transposed(K), order, K.cols()));
}

SquareRoot square_root(const Array& G, Index samples, bool proven) {
  const Backend& on = G.on();
  const double rounding = thresholds::gram_rounding(G.rows(), samples);
  const Vector sizes = on.diagonal(G).cwiseMax(0).cwiseSqrt();
  const Vector scales = (sizes.array() > 0).select(sizes, 1.0);
  if (Array K = on.cholesky(G); !K.empty()) {
    if (proven) return {K, {}};
    const double condition = on.condition(linalg::scaled_columns(on.copy(K), scales.cwiseInverse()));
    if (condition * condition * rounding <= thresholds::kClearRank) return {K, {}};
  }
  const linalg::ArrayPivoted found = on.pivoted_cholesky(at_unit_size(G, scales), rounding);
  return {linalg::scaled_columns(found.R, scales(found.order)), found.order};
}

}  // namespace cgmca
