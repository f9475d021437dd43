#include "core/multi/reflect.hpp"

#include <algorithm>
#include <cgmca/parallel.hpp>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca::multi {
namespace {

// I - 2 v vᵀ in the common space (domain < 0) or in one domain's own coordinates; ‖v‖ = 1.
struct Move {
  Index domain;
  Vector v;
};

Point moved(const MatchingProblem& problem, const Point& D, const Move& move) {
  if (move.domain < 0) {
    const Index k = problem.common_dimension();
    return turned(problem, D, Matrix::Identity(k, k) - 2 * move.v * move.v.transpose());
  }
  Point result = D;
  Matrix& D_i = result[move.domain];
  D_i -= 2 * move.v * (move.v.transpose() * D_i);
  D_i = linalg::polar(D_i);
  return result;
}

// Directions: the eigenvectors of the scores' covariance in the common space, and those of D_i G_iᵀ in domain i.
// Neighbouring directions are swapped first, because their order is the least certain.
std::vector<Move> moves_from(const MatchingProblem& problem, const Point& D) {
  std::vector<Move> moves;
  const Matrix E = linalg::symmetric_eigen(problem.shared_covariance(D)).Q;
  for (Index p = 0; p < E.cols(); ++p) moves.push_back({-1, E.col(p)});
  for (Index i = 0; i < problem.domains(); ++i) {
    const Matrix GDt = linalg::ABt(problem.gradient(i, D), D[i]);
    const Matrix U = linalg::symmetric_eigen(GDt + GDt.transpose()).Q;
    for (Index p = U.cols() - 1; p >= 0; --p) moves.push_back({i, U.col(p)});
  }
  for (Index apart = 1; apart < E.cols(); ++apart) {
    for (Index p = 0; p + apart < E.cols(); ++p) moves.push_back({-1, (E.col(p) - E.col(p + apart)).normalized()});
  }
  return moves;
}

// The ascent from a moved point, stopped when its end is clear. Returns nothing if the move is a symmetry of the problem.
std::optional<Ascent> trial(const MatchingProblem& problem, const Ascent& from, const Move& move,
                            const AscentOptions& options) {
  Point start = moved(problem, from.D, move);
  if (std::abs(problem.value(start) - from.f) <= thresholds::kSymmetry * std::abs(from.f)) return std::nullopt;
  AscentOptions rough = options;
  rough.f_tolerance = 1e-8;
  rough.step_tolerance = 1e-2;
  rough.report = nullptr;
  return ascend(problem, std::move(start), rough);
}

}  // namespace

ReflectionSearch search_reflections(const MatchingProblem& problem, const Ascent& from, const AscentOptions& options,
                                    Index max_trials) {
  constexpr Index batch = 8;  // tried from the same point whatever the number of threads
  constexpr double better = thresholds::kBetterReflection;
  ReflectionSearch search{from};
  std::vector<Move> moves = moves_from(problem, from.D);
  std::size_t next = 0;
  while (next < moves.size()) {
    if (search.trials >= max_trials || std::chrono::steady_clock::now() >= options.deadline) return search;
    std::vector<std::optional<Ascent>> found(std::min<std::size_t>(batch, moves.size() - next));
    parallel_for(std::ssize(found), [&](Index t) { found[t] = trial(problem, search.best, moves[next + t], options); });
    next += found.size();
    std::optional<Ascent> highest;
    for (auto& result : found) {
      if (!result) continue;
      ++search.trials;
      search.sweeps += result->sweeps;
      if (!highest || result->f > highest->f) highest = std::move(result);
    }
    if (!highest || highest->f <= search.best.f + better * std::abs(search.best.f)) continue;
    search.best = ascend(problem, std::move(highest->D), options);
    search.sweeps += search.best.sweeps;
    moves = moves_from(problem, search.best.D);
    next = 0;
  }
  search.complete = true;
  return search;
}

}  // namespace cgmca::multi
