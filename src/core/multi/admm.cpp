#include "core/multi/admm.hpp"

#include <cgmca/parallel.hpp>
#include <utility>

#include "core/linalg/linalg.hpp"

namespace cgmca::multi {
namespace {

constexpr double kOverstep = 1.6;  // of the multipliers; the usual choice below (1 + √5)/2

// Partial traces of T (rc×rc), rows numbered a c + s: Σ_a T(a s, a s'): c×c and Σ_s T(a s, a' s): r×r.
Matrix trace_over_r(const Eigen::Ref<const Matrix>& T, Index r, Index c) {
  Matrix sum = Matrix::Zero(c, c);
  for (Index a = 0; a < r; ++a) sum += T.block(a * c, a * c, c, c);
  return sum;
}
Matrix trace_over_c(const Eigen::Ref<const Matrix>& T, Index r, Index c) {
  if (c == 1) return T;
  Matrix sum(r, r);
  for (Index a = 0; a < r; ++a) {
    for (Index b = 0; b < r; ++b) sum(a, b) = T.block(a * c, b * c, c, c).trace();
  }
  return sum;
}

// The nearest positive semidefinite matrix: A without the part of its negative eigenvalues. Near the solution these are
// few.
Matrix positive_part(const Matrix& A) {
  const linalg::SymmetricEigen negative = linalg::symmetric_eigen_between(A, -2 * A.norm() - 1, 0);
  return A - linalg::ABt(negative.Q * negative.values.asDiagonal(), negative.Q);
}

}  // namespace

Admm::Admm(const Dual& dual, DualPoint start, const Point& D, double penalty)
    : dual_(dual), y_(std::move(start)), rho_(penalty), Z_(y_.M) {
  for (const Matrix& M : y_.M) Y_.push_back(Matrix::Zero(M.rows(), M.cols()));
  for (Index t = 0; t < dual.channels(); ++t) {
    const Matrix x = dual.stacked(t, D);
    X_.push_back(linalg::ABt(x, x) / real(dual.channel(t).copies));
    S_.push_back(positive_part(dual.K(t, y_)));
  }
}

// Least squares in Λ_it and M_i, whose normal equations are, with the known right sides R_t and P,
//   r Λ_t + tr M I = R_t,   (c + 1) M + (Σ_t μ_t tr Λ_t) I = P
void Admm::solve_domain(Index i) {
  const Index r = dual_.problem().rank(i), c = dual_.problem().covariance_rank(i);
  Matrix P = Z_[i] + (Y_[i] - Matrix::Identity(r, r)) / rho_;
  std::vector<Matrix> R;
  double trace_R = 0;
  for (Index t = 0; t < dual_.channels(); ++t) {
    const Index width = dual_.channel(t).width(i), first = dual_.offset(t, i), size = r * width;
    const double copies = real(dual_.channel(t).copies);
    const Matrix T = S_[t].block(first, first, size, size) + X_[t].block(first, first, size, size) / rho_;
    R.push_back(trace_over_r(T, r, width) - Matrix::Identity(width, width) / rho_);
    trace_R += copies * R.back().trace();
    if (width > 0) P += copies * trace_over_c(T, r, width);
  }
  const double trace_M = P.trace() - trace_R, trace_lambda = (trace_R - real(c) * trace_M) / real(r);
  y_.M[i] = (P - trace_lambda * Matrix::Identity(r, r)) / real(c + 1);
  for (Index t = 0; t < dual_.channels(); ++t) {
    const Matrix& R_t = R[t];
    y_.lambda[t][i] = (R_t - trace_M * Matrix::Identity(R_t.rows(), R_t.rows())) / real(r);
  }
}

// positive ← (A - X/ρ)₊,   X ← X - 1.6 ρ (A - positive)
void Admm::split(const Matrix& A, Matrix& positive, Matrix& multiplier) const {
  positive = positive_part(A - multiplier / rho_);
  multiplier -= kOverstep * rho_ * (A - positive);
}

void Admm::step() {
  constexpr Index worthwhile = 64;  // rows, below which threads cost more than they save
  const Index m = dual_.problem().domains(), channels = dual_.channels();
  for (Index i = 0; i < m; ++i) solve_domain(i);
  const auto part = [&](Index task) {
    if (task < channels) return split(dual_.K(task, y_), S_[task], X_[task]);
    const auto i = task - channels;
    split(y_.M[i], Z_[i], Y_[i]);
  };
  if (S_[0].rows() >= worthwhile) return parallel_for(channels + m, part);
  for (Index task = 0; task < channels + m; ++task) part(task);
}

DualPoint Admm::point() const {
  DualPoint y = y_;
  for (Matrix& M : y.M) M = positive_part(M);
  return y;
}

Point Admm::relaxed() const {
  std::vector<Matrix> leading;
  for (Index t = 0; t < dual_.channels(); ++t) {
    leading.push_back(linalg::symmetric_eigen(X_[t]).Q.leftCols(dual_.channel(t).copies));
  }
  return dual_.unstacked(leading);
}

}  // namespace cgmca::multi
