#include <cgmca/error.hpp>
#include <cgmca/fit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "align.hpp"
#include "factor.hpp"
#include "linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::AtB;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::array kDomains = {Domain::one, Domain::two};

// C_i = U diag(s²) Uᵀ, where it is left to the data: looked up in the factors.                 (5)
Covariance::Factor resolve(const Covariance& covariance, const Factors& factors) {
  if (const auto* fixed = std::get_if<Covariance::Factor>(&covariance.value())) return *fixed;
  if (std::holds_alternative<Covariance::LargestIdentity>(covariance.value())) {
    const Index k = std::min(factors[Domain::one].rank(), factors[Domain::two].rank());
    return {Matrix::Identity(k, k), Vector::Ones(k)};
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

void check_feasible(const Covariance& covariance, const Covariance::Factor& factor, Domain domain, Index data_rank) {
  if (factor.s.size() <= data_rank) return;  // c_i <= r_i                                     (6)
  throw Infeasible(fmt::format("domain {} has rank {}, but the covariance prescribed for it ({}) has rank {}; "
                               "prescribe one of rank {} at most",
                               number(domain), data_rank, covariance.description(), factor.s.size(), data_rank),
                   domain, data_rank, factor.s.size());
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

CanonicalDirections find_canonical_directions(const Factors& factors, Index wanted) {
  const Index r1 = factors[Domain::one].rank(), r2 = factors[Domain::two].rank();
  const double tolerance = 8 * static_cast<double>(std::max(r1, r2)) * kEpsilon;
  linalg::Svd svd = linalg::thin_svd(factors.B);
  // Directions beyond the correlated pairs are any basis of what is left; the rules below need all of that space.
  if (r1 != r2 && paired(svd.s, tolerance) < wanted) svd = linalg::full_svd(factors.B);

  // Of equally correlated directions, those of the largest share of variance come first, then those
  // along earlier features.
  const auto by_variance = [&](Domain domain) {
    return Form([&s = factors[domain].s](const MatrixView& basis) {
      const Matrix scaled = (s / s.norm()).asDiagonal() * basis;
      return AtB(scaled, scaled);
    });
  };
  const auto by_feature = [&](Domain domain) {
    return Form([&factor = factors[domain]](const MatrixView& basis) {
      const Matrix directions = AB(factor.colouring(), basis);
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
    directions.weights[i] = AB(factors[domain].whitening(), basis);
    directions.loadings[i] = AB(factors[domain].colouring(), basis);
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

// min (σ_j - σ_{j+1}) / σ_1 over the directions used.
double smallest_gap(const Vector& s, Index used) {
  if (s(0) <= 0) return 0;
  const Index last = std::min(used, s.size() - 1);
  double gap = 1;
  for (Index j = 0; j < last; ++j) gap = std::min(gap, (s(j) - s(j + 1)) / s(0));
  return gap;
}

// ‖A Θ Aᵀ - C‖_F / ‖C‖_F with A Θ Aᵀ = M (T Θ Tᵀ) Mᵀ, in the basis U of C's range, where C =
// diag(s²).      (15)
double constraint_residual(const Matrix& mixing, const Matrix& score_covariance, const Covariance::Factor& C) {
  const Matrix K = AtB(C.U, mixing);
  Matrix difference = ABt(AB(K, score_covariance), K);
  difference.diagonal() -= C.s.cwiseAbs2();
  return difference.norm() / C.s.cwiseAbs2().norm();
}

void certify(Model& model, const Factors& factors, const std::array<Covariance::Factor, 2>& C, const Vector& singular_A,
             const Vector& singular_B) {
  const DomainMap& one = *model.domains[0];
  const DomainMap& two = *model.domains[1];
  Certificate& certificate = model.certificate;

  // (n-1)/n ‖A1 S1 - A2 S2‖_F² (1)
  std::array<Matrix, 2> score_covariance;
  double squared_distance = 0;
  if (factors.moments.form == SummaryForm::gram) {
    const Matrix& theta = factors.moments.theta;
    const Index d1 = one.features(), d2 = two.features();
    score_covariance = {ABt(AB(one.weights, theta.topLeftCorner(d1, d1)), one.weights),
                        ABt(AB(two.weights, theta.bottomRightCorner(d2, d2)), two.weights)};
    const Matrix cross = ABt(AB(one.weights, theta.topRightCorner(d1, d2)), two.weights);
    const auto trace = [](const Matrix& Mi, const Matrix& scores, const Matrix& Mj) {
      return AtB(Mi, Mj).cwiseProduct(scores).sum();  // tr(M_i X M_jᵀ)
    };
    squared_distance = trace(one.mixing, score_covariance[0], one.mixing) +
                       trace(two.mixing, score_covariance[1], two.mixing) - 2 * trace(one.mixing, cross, two.mixing);
  } else {
    const Matrix T1S1 = AB(one.weights, factors.moments.S1), T2S2 = AB(two.weights, factors.moments.S2);
    score_covariance = {ABt(T1S1, T1S1), ABt(T2S2, T2S2)};
    Matrix difference = -AB(two.mixing, T2S2);
    difference.leftCols(T1S1.cols()) += AB(one.mixing, T1S1);  // S1's further columns are zero
    squared_distance = difference.squaredNorm();
  }
  const double n = static_cast<double>(model.samples), factor = (n - 1) / n;
  const Index m = std::min(singular_A.size(), singular_B.size());
  certificate.covariance_trace = factor * (C[0].s.squaredNorm() + C[1].s.squaredNorm());
  certificate.objective = factor * squared_distance;
  certificate.bound = certificate.covariance_trace - 2 * factor * singular_A.head(m).dot(singular_B.head(m));  // (14)
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    certificate.constraint_residuals[i] = constraint_residual(model.domains[i]->mixing, score_covariance[i], C[i]);
    certificate.ranks[i] = factors[domain].rank();
    certificate.covariance_ranks[i] = C[i].s.size();
    certificate.tolerances[i] = factors[domain].tolerance;
  }
  certificate.singular_A = singular_A;
  certificate.singular_B = singular_B;
  certificate.min_gap = smallest_gap(singular_B, std::max(C[0].s.size(), C[1].s.size()));
  certificate.route = factors.route;
}

}  // namespace

Model fit(const PairSummary& summary, const Covariance& c1, const Covariance& c2, const FitOptions& options) {
  if (options.rank_tol && !(*options.rank_tol >= 0 && *options.rank_tol < 1)) {
    throw InvalidInput(fmt::format(
        "a rank tolerance of {}; it is a fraction of the largest singular value, from 0 to 1", *options.rank_tol));
  }
  // 1. S_i = U_i Σ_i V_iᵀ and B = V1ᵀ V2.
  const Factors factors = factorize(summary, options);

  // 2. C_i = F_i F_iᵀ of rank c_i <= r_i.
  const std::array<const Covariance*, 2> prescribed = {&c1, &c2};
  const std::array<Covariance::Factor, 2> C = {resolve(c1, factors), resolve(c2, factors)};
  for (Domain domain : kDomains) {
    check_feasible(*prescribed[slot(domain)], C[slot(domain)], domain, factors[domain].rank());
  }
  if (C[0].U.rows() != C[1].U.rows()) {
    throw CommonDimension(fmt::format("the covariances live in spaces of different dimension: {} is {}×{}, {} is {}×{}",
                                      c1.description(), C[0].U.rows(), C[0].U.rows(), c2.description(), C[1].U.rows(),
                                      C[1].U.rows()));
  }

  // 3. A = F1ᵀ F2 = Ū_A Σ_A V̄_Aᵀ, B = Ū_B Σ_B V̄_Bᵀ.
  const CommonSpace common = align_covariances(C);
  const CanonicalDirections directions = find_canonical_directions(factors, std::max(C[0].s.size(), C[1].s.size()));

  // 4. A_i = M_i T_i with M_1 = F_1 Ū_A, T_1 = (first c_1 columns of Ū_B)ᵀ W_1, likewise for
  // domain 2.   (10)-(13)
  Model model;
  model.samples = summary.samples();
  model.common_dimension = C[0].U.rows();
  for (Domain domain : kDomains) {
    const auto i = slot(domain);
    model.covariances[i] = prescribed[i]->description();
    model.domains[i] =
        DomainMap{summary.mean(domain), directions.weights[i].leftCols(C[i].s.size()).transpose(), common.mixing[i],
                  directions.loadings[i], factors[domain].colouring().rowwise().squaredNorm()};
  }

  // 5. The proof.
  certify(model, factors, C, common.singular, directions.correlations);
  return model;
}

Model fit(const MatrixView& X1, const MatrixView& X2, const Covariance& c1, const Covariance& c2,
          const FitOptions& options) {
  PairSummary summary(X1.rows(), X2.rows());
  summary.add(X1, X2);
  return fit(summary, c1, c2, options);
}

}  // namespace cgmca
