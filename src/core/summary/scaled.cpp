#include "core/summary/scaled.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::Array;
using linalg::Backend;
using linalg::Indices;

class ScaledSolver final : public linalg::ArraySolver {
 public:
  ScaledSolver(const Array& P, Index diagonal)
      : P_(P), scales_(P.on().diagonal(P.block(0, 0, diagonal, diagonal)).cwiseInverse()) {
    const Index weak = P.rows() - diagonal;
    if (weak == 0) return;
    C_ = P.block(0, diagonal, diagonal, weak);
    T_ = P.on().solver(P.on().copy(P.block(diagonal, diagonal, weak, weak)));
  }
  const Array& R() const override { return P_; }
  void solve_transposed_in_place(const Array& B) const override {
    const Backend& on = P_.on();
    const Array strong = B.top(scales_.size());
    on.scale_rows(strong, scales_);
    if (!T_) return;
    const Array weak = B.bottom(B.rows() - scales_.size());
    on.add(weak, on.AtB(C_, strong), -1);
    T_->solve_transposed_in_place(weak);
  }

 private:
  Array P_;
  Vector scales_;
  Array C_;
  std::shared_ptr<const ArraySolver> T_;  // none if all are strong
};

Indices chosen(const Indices& from, const Indices& which) {
  Indices result;
  for (const Index j : which) result.push_back(from[j]);
  return result;
}

// The regression of the weak features on the strong ones, all at unit size: its matrix C and its residuals.
struct Regression {
  Matrix C;
  Array left;
  bool corrected = false;
};

// The residuals: features (first the strong, then the weak ones) divided by their sizes, minus what C explains of the
// weak ones. `explained` becomes Y leftᵀ, where Y are the strong features.
Array residuals(const Deviations& Z, const Indices& features, const Vector& sizes, const Matrix& C, Matrix& explained) {
  const Backend& on = Z.on();
  const Index strong = C.rows();
  const Array regression = on.upload(C), left = on.zeros(C.cols(), Z.count());
  const Vector scales = sizes.cwiseInverse();
  const auto add = [&](ArraySum& sum, const Array& tile, Index first) {
    on.scale_rows(tile, scales);
    const Array Y = tile.top(strong), rest = tile.bottom(C.cols());
    on.add(rest, on.AtB(regression, Y), -1);
    on.add_ABt(sum.A, Y, rest);
    on.assign(left.columns(first, tile.cols()), rest);
  };
  explained = on.download(Z.summed(ArraySum{on.zeros(C.rows(), C.cols())}, sizes.size(), add, &features).A);
  return left;
}

// RᵀR is the Gram matrix of the strong features in another order, in which feature k is at places[k]. C was computed from
// the Gram matrix too, with an error of eps κ(R)². Regressing the residuals once more squares that error. It is done if
// the error shows in the residuals, or always if asked for.
enum class Correct { where_it_shows, always };
Regression regression(const Deviations& Z, const Indices& features, const Vector& sizes, const Matrix& R,
                      const Indices& places, Matrix C, Correct correct) {
  Matrix explained;
  Array left = residuals(Z, features, sizes, C, explained);
  Matrix ordered(C.rows(), C.cols());
  ordered(places, Eigen::all) = explained;
  Matrix projection = linalg::solve_upper_transposed(R, std::move(ordered));  // of `left` onto the strong features
  const Vector all = Z.on().row_squared_norms(left).cwiseSqrt();
  const bool shows =
      (projection.colwise().norm().transpose().array() > thresholds::kLittleExplained * all.array()).any();
  const bool corrected = shows || correct == Correct::always;
  if (corrected) {
    C += linalg::solve_upper(R, std::move(projection))(places, Eigen::all);
    left = residuals(Z, features, sizes, C, explained);
  }
  return {std::move(C), std::move(left), corrected};
}

// P = R D of the Gram matrix D G D, RᵀR = G.
std::optional<OrderedTriangle> cholesky_triangle(const Indices& features, const Array& G, const Vector& sizes) {
  const Backend& on = G.on();
  const Array R = on.cholesky(G);
  if (R.empty()) return std::nullopt;
  const double condition = on.condition(R);
  if (!(condition * condition <= thresholds::kSafeCholeskyFrame)) return std::nullopt;
  return OrderedTriangle{features, linalg::scaled_columns(R, sizes), G.rows()};
}

