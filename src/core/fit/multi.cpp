#include "core/fit/multi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cgmca/error.hpp>
#include <cgmca/threads.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/fit/canonical.hpp"
#include "core/multi/ascent.hpp"

namespace cgmca::multi {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::Array;

using CrossMatrices = std::vector<std::vector<Matrix>>;

CrossMatrices cross_matrices(const WhitenedData& whitened) {
  CrossMatrices B(whitened.domains.size(), std::vector<Matrix>(whitened.domains.size()));
  for (std::size_t i = 0; i < B.size(); ++i) {
    for (std::size_t j = i + 1; j < B.size(); ++j) B[i][j] = linalg::download(whitened.cross[i][j]);
  }
  return B;
}

SolverOptions solver_options(const MatchingOptions& options) {
  SolverOptions result;
  result.seed = options.seed;
  result.random_starts = options.random_starts;
  result.max_sweeps = options.max_sweeps;
  result.max_seconds = options.max_seconds;
  if (options.progress) {
    result.progress = [call = options.progress](const Progress& now) {
      call({now.stage, now.start, now.sweep, now.f});
    };
  }
  return result;
}

Matching solved(const MatchingProblem& problem, const MatchingOptions& options) {
  ProofOptions proof;
  proof.max_seconds = options.max_seconds;
  Matching matching = match(problem, solver_options(options), proof);
  const SerialBlas serial;        // threads would change the rounding
  constexpr Index enough = 2000;  // accelerated sweeps, from about 1e-8 on; 500 left 1e-9 of some maps open
  if (!(matching.solution.stopped_early && std::isfinite(options.max_seconds))) {
    matching.solution.D = settled(problem, std::move(matching.solution.D), std::min(enough, options.max_sweeps));
  }
  return matching;
}

using Search = std::function<Matching(const MatchingProblem& problem)>;

// The mean correlation of the pairs of domains along each direction of the fit with identity covariances: the
// eigenvalues of Σ_{i<j} w_ij (R_ij + R_ijᵀ) / Σ_ij w_ij. Empty if no covariance needs them.                    (41)
Vector mean_correlations(const WhitenedData& whitened, const std::vector<Covariance>& covariances,
                         const CrossMatrices& B, const Matrix& edge_weights, const Search& search) {
  Index k = 0;
  for (const Covariance& covariance : covariances) {
    if (covariance.kind() == Covariance::Kind::correlation) k = std::max(k, covariance.number());
  }
  if (k == 0) return {};
  k = std::min(k, smallest_rank(whitened));
  const MatchingProblem problem(std::vector<Matrix>(B.size(), Matrix::Identity(k, k)), B, edge_weights);
  return linalg::symmetric_eigenvalues(problem.shared_covariance(search(problem).solution.D)) / edge_weights.sum();
}

// The part of the common space in which at least one covariance has variance.   k×k', orthonormal columns
Matrix used_space(const std::vector<Matrix>& F) {
  const Index k = F[0].rows();
  Index columns = 0;
  for (const Matrix& F_i : F) {
    if (F_i.cols() == k) return Matrix::Identity(k, k);
    columns += F_i.cols();
  }
  Matrix all(k, columns);
  columns = 0;
  for (const Matrix& F_i : F) {
    all.middleCols(columns, F_i.cols()) = F_i / F_i.norm();
    columns += F_i.cols();
  }
  const linalg::Svd svd = linalg::thin_svd(all);
  return svd.U.leftCols((svd.s.array() > thresholds::kEqualInMatching * svd.s(0)).count());
}

// R_ij = D_i B_ij D_jᵀ, and Cov(x_i, t_j) = L_i B_ij D_jᵀ.                                                        (40)
void add_cross_covariances(Solution& solution, const Point& D, const CrossMatrices& B, const WhitenedData& whitened) {
  const std::size_t m = D.size();
  solution.score_covariances.assign(m, ByDomain<Matrix>(m));
  for (SolvedMap& map : solution.maps) map.cross_loadings.resize(m);
  const auto coloured = [&](std::size_t i, Matrix E) {
    return whitened.domains[i].whitening->coloured(whitened.B().on().upload(std::move(E)));
  };
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i + 1; j < m; ++j) {
      const Matrix BD = ABt(B[i][j], D[j]);
      solution.score_covariances[i][j] = AB(D[i], BD);
      solution.maps[i].cross_loadings[j] = coloured(i, BD);
      solution.maps[j].cross_loadings[i] = coloured(j, linalg::AtB(B[i][j], D[i].transpose()));
    }
  }
}

