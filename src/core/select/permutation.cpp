#include <Eigen/QR>
#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/permutation.hpp>
#include <cgmca/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/data/weights.hpp"
#include "core/fit/nuisance.hpp"
#include "core/fit/prescribed.hpp"
#include "core/fit/whitened_data.hpp"
#include "core/linalg/linalg.hpp"
#include "core/multi/match.hpp"
#include "core/select/shuffles.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;
using random_numbers::Purpose;
using random_numbers::Stream;

// Y_i with B_ij = Y_iᵀ Y_j, where B_ij are the regularized cross matrices. Their rows are samples, all of one weight,
// or pseudo-samples with the same products. Column 0 of each is the next direction to be tested.
struct Scores {
  std::vector<Matrix> Y;
  bool rows;          // whether they are samples, which may be shuffled
  double dimensions;  // in which centred samples vary, less those that directions left out have taken

  bool enough() const {  // for a shuffle to change anything
    Index columns = 0;
    for (const Matrix& Y_i : Y) columns += Y_i.cols();
    return rows ? Y.front().rows() > 1 : dimensions >= static_cast<double>(columns + 1);
  }
};

// Removes the first direction of each domain, and projects the rest on the complement of the removed scores:
//   N = [1, Y_1 e_1, …, Y_m e_1] = Q R,   Y_i ← (the last columns of Q)ᵀ Y_i [e_2, e_3, …]
// Without the projection the remainders of the pairs would vary in fewer dimensions than those of shuffled pairs, and
// would be correlated more. In those n-1-m dimensions they are exchangeable (Huh and Jhun 2001; Winkler and others 2020).
// With Householder reflections each new row is nearly an old one, so that the tails of the distribution stay the same.
void leave_out_first(Scores& scores, bool centre) {
  std::vector<Matrix>& Y = scores.Y;
  Matrix N(Y.front().rows(), std::ssize(Y) + (centre ? 1 : 0));
  Index rank = 0;
  const auto take = [&](const Vector& column) {  // unless it is in the span of those before it, but for rounding
    Vector rest = column;
    for (int twice = 0; twice < 2; ++twice) rest -= N.leftCols(rank) * (N.leftCols(rank).transpose() * rest);
    if (rest.norm() > thresholds::kSingularScores * column.norm()) N.col(rank++) = rest.normalized();
  };
  if (centre) take(Vector::Ones(N.rows()));
  for (const Matrix& Y_i : Y) take(Y_i.col(0));
  const Eigen::HouseholderQR<Matrix> qr(N.leftCols(rank));
  for (Matrix& Y_i : Y) {
    Y_i = Matrix(Y_i.rightCols(Y_i.cols() - 1));
    Y_i.applyOnTheLeft(qr.householderQ().setLength(rank).adjoint());
    Y_i = Matrix(Y_i.bottomRows(Y_i.rows() - rank));
  }
  scores.dimensions -= static_cast<double>(rank - (centre ? 1 : 0));
}

// Y: n×r with rows √w_j y_j. If weights differ and are whole, each y_j is repeated as often as its weight says.
std::optional<Matrix> as_rows_of_one_weight(const Matrix& Y, const Vector& weights) {
  if (weights.size() == 0) return Y;
  if ((weights.array() == weights.array().round()).all() && weights.sum() <= thresholds::kMostCopies) {
    Matrix all(static_cast<Index>(weights.sum()), Y.cols());
    Index row = 0;
    for (Index j = 0; j < Y.rows(); ++j) {
      for (Index copy = 0; copy < static_cast<Index>(weights(j)); ++copy)
        all.row(row++) = Y.row(j) / std::sqrt(weights(j));
    }
    return all;
  }
  if (weights.maxCoeff() - weights.minCoeff() <= thresholds::kSameWeight * weights.maxCoeff()) return Y;
  return {};
}

