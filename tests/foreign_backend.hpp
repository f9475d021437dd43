// A back end whose memory only it can reach: addresses are shifted, so that using one directly crashes.
//
// It does everything by the processor's back end, so that results must be the same to the bit; a stage that bypasses
// the back end crashes.
#pragma once

#include <cstdint>

#include "core/linalg/backend.hpp"

namespace cgmca::testing {

class ForeignBackend : public linalg::Backend {
  using Array = linalg::Array;
  using Indices = linalg::Indices;

 public:
  // A remote one is worked with as one is whose arrays are on another device.
  explicit ForeignBackend(bool remote = false) : remote_(remote) {}
  std::string name() const override { return "foreign"; }
  bool remote() const override { return remote_; }
  bool within(const SampleView& X, double limit) const override { return cpu().within(X, limit); }
  Matrix fetched(const SampleView& X, Index first, Index count) const override {
    return cpu().fetched(X, first, count);
  }

  Array zeros(Index m, Index n) const override { return hidden(cpu().zeros(m, n)); }
  Array upload(Matrix A) const override { return hidden(cpu().upload(std::move(A))); }
  Matrix download(Array A) const override { return cpu().download(bare(A)); }
  Array copy(const Array& A) const override { return hidden(cpu().copy(bare(A))); }
  Array transposed(const Array& A) const override { return hidden(cpu().transposed(bare(A))); }
  void assign(const Array& to, const Array& A) const override { cpu().assign(bare(to), bare(A)); }
  void assign_lower_from_upper(const Array& A) const override { cpu().assign_lower_from_upper(bare(A)); }

  Array load(const MatchedSamples& X, Index first, Index count, const Vector& origin, const Vector& mean,
             const Indices* features) const override {
    return hidden(cpu().load(X, first, count, origin, mean, features));
  }
  Array load_transposed(const MatchedSamples& X, const Vector& origin, const Vector& mean,
                        const Indices& features) const override {
    return hidden(cpu().load_transposed(X, origin, mean, features));
  }
  Vector sum_of_deviations(const MatchedSamples& X, const Vector& origin) const override {
    return cpu().sum_of_deviations(X, origin);
  }

  Array gather(const Array& A, const Indices& rows, const Indices& columns) const override {
    return hidden(cpu().gather(bare(A), rows, columns));
  }
  Array gather_rows(const Array& A, const Indices& rows) const override {
    return hidden(cpu().gather_rows(bare(A), rows));
  }
  Array gather_transposed_rows(const Array& A, const Indices& rows) const override {
    return hidden(cpu().gather_transposed_rows(bare(A), rows));
  }
  Array scatter_rows(const Array& A, const Indices& rows, Index m) const override {
    return hidden(cpu().scatter_rows(bare(A), rows, m));
  }
  void assign_at(const Array& to, const Indices& rows, const Indices& columns, const Array& A) const override {
    cpu().assign_at(bare(to), rows, columns, bare(A));
  }
  void zero_columns(const Array& A, const Indices& columns) const override { cpu().zero_columns(bare(A), columns); }

  void scale(const Array& A, double by) const override { cpu().scale(bare(A), by); }
  void scale_rows(const Array& A, const Vector& by) const override { cpu().scale_rows(bare(A), by); }
  void scale_columns(const Array& A, const Vector& by) const override { cpu().scale_columns(bare(A), by); }
  void add(const Array& A, const Array& B, double weight) const override { cpu().add(bare(A), bare(B), weight); }
  void add_diagonal(const Array& A, const Vector& values) const override { cpu().add_diagonal(bare(A), values); }
  void assign_diagonal(const Array& A, const Vector& values) const override { cpu().assign_diagonal(bare(A), values); }
  Vector diagonal(const Array& A) const override { return cpu().diagonal(bare(A)); }
  Vector row_squared_norms(const Array& A) const override { return cpu().row_squared_norms(bare(A)); }
  Vector column_squared_norms(const Array& A) const override { return cpu().column_squared_norms(bare(A)); }
  Vector row_sums(const Array& A) const override { return cpu().row_sums(bare(A)); }
  Vector row_absolute_sums(const Array& A) const override { return cpu().row_absolute_sums(bare(A)); }
  Vector column_largest(const Array& A) const override { return cpu().column_largest(bare(A)); }
  double dot(const Array& A, const Array& B) const override { return cpu().dot(bare(A), bare(B)); }
  Vector signs_of_columns(const Array& A) const override { return cpu().signs_of_columns(bare(A)); }

