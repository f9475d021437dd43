#include "core/fit/solve.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/fit/align.hpp"
#include "core/linalg/lanczos.hpp"
#include "core/linalg/partial.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::Array;
using linalg::ArraySvd;
using linalg::AtB;
using linalg::Backend;

// If B has at least this many directions and an eighth of them or fewer are wanted, only these are computed.
constexpr Index kLeastForFew = 192;
// Below this size, reducing BBᵀ to tridiagonal form is faster than Lanczos.
constexpr Index kLeastForLanczos = 1200;

// F = U diag(s)
Array factor_of(const PrescribedCovariance& C) { return linalg::scaled_columns(C.U.on().copy(C.U), C.s); }

// Flips columns so that the largest entry of each is positive; a pair (x_j, y_j) flips together, as x_j asks.
void sign(const Array& X, const Array& Y, Index pairs, const std::vector<Array>& along_X,
          const std::vector<Array>& along_Y) {
  const Backend& on = X.on();
  const Vector signs_X = on.signs_of_columns(X);
  Vector signs_Y = on.signs_of_columns(Y);
  pairs = std::min({pairs, signs_X.size(), signs_Y.size()});
  signs_Y.head(pairs) = signs_X.head(pairs);
  for (const Array& A : along_X) on.scale_columns(A, signs_X);
  for (const Array& A : along_Y) on.scale_columns(A, signs_Y);
}

// A = F_1ᵀ F_2 = Ū_A Σ_A V̄_Aᵀ;   M_1 = F_1 Ū_A, M_2 = F_2 V̄_A                                           (7) (9) (12)
void align_covariances(Solution& solution, bool same) {
  SolvedMap &one = solution.maps[0], &two = solution.maps[1];
  const Array F1 = factor_of(one.C), F2 = factor_of(two.C);
  if (same && one.C.along_axes) {  // all diagonal, and what is equal in the order of the coordinates
    one.M = F1;
    two.M = F2;
    one.only_scales = two.only_scales = true;
    solution.singular_A = one.C.s.cwiseAbs2();
    return;
  }
  const Backend& on = F1.on();
  const Index c1 = F1.cols(), c2 = F2.cols();
  ArraySvd svd =
      same ? ArraySvd{on.identity(c1, c1), one.C.s.cwiseAbs2(), on.identity(c1, c1), {}} : on.full_svd(AtB(F1, F2));
  // Among equal directions, those along earlier coordinates of the common space come first.
  const auto along = [](const Array& F) {
    return TieRule([F](const Array& basis) { return by_coordinate(AB(F, basis)); });
  };
  const double tolerance =
      thresholds::kTie * static_cast<double>(std::max(c1, c2)) * thresholds::kEpsilon * one.C.s(0) * two.C.s(0);
  break_ties(svd, tolerance, {along(F1)}, {along(F2)});
  one.M = AB(F1, svd.U);
  two.M = AB(F2, svd.V);
  sign(one.M, two.M, paired(svd.s, tolerance), {one.M}, {two.M});
  solution.singular_A = std::move(svd.s);
}

// T_iᵀ = W_iᵀ Ū_B and P_i = L_i Ū_B, for `wanted` canonical directions, in the coordinates of the features.  (11) (16)
void find_canonical_directions(Solution& solution, const WhitenedData& whitened, ArraySvd svd, Index wanted) {
  const double tolerance = tie_tolerance(whitened);
  const bool unequal = whitened[Domain::one].rank() != whitened[Domain::two].rank();
  // Directions beyond the correlated pairs are an arbitrary basis of the rest. The rules below need that whole space.
  if (unequal && paired(svd.s, tolerance) < wanted) {
    svd = whitened.B().on().full_svd(whitened.B());
  } else {
    svd.U = svd.U.on().copy(svd.U);  // several fits share these
    svd.V = svd.V.on().copy(svd.V);
  }
  // Among equally correlated directions, those with the largest share of variance come first, then those along earlier
  // features.
  const auto rules = [&](Domain domain) {
    const Whitening& whitening = *whitened[domain].whitening;
    return std::vector<TieRule>{[&whitening](const Array& basis) { return whitening.shares(basis); },
                                [&whitening](const Array& basis) { return by_coordinate(whitening.coloured(basis)); }};
  };
  break_ties(svd, tolerance, rules(Domain::one), rules(Domain::two));

  for (const Domain domain : kDomains) {
    SolvedMap& map = solution.maps[domain];
    const Whitening& whitening = *whitened[domain].whitening;
    const Array basis = (domain == Domain::one ? svd.U : svd.V).left(std::min(wanted, whitening.rank()));
    map.Tt = whitening.whitened(basis);
    map.P = whitening.coloured(basis);
  }
  const SolvedMap &one = solution.maps[0], &two = solution.maps[1];
  sign(one.Tt, two.Tt, paired(svd.s, tolerance), {one.Tt, one.P}, {two.Tt, two.P});
  solution.singular_B = std::move(svd.s);
}