// √w_j D⁻¹ (x_j - mean)/√(n-1) of the given samples.
Matrix deviations(const SampleView& X, const Vector& weights, const WhitenedDomain& domain, double n) {
  Matrix S = X.visit([&](const auto& samples) { return Matrix(samples.template cast<double>()); });
  S.colwise() -= domain.mean;
  if (domain.scale.size() > 0) S.array().colwise() /= domain.scale.array();
  S /= std::sqrt(n - 1);
  if (weights.size() > 0) S.array().rowwise() *= weights.array().sqrt().transpose();
  return S;
}

// Pseudo-samples: K with KᵀK = [Y_i]ᵀ[Y_j], whose diagonal blocks are diag(s/scale)² and whose other blocks are B_ij.
std::vector<Matrix> pseudo_scores(const WhitenedData& whitened) {
  std::vector<Index> starts(1, 0);
  for (const WhitenedDomain& domain : whitened.domains) starts.push_back(starts.back() + domain.rank());
  Matrix G = Matrix::Zero(starts.back(), starts.back());
  for (std::size_t i = 0; i < whitened.domains.size(); ++i) {
    const SpectrumWhitening& own = *whitened.domains[i].spectrum();
    G.diagonal().segment(starts[i], own.rank()) = own.s.cwiseQuotient(own.scale).cwiseAbs2();
    for (std::size_t j = i + 1; j < whitened.domains.size(); ++j) {
      G.block(starts[i], starts[j], own.rank(), whitened.domains[j].rank()) = linalg::download(whitened.cross[i][j]);
    }
  }
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(G);
  const Matrix K = eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal() * eigen.Q.transpose();
  std::vector<Matrix> Y;
  for (std::size_t i = 0; i < whitened.domains.size(); ++i) {
    Y.emplace_back(K.middleCols(starts[i], whitened.domains[i].rank()));
  }
  return Y;
}

// The scores of the given samples, or those that the summary holds, unless these stand for others.
Scores scores_of(const WhitenedData& whitened, const WeightedSamples* given, bool stand_in) {
  const Moments& moments = whitened.source->moments;
  const Vector& weights = given != nullptr ? given->weights : moments.row_weights;
  const bool rows = given != nullptr || (moments.form == SummaryForm::rows && !stand_in);
  Scores scores{{}, rows, whitened.total_weight - 1};
  for (std::size_t i = 0; scores.rows && i < whitened.domains.size(); ++i) {
    const WhitenedDomain& domain = whitened.domains[i];
    const linalg::Array S = given == nullptr
                                ? moments.S[i]
                                : moments.on().upload(deviations(given->X[i], weights, domain, whitened.total_weight));
    const auto Y = as_rows_of_one_weight(linalg::download(domain.spectrum()->white(S)).transpose(), weights);
    scores.rows = Y.has_value();
    if (Y) scores.Y.push_back(*Y);
  }
  if (!scores.rows) scores.Y = pseudo_scores(whitened);
  return scores;
}

void check(Index domains, const PermutationOptions& test) {
  if (test.permutations < 1)
    throw InvalidInput(fmt::format("{} permutations; at least 1 is needed", test.permutations));
  if (!(test.level > 0 && test.level < 1)) {
    throw InvalidInput(fmt::format("a significance level of {}; it lies between 0 and 1", test.level));
  }
  if (domains < 2) throw InvalidInput("a permutation test compares two domains or more; there is 1");
}

// Random rotations need n - 1 > Σ r_i. Summaries without weights that keep no rows have more samples than that.
void check_rotations(const Scores& scores, double n) {
  Index ranks = 0;
  for (const Matrix& Y : scores.Y) ranks += Y.cols();
  if (scores.rows || n >= static_cast<double>(ranks + 2)) return;
  throw InvalidInput(
      fmt::format("a permutation test of weighted {} needs weights that sum to at least {}, two more than {} ranks "
                  "together; these sum to {:.6g}. Limit max_rank",
                  scores.Y.size() == 2 ? "pairs" : "samples", ranks + 2, scores.Y.size() == 2 ? "both" : "all", n));
}

// B_ij = Y_iᵀ Y_j for i < j.
using CrossMatrices = std::vector<std::vector<Matrix>>;
CrossMatrices products_of(const std::vector<Matrix>& Y) {
  CrossMatrices B(Y.size(), std::vector<Matrix>(Y.size()));
  for (std::size_t i = 0; i < Y.size(); ++i) {
    for (std::size_t j = i + 1; j < Y.size(); ++j) B[i][j] = AtB(Y[i], Y[j]);
  }
  return B;
}

