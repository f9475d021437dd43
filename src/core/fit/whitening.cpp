#include "core/fit/whitening.hpp"

#include <cmath>

namespace cgmca {

using linalg::AB;
using linalg::Array;
using linalg::AtB;
using linalg::Backend;
using linalg::scaled_rows;

namespace {

// [A; B]
Array above(const Array& A, const Array& B) {
  const Array both = A.on().zeros(A.rows() + B.rows(), A.cols());
  A.on().assign(both.top(A.rows()), A);
  A.on().assign(both.bottom(B.rows()), B);
  return both;
}

}  // namespace

Array Whitening::share_of(const Array& HE) const {
  const Array shares = AtB(HE, HE);
  HE.on().scale(shares, 1 / trace_);
  return shares;
}

std::shared_ptr<const SpectrumWhitening> SpectrumWhitening::regularized(Index rank, double data, double ridge) const {
  const Vector some = s.head(rank);
  const bool plain = data == 1 && ridge == 0;
  const Vector size = plain ? some : Vector((data * some.array().square() + ridge).sqrt());
  // A ridge gives every feature variance, so that U must be orthonormal.
  return std::shared_ptr<const SpectrumWhitening>(new SpectrumWhitening(
      U.left(rank), some, size, (plain ? inward : U).left(rank), (plain ? outward : U).left(rank)));
}

// W = diag(1/scale) Uᵀ
Array SpectrumWhitening::white(const Array& X) const { return scaled_rows(scale.cwiseInverse(), AtB(inward, X)); }
Array SpectrumWhitening::whitened(const Array& E) const {
  return AB(inward, scaled_rows(scale.cwiseInverse(), E.on().copy(E)));
}
Array SpectrumWhitening::coloured(const Array& E) const { return AB(outward, scaled_rows(scale, E.on().copy(E))); }
Array SpectrumWhitening::shares(const Array& E) const { return share_of(scaled_rows(scale, E.on().copy(E))); }

TriangleWhitening::TriangleWhitening(Array R, Array C, Varying varying, Vector sizes)
    : Whitening(R.on().squared_norm(R) + (C.empty() ? 0 : R.on().squared_norm(AB(R, C)))),
      R_(std::move(R)),
      C_(std::move(C)),
      varying_(std::move(varying)),
      sizes_(std::move(sizes)) {
  if (C_.empty()) return;
  if (sizes_.size() == 0) sizes_ = Vector::Ones(C_.rows() + C_.cols());
  const Backend& on = C_.on();
  const Array N = above(C_, on.identity(C_.cols(), C_.cols()));
  const Array first = N.top(C_.rows());
  on.scale_rows(first, -sizes_.head(C_.rows()));
  on.scale_columns(first, sizes_.tail(C_.cols()).cwiseInverse());
  Q_ = on.thin_qr(N).Q;
}
Array TriangleWhitening::white(const Array& X) const {
  const Backend& on = X.on();
  const Array varied = on.gather_rows(X, varying_.places);
  if (C_.empty()) return on.solve_upper_transposed(R_, varied.top(rank()));
  on.scale_rows(varied, sizes_.cwiseInverse());
  on.add(varied, AB(Q_, AtB(Q_, varied)), -1);
  on.scale_rows(varied.top(rank()), sizes_.head(rank()));
  return on.solve_upper_transposed(R_, varied.top(rank()));
}
Array TriangleWhitening::whitened(const Array& E) const {
  const Backend& on = E.on();
  Array all = on.solve_upper(R_, E);
  if (!C_.empty()) {
    on.scale_rows(all, sizes_.head(rank()));
    all = above(all, on.zeros(C_.cols(), E.cols()));
    on.add(all, AB(Q_, AtB(Q_.top(rank()), all.top(rank()))), -1);
    on.scale_rows(all, sizes_.cwiseInverse());
  }
  return on.scatter_rows(all, varying_.places, varying_.features);
}
Array TriangleWhitening::coloured(const Array& E) const {
  const Array first = E.on().upper_transposed_times(R_, E), all = C_.empty() ? first : above(first, AtB(C_, first));
  return E.on().scatter_rows(all, varying_.places, varying_.features);
}

// Wᵀ = L⁺ᵀ = L (LᵀL)⁻¹ = S V R⁻¹ R⁻ᵀ
Array WideWhitening::white(const Array& X) const { return AtB(whitened(X.on().identity(rank(), rank())), X); }
Array WideWhitening::whitened(const Array& E) const {
  return AB(S_, basis_times(E.on().solve_upper(R_, E.on().solve_upper_transposed(R_, E))));
}
Array WideWhitening::coloured(const Array& E) const { return AB(S_, basis_times(E)); }
Array WideWhitening::shares(const Array& E) const { return share_of(E.on().upper_times(R_, E)); }

Array WideWhitening::basis_times(const Array& E) const {
  const Backend& on = E.on();
  const Index r = E.rows();
  const Array result = on.zeros(r + 1, E.cols());
  on.assign(result.top(r), E);
  const Array v = on.upload(v_);
  const Array vE = on.AtB(v.top(r), E);  // 1×k
  on.add(result, on.AB(v, vE), -2);
  return result;
}

}  // namespace cgmca
