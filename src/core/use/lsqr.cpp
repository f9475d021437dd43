#include "core/use/lsqr.hpp"

#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::AtB;

constexpr Index kColumns = 256;  // right-hand sides worked on together: bounds memory, feeds matrix products

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

// Some right-hand sides together, each stopping on its own.
class Block {
 public:
  Block(const LinearOperator& A, const MatrixView& Y, const LsqrOptions& options, Index first, LsqrResult& result)
      : A_(A),
        options_(options),
        first_(first),
        result_(result),
        X_(result.X.middleCols(first, Y.cols())),
        U_(Y),
        D_(Matrix::Zero(A.columns, Y.cols())),
        states_(Y.cols()) {
    X_.setZero();
  }

  void solve() {
    start();
    for (Index step = 0; step < options_.iterations && active_ > 0; ++step) {
      const Matrix AV = A_.apply(V_);
      for (Index j = 0; j < U_.cols(); ++j) {
        if (state(j).active) advance(j, AV, step);
      }
      // α v ← Aᵀ u - β v
      const Matrix AtU = A_.apply_transposed(U_);
      for (Index j = 0; j < U_.cols(); ++j) {
        State& now = state(j);
        if (!now.active) continue;
        V_.col(j) = AtU.col(j) - now.beta * V_.col(j);
        now.alpha = normalize(V_.col(j));
        now.norm_Atr *= now.alpha;
      }
    }
    // Those that used up their steps may have converged with the last.
    for (Index j = 0; j < U_.cols(); ++j) {
      if (state(j).active) set_converged(j, check(state(j), options_.tolerance) == Outcome::converged);
    }
  }

 private:
  State& state(Index j) { return states_[j]; }
  void set_converged(Index j, bool converged) { result_.converged[first_ + j] = converged; }

  // β u = y, α v = Aᵀ u
  void start() {
    for (Index j = 0; j < U_.cols(); ++j) {
      State& now = state(j);
      now.beta = now.phi_bar = now.norm_r = normalize(U_.col(j));
      now.target = options_.tolerance * now.beta;
    }
    V_ = A_.apply_transposed(U_);
    for (Index j = 0; j < U_.cols(); ++j) {
      State& now = state(j);
      now.alpha = normalize(V_.col(j));
      now.norm_Atr = now.alpha * now.beta;
      now.active = now.norm_Atr > 0;  // otherwise x = 0 is the answer
      if (now.active) {
        ++active_;
      } else {
        set_converged(j, true);
      }
    }
  }

  void advance(Index j, const Matrix& AV, Index step) {
    State& now = state(j);
    // β u ← A v - α u
    U_.col(j) = AV.col(j) - now.alpha * U_.col(j);
    now.beta = normalize(U_.col(j));
    now.norm_A = std::hypot(now.norm_A, now.alpha, now.beta);

    // Rotate [ρ̄ 0; β α] to upper triangular form.
    const double theta = -now.s * now.alpha, rho_bar = now.c * now.alpha;
    const double rho = std::hypot(rho_bar, now.beta);
    now.c = rho_bar / rho;
    now.s = -now.beta / rho;
    const double phi = now.c * now.phi_bar;
    now.phi_bar *= now.s;
    D_.col(j) = (V_.col(j) - theta * D_.col(j)) / rho;

    const bool changes_nothing = std::abs(phi) * D_.col(j).norm() < thresholds::kEpsilon * X_.col(j).norm();
    now.stagnant = changes_nothing ? now.stagnant + 1 : 0;
    const Outcome outcome = check(now, options_.tolerance);
    if (outcome != Outcome::go_on) {
      now.active = false;
      --active_;
      set_converged(j, outcome == Outcome::converged);
      return;
    }
    X_.col(j) += phi * D_.col(j);
    result_.iterations[first_ + j] = step + 1;
    now.norm_r *= std::abs(now.s);
    now.norm_Atr = std::abs(now.s * phi);  // times the next α
  }

  const LinearOperator& A_;
  const LsqrOptions& options_;
  const std::size_t first_;
  LsqrResult& result_;
  Eigen::Ref<Matrix> X_;
  Matrix U_, V_, D_;
  std::vector<State> states_;
  Index active_ = 0;
};

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
  if (!(options.tolerance >= 0))
    throw InvalidInput(fmt::format("the tolerance of lsqr is {}; it must be 0 or more", options.tolerance));
  if (options.iterations < 0)
    throw InvalidInput(fmt::format("{} iterations of lsqr; give at least 1, or 0 for the default", options.iterations));
  options.tolerance = std::max(options.tolerance, thresholds::kEpsilon);  // as MATLAB does: rounding allows no less
  if (options.iterations == 0) options.iterations = std::min({rows, columns, Index{20}});
  return options;
}

LsqrResult lsqr(const LinearOperator& A, const MatrixView& Y, const LsqrOptions& options) {
  const Index n = Y.cols();
  LsqrResult result{Matrix(A.columns, n), std::vector<Index>(n), std::vector<bool>(n)};
  for (Index first = 0; first < n; first += kColumns) {
    Block(A, Y.middleCols(first, std::min(kColumns, n - first)), options, first, result).solve();
  }
  return result;
}

LsqrResult lsqr(const MatrixView& A, const MatrixView& Y, const LsqrOptions& options) {
  if (A.rows() != Y.rows()) {
    throw WrongDimension(fmt::format("lsqr: the matrix has {} rows, the right-hand sides have {}", A.rows(), Y.rows()));
  }
  return lsqr(LinearOperator::dense(A), Y, with_defaults(options, A.rows(), A.cols()));
}

}  // namespace cgmca
