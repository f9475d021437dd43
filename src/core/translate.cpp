#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/translate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "linalg/linalg.hpp"
#include "lsqr.hpp"
#include "translate_errors.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABC;
using linalg::AtB;

void check_common(const Model& model, const MatrixView& Z) {
  if (Z.rows() == model.common_dimension) return;
  throw WrongDimension(fmt::format("the common space of this model has {} dimensions, the points given have {}",
                                   model.common_dimension, Z.rows()));
}

// How many canonical directions carry correlation from one domain's scores to the other's features.
Index correlated(const Model& model, const DomainMap& from, const DomainMap& to) {
  return std::min({from.scores(), to.loadings.cols(), model.certificate.singular_B.size()});
}

// From a domain's own canonical scores t back to its features: x - mean = R t.
Matrix reconstruction(const DomainMap& map, Method method) {
  if (method == Method::mahalanobis) return map.loadings.leftCols(map.scores());  // P                  (21)
  return linalg::left_inverse(map.weights.transpose()).transpose();               // T⁺; A⁺ = T⁺ M⁺     (20)
}

// From the other domain's canonical scores: x - mean = P diag(σ) t. (22)
Matrix regression(const Model& model, const DomainMap& from, const DomainMap& to) {
  const Index m = correlated(model, from, to);
  return to.loadings.leftCols(m) * model.certificate.singular_B.head(m).asDiagonal();
}

// Var(x_f | z) = Var(x_f) - Σ_j σ_j² P_fj² (23)
Vector standard_error(const DomainMap& to, const Matrix& regression) {
  return (to.variance - regression.rowwise().squaredNorm()).cwiseMax(0).cwiseSqrt();
}

// LSQR on A x = z + A mean with A = M T. (19)
//
// Its iterates do not depend on the orthonormal bases in which A is written. With A = P diag(σ) Qᵀ they are x = Q x̃,
// where x̃ are those for the diagonal system diag(σ) x̃ = Pᵀ y: for many samples the SVD costs less than the products
// with A that it saves. What of y no x can reach, y - P Pᵀ y, is kept as one more equation 0 = ‖y - P Pᵀ y‖, since
// the stopping rule looks at the whole residual.
struct DiagonalSystem {
  Matrix P, Q;  // k×c, d×c
  Vector s;     // c
};

// M = Q_M R, R T = P' diag(σ) Qᵀ, P = Q_M P': an SVD of c rows instead of k, without the columns of T that are zero.
DiagonalSystem diagonalize(const DomainMap& map) {
  std::vector<Index> used;
  for (Index j = 0; j < map.features(); ++j) {
    if (map.weights.col(j).any()) used.push_back(j);
  }
  DiagonalSystem system;
  linalg::Qr qr = linalg::thin_qr(map.mixing);
  qr.R = AB(qr.R, map.weights(Eigen::all, used));  // in its place, to keep memory small
  linalg::Svd svd = linalg::thin_svd(qr.R);
  qr.R.resize(0, 0);
  system.P = AB(qr.Q, svd.U);
  qr.Q.resize(0, 0);
  system.Q = Matrix::Zero(map.features(), svd.s.size());
  system.Q(used, Eigen::all) = svd.V;
  system.s = std::move(svd.s);
  return system;
}

