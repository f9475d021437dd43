// The processor as a back end: arrays are Eigen matrices, operations those of linalg.hpp.
#include <cgmca/error.hpp>
#include <cgmca/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "core/base/thresholds.hpp"
#include "core/linalg/backend.hpp"
#include "core/linalg/lapack.hpp"
#include "core/linalg/partial.hpp"
#include "core/linalg/tiles.hpp"

namespace cgmca::linalg {
namespace {

using View = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
View view(const Array& A) { return {A.data(), A.rows(), A.cols(), Eigen::OuterStride<>(A.stride())}; }

void require_same_shape(const Array& A, const Array& B) {
  require(A.rows() == B.rows() && A.cols() == B.cols(), "matrices of different shapes");
}

class CpuSolver final : public ArraySolver {
 public:
  CpuSolver(Array R, TriangularSolver solver) : R_(std::move(R)), solver_(std::move(solver)) {}
  const Array& R() const override { return R_; }
  void solve_transposed_in_place(const Array& B) const override { solver_.solve_transposed(view(B)); }

 private:
  Array R_;
  TriangularSolver solver_;
};

class Cpu final : public Backend {
 public:
  bool within(const SampleView& X, double limit) const override {
    return X.visit([&](const auto& samples) {
      std::atomic<bool> all = true;
      parallel_for_columns(samples.rows(), samples.cols(), [&](Index first, Index count) {
        const auto part = samples.middleCols(first, count).template cast<double>();
        if (!(part.cwiseAbs().array() <= limit).all()) all = false;
      });
      return all.load();
    });
  }
  Matrix fetched(const SampleView& X, Index first, Index count) const override {
    return X.visit(
        [&](const auto& samples) -> Matrix { return samples.middleCols(first, count).template cast<double>(); });
  }

  Array zeros(Index m, Index n) const override {
    return upload(filled(m, n, [](auto to, Index, Index) { to.setZero(); }));
  }

  Array upload(Matrix A) const override {
    const auto memory = std::make_shared<Matrix>(std::move(A));
    return {*this, memory, memory->data(), memory->rows(), memory->cols(), std::max<Index>(1, memory->rows())};
  }
  Matrix download(Array A) const override {
    if (A.memory().use_count() == 1) {
      auto* owner = static_cast<Matrix*>(A.memory().get());
      if (owner->rows() == A.rows() && owner->cols() == A.cols()) return std::move(*owner);
    }
    return view(A);
  }
  Array copy(const Array& A) const override {
    return upload(filled(A.rows(), A.cols(),
                         [A = view(A)](auto to, Index first, Index count) { to = A.middleCols(first, count); }));
  }
  Array transposed(const Array& A) const override {
    return upload(filled(A.cols(), A.rows(), [A = view(A)](auto to, Index first, Index count) {
      constexpr Index tile = 32;  // so that both matrices are read and written in whole cache lines
      for (Index row = 0; row < to.rows(); row += tile) {
        const Index height = std::min(tile, to.rows() - row);
        to.middleRows(row, height) = A.block(first, row, count, height).transpose();
      }
    }));
  }
  void assign(const Array& to, const Array& A) const override {
    require_same_shape(to, A);
    view(to) = view(A);
  }
  void assign_lower_from_upper(const Array& A) const override {
    require(A.rows() == A.cols(), "the triangles of a matrix that is not square");
    View all = view(A);
    constexpr Index tile = 64;  // so that both triangles are read and written in whole cache lines
    const Index n = A.rows(), tiles = (n + tile - 1) / tile;
    const auto copy_below = [&](Index k) {
      const Index first = k * tile, width = std::min(tile, n - first);
      for (Index row = first; row < n; row += tile) {
        const Index height = std::min(tile, n - row);
        const Matrix above = all.block(first, row, width, height);
        if (row == first) {
          all.block(row, first, height, width).triangularView<Eigen::StrictlyLower>() = above.transpose();
        } else {
          all.block(row, first, height, width) = above.transpose();
        }
      }
    };
    if (n >= 1000) return parallel_for(tiles, copy_below);
    for (Index k = 0; k < tiles; ++k) copy_below(k);
  }

