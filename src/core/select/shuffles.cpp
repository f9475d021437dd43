#include "core/select/shuffles.hpp"

#include <cmath>

#include "core/linalg/linalg.hpp"

namespace cgmca {

using linalg::AB;
using random_numbers::Stream;

namespace {

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

}  // namespace

Matrix in_order(const Matrix& Y, const std::vector<std::uint32_t>& order) {
  Matrix result(Y.rows(), Y.cols());
  for (Index column = 0; column < Y.cols(); ++column) {
    for (Index row = 0; row < Y.rows(); ++row) result(row, column) = Y(order[static_cast<std::size_t>(row)], column);
  }
  return result;
}

std::vector<Matrix> shuffled(std::vector<Matrix> Y, Stream& random) {
  for (std::size_t i = 1; i < Y.size(); ++i) {
    Y[i] = in_order(Y[i], random_numbers::permutation(random, static_cast<std::uint32_t>(Y[i].rows())));
  }
  return Y;
}

// Q_i Y_i, Y_i: r_i×p_i, with random frames of m dimensions: Q_i has r_i orthonormal columns, uniform and independent
// of the others. The Q_i of normal G_i = Q_i R_i have the same Q_iᵀ Q_j as those of the columns i of the triangle T
// with TᵀT = GᵀG, G = [G_1 …], which is drawn by Bartlett's decomposition.
std::vector<Matrix> rotated(std::vector<Matrix> Y, Stream& random, double m) {
  Index all = 0;
  for (const Matrix& Y_i : Y) all += Y_i.rows();
  Matrix T = Matrix::Zero(all, all);
  for (Index row = 0; row < all; ++row) {
    T(row, row) = std::sqrt(chi_square(random, m - static_cast<double>(row)));
    for (Index column = row + 1; column < all; ++column) T(row, column) = random.normal();
  }
  Index first = 0;
  for (Matrix& Y_i : Y) {
    const Index rank = Y_i.rows();
    Y_i = AB(linalg::thin_qr(T.middleCols(first, rank)).Q, Y_i);
    first += rank;
  }
  return Y;
}

}  // namespace cgmca