// The direction that all domains share best, with d_i of unit length in each domain, and its f.                  (37)
multi::MatchingSolution best_direction(const std::vector<Matrix>& Y, const Matrix& edge_weights) {
  return multi::match_quickly(
      multi::MatchingProblem(std::vector<Matrix>(Y.size(), Matrix::Ones(1, 1)), products_of(Y), edge_weights));
}

// The test statistic: the largest correlation of two domains, or f of the best direction of more.
double statistic(const std::vector<Matrix>& Y, const Matrix& edge_weights) {
  if (Y.size() > 2) return best_direction(Y, edge_weights).f;
  const Matrix B = AtB(Y[0], Y[1]), G = B.rows() < B.cols() ? linalg::ABt(B, B) : AtB(B, B);
  return std::sqrt(std::max(0.0, linalg::symmetric_eigenvalues(G)(0)));
}

// Rotates the scores so that their first columns are the direction found. For two domains the columns are then all
// canonical directions in turn.
void turn_to_directions(Scores& scores, const Matrix& edge_weights) {
  if (scores.Y.size() == 2) {
    const linalg::Svd svd = linalg::full_svd(AtB(scores.Y[0], scores.Y[1]));
    scores.Y = {AB(scores.Y[0], svd.U), AB(scores.Y[1], svd.V)};
    return;
  }
  const multi::MatchingSolution found = best_direction(scores.Y, edge_weights);
  for (std::size_t i = 0; i < scores.Y.size(); ++i) {
    scores.Y[i] = AB(scores.Y[i], linalg::complete_basis(found.D[i].transpose(), scores.Y[i].cols()));
  }
}

// The p value of the next direction: (1 + shuffles whose statistic is at least as large)/(1 + shuffles). With a limit
// (0: none) it stops when so many shuffles have reached it, with p = limit/shuffles (Besag and Clifford 1991).
double p_value(const Scores& scores, const Matrix& edge_weights, const PermutationOptions& test, Index limit) {
  constexpr Index batch = 64;
  const double reached = statistic(scores.Y, edge_weights) * (1 - thresholds::kReached);
  std::vector<Matrix> triangles;
  for (std::size_t i = 0; !scores.rows && i < scores.Y.size(); ++i) {
    triangles.push_back(linalg::thin_qr(scores.Y[i]).R);
  }
  Index count = 0;
  for (Index first = 0; first < test.permutations; first += batch) {
    const Index together = std::min(batch, test.permutations - first);
    std::vector<char> reaches(together);  // not bool: threads write neighbours
    parallel_for(together, [&](Index task) {
      Stream random(test.seed, Purpose::pairing, static_cast<std::uint32_t>(first + task));
      const std::vector<Matrix> dealt =
          scores.rows ? shuffled(scores.Y, random) : rotated(triangles, random, scores.dimensions);
      reaches[task] = statistic(dealt, edge_weights) >= reached ? 1 : 0;
    });
    for (Index task = 0; task < together; ++task) {
      count += reaches[task];
      if (limit > 0 && count == limit) return static_cast<double>(limit) / static_cast<double>(first + task + 1);
    }
    if (test.progress) test.progress(static_cast<double>(first + together) / static_cast<double>(test.permutations));
  }
  return static_cast<double>(count + 1) / static_cast<double>(test.permutations + 1);
}

