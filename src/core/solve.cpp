#include "solve.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "align.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Canonical correlations this close are equal, and this small zero, to rounding. Those of a Gram summary err by eps
// κ(Θ_i); where it was forced upon ill-conditioned data that is no measure any more.
double tie_tolerance(const Factors& factors) {
  constexpr double largest_condition = 1e4;
  double errors = 0;
  for (Domain domain : kDomains) {
    const double condition = factors[domain].condition;
    errors = std::max(errors, static_cast<double>(factors[domain].rank()));
    if (factors.form == SummaryForm::gram) {
      errors = std::max(errors, std::min(condition * condition, largest_condition));
    }
  }
  return 8 * errors * kEpsilon;
}

// C_i = U diag(s²) Uᵀ, where it is left to the data: looked up in the factors.                 (5)
Covariance::Factor resolve(const Covariance& covariance, const Factors& factors, const Vector& correlations) {
  if (const auto* fixed = std::get_if<Covariance::Factor>(&covariance.value())) return *fixed;
  if (std::holds_alternative<Covariance::LargestIdentity>(covariance.value())) {
    const Index k = std::min(factors[Domain::one].rank(), factors[Domain::two].rank());
    return {Matrix::Identity(k, k), Vector::Ones(k)};
  }
  if (const auto* wanted = std::get_if<Covariance::OfCorrelations>(&covariance.value())) {
    const Index k = wanted->k, most = paired(correlations, tie_tolerance(factors));
    if (k > most) {
      const Domain smaller = factors[Domain::one].rank() <= factors[Domain::two].rank() ? Domain::one : Domain::two;
      throw Infeasible(fmt::format("{} asks for {} correlated directions, but the domains have ranks {} and {} and {} "
                                   "correlations above rounding; the largest feasible is correlation:{}",
                                   covariance.description(), k, factors[Domain::one].rank(),
                                   factors[Domain::two].rank(), most, most),
                       smaller, most, k);
    }
    return {Matrix::Identity(k, k), correlations.head(k)};
  }
  const auto [domain, rank] = std::get<Covariance::OfData>(covariance.value());
  const DomainFactor& data = factors[domain];
  if (rank > data.rank()) {
    throw Infeasible(
        fmt::format("{} asks for rank {}, but domain {} has rank {}; the largest feasible is data{}:{}",
                    covariance.description(), rank, number(domain), data.rank(), number(domain), data.rank()),
        domain, data.rank(), rank);
  }
  return {data.U.leftCols(rank), data.s.head(rank)};
}

Index rank_of(const Covariance& covariance, const Factors& factors) {
  if (const auto* fixed = std::get_if<Covariance::Factor>(&covariance.value())) return fixed->s.size();
  if (const auto* correlated = std::get_if<Covariance::OfCorrelations>(&covariance.value())) return correlated->k;
  if (const auto* data = std::get_if<Covariance::OfData>(&covariance.value())) return data->rank;
  return std::min(factors[Domain::one].rank(), factors[Domain::two].rank());
}

// c_i <= r_i for both; the domain of the lower rank first, whose rank is then the largest that suits both. (6)
void check_feasible(const std::array<const Covariance*, 2>& prescribed, const std::array<Covariance::Factor, 2>& C,
                    const Factors& factors) {
  const Domain lower = factors[Domain::two].rank() < factors[Domain::one].rank() ? Domain::two : Domain::one;
  for (Domain domain : {lower, other(lower)}) {
    const Index rank = factors[domain].rank(), wanted = C[slot(domain)].s.size();
    if (wanted <= rank) continue;
    throw Infeasible(
        fmt::format("domain {} has rank {}, but the covariance prescribed for it ({}) has rank {}; prescribe "
                    "one of rank {} at most (domain {} has rank {})",
                    number(domain), rank, prescribed[slot(domain)]->description(), wanted, rank, number(other(domain)),
                    factors[other(domain)].rank()),
        domain, rank, wanted);
  }
}

// What the fit takes from A: the singular values, and M_i = F_i Ū_A (F_2 V̄_A).              (7) (9)
// (12)
struct CommonSpace {
  Vector singular;
  std::array<Matrix, 2> mixing;  // k×c_i
};

