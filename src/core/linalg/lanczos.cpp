#include "core/linalg/lanczos.hpp"

#include <cgmca/random.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"

namespace cgmca::linalg {
namespace {

using thresholds::kEpsilon;

constexpr Index kBlock = 8;  // columns: few, since a space of as many dimensions then has a higher degree
constexpr random_numbers::Purpose kLanczosStart{6};
constexpr Index kMostBeyond = 24;  // triplets that may be added to those wanted, to end with a gap

// X = A along + next beyond, with `next` orthonormal and orthogonal to the orthonormal A. The projection is done twice,
// because cancellation makes the error of the first one large.
struct Orthogonalized {
  Array next;
  Matrix along, beyond;
};
Orthogonalized orthogonalize(const Array& A, Array X) {
  const Backend& on = X.on();
  Orthogonalized result{{}, Matrix::Zero(A.cols(), X.cols()), Matrix::Identity(X.cols(), X.cols())};
  for (int time = 0; time < 2; ++time) {
    if (A.cols() > 0) {
      const Array along = AtB(A, X);
      on.add(X, AB(A, along), -1);
      result.along += linalg::AB(download(along), result.beyond);
    }
    ArrayQr qr = on.thin_qr(std::move(X));
    result.beyond = linalg::AB(download(std::move(qr.R)), result.beyond);
    X = std::move(qr.Q);
  }
  result.next = std::move(X);
  return result;
}

// B as a tall matrix.
struct Tall {
  const Array& B;
  bool wide = B.rows() < B.cols();
  Index rows() const { return std::max(B.rows(), B.cols()); }
  Index cols() const { return std::min(B.rows(), B.cols()); }
  Array times(const Array& X) const { return wide ? AtB(B, X) : AB(B, X); }
  Array transposed_times(const Array& Y) const { return wide ? AB(B, Y) : AtB(B, Y); }
};

class Lanczos {
 public:
  Lanczos(const Tall& B, Index most) : B_(B), most_(most) {
    const Backend& on = B.B.on();
    V_ = on.zeros(B.cols(), most + kBlock);
    Q_ = on.zeros(B.rows(), most);
    R_ = Matrix::Zero(most, most);
    Matrix start(B.cols(), kBlock);
    random_numbers::fill_normal(0, kLanczosStart, 0, start.data(), static_cast<std::size_t>(start.size()));
    on.assign(V_.left(kBlock), on.thin_qr(on.upload(std::move(start))).Q);
  }

  Index size() const { return size_; }
  bool full() const { return size_ + kBlock > most_; }

  void grow() {
    const Backend& on = V_.on();
    Orthogonalized q = orthogonalize(Q_.left(size_), B_.times(V_.columns(size_, kBlock)));
    R_.block(0, size_, size_, kBlock) = q.along;
    R_.block(size_, size_, kBlock, kBlock) = q.beyond;
    on.assign(Q_.columns(size_, kBlock), q.next);
    Orthogonalized v = orthogonalize(V_.left(size_ + kBlock), B_.transposed_times(q.next));
    size_ += kBlock;
    on.assign(V_.columns(size_, kBlock), v.next);
    beyond_ = std::move(v.beyond);
  }

  Svd projected() const { return thin_svd(R_.topLeftCorner(size_, size_)); }
  // ‖Bᵀ u - σ v‖ of each; B v = σ u.
  Vector residuals(const Svd& svd) const { return linalg::AB(beyond_, svd.U.bottomRows(kBlock)).colwise().norm(); }
  ArraySvd triplets(const Svd& svd, Index count) const {
    const Backend& on = V_.on();
    return {AB(Q_.left(size_), on.upload(svd.U.leftCols(count))),
            svd.s.head(count),
            AB(V_.left(size_), on.upload(svd.V.leftCols(count))),
            {}};
  }

 private:
  const Tall& B_;
  Index most_, size_ = 0;
  Array V_, Q_;
  Matrix R_, beyond_;
};

// The number w >= `least` of triplets to take, such that no further one equals them to rounding and that
// σ_w² - σ_{w+1}² exceeds the error of the proof, n² eps σ_1² (Rump: Verification of positive definiteness, 2006). 0 if
// there is no such number yet, or if the first w triplets have not converged.
Index ending_with_gap(const Vector& s, const Vector& residuals, Index least, Index n, double tie) {
  const double rounding = 8 * static_cast<double>(n) * static_cast<double>(n) * kEpsilon * s(0) * s(0);
  const Index last = std::min(least + kMostBeyond, s.size() - 1);
  for (Index w = 1; w <= last; ++w) {
    if (!(residuals(w - 1) <= kEpsilon * s(0))) return 0;
    const double here = s(w - 1), next = s(w);
    if (w < least || here * here - next * next <= rounding || here - next <= 16 * tie) continue;
    return residuals(w) <= (here - next) / 8 ? w : 0;  // the next value is known well enough to choose θ
  }
  return 0;
}

bool residuals_are_rounding(const Tall& B, const ArraySvd& svd) {
  const Backend& on = B.B.on();
  const Array right = B.times(svd.V), left = B.transposed_times(svd.U);
  on.add(right, scaled_columns(on.copy(svd.U), svd.s), -1);
  on.add(left, scaled_columns(on.copy(svd.V), svd.s), -1);
  const double most = 8 * kEpsilon * std::sqrt(static_cast<double>(B.rows())) * svd.s(0);
  return std::sqrt(on.column_squared_norms(right).maxCoeff()) <= most &&
         std::sqrt(on.column_squared_norms(left).maxCoeff()) <= most;
}

// θ² I + V Σ² Vᵀ - BᵀB is positive definite.
bool none_is_missing(const Tall& B, const ArraySvd& svd, double squared_theta) {
  const Backend& on = B.B.on();
  const Array G = on.zeros(B.cols(), B.cols());
  B.wide ? on.add_gram(G, B.B) : on.add_gram_of_columns(G, B.B);
  on.scale(G, -1);
  on.add_gram(G, scaled_columns(on.copy(svd.V), svd.s));
  on.add_diagonal(G, Vector::Constant(G.rows(), squared_theta));
  return !on.cholesky(G).empty();
}

}  // namespace

std::optional<ArraySvd> leading_triplets(const Array& B, Index wanted, double tie) {
  const Tall tall{B};
  const Index n = tall.cols(), most = n / 3 / kBlock * kBlock, least = wanted + 1;
  Lanczos lanczos(tall, most);
  for (Index look = 2 * (least + kBlock); !lanczos.full();) {
    lanczos.grow();
    if (lanczos.size() < look && !lanczos.full()) continue;
    look = lanczos.size() + std::max(2 * kBlock, lanczos.size() / 5);
    const Svd projected = lanczos.projected();
    if (!(projected.s(0) > 0)) return std::nullopt;
    const Index w = ending_with_gap(projected.s, lanczos.residuals(projected), least, n, tie);
    if (w == 0) continue;
    ArraySvd svd = lanczos.triplets(projected, w);
    const double here = projected.s(w - 1), next = projected.s(w);
    const double squared_theta = next * next + 0.75 * (here * here - next * next);
    if (!residuals_are_rounding(tall, svd) || !none_is_missing(tall, svd, squared_theta)) return std::nullopt;
    if (tall.wide) std::swap(svd.U, svd.V);
    return svd;
  }
  return std::nullopt;
}

}  // namespace cgmca::linalg