  Array load(const MatchedSamples& X, Index first, Index count, const Vector& origin, const Vector& mean,
             const Indices* features) const override {
    const Index height = features == nullptr ? origin.size() : std::ssize(*features);
    const auto memory = tile_memory(height * count);
    Eigen::Map<Matrix> tile(memory->data(), height, count);
    parallel_for_columns(tile.rows(), count, [&](Index from, Index some) {
      Index start = 0, named = 0;  // the domain's first feature; how many of those named are filled in
      for (const SampleView& domain : X) {
        domain.visit([&](const auto& samples) {
          const Index d = samples.rows();
          if (features == nullptr) {
            for (Index j = from; j < from + some; ++j) {
              tile.col(j).segment(start, d) =
                  (samples.col(first + j).template cast<double>() - origin.segment(start, d)) - mean.segment(start, d);
            }
            return;
          }
          Index end = named;
          while (end < tile.rows() && (*features)[end] < start + d) ++end;
          const std::vector<Run> runs = runs_of(*features, named, end);
          for (Index j = from; j < from + some; ++j) {
            for (const auto& [place, feature, length] : runs) {
              const auto x = samples.col(first + j).segment(feature - start, length).template cast<double>();
              tile.col(j).segment(place, length) =
                  (x - origin.segment(feature, length)) - mean.segment(feature, length);
            }
          }
          named = end;
        });
        start += domain.rows();
      }
    });
    return {*this, memory, tile.data(), tile.rows(), tile.cols(), std::max<Index>(1, tile.rows())};
  }
  Array load_transposed(const MatchedSamples& X, const Vector& origin, const Vector& mean,
                        const Indices& features) const override {
    const Index n = X.front().cols(), a = std::ssize(features);
    Matrix result(n, a);
    parallel_for_columns(a, n, [&](Index first, Index count) {
      const Matrix tile = view(load(X, first, count, origin, mean, &features));
      result.middleRows(first, count) = tile.transpose();
    });
    return upload(std::move(result));
  }
  Vector sum_of_deviations(const MatchedSamples& X, const Vector& origin) const override {
    Vector sum(origin.size());
    Index start = 0;
    for (const SampleView& domain : X) {
      domain.visit([&](const auto& samples) {
        const Index d = samples.rows();
        const Vector base = origin.segment(start, d);
        sum.segment(start, d) = sum_over_columns(
            d, samples.cols(), [&](Index j, auto& part) { part += samples.col(j).template cast<double>() - base; });
      });
      start += domain.rows();
    }
    return sum;
  }

  Array gather(const Array& A, const Indices& rows, const Indices& columns) const override {
    return upload(view(A)(rows, columns));
  }
  Array gather_rows(const Array& A, const Indices& rows) const override {
    return upload(filled(std::ssize(rows), A.cols(), [&rows, A = view(A)](auto to, Index first, Index count) {
      to = A.middleCols(first, count)(rows, Eigen::all);
    }));
  }
  Array gather_transposed_rows(const Array& A, const Indices& rows) const override {
    const auto a = std::ssize(rows);
    const View Z = view(A);
    Matrix result(Z.cols(), a);
    parallel_for_columns(a, Z.cols(), [&](Index first, Index count) {
      constexpr Index tile = 32;  // so that both matrices are read and written in whole cache lines
      for (Index j = first; j < first + count; j += tile) {
        const Index end = std::min(j + tile, first + count);
        for (Index k = 0; k < a; ++k) {
          for (Index column = j; column < end; ++column) {
            result(column, k) = Z(rows[k], column);
          }
        }
      }
    });
    return upload(std::move(result));
  }
  Array scatter_rows(const Array& A, const Indices& rows, Index m) const override {
    if (A.rows() == m && std::is_sorted(rows.begin(), rows.end())) return A;
    Matrix all = Matrix::Zero(m, A.cols());
    all(rows, Eigen::all) = view(A);
    return upload(std::move(all));
  }
  void assign_at(const Array& to, const Indices& rows, const Indices& columns, const Array& A) const override {
    View all = view(to);
    parallel_for_columns(A.rows(), A.cols(), [&, A = view(A)](Index first, Index count) {
      for (Index j = first; j < first + count; ++j) all(rows, columns[j]) = A.col(j);
    });
  }
  void zero_columns(const Array& A, const Indices& columns) const override {
    for (const Index j : columns) view(A).col(j).setZero();
  }

  void scale(const Array& A, double by) const override {
    change(view(A), [by](auto part, Index, Index) { part *= by; });
  }
  void scale_rows(const Array& A, const Vector& by) const override {
    require(A.rows() == by.size(), "rows scaled by factors of another number");
    change(view(A), [&by](auto part, Index, Index) { part.array().colwise() *= by.array(); });
  }
  void scale_columns(const Array& A, const Vector& by) const override {
    require(A.cols() == by.size(), "columns scaled by factors of another number");
    change(view(A), [&by](auto part, Index first, Index count) { part *= by.segment(first, count).asDiagonal(); });
  }
  void add(const Array& A, const Array& B, double weight) const override {
    require_same_shape(A, B);
    change(view(A),
           [weight, B = view(B)](auto part, Index first, Index count) { part += weight * B.middleCols(first, count); });
  }
  void add_diagonal(const Array& A, const Vector& values) const override { view(A).diagonal() += values; }
  void assign_diagonal(const Array& A, const Vector& values) const override { view(A).diagonal() = values; }
  Vector diagonal(const Array& A) const override { return view(A).diagonal(); }
  Vector row_squared_norms(const Array& A) const override {
    const View all = view(A);
    return sum_over_columns(A.rows(), A.cols(), [&](Index j, auto& sum) { sum += all.col(j).cwiseAbs2(); });
  }
  Vector column_squared_norms(const Array& A) const override {
    const View all = view(A);
    Vector result(A.cols());
    parallel_for_columns(A.rows(), A.cols(), [&](Index first, Index count) {
      result.segment(first, count) = all.middleCols(first, count).colwise().squaredNorm();
    });
    return result;
  }
  Vector row_sums(const Array& A) const override {
    const View all = view(A);
    return sum_over_columns(A.rows(), A.cols(), [&](Index j, auto& sum) { sum += all.col(j); });
  }
  Vector row_absolute_sums(const Array& A) const override {
    const View all = view(A);
    return sum_over_columns(A.rows(), A.cols(), [&](Index j, auto& sum) { sum += all.col(j).cwiseAbs(); });
  }
  Vector column_largest(const Array& A) const override {
    if (A.rows() == 0) return Vector::Zero(A.cols());
    return view(A).cwiseAbs().colwise().maxCoeff();
  }
  double dot(const Array& A, const Array& B) const override {
    require_same_shape(A, B);
    return view(A).cwiseProduct(view(B)).sum();
  }
  Vector signs_of_columns(const Array& A) const override {
    const View columns = view(A);
    Vector result(columns.cols());
    for (Index j = 0; j < columns.cols(); ++j) {
      const double least = (1 - thresholds::kEqualEntry) * columns.col(j).cwiseAbs().maxCoeff();
      Index i = 0;
      while (std::abs(columns(i, j)) < least) ++i;
      result(j) = columns(i, j) < 0 ? -1 : 1;
    }
    return result;
  }