CommonSpace align_covariances(const std::array<Covariance::Factor, 2>& C) {
  const Matrix F1 = C[0].U * C[0].s.asDiagonal(), F2 = C[1].U * C[1].s.asDiagonal();
  const bool same = F1.rows() == F2.rows() && F1.cols() == F2.cols() && F1 == F2;
  const Index c1 = F1.cols(), c2 = F2.cols(), k = F1.rows();
  linalg::Svd svd = same ? linalg::Svd{Matrix::Identity(c1, c1), C[0].s.cwiseAbs2(), Matrix::Identity(c1, c1), {}}
                         : linalg::full_svd(AtB(F1, F2));
  // Of equal directions, those along earlier coordinates of the common space come first.
  const auto by_coordinate = [k](const Matrix& F) {
    return Form([&F, k](const MatrixView& basis) {
      const Matrix directions = AB(F, basis);
      return AtB(directions, Vector::LinSpaced(k, 1, 1 / static_cast<double>(k)).asDiagonal() * directions);
    });
  };
  const double tolerance = 8 * static_cast<double>(std::max(c1, c2)) * kEpsilon * C[0].s(0) * C[1].s(0);
  break_ties(svd, tolerance, {by_coordinate(F1)}, {by_coordinate(F2)});

  CommonSpace common{svd.s, {AB(F1, svd.U), AB(F2, svd.V)}};
  Vector sign1 = signs(common.mixing[0]), sign2 = signs(common.mixing[1]);
  const Index pairs = paired(svd.s, tolerance);
  sign2.head(pairs) = sign1.head(pairs);
  common.mixing[0] *= sign1.asDiagonal();
  common.mixing[1] *= sign2.asDiagonal();
  return common;
}

// What the fit takes from B, for q_i canonical directions of each domain, in the coordinates of the
// features.
struct CanonicalDirections {
  Vector correlations;             // σ(B)
  std::array<Matrix, 2> weights;   // T_iᵀ = U_i Σ_i⁻¹ Ū_B: d_i×q_i                         (11)
  std::array<Matrix, 2> loadings;  // P_i  = U_i Σ_i Ū_B:   d_i×q_i                           (16)
};

CanonicalDirections find_canonical_directions(const Factors& factors, linalg::Svd svd, Index wanted) {
  const Index r1 = factors[Domain::one].rank(), r2 = factors[Domain::two].rank();
  const double tolerance = tie_tolerance(factors);
  // Directions beyond the correlated pairs are any basis of what is left; the rules below need all of that space.
  if (r1 != r2 && paired(svd.s, tolerance) < wanted) svd = linalg::full_svd(factors.B);

  // Of equally correlated directions, those of the largest share of variance come first, then those
  // along earlier features.
  const auto by_variance = [&](Domain domain) {
    return Form([&factor = factors[domain]](const MatrixView& basis) { return factor.shares(basis); });
  };
  const auto by_feature = [&](Domain domain) {
    return Form([&factor = factors[domain]](const MatrixView& basis) {
      const Matrix directions = factor.coloured(basis);
      const Index d = directions.rows();
      return AtB(directions, Vector::LinSpaced(d, 1, 1 / static_cast<double>(d)).asDiagonal() * directions);
    });
  };
  break_ties(svd, tolerance, {by_variance(Domain::one), by_feature(Domain::one)},
             {by_variance(Domain::two), by_feature(Domain::two)});

  CanonicalDirections directions{svd.s, {}, {}};
  const std::array<Matrix*, 2> bases = {&svd.U, &svd.V};
  std::array<Vector, 2> sign;
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    const Matrix basis = bases[i]->leftCols(std::min(wanted, factors[domain].rank()));
    directions.weights[i] = factors[domain].whitened(basis);
    directions.loadings[i] = factors[domain].coloured(basis);
    sign[i] = signs(directions.weights[i]);
  }
  const Index pairs = std::min<Index>({paired(svd.s, tolerance), sign[0].size(), sign[1].size()});
  sign[1].head(pairs) = sign[0].head(pairs);
  for (auto i : {0U, 1U}) {
    directions.weights[i] *= sign[i].asDiagonal();
    directions.loadings[i] *= sign[i].asDiagonal();
  }
  return directions;
}

