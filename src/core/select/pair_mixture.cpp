#include "core/select/pair_mixture.hpp"

#include <cgmca/error.hpp>
#include <cgmca/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;
using random_numbers::Purpose;
using random_numbers::Stream;

constexpr Index kPairFolds = 10, kShuffles = 5, kFewestPairs = 20;

Matrix span_of(const MatrixView& X, int domain) {
  if (!X.allFinite()) {
    for (Index j = 0; j < X.cols(); ++j) {
      for (Index f = 0; f < X.rows(); ++f) {
        if (std::isfinite(X(f, j))) continue;
        throw NotFinite(
            fmt::format("domain {} holds {} at row {}, column {} (counted from 0; a row is a sample); leave "
                        "such pairs out",
                        domain, std::isnan(X(f, j)) ? "NaN" : "infinity", j, f),
            j, f);
      }
    }
  }
  const Matrix centred = X.colwise() - X.rowwise().mean();
  const double largest = centred.cwiseAbs().maxCoeff();
  if (!(largest > 0)) throw NoVariance(fmt::format("every feature of domain {} is constant", domain));
  if (X.rows() < X.cols()) return centred;
  const auto [values, Q] = linalg::symmetric_eigen(AtB(centred, centred));
  const Index rank = (values.array() > thresholds::kObjectiveRounding * values(0)).count();
  return values.head(rank).cwiseSqrt().asDiagonal() * Q.leftCols(rank).transpose();
}

// Θ + λ tr(Θ)/d I = RᵀR
Matrix regularized_root(Matrix theta, double ridge, Index features, int domain) {
  const double trace = theta.trace();
  if (!(trace > 0)) throw NoVariance(fmt::format("every feature of domain {} is constant in some folds", domain));
  theta.diagonal().array() += ridge * trace / static_cast<double>(features);
  Matrix R = linalg::cholesky(theta);
  if (R.size() == 0) throw NumericalFailure("a regularized covariance has no Cholesky factor");
  return R;
}

double log_sum_exp(double a, double b) {
  const double high = std::max(a, b);
  return high == -std::numeric_limits<double>::infinity() ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

}  // namespace

PairCoordinates pair_coordinates(const MatrixView& X1, const MatrixView& X2) {
  if (X1.cols() != X2.cols()) {
    throw UnequalSamples(fmt::format("domain 1 has {} samples and domain 2 has {}; matched pairs need as many of each",
                                     X1.cols(), X2.cols()));
  }
  if (X1.cols() < kFewestPairs) {
    throw TooFewSamples(fmt::format("{} pairs; to check pairs takes at least {}", X1.cols(), kFewestPairs));
  }
  return {span_of(X1, 1), span_of(X2, 2), X1.rows(), X2.rows()};
}

PairRatio::Sums sums_of(const PairCoordinates& pairs, const Vector& weights) {
  const Index r1 = pairs.X1.rows(), r2 = pairs.X2.rows();
  Matrix X(r1 + r2, pairs.count());
  X << pairs.X1, pairs.X2;
  PairRatio::Sums sums{weights.sum(), X * weights, Matrix::Zero(r1 + r2, r1 + r2)};
  linalg::add_gram(sums.second, Matrix(X * weights.cwiseSqrt().asDiagonal()));
  return sums;
}

PairRatio::PairRatio(const Sums& sums, const PairCoordinates& pairs, double ridge) {
  const Index r1 = pairs.X1.rows(), r2 = pairs.X2.rows();
  const Vector mean = sums.first / sums.weight;
  const Matrix theta =
      (Matrix(sums.second.selfadjointView<Eigen::Upper>()) - sums.weight * mean * mean.transpose()) / (sums.weight - 1);
  mean1_ = mean.head(r1);
  mean2_ = mean.tail(r2);
  R1_ = regularized_root(theta.topLeftCorner(r1, r1), ridge, pairs.d1, 1);
  R2_ = regularized_root(theta.bottomRightCorner(r2, r2), ridge, pairs.d2, 2);
  const Matrix half = linalg::solve_upper_transposed(R1_, theta.topRightCorner(r1, r2));
  B_ = linalg::solve_upper_transposed(R2_, half.transpose()).transpose();
  K_ = linalg::cholesky(Matrix::Identity(r2, r2) - AtB(B_, B_));
  if (K_.size() == 0) throw NumericalFailure("the canonical correlations of some folds are 1 to rounding");
  log_determinant_ = 2 * K_.diagonal().array().log().sum();
}

PairRatio::Parts PairRatio::parts(const MatrixView& X1, const MatrixView& X2) const {
  const Matrix y1 = linalg::solve_upper_transposed(R1_, X1.colwise() - mean1_);
  const Matrix y2 = linalg::solve_upper_transposed(R2_, X2.colwise() - mean2_);
  return {linalg::solve_upper_transposed(K_, y2), linalg::solve_upper_transposed(K_, AtB(B_, y1)),
          0.5 * (y2.colwise().squaredNorm().transpose().array() - log_determinant_)};
}

