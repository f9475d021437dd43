#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/permutation.hpp>
#include <cgmca/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "linalg/linalg.hpp"
#include "multi/match.hpp"
#include "prescribed.hpp"
#include "thresholds.hpp"
#include "whitening/factors.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;
using random_numbers::Purpose;
using random_numbers::Stream;

// χ² with m degrees of freedom: 2 Γ(m/2), by the method of Marsaglia and Tsang (2000), for m >= 2.
double chi_square(Stream& random, double m) {
  const double d = m / 2 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    if (random_numbers::natural_logarithm(random.uniform()) <
        0.5 * x * x + d - d * v + d * random_numbers::natural_logarithm(v)) {
      return 2 * d * v;
    }
  }
}

// The first r1 rows and r2 columns of a random rotation of m >= r1 + r2 dimensions: G_1 R⁻¹ with RᵀR = G_1ᵀG_1 +
// G_2ᵀG_2, G_1 (r1×r2) and G_2 ((m-r1)×r2) normal. G_2ᵀG_2 = L Lᵀ, of Wishart's distribution, is drawn by Bartlett's
// decomposition.
Matrix rotation_block(Stream& random, Index r1, Index r2, double m) {
  Matrix stacked = Matrix::Zero(r1 + r2, r2);
  for (Index j = 0; j < r2; ++j) {
    for (Index i = 0; i < r1; ++i) stacked(i, j) = random.normal();
  }
  for (Index i = 0; i < r2; ++i) {
    stacked(r1 + i, i) = std::sqrt(chi_square(random, m - static_cast<double>(r1 + i)));
    for (Index j = i + 1; j < r2; ++j) stacked(r1 + i, j) = random.normal();  // the rows are those of Lᵀ
  }
  return linalg::thin_qr(std::move(stacked)).Q.topRows(r1);
}

double largest_singular_value(const Matrix& B) {
  const Matrix G = B.rows() < B.cols() ? linalg::ABt(B, B) : AtB(B, B);
  return std::sqrt(std::max(0.0, linalg::symmetric_eigenvalues(G)(0)));
}

// The regularized scores Y_i = V_i diag(s/scale), n×r_i, so that B_ij = Y_iᵀ Y_j. Where the rows are not kept only
// diag(s/scale) is known.
std::vector<Matrix> scores_of(const Factors& factors, bool rows) {
  std::vector<Matrix> scores;
  for (std::size_t i = 0; i < factors.domains.size(); ++i) {
    const SpectrumWhitening& whitening = *factors.domains[i].spectrum();
    if (rows) {
      scores.emplace_back(linalg::download(whitening.white(factors.data->moments.S[i])).transpose());
    } else {
      scores.emplace_back(whitening.s.cwiseQuotient(whitening.scale).asDiagonal());
    }
  }
  return scores;
}

// B of the b-th shuffle of the pairs: by a permutation of the rows if they are kept, else by a random rotation of n-1
// dimensions.
Matrix dealt_anew(const Matrix& Y1, const Matrix& Y2, bool rows, double n, std::uint64_t seed, Index b) {
  Stream random(seed, Purpose::pairing, static_cast<std::uint32_t>(b));
  if (!rows) return AtB(Y1, AB(rotation_block(random, Y1.rows(), Y2.rows(), n - 1), Y2));
  const auto order = random_numbers::permutation(random, static_cast<std::uint32_t>(Y2.rows()));
  Matrix shuffled(Y2.rows(), Y2.cols());
  for (Index i = 0; i < Y2.rows(); ++i) shuffled.row(i) = Y2.row(order[static_cast<std::size_t>(i)]);
  return AtB(Y1, shuffled);
}

// How many shuffles have a statistic of at least `reached`.
template <class Statistic>
Index count_reaching(double reached, const PermutationOptions& test, const Statistic& statistic) {
  constexpr Index batch = 64;
  std::vector<char> reaches(static_cast<std::size_t>(test.permutations));
  for (Index first = 0; first < test.permutations; first += batch) {
    const Index count = std::min(batch, test.permutations - first);
    side_by_side(count, [&](Index task) {
      reaches[static_cast<std::size_t>(first + task)] = statistic(first + task) >= reached ? 1 : 0;
    });
    if (test.progress) test.progress(static_cast<double>(first + count) / static_cast<double>(test.permutations));
  }
  return std::count(reaches.begin(), reaches.end(), 1);
}