// The SVD of B from the eigenvectors of BBᵀ: all singular values, and the vectors of the first `wanted` and of those
// equal to them. If none of these values is small, they are as accurate as those of an SVD, at a third of the cost or
// less. The other values have errors of eps/σ. Returns nothing if that is too much. The route is what ran: sytrd or
// syevd.
std::optional<CrossSvd> svd_by_square(const Array& B, Index wanted, double tie, bool few) {
  const Backend& on = B.on();
  const bool wide = B.rows() < B.cols();
  const Array G = on.zeros(std::min(B.rows(), B.cols()), std::min(B.rows(), B.cols()));
  wide ? on.add_gram(G, B) : on.add_gram_of_columns(G, B);
  Vector s;
  const auto count = [&](const Vector& values) -> Index {
    s = values.cwiseMax(0).cwiseSqrt();
    while (wanted < s.size() && s(wanted - 1) - s(wanted) <= tie) ++wanted;
    const bool too_many = few && 4 * wanted > s.size();  // equal ones, for which a whole SVD is cheaper
    return !too_many && s(wanted - 1) >= thresholds::kLeastLeading * s(0) && s(wanted - 1) > tie ? wanted : 0;
  };
  linalg::ArrayEigen eigen;
  const char* routine = "sytrd";
  if (auto part = few && !on.remote() ? linalg::leading_eigen(on.download(G), count) : std::nullopt) {
    eigen = {std::move(part->values), on.upload(std::move(part->Q))};
  } else {
    eigen = on.symmetric_eigen(G);
    routine = "syevd";
  }
  if (count(eigen.values) == 0) return std::nullopt;
  Array U = eigen.Q.left(wanted);
  if (on.remote()) U = on.thin_qr(U).Q;  // cuSOLVER's eigenvectors are orthonormal to 1e-11 only
  const linalg::ArrayQr qr = on.thin_qr(wide ? AtB(B, U) : AB(B, U));  // BᵀU = V diag(s), but for rounding
  const Vector diagonal = on.diagonal(qr.R);
  s.head(wanted) = diagonal.cwiseAbs();
  std::sort(s.begin(), s.end(), std::greater<>());  // of values equal to rounding the order may have changed
  Array V = linalg::scaled_columns(qr.Q, diagonal.cwiseSign());
  if (!wide) std::swap(U, V);
  return CrossSvd{{std::move(U), std::move(s), std::move(V), {}}, fmt::format("B {}", routine)};
}

// Whether both domains get the same covariance. With `likelihood` the two covariances differ.
bool same_covariance(const Covariance& c1, const Covariance& c2) {
  return c1 == c2 && c1.kind() != Covariance::Kind::likelihood;
}

}  // namespace

CrossSvd svd_of_cross_matrix(const WhitenedData& whitened, const Covariance& c1, const Covariance& c2) {
  const Array& B = whitened.B();
  if (whitened.saturated) return {{B, Vector::Ones(B.rows()), B, {}}, "B = I"};
  const Index wanted = std::max(rank_of(c1, whitened), rank_of(c2, whitened)), least = std::min(B.rows(), B.cols());
  const double tie = tie_tolerance(whitened);
  const bool few = least >= kLeastForFew && wanted <= least / 8;
  const char* failed = "";
  if (few && least >= kLeastForLanczos) {
    if (auto svd = linalg::leading_triplets(B, wanted, tie)) return {std::move(*svd), "B lanczos potrf"};
    failed = " (lanczos potrf failed)";
  }
  const bool half = whitened.form == SummaryForm::gram || (whitened.form == SummaryForm::qr && least >= kLeastForFew);
  if (few || (half && wanted <= least / 2)) {
    if (auto found = svd_by_square(B, wanted, tie, few)) {
      found->route += failed;
      return std::move(*found);
    }
  }
  ArraySvd svd = B.on().thin_svd(B);
  std::string route = fmt::format("B {}{}", linalg::described(svd.routine), failed);
  return {std::move(svd), std::move(route)};
}

Solution solve(const WhitenedData& whitened, const ArraySvd& svd, const Covariance& c1, const Covariance& c2) {
  // 2. C_i = F_i F_iᵀ of rank c_i <= r_i.
  Solution solution;
  const ByDomain<PrescribedCovariance> C = {resolve(c1, Domain::one, whitened, svd.s),
                                            resolve(c2, Domain::two, whitened, svd.s)};
  check_feasible(C, whitened);
  for (const PrescribedCovariance& one : C) solution.maps.push_back({one, {}, {}, {}, {}, false});

  // 3. A = F_1ᵀ F_2 = Ū_A Σ_A V̄_Aᵀ, B = Ū_B Σ_B V̄_Bᵀ.
  align_covariances(solution, same_covariance(c1, c2));
  const Index wanted = std::max(solution.maps[0].C.s.size(), solution.maps[1].C.s.size());
  find_canonical_directions(solution, whitened, svd, wanted);

  // 4. A_i = M_i T_i with M_1 = F_1 Ū_A, T_1 = (first c_1 columns of Ū_B)ᵀ W_1, likewise for domain 2.    (10)-(13)
  for (SolvedMap& map : solution.maps) map.Tt = map.Tt.left(map.C.s.size());
  return solution;
}

}  // namespace cgmca