PairFolds::PairFolds(const PairCoordinates& pairs, std::uint64_t seed) : pairs_(pairs), folds_(kPairFolds) {
  const auto order =
      random_numbers::permutation(Stream(seed, Purpose::pairing, 0), static_cast<std::uint32_t>(pairs.count()));
  for (std::size_t j = 0; j < order.size(); ++j) {
    folds_[j % static_cast<std::size_t>(kPairFolds)].members.push_back(static_cast<Index>(order[j]));
  }
  std::uint32_t item = 1;
  for (Fold& fold : folds_) {
    const auto m = static_cast<std::uint32_t>(fold.members.size());
    for (Index s = 0; s < kShuffles; ++s) {
      // Each sample gets the partner of the next one in a random order, so that no sample keeps its own partner.
      const auto cycle = random_numbers::permutation(Stream(seed, Purpose::pairing, item++), m);
      std::vector<std::uint32_t> partner(m);
      for (std::uint32_t k = 0; k < m; ++k) partner[cycle[k]] = cycle[(k + 1) % m];
      fold.shuffles.push_back(std::move(partner));
    }
  }
}

HeldOutRatios PairFolds::ratios(const Vector& weights, double ridge) const {
  const PairRatio::Sums all = sums_of(pairs_, weights);
  HeldOutRatios result{Vector(pairs_.count()), Vector(pairs_.count() * kShuffles)};
  Index next = 0;
  for (const Fold& fold : folds_) {
    const PairCoordinates own{pairs_.X1(Eigen::all, fold.members), pairs_.X2(Eigen::all, fold.members), pairs_.d1,
                              pairs_.d2};
    const PairRatio::Sums held = sums_of(own, weights(fold.members));
    const PairRatio ratio({all.weight - held.weight, all.first - held.first, all.second - held.second}, pairs_, ridge);
    const PairRatio::Parts parts = ratio.parts(own.X1, own.X2);
    for (Index j = 0; j < own.count(); ++j) result.pairs(fold.members[j]) = parts.of(j, j);
    for (const auto& partner : fold.shuffles) {
      for (Index j = 0; j < own.count(); ++j) {
        result.shuffled(next++) = parts.of(j, static_cast<Index>(partner[j]));
      }
    }
  }
  return result;
}

namespace {

double quantile(const std::vector<double>& ascending, double p) {
  const double place = p * static_cast<double>(ascending.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(low);
  return ascending[low] + part * (ascending[std::min(low + 1, ascending.size() - 1)] - ascending[low]);
}

// max(½, 1 - min_c F(c)/F_0(c)): the share of right pairs is at least that, because wrong ones are as the shuffled. (76)
double least_right(const HeldOutRatios& ratios) {
  std::vector<double> shuffled(ratios.shuffled.begin(), ratios.shuffled.end());
  std::sort(shuffled.begin(), shuffled.end());
  // If no pair is below c, F counts as half a pair.
  const double least = std::min(0.0025, 0.5 / static_cast<double>(ratios.pairs.size()));
  double most_wrong = 1;
  constexpr int steps = 14;
  for (int step = 0; step <= steps; ++step) {
    const double c = quantile(shuffled, 0.2 + 0.7 * step / steps);
    const auto below = std::upper_bound(shuffled.begin(), shuffled.end(), c) - shuffled.begin();
    const double F0 = static_cast<double>(below) / static_cast<double>(shuffled.size());
    const double F = (ratios.pairs.array() <= c).cast<double>().mean();
    most_wrong = std::min(most_wrong, std::max(F, least) / F0);
  }
  return std::max(0.5, 1 - most_wrong);
}

// The fixed point of π = max(mean w, π_low) for given log e, and Σ log(π e + 1 - π) there.
std::pair<PairMixture, double> settle(const Vector& log_e, double least) {
  PairMixture mixture;
  mixture.right = std::max(0.9, least);
  double value = 0;
  for (int step = 0; step < 500; ++step) {
    const double log_right = std::log(mixture.right), log_wrong = std::log1p(-mixture.right);
    mixture.probability.resize(log_e.size());
    value = 0;
    for (Index j = 0; j < log_e.size(); ++j) {
      const double both = log_sum_exp(log_right + log_e(j), log_wrong);
      mixture.probability(j) = std::exp(log_right + log_e(j) - both);
      value += both;
    }
    const double next = std::max(mixture.probability.mean(), least);
    const bool settled = std::abs(next - mixture.right) < 1e-7;
    mixture.right = next;
    if (settled) break;
  }
  return {std::move(mixture), value};
}

}  // namespace

PairMixture mixture_of(const HeldOutRatios& ratios) {
  const double least = least_right(ratios);
  PairMixture best;
  double most = -std::numeric_limits<double>::infinity();
  for (const double b : std::array{1.0, 0.7, 0.5, 0.35, 0.25, 0.17, 0.12}) {
    const double high = b * ratios.shuffled.maxCoeff();
    const double a = -(high + std::log((b * ratios.shuffled.array() - high).exp().mean()));
    auto [mixture, value] = settle((a + b * ratios.pairs.array()).matrix(), least);
    if (!(value > most)) continue;
    most = value;
    best = std::move(mixture);
    best.power = b;
  }
  return best;
}

}  // namespace cgmca