// The singular values of B, and the vectors of the first `wanted` and those equal to them, from the eigenvectors of
// BBᵀ: as accurate as those of an SVD while none of these values is small, at a third of the cost. The other values
// have errors of eps/σ. Nothing where that is too much.
std::optional<linalg::Svd> leading_svd(const Matrix& B, Index wanted, double tie) {
  constexpr double least = 0.1;  // of the largest
  const bool wide = B.rows() < B.cols();
  Matrix G = Matrix::Zero(std::min(B.rows(), B.cols()), std::min(B.rows(), B.cols()));
  wide ? linalg::add_gram(G, B) : linalg::add_gram_of_columns(G, B);
  const auto [squares, Q] = linalg::symmetric_eigen(G);
  Vector s = squares.cwiseMax(0).cwiseSqrt();
  while (wanted < s.size() && s(wanted - 1) - s(wanted) <= tie) ++wanted;
  if (!(s(wanted - 1) >= least * s(0) && s(wanted - 1) > tie)) return std::nullopt;
  Matrix U = Q.leftCols(wanted);
  const linalg::Qr qr = linalg::thin_qr(wide ? AtB(B, U) : AB(B, U));  // BᵀU = V diag(s), but for rounding
  s.head(wanted) = qr.R.diagonal().cwiseAbs();
  std::sort(s.begin(), s.end(), std::greater<>());  // of values equal to rounding the order may have changed
  Matrix V = qr.Q * qr.R.diagonal().cwiseSign().asDiagonal();
  if (!wide) std::swap(U, V);
  return linalg::Svd{std::move(U), std::move(s), std::move(V), {}};
}

}  // namespace

linalg::Svd svd_of_cross_matrix(const Factors& factors, const Covariance& c1, const Covariance& c2) {
  const Matrix& B = factors.B;
  if (B.rows() == B.cols() && B == Matrix::Identity(B.rows(), B.rows())) return {B, Vector::Ones(B.rows()), B, {}};
  const Index wanted = std::max(rank_of(c1, factors), rank_of(c2, factors));
  if (factors.form == SummaryForm::gram && 2 * wanted <= std::min(B.rows(), B.cols())) {
    if (auto svd = leading_svd(B, wanted, tie_tolerance(factors))) return std::move(*svd);
  }
  return linalg::thin_svd(B);
}

Solution solve(const Factors& factors, const linalg::Svd& svd, const Covariance& c1, const Covariance& c2) {
  // 2. C_i = F_i F_iᵀ of rank c_i <= r_i.
  const std::array<const Covariance*, 2> prescribed = {&c1, &c2};
  Solution solution{{}, {resolve(c1, factors, svd.s), resolve(c2, factors, svd.s)}};
  const auto& C = solution.C;
  check_feasible(prescribed, C, factors);
  if (C[0].U.rows() != C[1].U.rows()) {
    throw CommonDimension(fmt::format("the covariances live in spaces of different dimension: {} is {}×{}, {} is {}×{}",
                                      c1.description(), C[0].U.rows(), C[0].U.rows(), c2.description(), C[1].U.rows(),
                                      C[1].U.rows()));
  }

  // 3. A = F1ᵀ F2 = Ū_A Σ_A V̄_Aᵀ, B = Ū_B Σ_B V̄_Bᵀ.
  const CommonSpace common = align_covariances(C);
  const CanonicalDirections directions =
      find_canonical_directions(factors, svd, std::max(C[0].s.size(), C[1].s.size()));

  // 4. A_i = M_i T_i with M_1 = F_1 Ū_A, T_1 = (first c_1 columns of Ū_B)ᵀ W_1, likewise for
  // domain 2.   (10)-(13)
  Model& model = solution.model;
  model.samples = factors.samples;
  model.common_dimension = C[0].U.rows();
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    model.covariances[i] = prescribed[i]->description();
    model.domains[i] = DomainMap{factors[domain].mean, directions.weights[i].leftCols(C[i].s.size()).transpose(),
                                 common.mixing[i], directions.loadings[i], factors[domain].variance};
  }
  model.certificate.singular_A = common.singular;
  model.certificate.singular_B = directions.correlations;
  return solution;
}

}  // namespace cgmca