// The `most` directions in turn, until one is above the level. `reaching(j)`: how often chance did as well as the j-th.
template <class Reaching>
PermutationTest tested_in_turn(Index most, const PermutationOptions& test, const Reaching& reaching) {
  PermutationTest result;
  result.permutations = test.permutations;
  double p_value = 0;
  for (Index j = 0; j < most; ++j) {
    const double count = static_cast<double>(reaching(j));
    p_value = std::max(p_value, (count + 1) / static_cast<double>(test.permutations + 1));
    result.p_values.push_back(p_value);
    if (p_value > test.level) break;
    ++result.significant;
  }
  return result;
}

void check(const Summary& summary, const PermutationOptions& test) {
  if (test.permutations < 1)
    throw InvalidInput(fmt::format("{} permutations; at least 1 is needed", test.permutations));
  if (!(test.level > 0 && test.level < 1)) {
    throw InvalidInput(fmt::format("a significance level of {}; it lies between 0 and 1", test.level));
  }
  if (summary.domains() < 2) throw InvalidInput("a permutation test compares two domains or more; there is 1");
}

// Random rotations need n - 1 > Σ r_i. Summaries without weights that keep no rows have more samples than that.
void check_rotations(const Factors& factors, bool rows) {
  Index ranks = 0;
  for (const WhitenedDomain& domain : factors.domains) ranks += domain.rank();
  if (rows || factors.total_weight >= static_cast<double>(ranks + 2)) return;
  throw InvalidInput(
      fmt::format("a permutation test of weighted {} needs weights that sum to at least {}, two more than {} ranks "
                  "together; these sum to {:.6g}. Limit max_rank",
                  factors.count() == 2 ? "pairs" : "samples", ranks + 2, factors.count() == 2 ? "both" : "all",
                  factors.total_weight));
}

using CrossMatrices = std::vector<std::vector<Matrix>>;

// B_ij = Y_iᵀ Y_j for i < j.
CrossMatrices products_of(const std::vector<Matrix>& Y) {
  CrossMatrices B(Y.size(), std::vector<Matrix>(Y.size()));
  for (std::size_t i = 0; i < Y.size(); ++i) {
    for (std::size_t j = i + 1; j < Y.size(); ++j) B[i][j] = AtB(Y[i], Y[j]);
  }
  return B;
}

// Y_i with the rows of all domains but the first shuffled, each domain independently.
std::vector<Matrix> rows_dealt_anew(std::vector<Matrix> Y, Stream& random) {
  for (std::size_t i = 1; i < Y.size(); ++i) {
    const auto order = random_numbers::permutation(random, static_cast<std::uint32_t>(Y[i].rows()));
    Matrix shuffled(Y[i].rows(), Y[i].cols());
    for (Index row = 0; row < shuffled.rows(); ++row)
      shuffled.row(row) = Y[i].row(order[static_cast<std::size_t>(row)]);
    Y[i] = std::move(shuffled);
  }
  return Y;
}

// Q_i Y_i, Y_i: r_i×p_i, with random frames of m dimensions: Q_i has r_i orthonormal columns, uniform and independent
// of the others. The Q_i of normal G_i = Q_i R_i have the same Q_iᵀ Q_j as those of the columns i of the triangle T
// with TᵀT = GᵀG, G = [G_1 …], which is drawn by Bartlett's decomposition.
std::vector<Matrix> rotated_anew(std::vector<Matrix> Y, Stream& random, double m) {
  Index all = 0;
  for (const Matrix& Y_i : Y) all += Y_i.rows();
  Matrix T = Matrix::Zero(all, all);
  for (Index row = 0; row < all; ++row) {
    T(row, row) = std::sqrt(chi_square(random, m - static_cast<double>(row)));
    for (Index column = row + 1; column < all; ++column) T(row, column) = random.normal();
  }
  Index first = 0;
  for (Matrix& Y_i : Y) {
    const Index rank = Y_i.rows();
    Y_i = AB(linalg::thin_qr(T.middleCols(first, rank)).Q, Y_i);
    first += rank;
  }
  return Y;
}

