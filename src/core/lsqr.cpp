#include "lsqr.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr Index kColumns = 1024;  // right-hand sides worked on together: bounds memory, feeds matrix products

// Divides a column by its norm, which is returned; a zero column stays.
template <class Column>
double normalize(Column&& column) {
  const double norm = column.norm();
  if (norm > 0) column /= norm;
  return norm;
}

// The scalars of one right-hand side, named as in Paige and Saunders' bidiagonalization  A V = U B.
struct State {
  double alpha = 0, beta = 0;  // entries of B
  double c = 1, s = 0;         // plane rotation
  double phi_bar = 0;          // right-hand side of the rotated system
  double norm_r = 0;           // ‖y - A x‖
  double norm_Atr = 0;         // ‖Aᵀ (y - A x)‖
  double norm_A = 0;           // running estimate of ‖A‖_F
  double target = 0;           // tolerance · ‖y‖
  int stagnant = 0;            // steps in a row that changed nothing
  bool active = true;
};

enum class Outcome { go_on, converged, stagnated };

// MATLAB checks before it takes the step, so the step that would be taken at convergence is not.
Outcome check(const State& state, double tolerance) {
  if (state.norm_Atr / (state.norm_A * state.norm_r) <= tolerance) return Outcome::converged;  // least squares solved
  if (state.norm_r <= state.target) return Outcome::converged;                                 // A x = y solved
  return state.stagnant >= 3 ? Outcome::stagnated : Outcome::go_on;
}

void solve_block(const LinearOperator& A, const MatrixView& Y, const LsqrOptions& options, Index first,
                 LsqrResult& result) {
  const Index n = Y.cols();
  std::vector<State> states(static_cast<std::size_t>(n));
  const auto state_of = [&](Index j) -> State& { return states[static_cast<std::size_t>(j)]; };

  // β u = y, α v = Aᵀ u
  Matrix U = Y;
  for (Index j = 0; j < n; ++j) {
    State& state = state_of(j);
    state.beta = state.phi_bar = state.norm_r = normalize(U.col(j));
    state.target = options.tolerance * state.beta;
  }
  Matrix V = A.apply_transposed(U);
  Index active = 0;
  for (Index j = 0; j < n; ++j) {
    State& state = state_of(j);
    state.alpha = normalize(V.col(j));
    state.norm_Atr = state.alpha * state.beta;
    state.active = state.norm_Atr > 0;  // otherwise x = 0 is the answer
    if (state.active) {
      ++active;
    } else {
      result.converged[static_cast<std::size_t>(first + j)] = true;
    }
  }
  Matrix D = Matrix::Zero(A.columns, n);
  auto X = result.X.middleCols(first, n);
  X.setZero();

  for (Index step = 0; step < options.iterations && active > 0; ++step) {
    // β u ← A v - α u
    const Matrix AV = A.apply(V);
    for (Index j = 0; j < n; ++j) {
      State& state = state_of(j);
      if (!state.active) continue;
      U.col(j) = AV.col(j) - state.alpha * U.col(j);
      state.beta = normalize(U.col(j));
      state.norm_A = std::hypot(state.norm_A, state.alpha, state.beta);

      // Rotate [ρ̄ 0; β α] to upper triangular form.
      const double theta = -state.s * state.alpha, rho_bar = state.c * state.alpha;
      const double rho = std::hypot(rho_bar, state.beta);
      state.c = rho_bar / rho;
      state.s = -state.beta / rho;
      const double phi = state.c * state.phi_bar;
      state.phi_bar *= state.s;
      D.col(j) = (V.col(j) - theta * D.col(j)) / rho;

      const bool changes_nothing = std::abs(phi) * D.col(j).norm() < kEpsilon * X.col(j).norm();
      state.stagnant = changes_nothing ? state.stagnant + 1 : 0;
      const Outcome outcome = check(state, options.tolerance);
      if (outcome != Outcome::go_on) {
        state.active = false;
        --active;
        result.converged[static_cast<std::size_t>(first + j)] = outcome == Outcome::converged;
        continue;
      }
      X.col(j) += phi * D.col(j);
      result.iterations[static_cast<std::size_t>(first + j)] = step + 1;
      state.norm_r *= std::abs(state.s);
      state.norm_Atr = std::abs(state.s * phi);  // times the next α
    }
    // α v ← Aᵀ u - β v
    const Matrix AtU = A.apply_transposed(U);
    for (Index j = 0; j < n; ++j) {
      State& state = state_of(j);
      if (!state.active) continue;
      V.col(j) = AtU.col(j) - state.beta * V.col(j);
      state.alpha = normalize(V.col(j));
      state.norm_Atr *= state.alpha;
    }
  }
  // Those that used up their steps may have converged with the last.
  for (Index j = 0; j < n; ++j) {
    const State& state = state_of(j);
    if (state.active) {
      result.converged[static_cast<std::size_t>(first + j)] = check(state, options.tolerance) == Outcome::converged;
    }
  }
}

}  // namespace

LinearOperator LinearOperator::dense(const MatrixView& A) {
  const auto map = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>(A.data(), A.rows(), A.cols(),
                                                                     Eigen::OuterStride<>(A.outerStride()));
  return {A.rows(), A.cols(), [map](const MatrixView& X) { return AB(map, X); },
          [map](const MatrixView& Y) { return AtB(map, Y); }};
}

LinearOperator LinearOperator::product(const MatrixView& M, const MatrixView& T) {
  const Index k = M.rows(), c = M.cols(), d = T.cols();
  if (k * d <= c * (k + d)) {
    const auto A = std::make_shared<const Matrix>(AB(M, T));
    return {k, d, [A](const MatrixView& X) { return AB(*A, X); }, [A](const MatrixView& Y) { return AtB(*A, Y); }};
  }
  const auto left = std::make_shared<const Matrix>(M), right = std::make_shared<const Matrix>(T);
  return {k, d, [=](const MatrixView& X) { return AB(*left, AB(*right, X)); },
          [=](const MatrixView& Y) { return AtB(*right, AtB(*left, Y)); }};
}

LsqrOptions with_defaults(LsqrOptions options, Index rows, Index columns) {
  if (!(options.tolerance >= 0)) throw InvalidInput(fmt::format("an lsqr tolerance of {}", options.tolerance));
  if (options.iterations < 0) throw InvalidInput(fmt::format("{} lsqr iterations", options.iterations));
  if (options.iterations == 0) options.iterations = std::min({rows, columns, Index{20}});
  return options;
}

LsqrResult lsqr(const LinearOperator& A, const MatrixView& Y, const LsqrOptions& options) {
  const Index n = Y.cols();
  LsqrResult result{Matrix(A.columns, n), std::vector<Index>(static_cast<std::size_t>(n)),
                    std::vector<bool>(static_cast<std::size_t>(n))};
  for (Index first = 0; first < n; first += kColumns) {
    solve_block(A, Y.middleCols(first, std::min(kColumns, n - first)), options, first, result);
  }
  return result;
}

}  // namespace cgmca