MatchedDomains matched_by(const Search& search, const WhitenedData& whitened,
                          const std::vector<Covariance>& covariances, const Matrix& edge_weights) {
  // 1. C_i = F_i F_iᵀ of rank c_i <= r_i.
  const CrossMatrices B = cross_matrices(whitened);
  const Vector correlations = mean_correlations(whitened, covariances, B, edge_weights, search);
  std::vector<PrescribedCovariance> C;
  for (std::size_t i = 0; i < covariances.size(); ++i) {
    C.push_back(resolve(covariances[i], domain_at(i), whitened, correlations));
  }
  check_feasible(C, whitened);
  std::vector<Matrix> F;
  for (const PrescribedCovariance& C_i : C) F.push_back(linalg::download(C_i.U) * C_i.s.asDiagonal());
  const Matrix basis = used_space(F);
  for (Matrix& F_i : F) F_i = linalg::AtB(basis, F_i);

  // 2. D_i of orthonormal rows that maximize f, and a bound on it.
  const MatchingProblem problem(std::move(F), B, edge_weights);
  MatchedDomains result{{}, search(problem), problem.scale(), 1};

  // 3. A_i = M_i T_i, T_i = D_i W_i.
  const CanonicalForm form = canonical_form(problem, result.matching.solution.D, whitened, basis);
  result.min_gap = form.min_gap;
  for (Index i = 0; i < problem.domains(); ++i) {
    result.solution.maps.push_back({C[i], form.Tt[i], whitened.B().on().upload(form.M[i]), form.P[i], {}});
  }
  add_cross_covariances(result.solution, form.D, B, whitened);
  return result;
}

}  // namespace

MatchedDomains match_domains(const WhitenedData& whitened, const std::vector<Covariance>& covariances,
                             const Matrix& edge_weights, const MatchingOptions& options) {
  const Search search = [&](const MatchingProblem& problem) { return solved(problem, options); };
  return matched_by(search, whitened, covariances, edge_weights);
}

Solution match_quickly(const WhitenedData& whitened, const std::vector<Covariance>& covariances,
                       const Matrix& edge_weights) {
  const Search search = [](const MatchingProblem& problem) { return Matching{match_quickly(problem), {}}; };
  return matched_by(search, whitened, covariances, edge_weights).solution;
}

OptimalityProof prove_maps(const WhitenedData& whitened, std::vector<Matrix> M, const std::vector<Matrix>& T,
                           const Matrix& edge_weights) {
  Point D;
  for (std::size_t i = 0; i < M.size(); ++i) {
    const WhitenedDomain& domain = whitened.domains[i];
    if (domain.rank() < M[i].cols()) {
      throw InvalidInput(
          fmt::format("domain {} of these samples has rank {}, but its map has {}: they are not the samples that "
                      "the model was fitted to",
                      i + 1, domain.rank(), M[i].cols()));
    }
    const Array L = domain.whitening->coloured(whitened.B().on().identity(domain.rank(), domain.rank()));
    D.push_back(linalg::polar(AB(T[i], linalg::download(L))));
  }
  const Matrix basis = used_space(M);
  for (Matrix& M_i : M) M_i = linalg::AtB(basis, M_i);
  return prove(MatchingProblem(std::move(M), cross_matrices(whitened), edge_weights), D);
}

void state_proof(Certificate& certificate, const MatchedDomains& matched, double n) {
  const auto& [solution, proof] = matched.matching;
  certificate.bound = (n - 1) / n * (matched.scale - proof.bound);
  certificate.certified = proof.certified;
  certificate.gap = std::isfinite(proof.gap) ? proof.gap : std::numeric_limits<double>::max();  // f may be 0
  certificate.proof = name(proof.how);
  certificate.min_gap = matched.min_gap;
  certificate.sweeps = solution.sweeps;
  certificate.stopped_early = solution.stopped_early;
  for (const StartResult& start : solution.starts) {
    certificate.starts.push_back(
        {start.kind, start.f, start.sweeps, start.converged, start.f_below_best, start.distance_to_best});
  }
}

}  // namespace cgmca::multi