// P = [D C; 0 T] from the Gram matrix G of the features at unit size.
std::optional<OrderedTriangle> scaled_triangle(const Deviations& Z, const Indices& features, const Array& G,
                                               const Vector& sizes) {
  const Backend& on = Z.on();
  const Index a = G.rows();
  const linalg::PivotedCholesky found = linalg::pivoted_cholesky(on.download(on.copy(G)), thresholds::kStrongPart);
  const Index strong = found.R.rows(), weak = a - strong;
  if (weak > a / 4) return std::nullopt;
  const Matrix R = found.R.leftCols(strong).triangularView<Eigen::Upper>();
  const Indices order = chosen(features, found.order);
  const auto first_weak = order.begin() + strong;
  const Vector ordered = sizes(found.order);
  Indices sorted(strong);  // the strong ones, in the order of the features
  std::iota(sorted.begin(), sorted.end(), Index{0});
  std::sort(sorted.begin(), sorted.end(), [&](Index i, Index j) { return order[i] < order[j]; });
  OrderedTriangle result{chosen(order, sorted), on.zeros(a, a), strong, strong, {}};
  on.assign_lower_from_upper(G);  // features change places
  const Indices places = chosen(found.order, sorted);
  const Matrix gathered = on.download(on.gather(G, places, places));
  result.gram = on.upload(gathered.triangularView<Eigen::Upper>());
  if (!linalg::condition_is_at_most(result.gram, thresholds::kSafeGramCondition)) return std::nullopt;
  on.assign_diagonal(result.P.block(0, 0, strong, strong), ordered(sorted));
  if (weak == 0) return result;
  Indices all = result.order;
  all.insert(all.end(), first_weak, order.end());
  Vector all_sizes = ordered;
  all_sizes.head(strong) = ordered(sorted);
  const Matrix from_gram = linalg::solve_upper(R, found.R.rightCols(weak))(sorted, Eigen::all);
  linalg::ArrayPivoted T;
  const auto regressed = [&](Correct correct) {
    Regression made = regression(Z, all, all_sizes, R, sorted, from_gram, correct);
    T = on.pivoted_triangular_factor(on.triangular_factor(on.transposed(made.left)));
    return made;
  };
  Regression made = regressed(Correct::where_it_shows);
  // If other weak features determine a weak one, the error of C shows only here.
  if (!made.corrected && on.diagonal(T.R).cwiseAbs().minCoeff() < thresholds::kClearlyIndependent) {
    made = regressed(Correct::always);
  }
  const Matrix& C = made.C;
  const Vector left = on.diagonal(T.R).cwiseAbs(), weak_sizes = ordered.tail(weak)(T.order);
  while (result.independent < a && left(result.independent - strong) >= thresholds::kDetermined) ++result.independent;
  on.assign(result.P.block(0, strong, strong, weak), on.upload(C(Eigen::all, T.order) * weak_sizes.asDiagonal()));
  on.assign(result.P.block(strong, strong, weak, weak), linalg::scaled_columns(T.R, weak_sizes));
  for (const Index j : T.order) result.order.push_back(order[strong + j]);
  return result;
}

}  // namespace

std::optional<OrderedTriangle> triangle_by_products(const Deviations& Z, const Indices& features,
                                                    const Array& products) {
  const Backend& on = Z.on();
  const auto a = std::ssize(features);
  const Array G = products.empty() ? Z.sums(&features).G : on.gather(products, features, features);
  const Vector squares = on.diagonal(G), sizes = squares.cwiseSqrt();
  if (a == 0 || squares.minCoeff() < thresholds::kSmallestVariance) return std::nullopt;
  on.scale_rows(G, sizes.cwiseInverse());
  on.scale_columns(G, sizes.cwiseInverse());
  if (auto scaled = scaled_triangle(Z, features, G, sizes)) return scaled;
  return cholesky_triangle(features, G, sizes);
}

std::shared_ptr<const linalg::ArraySolver> frame_solver(const Array& P, Index diagonal) {
  if (diagonal == 0) return P.on().solver(P);
  return std::make_shared<ScaledSolver>(P, diagonal);
}

}  // namespace cgmca
