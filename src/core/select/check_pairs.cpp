// Wrong pairs.                                                                            docs/method.md section 12
#include <cgmca/check_pairs.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "core/linalg/linalg.hpp"
#include "core/select/pair_mixture.hpp"

namespace cgmca {
namespace {

constexpr std::array kRidges = {0.01, 0.1, 1.0, 10.0};
constexpr int kMostRounds = 15;
constexpr double kWeightsSettled = 0.01;
// A pair is never called wrong if at most this part of the shuffled pairs is more likely.
constexpr double kTooLikely = 0.02;

double median(Vector values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Whether pairs are significantly more likely than shuffled ones. If they are not, the share of shuffled pairs below a
// pair is ½ on average, to within √(1/(6n)).
bool are_related(const HeldOutRatios& ratios) {
  std::vector<double> shuffled(ratios.shuffled.begin(), ratios.shuffled.end());
  std::sort(shuffled.begin(), shuffled.end());
  double below = 0;
  for (const double value : ratios.pairs) {
    below += static_cast<double>(std::lower_bound(shuffled.begin(), shuffled.end(), value) - shuffled.begin());
  }
  const auto n = static_cast<double>(ratios.pairs.size());
  return below / (n * static_cast<double>(shuffled.size())) > 0.5 + 3 / std::sqrt(6 * n);
}

// The ridge of the largest median of held-out log ratios, that median, and whether the domains say enough.
struct DomainRelation {
  double ridge = kRidges.front(), median = -INFINITY;
  bool enough = false;
};
DomainRelation relation_by_ridge(const PairFolds& folds, Index n) {
  DomainRelation best;
  for (const double ridge : kRidges) {
    const HeldOutRatios ratios = folds.ratios(Vector::Ones(n), ridge);
    const double found = median(ratios.pairs);
    if (found > best.median) best = {ridge, found, found >= 0 && are_related(ratios)};
  }
  return best;
}

// Pairs confirmed at the false discovery rate, by Benjamini and Hochberg's procedure.
std::vector<Index> confirmed_at(const Vector& p_values, double level) {
  const Index n = p_values.size();
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return p_values(a) < p_values(b); });
  Index last = 0;
  for (Index k = 1; k <= n; ++k) {
    if (p_values(order[k - 1]) * static_cast<double>(n) <= level * static_cast<double>(k)) {
      last = k;
    }
  }
  order.resize(last);
  std::sort(order.begin(), order.end());
  return order;
}

Vector shares_at_least(const HeldOutRatios& ratios) {
  std::vector<double> shuffled(ratios.shuffled.begin(), ratios.shuffled.end());
  std::sort(shuffled.begin(), shuffled.end());
  return ratios.pairs.unaryExpr([&](double value) {
    const auto above = shuffled.end() - std::lower_bound(shuffled.begin(), shuffled.end(), value);
    return (1 + static_cast<double>(above)) / (1 + static_cast<double>(shuffled.size()));
  });
}

// For each suspect, the sample of domain 2 that its sample of domain 1 belongs to, if one is more likely than all others
// together.
void find_partners(PairCheck& check, const PairCoordinates& pairs, double power) {
  const PairRatio ratio(sums_of(pairs, check.probability), pairs, check.ridge);
  const PairRatio::Parts parts = ratio.parts(pairs.X1, pairs.X2);
  for (SuspectPair& suspect : check.suspects) {
    const Vector apart = (parts.u.colwise() - parts.v.col(suspect.pair)).colwise().squaredNorm();
    const Vector value = power * (parts.own - 0.5 * apart);
    Index best = 0;
    const double high = value.maxCoeff(&best);
    const double probability = 1 / (value.array() - high).exp().sum();
    if (best == suspect.pair || !(probability > 0.5)) continue;
    suspect.partner = best;
    suspect.partner_probability = probability;
  }
}

// Runs of suspects whose partners are the same number of rows away: at least five, most suspects of the run, and at least
// half of its rows.
std::vector<Displacement> displaced_runs(const std::vector<SuspectPair>& suspects) {
  std::map<Index, std::vector<Index>> by;
  std::vector<Index> all;
  for (const SuspectPair& suspect : suspects) {
    all.push_back(suspect.pair);
    if (suspect.partner >= 0) by[suspect.partner - suspect.pair].push_back(suspect.pair);
  }
  std::vector<Displacement> found;
  for (auto& [step, rows] : by) {
    std::sort(rows.begin(), rows.end());
    const Index first = rows.front(), last = rows.back();
    const auto within = std::count_if(all.begin(), all.end(), [&](Index row) { return row >= first && row <= last; });
    constexpr std::ptrdiff_t fewest = 5;
    const bool dense = 2 * std::ssize(rows) > within && 2 * std::ssize(rows) > last - first;
    if (std::ssize(rows) >= fewest && dense) found.push_back({first, last, step});
  }
  return found;
}

// The leading principal scores, of unit variance.   q×n
Matrix leading_scores(const Matrix& X, Index most) {
  const auto [values, Q] = linalg::symmetric_eigen(linalg::ABt(X, X));
  const Index q = std::min(most, X.rows());
  Matrix scores = linalg::AtB(Q.leftCols(q), X);
  for (Index k = 0; k < q; ++k) scores.row(k) *= 1 / std::max(std::sqrt(values(k)), 1e-300);
  return std::sqrt(static_cast<double>(X.cols())) * scores;
}

// ‖Σ_j s_1j s_2,j+k ᵀ‖²/n_k of scores s for shifts k: large where samples j and j + k belong together.            (77)
Vector shift_profile(const Matrix& one, const Matrix& two, Index most) {
  const Index n = one.cols();
  Vector profile(2 * most + 1);
  for (Index k = -most; k <= most; ++k) {
    const Index count = n - std::abs(k), first = std::max<Index>(0, -k);
    profile(k + most) = linalg::ABt(one.middleCols(first, count), two.middleCols(first + k, count)).squaredNorm() /
                        static_cast<double>(count);
  }
  return profile;
}

PairCoordinates shifted(const PairCoordinates& pairs, Index by) {
  const Index count = pairs.count() - std::abs(by), first = std::max<Index>(0, -by);
  return {pairs.X1.middleCols(first, count), pairs.X2.middleCols(first + by, count), pairs.d1, pairs.d2};
}

// The number of rows by which all samples together are displaced; nothing if the given rows are as likely.
std::optional<Index> displaced_by(const PairCoordinates& pairs, double median_in_place, std::uint64_t seed) {
  constexpr Index directions = 8, largest = 1000;
  const Index most = std::min(largest, pairs.count() / 2 - 1);
  const Vector profile =
      shift_profile(leading_scores(pairs.X1, directions), leading_scores(pairs.X2, directions), most);
  Index best = 0;
  const double high = profile.maxCoeff(&best), centre = median(profile);
  const double spread = median((profile.array() - centre).abs().matrix());
  constexpr double clearly = 6;
  const Index by = best - most;
  if (by == 0 || !(high - centre > clearly * spread)) return std::nullopt;
  const PairCoordinates there = shifted(pairs, by);
  constexpr Index enough = 20;
  if (there.count() < enough) return std::nullopt;
  const DomainRelation found = relation_by_ridge(PairFolds(there, seed), there.count());
  if (!found.enough || !(found.median > median_in_place)) return std::nullopt;
  return by;
}

bool is_sorted_up(const Eigen::Ref<const Eigen::RowVectorXd>& values) {
  for (Index j = 1; j < values.size(); ++j) {
    if (values(j) < values(j - 1)) return false;
  }
  return values(values.size() - 1) > values(0);
}

// The first feature by which the samples are sorted; -1 if there is none. A feature of few values does not count.
Index sorted_by(const MatrixView& X) {
  for (Index f = 0; f < X.rows(); ++f) {
    const Eigen::RowVectorXd row = X.row(f);
    Index distinct = 1;
    for (Index j = 1; j < row.size(); ++j) distinct += row(j) != row(j - 1) ? 1 : 0;
    if (2 * distinct > row.size() && (is_sorted_up(row) || is_sorted_up(-row))) return f;
  }
  return -1;
}

std::vector<std::string> sorted_remarks(const MatrixView& X1, const MatrixView& X2) {
  const std::array sorted = {sorted_by(X1), sorted_by(X2)};
  std::vector<std::string> remarks;
  for (std::size_t i = 0; i < 2; ++i) {
    if (sorted[i] < 0 || sorted[1 - i] >= 0) continue;
    remarks.push_back(
        fmt::format("the samples of domain {} are sorted by feature {} (counted from 0), those of domain "
                    "{} by none: was one file sorted?",
                    i + 1, sorted[i], 2 - i));
  }
  return remarks;
}

void check_level(const PairCheckOptions& options) {
  if (options.level > 0 && options.level < 1) return;
  throw InvalidInput(fmt::format("a false discovery rate of {}; give one between 0 and 1", options.level));
}

std::string displacement_text(Index by) {
  return fmt::format("the rows are displaced: sample j of domain 1 belongs to sample j {} {} of domain 2",
                     by > 0 ? '+' : '-', std::abs(by));
}

// Steps 2 to 5 are repeated until the weights converge.
void judge(PairCheck& check, const PairFolds& folds, const PairCoordinates& pairs, const PairCheckOptions& options) {
  check.probability = Vector::Ones(pairs.count());
  HeldOutRatios ratios;
  PairMixture mixture;
  for (int round = 0; round < kMostRounds; ++round) {
    ratios = folds.ratios(check.probability, check.ridge);
    mixture = mixture_of(ratios);
    const double change = (mixture.probability - check.probability).cwiseAbs().maxCoeff();
    check.probability = mixture.probability;
    if (change < kWeightsSettled) break;
  }
  check.log_ratio = ratios.pairs;
  check.p_values = shares_at_least(ratios);
  check.confirmed = confirmed_at(check.p_values, options.level);
  check.right = mixture.right;
  for (Index j = 0; j < pairs.count(); ++j) {
    if (check.probability(j) < 0.5 && check.p_values(j) > kTooLikely)
      check.suspects.push_back({j, check.probability(j)});
  }
  std::stable_sort(check.suspects.begin(), check.suspects.end(), [&](const SuspectPair& a, const SuspectPair& b) {
    return check.log_ratio(a.pair) < check.log_ratio(b.pair);
  });
  find_partners(check, pairs, mixture.power);
  check.displacements = displaced_runs(check.suspects);
}

}  // namespace

