// The data of replicas.
#include <Eigen/Cholesky>
#include <cgmca/parallel.hpp>
#include <cgmca/random.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/linalg/linalg.hpp"
#include "core/select/bootstrap_samples.hpp"

namespace cgmca {
namespace {

constexpr random_numbers::Purpose kReplicas{6};

double poisson(random_numbers::Stream& random) {  // of mean 1, by its distribution function
  double k = 0, term = std::exp(-1.0), sum = term;
  const double u = random.uniform();
  while (u > sum && term > 1e-18) {
    ++k;
    term /= k;
    sum += term;
  }
  return k;
}

// The number of times that each unit or, if there are many samples, each group counts in a replica.
Vector counts_of(std::uint64_t seed, Index replica, Index groups) {
  random_numbers::Stream random(seed, kReplicas, static_cast<std::uint32_t>(replica));
  return Vector::NullaryExpr(groups, [&] { return poisson(random); });
}

std::vector<Matrix> by_domain(const BootstrapSamples::State& state, const Matrix& X) {
  std::vector<Matrix> parts;
  for (std::size_t i = 0; i < state.domains.size(); ++i) {
    parts.emplace_back(X.middleRows(state.start(i), state.domains[i].features));
  }
  return parts;
}

// Samples with weights times the counts of their units. Samples that count 0 times are left out.
ReplicaData counted_rows(const BootstrapSamples::State& state, const std::vector<Index>& unit_of,
                         const Vector& counts) {
  std::vector<Index> kept;
  for (Index j = 0; j < state.rows.cols(); ++j) {
    if (counts(unit_of[j]) > 0) kept.push_back(j);
  }
  ReplicaData data{by_domain(state, state.rows(Eigen::all, kept)), state.weights(kept)};
  for (std::size_t k = 0; k < kept.size(); ++k) {
    data.weights(static_cast<Index>(k)) *= counts(unit_of[kept[k]]);
  }
  return data;
}

// p + 1 samples with given Σ w y, Σ w y yᵀ and Σ w = W:  with L Lᵀ = Σ w yc ycᵀ and H ((p+1)×p) of orthonormal columns
// that sum to zero, x = centre + F (mean + √((p+1)/W) L Hᵀ).
ReplicaData stand_ins(const BootstrapSamples::State& state, double W, const Vector& sum,
                      const Eigen::Ref<const Vector>& products) {
  const Index p = state.features();
  Matrix C(p, p);
  Index place = 0;
  for (Index column = 0; column < p; ++column) {
    C.col(column).tail(p - column) = products.segment(place, p - column);
    place += p - column;
  }
  const Vector mean = sum / W;
  C.selfadjointView<Eigen::Lower>().rankUpdate(mean, -W);
  const Eigen::LLT<Matrix> factor(C);  // reads the lower triangle
  Matrix Z = Matrix::Zero(p, p + 1);
  if (factor.info() == Eigen::Success) {
    Z.leftCols(p) = factor.matrixL();
  } else {
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(Matrix(C.selfadjointView<Eigen::Lower>()));
    Z.leftCols(p) = eigen.Q * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
  }
  // [L 0] (I - 2 v vᵀ/vᵀv), v = e_{p+1} - 1/√(p+1): the reflection takes the last axis to the vector of ones.
  const double size = std::sqrt(static_cast<double>(p + 1));
  Vector v = Vector::Constant(p + 1, -1 / size);
  v(p) += 1;
  Z -= (Z * v) * (2 / v.squaredNorm()) * v.transpose();
  Z = (Z * (size / std::sqrt(W))).colwise() + mean;
  ReplicaData data{by_domain(state, Z), Vector::Constant(p + 1, W / static_cast<double>(p + 1))};
  for (std::size_t i = 0; i < data.X.size(); ++i) {
    data.X[i] = linalg::AB(state.from_y[i], data.X[i]).colwise() +
                state.centre.segment(state.start(i), state.domains[i].features);
  }
  return data;
}

std::vector<Index> numbered_units(const BootstrapSamples::State& state, Index& count) {
  std::map<std::int64_t, Index> known;
  std::vector<Index> unit_of;
  for (const std::int64_t unit : state.units) unit_of.push_back(known.emplace(unit, std::ssize(known)).first->second);
  count = std::ssize(known);
  return unit_of;
}

}  // namespace

ReplicaData all_data(const BootstrapSamples::State& state) {
  if (!state.grouped) return {by_domain(state, state.rows), state.weights};
  const Vector sum = state.sums.rowwise().sum(), products = state.products.rowwise().sum();
  return stand_ins(state, state.group_weights.sum(), sum, products);
}

void for_each_replica(const BootstrapSamples::State& state, Index replicas, std::uint64_t seed,
                      const std::function<void(Index, const ReplicaData&, const ReplicaData&)>& work) {
  if (!state.grouped) {
    Index units = 0;
    const std::vector<Index> unit_of = numbered_units(state, units);
    return parallel_for(replicas, [&](Index b) {
      const Vector counts = counts_of(seed, b, units);
      const Vector left_out = (counts.array() == 0).cast<double>();
      work(b, counted_rows(state, unit_of, counts), counted_rows(state, unit_of, left_out));
    });
  }
  // The moments of several replicas, and of the samples that they leave out, are summed by one matrix product.
  const Index groups = state.group_weights.size();
  const Index together = std::clamp<Index>((Index{1} << 22) / state.products.rows(), 1, 16);
  parallel_for((replicas + together - 1) / together, [&](Index part) {
    const Index first = part * together, count = std::min(together, replicas - first);
    Matrix counts(groups, 2 * count);
    for (Index b = 0; b < count; ++b) {
      counts.col(b) = counts_of(seed, first + b, groups);
      counts.col(count + b) = (counts.col(b).array() == 0).cast<double>();
    }
    const Vector W = counts.transpose() * state.group_weights;
    const Matrix sums = linalg::AB(state.sums, counts), products = linalg::AB(state.products, counts);
    for (Index b = 0; b < count; ++b) {
      work(first + b, stand_ins(state, W(b), sums.col(b), products.col(b)),
           stand_ins(state, W(count + b), sums.col(count + b), products.col(count + b)));
    }
  });
}

}  // namespace cgmca