// The direction that all domains share best, d_i of unit length in each, and its f.                              (37)
multi::MatchingSolution best_direction(const CrossMatrices& B, const Matrix& weights) {
  return multi::match_quickly(multi::MatchingProblem(std::vector<Matrix>(B.size(), Matrix::Ones(1, 1)), B, weights));
}

PermutationTest test_two(const Factors& factors, bool rows, const PermutationOptions& test) {
  const linalg::Svd svd = linalg::full_svd(linalg::download(factors.B()));
  const std::vector<Matrix> scores = scores_of(factors, rows);
  return tested_in_turn(svd.s.size(), test, [&](Index j) {
    // What is left of the scores without the first j pairs of directions.
    const Matrix Y1 = AB(scores[0], svd.U.rightCols(svd.U.cols() - j));
    const Matrix Y2 = AB(scores[1], svd.V.rightCols(svd.V.cols() - j));
    return count_reaching(svd.s(j) * (1 - thresholds::kReached), test, [&](Index b) {
      return largest_singular_value(dealt_anew(Y1, Y2, rows, factors.total_weight, test.seed, b));
    });
  });
}

PermutationTest test_more(const Factors& factors, bool rows, const PermutationOptions& test) {
  const Matrix weights = weights_of(test.graph, factors.count());
  std::vector<Matrix> Y = scores_of(factors, rows);
  CrossMatrices B(Y.size(), std::vector<Matrix>(Y.size()));
  for (std::size_t i = 0; i < B.size(); ++i) {
    for (std::size_t j = i + 1; j < B.size(); ++j) B[i][j] = linalg::download(factors.cross[i][j]);
  }
  const Index most = smallest_rank(factors);
  return tested_in_turn(most, test, [&](Index j) {
    const multi::MatchingSolution found = best_direction(B, weights);
    const Index count = count_reaching(found.f * (1 - thresholds::kReached), test, [&](Index b) {
      Stream random(test.seed, Purpose::pairing, static_cast<std::uint32_t>(b));
      const std::vector<Matrix> dealt =
          rows ? rows_dealt_anew(Y, random) : rotated_anew(Y, random, factors.total_weight - 1);
      return best_direction(products_of(dealt), weights).f;
    });
    if (j + 1 == most) return count;
    // What is left without this direction.
    std::vector<Matrix> rest;
    for (std::size_t i = 0; i < Y.size(); ++i) {
      const Index r = Y[i].cols();
      rest.push_back(linalg::complete_basis(found.D[i].transpose(), r).rightCols(r - 1));
      Y[i] = AB(Y[i], rest[i]);
    }
    for (std::size_t i = 0; i < B.size(); ++i) {
      for (std::size_t l = i + 1; l < B.size(); ++l) B[i][l] = linalg::ABC(rest[i].transpose(), B[i][l], rest[l]);
    }
    return count;
  });
}

}  // namespace

PermutationTest permutation_test(const Summary& summary, const Regularization& options,
                                 const PermutationOptions& test) {
  check(summary, test);
  DataOptions data;
  data.rank_tol = test.rank_tol;
  const std::vector<bool> spectrum(static_cast<std::size_t>(summary.domains()), true);
  const Factors factors = regularize(factorize(summary, data, spectrum), options);
  // Pairs of different weights cannot change partners.
  const Moments& moments = factors.data->moments;
  const bool rows = moments.form == SummaryForm::rows && moments.row_weights.size() == 0;
  check_rotations(factors, rows);
  PermutationTest result = factors.count() == 2 ? test_two(factors, rows, test) : test_more(factors, rows, test);
  result.domains = factors.count();
  result.rotations = !rows;
  return result;
}

}  // namespace cgmca
