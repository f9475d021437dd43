#include "core/select/bootstrap_samples.hpp"

#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

constexpr Index kMostGroups = 200, kLeastGroups = 40;
constexpr double kBytes = 1 << 30;  // that the groups' products may take, unless there are only kLeastGroups
constexpr double kFloor = 1e-9;     // of the largest singular value: directions below have the scale of this one
constexpr std::uint32_t kDealing = 7;

Index triangle(Index p) { return p * (p + 1) / 2; }

// The first units begin a group each; others are dealt at random.
Index group_of(std::int64_t unit, std::uint64_t seed, Index groups) {
  if (unit >= 0 && unit < groups) return static_cast<Index>(unit);
  const auto number = static_cast<std::uint64_t>(unit);
  const auto words = random_numbers::philox(
      {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), kDealing, 0},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return static_cast<Index>(words[0] % static_cast<std::uint32_t>(groups));
}

}  // namespace

Index BootstrapSamples::State::features() const { return start(domains.size()); }

Index BootstrapSamples::State::start(std::size_t domain) const {
  Index sum = 0;
  for (std::size_t i = 0; i < domain; ++i) sum += domains[i].features;
  return sum;
}

void BootstrapSamples::State::take(const Matrix& X, const Vector& w, const std::vector<std::int64_t>& of_units) {
  if (grouped) return add_to_groups(X, w, of_units);
  const Index before = rows.cols();
  rows.conservativeResize(features(), before + X.cols());
  rows.rightCols(X.cols()) = X;
  weights.conservativeResize(rows.cols());
  weights.tail(X.cols()) = w;
  units.insert(units.end(), of_units.begin(), of_units.end());
  if (rows.cols() > 2 * features()) turn_to_groups();
}

void BootstrapSamples::State::turn_to_groups() {
  const Index p = features(), first = std::min(rows.cols(), 4 * p);
  centre = rows.leftCols(first).rowwise().mean();
  for (std::size_t i = 0; i < domains.size(); ++i) {
    const Index d = domains[i].features;
    Matrix Z = rows.block(start(i), 0, d, first).colwise() - centre.segment(start(i), d);
    const Vector deviations = Z.rowwise().norm() / std::sqrt(static_cast<double>(first));
    const Vector sizes = (deviations.array() > 0).select(deviations, 1.0);
    Z = sizes.cwiseInverse().asDiagonal() * Z / std::sqrt(static_cast<double>(first));
    const linalg::Svd svd = linalg::thin_svd(Z);
    const double largest = svd.s(0) > 0 ? svd.s(0) : 1.0;
    const Vector s = svd.s.cwiseMax(kFloor * largest);
    from_y.emplace_back(sizes.asDiagonal() * svd.U * s.asDiagonal());
    to_y.emplace_back(s.cwiseInverse().asDiagonal() * svd.U.transpose() * sizes.cwiseInverse().asDiagonal());
  }
  const double room = kBytes / (8.0 * static_cast<double>(triangle(p)));
  const auto groups =
      static_cast<Index>(std::clamp(room, static_cast<double>(kLeastGroups), static_cast<double>(kMostGroups)));
  group_weights = Vector::Zero(groups);
  sums = Matrix::Zero(p, groups);
  products = Matrix::Zero(triangle(p), groups);
  grouped = true;
  add_to_groups(rows, weights, units);
  rows.resize(p, 0);
  weights.resize(0);
  units.clear();
}

void BootstrapSamples::State::add_to_groups(const Matrix& X, const Vector& w,
                                            const std::vector<std::int64_t>& of_units) {
  const Index p = features();
  Matrix Y = X.colwise() - centre;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    auto own = Y.middleRows(start(i), domains[i].features);
    own = linalg::AB(to_y[i], own);
  }
  std::vector<std::vector<Index>> members(group_weights.size());
  for (Index j = 0; j < X.cols(); ++j) {
    const Index group = group_of(of_units[j], seed, group_weights.size());
    members[group].push_back(j);
  }
  parallel_for(group_weights.size(), [&](Index g) {
    const auto& places = members[g];
    if (places.empty()) return;
    const Vector own = w(places);
    group_weights(g) += own.sum();
    const Matrix part = Y(Eigen::all, places);
    sums.col(g) += part * own;
    const Matrix scaled = part * own.cwiseSqrt().asDiagonal();
    const Matrix G = linalg::ABt(scaled, scaled);
    Index place = 0;
    for (Index column = 0; column < p; ++column) {
      products.col(g).segment(place, column + 1) += G.col(column).head(column + 1);
      place += column + 1;
    }
  });
}

BootstrapSamples::BootstrapSamples(std::vector<DomainInfo> domains, std::uint64_t seed)
    : state_(std::make_unique<State>()) {
  Summary check(domains);  // throws for what is no domain
  state_->domains = std::move(domains);
  state_->seed = seed;
  state_->rows.resize(state_->features(), 0);
}
BootstrapSamples::~BootstrapSamples() = default;
BootstrapSamples::BootstrapSamples(BootstrapSamples&&) noexcept = default;
BootstrapSamples& BootstrapSamples::operator=(BootstrapSamples&&) noexcept = default;

Index BootstrapSamples::samples() const { return state_->count; }

Index BootstrapSamples::groups() const {
  if (state_->grouped) return (state_->group_weights.array() > 0).count();
  std::vector<std::int64_t> units = state_->units;
  std::sort(units.begin(), units.end());
  return std::unique(units.begin(), units.end()) - units.begin();
}

void BootstrapSamples::add(const MatchedSamples& X, const Vector& weights, const std::vector<std::int64_t>& units) {
  State& state = *state_;
  const Summary like(state.domains);
  weights.size() > 0 ? like.check(X, weights, state.count) : like.check(X, state.count);
  const Index n = X.front().cols();
  if (!units.empty() && std::ssize(units) != n) {
    throw UnequalSamples(fmt::format("{} units for {} samples; one is needed for each", units.size(), n));
  }
  Matrix all(state.features(), n);
  for (std::size_t i = 0; i < X.size(); ++i) {
    X[i].visit([&](const auto& one) { all.middleRows(state.start(i), one.rows()) = one.template cast<double>(); });
  }
  std::vector<Index> kept;
  for (Index j = 0; j < n; ++j) {
    if (weights.size() == 0 || weights(j) > 0) kept.push_back(j);
  }
  std::vector<std::int64_t> own;
  for (const Index j : kept) {
    own.push_back(units.empty() ? state.count++ : (++state.count, units[j]));
  }
  const Vector w = weights.size() > 0 ? Vector(weights(kept)) : Vector::Ones(std::ssize(kept));
  if (std::ssize(kept) == n) return state.take(all, w, own);
  state.take(Matrix(all(Eigen::all, kept)), w, own);
}

}  // namespace cgmca