  Array AB(const Array& A, const Array& B) const override { return hidden(cpu().AB(bare(A), bare(B))); }
  Array AtB(const Array& A, const Array& B) const override { return hidden(cpu().AtB(bare(A), bare(B))); }
  Array ABt(const Array& A, const Array& B) const override { return hidden(cpu().ABt(bare(A), bare(B))); }
  void add_ABt(const Array& C, const Array& A, const Array& B) const override {
    cpu().add_ABt(bare(C), bare(A), bare(B));
  }
  void add_gram(const Array& G, const Array& X, double weight) const override {
    cpu().add_gram(bare(G), bare(X), weight);
  }
  void add_gram_of_columns(const Array& G, const Array& X) const override {
    cpu().add_gram_of_columns(bare(G), bare(X));
  }
  Vector symmetric_times(const Array& G, const Vector& x) const override { return cpu().symmetric_times(bare(G), x); }

  Array cholesky(const Array& G) const override { return hidden(cpu().cholesky(bare(G))); }
  linalg::ArrayPivoted pivoted_cholesky(const Array& G, double tolerance) const override {
    linalg::ArrayPivoted found = cpu().pivoted_cholesky(bare(G), tolerance);
    return {hidden(found.R), found.order};
  }
  Array solve_upper(const Array& R, const Array& B) const override {
    return hidden(cpu().solve_upper(bare(R), bare(B)));
  }
  Array solve_upper_transposed(const Array& R, const Array& B) const override {
    return hidden(cpu().solve_upper_transposed(bare(R), bare(B)));
  }
  Array upper_times(const Array& R, const Array& E) const override {
    return hidden(cpu().upper_times(bare(R), bare(E)));
  }
  Array upper_transposed_times(const Array& R, const Array& E) const override {
    return hidden(cpu().upper_transposed_times(bare(R), bare(E)));
  }
  Array upper_times_upper(const Array& L, const Array& R) const override {
    return hidden(cpu().upper_times_upper(bare(L), bare(R)));
  }
  double condition(const Array& R) const override { return cpu().condition(bare(R)); }
  std::shared_ptr<const linalg::ArraySolver> solver(const Array& R) const override {
    return std::make_shared<Solver>(R, cpu().solver(bare(R)));
  }

  Array triangular_factor(Array X) const override { return hidden(cpu().triangular_factor(bare(X))); }
  linalg::ArrayPivoted pivoted_triangular_factor(Array X) const override {
    linalg::ArrayPivoted qr = cpu().pivoted_triangular_factor(bare(X));
    return {hidden(qr.R), qr.order};
  }
  linalg::ArrayQr thin_qr(Array X) const override {
    const linalg::ArrayQr qr = cpu().thin_qr(bare(X));
    return {hidden(qr.Q), hidden(qr.R)};
  }

  linalg::ArraySvd thin_svd(const Array& A) const override { return hidden(cpu().thin_svd(bare(A))); }
  linalg::ArraySvd full_svd(const Array& A) const override { return hidden(cpu().full_svd(bare(A))); }
  linalg::ArrayEigen symmetric_eigen(const Array& A) const override {
    linalg::ArrayEigen eigen = cpu().symmetric_eigen(bare(A));
    return {eigen.values, hidden(eigen.Q)};
  }
  Vector symmetric_eigenvalues(const Array& A) const override { return cpu().symmetric_eigenvalues(bare(A)); }
  linalg::SpectrumBounds spectrum_bounds(const Array& A, const linalg::SpectrumBounds& known) const override {
    return cpu().spectrum_bounds(bare(A), known);
  }

 private:
  struct Solver final : linalg::ArraySolver {
    Solver(Array R_, std::shared_ptr<const linalg::ArraySolver> solver_)
        : triangle(std::move(R_)), solver(std::move(solver_)) {}
    const Array& R() const override { return triangle; }
    void solve_transposed_in_place(const Array& B) const override { solver->solve_transposed_in_place(bare(B)); }
    Array triangle;
    std::shared_ptr<const linalg::ArraySolver> solver;
  };

  const bool remote_;

  static const Backend& cpu() { return linalg::cpu(); }
  // No address of a process is near this one.
  static constexpr std::uintptr_t kShift = std::uintptr_t{1} << 62;
  static double* shifted(double* data, std::uintptr_t by) {
    return reinterpret_cast<double*>(reinterpret_cast<std::uintptr_t>(data) + by);
  }
  Array hidden(const Array& A) const {
    return {*this, A.memory(), shifted(A.data(), kShift), A.rows(), A.cols(), A.stride()};
  }
  linalg::ArraySvd hidden(const linalg::ArraySvd& svd) const {
    return {hidden(svd.U), svd.s, hidden(svd.V), svd.routine};
  }
  static Array bare(const Array& A) {
    return {cpu(), A.memory(), shifted(A.data(), -kShift), A.rows(), A.cols(), A.stride()};
  }
};

}  // namespace cgmca::testing
