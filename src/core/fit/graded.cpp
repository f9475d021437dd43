#include "core/fit/graded.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/thresholds.hpp"

namespace cgmca {

using linalg::Array;
using linalg::Backend;

Vector unit_sizes(const Vector& variance, const Vector& mean) {
  const Vector sizes = variance.cwiseSqrt();
  const double largest = sizes.size() > 0 ? sizes.maxCoeff() : 0;
  return (sizes.array() > thresholds::kVariesByRounding * mean.array().abs()).select(sizes, largest);
}

bool differ_much(const Vector& sizes) {
  return sizes.size() > 0 && sizes.maxCoeff() * thresholds::kClearRank > sizes.minCoeff();
}

// In raw units the pseudo-inverse would err by eps times the square of this.
constexpr double kUnitsApart = 1e4;

bool are_apart(const Vector& sizes) { return sizes.size() > 0 && sizes.maxCoeff() > kUnitsApart * sizes.minCoeff(); }

namespace {

// Z and s of L = Y diag(s) Zᵀ with relative accuracy, for an L whose rows differ in size. First L P = Q R by a QR that
// takes large rows and columns first, then Jacobi rotations of Rᵀ, whose columns differ in size as the rows of R do.
struct RelativeSvd {
  Matrix Y;
  Vector s;
  Matrix Z;
};
RelativeSvd relative_svd(const Matrix& L) {
  const Index a = L.rows(), r = L.cols();
  std::vector<Index> order(a);
  std::iota(order.begin(), order.end(), Index{0});
  const Vector size = L.rowwise().norm();
  std::stable_sort(order.begin(), order.end(), [&](Index f, Index g) { return size(f) > size(g); });
  const Matrix sorted = L(order, Eigen::all);
  const std::vector<Index> columns = linalg::pivoted_triangular_factor(sorted).order;
  const linalg::Qr qr = linalg::thin_qr(sorted(Eigen::all, columns));
  const linalg::Svd svd = linalg::thin_svd(qr.R.transpose(), linalg::SvdRoutine::jacobi);  // R = V s Uᵀ
  RelativeSvd result{Matrix(a, r), svd.s, Matrix(r, r)};
  result.Y(order, Eigen::all) = linalg::AB(qr.Q, svd.V);
  result.Z(columns, Eigen::all) = svd.U;
  return result;
}

// The left singular vectors of L, entry by entry. For a feature much larger than s they are of the order s / size, and
// for a smaller one of the order size / s. Y errs by eps, `inward` by eps κ s / size with κ at unit size, and `outward` by
// eps size / s. Where features are dependent, `inward` is another vector, because W is the pseudo-inverse at unit size.
Matrix entrywise(const RelativeSvd& raw, const Vector& sizes, double condition, const Matrix& inward,
                 const Matrix& outward) {
  const bool independent = inward.rows() == inward.cols();
  Matrix U = raw.Y;
  for (Index f = 0; f < U.rows(); ++f) {
    for (Index j = 0; j < U.cols(); ++j) {
      if (sizes(f) < raw.s(j)) U(f, j) = outward(f, j);
      if (independent && sizes(f) > condition * raw.s(j)) U(f, j) = inward(f, j);
    }
  }
  return U;
}

}  // namespace

// L = D U Σ, W = Σ⁻¹ Uᵀ D⁻¹: with L Z = Y diag(s) and Zᵀ W, W L = I whatever Z, and errors are relative to D.
GradedSpectrum graded_spectrum(const Array& U, const Vector& s, const Array& V, const Vector& sizes,
                               const Varying& features) {
  const Backend& on = U.on();
  const Matrix unit = on.download(on.copy(U));
  const RelativeSvd raw = relative_svd(sizes.asDiagonal() * unit * s.asDiagonal());
  const auto placed = [&](const Matrix& rows) -> Array {
    return on.scatter_rows(on.upload(rows), features.places, features.features);
  };
  const Matrix back = linalg::AB(unit * s.cwiseInverse().asDiagonal(), raw.Z);
  const Matrix out = linalg::AB(unit * s.asDiagonal(), raw.Z);
  const Matrix inward = sizes.cwiseInverse().asDiagonal() * back * raw.s.asDiagonal();
  const Matrix outward = sizes.asDiagonal() * out * raw.s.cwiseInverse().asDiagonal();
  GradedSpectrum result;
  result.whitening = std::make_shared<SpectrumWhitening>(
      placed(entrywise(raw, sizes, s(0) / s(s.size() - 1), inward, outward)), raw.s, placed(inward), placed(outward));
  if (!V.empty()) result.V = linalg::AB(V, on.upload(raw.Z));
  return result;
}

}  // namespace cgmca
