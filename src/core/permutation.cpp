#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/permutation.hpp>
#include <cgmca/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "linalg/linalg.hpp"
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

// The pairs' regularized scores Y_i = V_i diag(s/scale), n×r_i, so that B = Y_1ᵀ Y_2. Where the rows are not kept only
// diag(s/scale) is known.
std::array<Matrix, 2> scores_of(const Factors& factors, bool rows) {
  std::array<Matrix, 2> scores;
  for (const std::size_t i : {0U, 1U}) {
    const SpectrumWhitening& whitening = *factors.domains[i].spectrum();
    if (rows) {
      scores[i] = linalg::download(whitening.white(factors.data->moments.S[i])).transpose();
    } else {
      scores[i] = whitening.s.cwiseQuotient(whitening.scale).asDiagonal();
    }
  }
  return scores;
}

// B of the pairs dealt anew for the b-th time: by a permutation of the rows, else by a random rotation of n-1
// dimensions.
Matrix dealt_anew(const Matrix& Y1, const Matrix& Y2, bool rows, double n, std::uint64_t seed, Index b) {
  Stream random(seed, Purpose::pairing, static_cast<std::uint32_t>(b));
  if (!rows) return AtB(Y1, AB(rotation_block(random, Y1.rows(), Y2.rows(), n - 1), Y2));
  const auto order = random_numbers::permutation(random, static_cast<std::uint32_t>(Y2.rows()));
  Matrix shuffled(Y2.rows(), Y2.cols());
  for (Index i = 0; i < Y2.rows(); ++i) shuffled.row(i) = Y2.row(order[static_cast<std::size_t>(i)]);
  return AtB(Y1, shuffled);
}

// How many of the B dealt anew have a correlation of at least `reached`.
template <class Deal>
Index count_reaching(double reached, const PermutationOptions& test, const Deal& deal) {
  constexpr Index batch = 64;
  std::vector<char> reaches(static_cast<std::size_t>(test.permutations));
  for (Index first = 0; first < test.permutations; first += batch) {
    const Index count = std::min(batch, test.permutations - first);
    side_by_side(count, [&](Index task) {
      reaches[static_cast<std::size_t>(first + task)] = largest_singular_value(deal(first + task)) >= reached ? 1 : 0;
    });
    if (test.progress) test.progress(static_cast<double>(first + count) / static_cast<double>(test.permutations));
  }
  return std::count(reaches.begin(), reaches.end(), 1);
}

void check(const Summary& summary, const PermutationOptions& test) {
  if (test.permutations < 1)
    throw InvalidInput(fmt::format("{} permutations; at least 1 is needed", test.permutations));
  if (!(test.level > 0 && test.level < 1)) {
    throw InvalidInput(fmt::format("a significance level of {}; it lies between 0 and 1", test.level));
  }
  if (summary.domains() != 2) {
    throw InvalidInput(fmt::format("a permutation test of {} domains; it compares 2", summary.domains()));
  }
}

// rotation_block needs n - 1 > r1 + r2. Summaries without weights that keep no rows have more samples than that.
void check_rotations(const Factors& factors, bool rows) {
  const Index ranks = factors.domains[0].rank() + factors.domains[1].rank();
  if (rows || factors.total_weight >= static_cast<double>(ranks + 2)) return;
  throw InvalidInput(fmt::format(
      "a permutation test of weighted pairs needs weights that sum to at least {}, two more than both ranks "
      "together; these sum to {:.6g}. Limit max_rank",
      ranks + 2, factors.total_weight));
}

}  // namespace

PermutationTest permutation_test(const Summary& summary, const Regularization& options,
                                 const PermutationOptions& test) {
  check(summary, test);
  DataOptions data;
  data.rank_tol = test.rank_tol;
  const Factors factors = regularize(factorize(summary, data, {true, true}), options);
  // Pairs of different weights cannot change partners.
  const Moments& moments = factors.data->moments;
  const bool rows = moments.form == SummaryForm::rows && moments.row_weights.size() == 0;
  check_rotations(factors, rows);
  const linalg::Svd svd = linalg::full_svd(linalg::download(factors.B()));
  const std::array<Matrix, 2> scores = scores_of(factors, rows);

  PermutationTest result;
  result.permutations = test.permutations;
  result.rotations = !rows;
  double p_value = 0;
  for (Index j = 0; j < svd.s.size(); ++j) {
    // What is left of the scores without the first j pairs of directions.
    const Matrix Y1 = AB(scores[0], svd.U.rightCols(svd.U.cols() - j));
    const Matrix Y2 = AB(scores[1], svd.V.rightCols(svd.V.cols() - j));
    const double reached = svd.s(j) * (1 - thresholds::kReached);
    const Index count = count_reaching(
        reached, test, [&](Index b) { return dealt_anew(Y1, Y2, rows, factors.total_weight, test.seed, b); });
    p_value = std::max(p_value, static_cast<double>(count + 1) / static_cast<double>(test.permutations + 1));
    result.p_values.push_back(p_value);
    if (p_value > test.level) break;
    ++result.significant;
  }
  return result;
}

}  // namespace cgmca