// points(first, count): z of `count` samples from `first` on, n in all.
template <class Points>
Matrix by_lsqr(const DomainMap& map, Index n, const Points& points, const LsqrOptions& options) {
  const Index k = map.mixing.rows(), d = map.features(), c = map.scores();
  const LsqrOptions settled = with_defaults(options, k, d);
  const Vector shift = AB(map.mixing, AB(map.weights, map.mean));
  if (n * settled.iterations < 10 * c) {  // an SVD costs about as much as 10 c products with A and Aᵀ
    return lsqr(LinearOperator::product(map.mixing, map.weights), points(Index{0}, n).colwise() + shift, settled).X;
  }
  const DiagonalSystem system = diagonalize(map);
  const LinearOperator diagonal{c + 1, c,
                                [&](const MatrixView& X) {
                                  Matrix result = Matrix::Zero(c + 1, X.cols());
                                  result.topRows(c) = system.s.asDiagonal() * X;
                                  return result;
                                },
                                [&](const MatrixView& U) -> Matrix { return system.s.asDiagonal() * U.topRows(c); }};
  constexpr Index columns = 64;  // at a time: bounds memory, and stays within the cache
  Matrix X(d, n);
  side_by_side((n + columns - 1) / columns, [&](Index part) {
    const Index first = part * columns, count = std::min(columns, n - first);
    const Matrix Y = points(first, count).colwise() + shift;
    Matrix rotated(c + 1, count);
    rotated.topRows(c) = AtB(system.P, Y);
    rotated.row(c) = (Y - AB(system.P, rotated.topRows(c))).colwise().norm();
    X.middleCols(first, count) = AB(system.Q, lsqr(diagonal, rotated, settled).X);
  });
  return X;
}

}  // namespace

const char* name(Method method) {
  switch (method) {
    case Method::lmmse:
      return "lmmse";
    case Method::exact:
      return "exact";
    case Method::mahalanobis:
      return "mahalanobis";
    case Method::lsqr:
      return "lsqr";
  }
  return "?";
}

Matrix Translation::matrix() const { return AB(left, right); }

void Translation::check_source(const MatrixView& X) const {
  if (X.rows() == mean_from.size()) return;
  throw WrongDimension(fmt::format("domain {} of this translation has {} features, the samples given have {}",
                                   number(from), mean_from.size(), X.rows()));
}

Matrix Translation::operator()(const MatrixView& X) const {
  check_source(X);
  return linalg::affine(left, right, X, mean_from, mean_to);
}

Translation translation(const Model& model, Domain from, Domain to, Method method) {
  if (from == to) throw InvalidInput(fmt::format("a translation from domain {} to itself", number(from)));
  if (method == Method::lsqr) {
    throw InvalidInput(
        "lsqr stops at a different step for each sample, so it is no fixed linear map; use "
        "translate");
  }
  const DomainMap& source = model.domain(from);
  const DomainMap& target = model.domain(to);
  Translation result;
  result.from = from;
  result.mean_from = source.mean;
  result.mean_to = target.mean;
  if (method == Method::lmmse) {
    result.left = regression(model, source, target);
    result.right = source.weights.topRows(result.left.cols());
    result.standard_error = standard_error(target, result.left);
    result.errors = error_bars(model, from, to, result.left);
  } else {
    result.left = reconstruction(target, method);
    result.right = ABC(linalg::left_inverse(target.mixing), source.mixing, source.weights);  // M_to⁺ A_from
  }
  return result;
}

Matrix translate(const Model& model, Domain from, Domain to, const MatrixView& X, Method method,
                 const LsqrOptions& options) {
  if (method != Method::lsqr) return translation(model, from, to, method)(X);
  if (from == to) throw InvalidInput(fmt::format("a translation from domain {} to itself", number(from)));
  model.domain(from).check_features(from, X);
  const auto points = [&](Index first, Index count) { return apply(model, from, X.middleCols(first, count)); };
  return by_lsqr(model.domain(to), X.cols(), points, options);
}

Matrix invert(const Model& model, Domain domain, const MatrixView& Z, Method method, const LsqrOptions& options) {
  const DomainMap& map = model.domain(domain);
  check_common(model, Z);
  if (method == Method::lsqr) {
    return by_lsqr(
        map, Z.cols(), [&](Index first, Index count) { return Z.middleCols(first, count); }, options);
  }
  Matrix left, right;
  if (method == Method::lmmse) {
    const DomainMap& source = model.domain(other(domain));
    left = regression(model, source, map);
    right = linalg::left_inverse(source.mixing).topRows(left.cols());  // t = M⁺ z
  } else {
    left = reconstruction(map, method);
    right = linalg::left_inverse(map.mixing);
  }
  return linalg::affine(left, right, Z, Vector::Zero(Z.rows()), map.mean);
}

}  // namespace cgmca