PairCheck check_pairs(const MatrixView& X1, const MatrixView& X2, const PairCheckOptions& options) {
  check_level(options);
  const PairCoordinates pairs = pair_coordinates(X1, X2);
  const PairFolds folds(pairs, options.seed);
  const DomainRelation found = relation_by_ridge(folds, pairs.count());
  PairCheck check;
  check.ridge = found.ridge;
  const auto by = displaced_by(pairs, found.median, options.seed);
  if (by) check.remarks.push_back(displacement_text(*by));
  for (const std::string& remark : sorted_remarks(X1, X2)) check.remarks.push_back(remark);
  if (found.enough) {
    judge(check, folds, pairs, options);
  } else {
    check.informative = false;
    if (check.remarks.empty()) {
      throw InvalidInput(
          fmt::format("the domains say too little of each other to tell right pairs from wrong ones: held-out pairs "
                      "are hardly likelier together than shuffled ones (their median log ratio is {:.3g}). More pairs "
                      "or other features would help, unless all pairs are wrong",
                      found.median));
    }
    check.probability = check.log_ratio = Vector::Zero(pairs.count());
    check.p_values = Vector::Ones(pairs.count());
    check.right = 0;
  }
  if (by) {
    check.displacements = {{std::max<Index>(0, -*by), pairs.count() - 1 - std::max<Index>(0, *by), *by}};
  }
  for (const Displacement& run : check.displacements) {
    if (by) break;
    check.remarks.push_back(
        fmt::format("rows {} to {} (counted from 0): {}", run.first, run.last, displacement_text(run.by)));
  }
  return check;
}

}  // namespace cgmca