  Array AB(const Array& A, const Array& B) const override { return upload(linalg::AB(view(A), view(B))); }
  Array AtB(const Array& A, const Array& B) const override { return upload(linalg::AtB(view(A), view(B))); }
  Array ABt(const Array& A, const Array& B) const override { return upload(linalg::ABt(view(A), view(B))); }
  void add_ABt(const Array& C, const Array& A, const Array& B) const override {
    linalg::add_ABt(view(C), view(A), view(B));
  }
  void add_gram(const Array& G, const Array& X, double weight) const override {
    linalg::add_gram(view(G), view(X), weight);
  }
  void add_gram_of_columns(const Array& G, const Array& X) const override {
    linalg::add_gram_of_columns(view(G), view(X));
  }
  Vector symmetric_times(const Array& G, const Vector& x) const override {
    return view(G).selfadjointView<Eigen::Upper>() * x;
  }

  Array cholesky(const Array& G) const override { return upload(linalg::cholesky(view(G))); }
  ArrayPivoted pivoted_cholesky(const Array& G, double tolerance) const override {
    PivotedCholesky found = linalg::pivoted_cholesky(view(G), tolerance);
    return {upload(std::move(found.R)), std::move(found.order)};
  }
  Array solve_upper(const Array& R, const Array& B) const override {
    return upload(linalg::solve_upper(view(R), view(B)));
  }
  Array solve_upper_transposed(const Array& R, const Array& B) const override {
    return upload(linalg::solve_upper_transposed(view(R), view(B)));
  }
  Array upper_times(const Array& R, const Array& E) const override {
    return upload(linalg::upper_times(view(R), view(E)));
  }
  Array upper_transposed_times(const Array& R, const Array& E) const override {
    return upload(linalg::upper_transposed_times(view(R), view(E)));
  }
  Array upper_times_upper(const Array& L, const Array& R) const override {
    return upload(linalg::upper_times_upper(view(L), view(R)));
  }
  double condition(const Array& R) const override { return linalg::condition(view(R), thresholds::kRoughlySettled); }
  std::shared_ptr<const ArraySolver> solver(const Array& R) const override {
    return std::make_shared<CpuSolver>(R, TriangularSolver(view(R)));
  }

  Array triangular_factor(Array X) const override { return upload(linalg::triangular_factor(download(std::move(X)))); }
  ArrayPivoted pivoted_triangular_factor(Array X) const override {
    PivotedQr qr = linalg::pivoted_triangular_factor(download(std::move(X)));
    return {upload(std::move(qr.R)), std::move(qr.order)};
  }
  ArrayQr thin_qr(Array X) const override {
    Qr qr = linalg::thin_qr(download(std::move(X)));
    return {upload(std::move(qr.Q)), upload(std::move(qr.R))};
  }

  ArraySvd thin_svd(const Array& A) const override { return uploaded(linalg::thin_svd(view(A))); }
  ArraySvd full_svd(const Array& A) const override { return uploaded(linalg::full_svd(view(A))); }
  ArrayEigen symmetric_eigen(const Array& A) const override {
    SymmetricEigen eigen = linalg::symmetric_eigen(view(A));
    return {std::move(eigen.values), upload(std::move(eigen.Q))};
  }
  Vector symmetric_eigenvalues(const Array& A) const override { return linalg::symmetric_eigenvalues(view(A)); }
  SpectrumBounds spectrum_bounds(const Array& A, const SpectrumBounds& known) const override {
    return linalg::spectrum_bounds(view(A), known.smallest, thresholds::kSafeGramCondition);
  }

 private:
  ArraySvd uploaded(Svd svd) const {
    return {upload(std::move(svd.U)), std::move(svd.s), upload(std::move(svd.V)), svd.routine};
  }
};

}  // namespace

const Backend& cpu() {
  static const Cpu backend;
  return backend;
}

}  // namespace cgmca::linalg