// Tests all directions in turn. After the first that is not significant no other can be, so few shuffles suffice there.
void test_in_turn(PermutationTest& result, Scores scores, const Matrix& edge_weights, const PermutationOptions& test) {
  constexpr Index few = 20;
  Index most = std::numeric_limits<Index>::max();
  for (const Matrix& Y : scores.Y) most = std::min(most, Y.cols());
  if (scores.rows) {  // the first rows are left out with the first directions: those of no order that means something
    const auto n = static_cast<std::uint32_t>(scores.Y.front().rows());
    const auto order = random_numbers::permutation(Stream(test.seed, Purpose::pairing, 0xFFFFFFFF), n);
    for (Matrix& Y : scores.Y) Y = in_order(Y, order);
  }
  double p = 0;
  for (Index j = 0; j < most; ++j) {
    if (p < 1 && scores.enough()) {
      if (j == 0 || scores.Y.size() > 2) turn_to_directions(scores, edge_weights);
      p = std::max(p, p_value(scores, edge_weights, test, p > test.level ? few : 0));
    } else {
      p = 1;
    }
    result.p_values.push_back(p);
    if (p <= test.level) ++result.significant;
    if (p < 1 && j + 1 < most) leave_out_first(scores, scores.rows && j == 0);
  }
}

PermutationTest tested(const Summary& summary, const WeightedSamples* given, const Regularization& options,
                       const PermutationOptions& test, bool stand_in = false) {
  const DataOptions data{test.rank_tol, {}, {}, test.scale};
  const std::vector<bool> spectrum(summary.domains(), true);
  const WhitenedData whitened = regularize(whiten_domains(summary, data, spectrum), options);
  const Scores scores = scores_of(whitened, given, stand_in);
  check_rotations(scores, whitened.total_weight);
  PermutationTest result;
  result.permutations = test.permutations;
  result.domains = whitened.count();
  result.rotations = !scores.rows;
  if (result.rotations) {
    const bool rows = given != nullptr || (summary.form() == SummaryForm::rows && !stand_in);
    result.remarks.push_back(fmt::format(
        "the p values assume normal data, because {}, so that random rotations took the place of permutations. Heavy "
        "tails and rare counts make them far too small. {}",
        rows ? "weights that are not whole numbers, or very large, keep samples from changing partners"
             : "a summary does not keep the samples",
        rows ? "Test without weights, or with whole ones" : "Give the samples themselves to permute them"));
  }
  test_in_turn(result, scores, weights_of(test.graph, whitened.count()), test);
  return result;
}

Summary summary_of(const MatchedSamples& X) {
  std::vector<DomainInfo> domains;
  for (const SampleView& samples : X) domains.emplace_back(samples.rows());
  return Summary(std::move(domains));
}

// In the n - 1 - q dimensions that a nuisance leaves, what remains of the samples is exchangeable (Huh and Jhun 2001).
PermutationTest tested_without(const WithoutNuisance& without, bool rows, const Regularization& options,
                               const PermutationOptions& test) {
  const WeightedSamples samples{MatchedSamples(without.X.begin(), without.X.end()), without.weights};
  return tested(without.summary(), rows ? &samples : nullptr, options, test, true);
}

}  // namespace

PermutationTest permutation_test(const Summary& summary, const Regularization& options,
                                 const PermutationOptions& test) {
  check(matched_domains(summary), test);
  if (has_nuisance(summary)) {
    return tested_without(without_nuisance(summary, {}), summary.form() == SummaryForm::rows, options, test);
  }
  return tested(summary, nullptr, options, test);
}

PermutationTest permutation_test(const MatchedSamples& X, const Regularization& options,
                                 const PermutationOptions& test) {
  check(std::ssize(X) - (test.nuisance ? 1 : 0), test);
  Summary summary = summary_of(X);
  summary.add(X);
  const WeightedSamples samples{X, {}};
  if (test.nuisance) return tested_without(without_nuisance(samples), true, options, test);
  return tested(summary, &samples, options, test);
}

PermutationTest permutation_test(const MatchedSamples& X, const VectorView& weights, const Regularization& options,
                                 const PermutationOptions& test) {
  check(std::ssize(X) - (test.nuisance ? 1 : 0), test);
  Summary summary = summary_of(X);
  summary.add(X, weights);
  const WeightedSamples samples = weighted(linalg::cpu(), X, weights);
  if (test.nuisance) {
    // Copies of a sample differ in what is left of them, so that weights are no counts of samples to be shuffled.
    const bool equal = (weights.array() == 1).all();
    return tested_without(without_nuisance(samples), equal, options, test);
  }
  return tested(summary, &samples, options, test);
}

}  // namespace cgmca
