// The data of replicas, and their numbers.
#include <cgmca/explained.hpp>
#include <cgmca/parallel.hpp>
#include <cgmca/random.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/linalg/largest.hpp"
#include "core/select/bootstrap_numbers.hpp"
#include "core/select/bootstrap_samples.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABt;
using linalg::AtB;

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

// Samples times the counts of their units; those that do not count are left out.
Drawn counted_rows(const BootstrapSamples::State& state, const std::vector<Index>& unit_of, const Vector& counts) {
  std::vector<Index> kept;
  for (Index j = 0; j < state.rows.cols(); ++j) {
    if (counts(unit_of[j]) > 0) kept.push_back(j);
  }
  WeightedRows rows{by_domain(state, state.rows(Eigen::all, kept)), state.weights(kept)};
  for (std::size_t k = 0; k < kept.size(); ++k) {
    rows.weights(static_cast<Index>(k)) *= counts(unit_of[kept[k]]);
  }
  return {std::move(rows), 0, {}, {}};
}

// From Σ w = W, Σ w y and the upper triangle of Σ w y yᵀ.
Drawn moments_of(double W, const Vector& sum, const Eigen::Ref<const Vector>& products) {
  const Index p = sum.size();
  Drawn drawn{{}, W, sum / W, Matrix(p, p)};
  Index place = 0;
  for (Index column = 0; column < p; ++column) {
    const Index count = column + 1;
    drawn.products.col(column).head(count) = products.segment(place, count) - drawn.mean(column) * sum.head(count);
    place += count;
  }
  drawn.products.triangularView<Eigen::StrictlyLower>() = drawn.products.transpose();
  return drawn;
}

std::vector<Index> numbered_units(const BootstrapSamples::State& state, Index& count) {
  std::map<std::int64_t, Index> known;
  std::vector<Index> unit_of;
  for (const std::int64_t unit : state.units) unit_of.push_back(known.emplace(unit, std::ssize(known)).first->second);
  count = std::ssize(known);
  return unit_of;
}

}  // namespace

Drawn all_samples(const BootstrapSamples::State& state) {
  if (!state.grouped) return {{by_domain(state, state.rows), state.weights}, 0, {}, {}};
  return moments_of(state.group_weights.sum(), state.sums.rowwise().sum(), state.products.rowwise().sum());
}

// With L Lᵀ = Σ w (y - mean)(y - mean)ᵀ and H ((p+1)×p) of orthonormal columns that sum to zero,
//   x = centre + F (mean + √((p+1)/W) L Hᵀ)
WeightedRows rows_of(const BootstrapSamples::State& state, const Drawn& drawn) {
  if (drawn.products.size() == 0) return drawn.rows;
  const Index p = state.features();
  Matrix Z = Matrix::Zero(p, p + 1);
  if (const Matrix R = linalg::cholesky(drawn.products); R.size() > 0) {
    Z.leftCols(p) = R.transpose();
  } else {
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(drawn.products);
    Z.leftCols(p) = eigen.Q * eigen.values.cwiseMax(0).cwiseSqrt().asDiagonal();
  }
  // [L 0] (I - 2 v vᵀ/vᵀv), v = e_{p+1} - 1/√(p+1): the reflection takes the last axis to the vector of ones.
  const double size = std::sqrt(static_cast<double>(p + 1));
  Vector v = Vector::Constant(p + 1, -1 / size);
  v(p) += 1;
  Z -= (Z * v) * (2 / v.squaredNorm()) * v.transpose();
  Z = (Z * (size / std::sqrt(drawn.weight))).colwise() + drawn.mean;
  WeightedRows rows{by_domain(state, Z), Vector::Constant(p + 1, drawn.weight / static_cast<double>(p + 1))};
  for (std::size_t i = 0; i < rows.X.size(); ++i) {
    rows.X[i] = linalg::AB(state.from_y[i], rows.X[i]).colwise() +
                state.centre.segment(state.start(i), state.domains[i].features);
  }
  return rows;
}

void for_each_replica(const BootstrapSamples::State& state, Index replicas, std::uint64_t seed,
                      const std::function<void(Index, const Drawn&, const Drawn&)>& work) {
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
      work(first + b, moments_of(W(b), sums.col(b), products.col(b)),
           moments_of(W(count + b), sums.col(count + b), products.col(count + b)));
    }
  });
}

namespace {

constexpr double kNearlySingular = 1e-5;    // of diagonals of a triangular factor, the least beside the largest
constexpr double kLeastCorrelation = 1e-4;  // of a square root of BᵀB's eigenvalue that is known to 1e-8 of its size

// A domain of a replica in coordinates z in which its covariance Θ_z is well conditioned, or made so by the ridge:
// y, or with a ridge the features, at unit size if the fit scales them.   z = A y,  x = centre + from z,  A empty if I
struct Coordinates {
  Matrix A, from, to, theta;
  Vector variance;  // of the features
};

Coordinates coordinates_of(const BootstrapSamples::State& state, std::size_t i, const Matrix& theta_y, double ridge,
                           bool scale) {
  const Matrix& F = state.from_y[i];
  const Matrix FT = AB(F, theta_y);
  const Vector variance = FT.cwiseProduct(F).rowwise().sum();
  if (ridge == 0) return {{}, F, state.to_y[i], theta_y, variance};
  const Vector sizes = scale ? Vector(variance.cwiseSqrt()) : Vector(Vector::Ones(variance.size()));
  const Matrix A = sizes.cwiseInverse().asDiagonal() * F;
  return {A, sizes.asDiagonal(), sizes.cwiseInverse().asDiagonal(), ABt(sizes.cwiseInverse().asDiagonal() * FT, A),
          variance};
}

// R with RᵀR = Θ_z + λ mean(diag Θ_z) I; empty if that is nearly singular.
Matrix root_of(Matrix theta, double ridge) {
  theta.diagonal().array() += ridge * theta.diagonal().mean();
  Matrix R = linalg::cholesky(theta);
  if (R.size() == 0 || !(R.diagonal().minCoeff() > kNearlySingular * R.diagonal().maxCoeff())) return {};
  return R;
}

}  // namespace

Numbers numbers_of(const Model& model, Index c) {
  Numbers found;
  const Index m = model.count();
  for (const Domain i : all_domains(m)) {
    for (const Domain j : all_domains(m)) {
      if (i < j) found.R.emplace_back(model.score_covariance(i, j).topLeftCorner(c, c));
    }
    found.weights.emplace_back(model.domain(i).weights.topRows(c).transpose());
    found.structure.emplace_back(score_correlations(model, i, i).leftCols(c));
    found.spread.emplace_back(sample_covariance(model, {i}).topLeftCorner(c, c));
  }
  return found;
}

QuickReplicas::QuickReplicas(const BootstrapSamples::State& state, const FitOptions& options, Index c)
    : state_(&state), ridge_{options.ridge[0].value, options.ridge[1].value}, scale_(options.scale), c_(c) {}

std::optional<QuickReplicas> QuickReplicas::of(const BootstrapSamples::State& state, const Model& whole,
                                               const FitOptions& options, Index c) {
  if (!state.grouped || whole.count() != 2 || options.rank_tol || options.device) return std::nullopt;
  for (std::size_t i = 0; i < 2; ++i) {
    if (options.max_rank[i] != 0 || options.ridge[i].automatic) return std::nullopt;
    if (whole.certificate.ranks[i] < state.domains[i].features) return std::nullopt;
  }
  return QuickReplicas(state, options, c);
}

// With R_iᵀR_i = Θ̃_i in coordinates z, B = R_1⁻ᵀ Θ_12 R_2⁻¹ = U diag(σ) Vᵀ and E = R⁻¹ U (or V):
//   T_iᵀ = to_iᵀ E,   Cov(x_i, t_i) = from_i Θ_i E,   Var(t_i) = diag Eᵀ Θ_i E
std::optional<Numbers> QuickReplicas::operator()(const Drawn& drawn) const {
  const Index d1 = state_->domains[0].features, d2 = state_->domains[1].features;
  const Matrix theta = drawn.products / (drawn.weight - 1);
  std::vector<Coordinates> parts;
  std::vector<Matrix> R;
  for (std::size_t i = 0; i < 2; ++i) {
    const Index start = state_->start(i), d = state_->domains[i].features;
    parts.push_back(coordinates_of(*state_, i, theta.block(start, start, d, d), ridge_[i], scale_));
    R.push_back(root_of(parts[i].theta, ridge_[i]));
    if (R[i].size() == 0) return std::nullopt;
  }
  Matrix cross = theta.block(0, d1, d1, d2);
  if (parts[0].A.size() > 0) cross = AB(parts[0].A, cross);
  if (parts[1].A.size() > 0) cross = ABt(cross, parts[1].A);
  const Matrix half = linalg::solve_upper_transposed(R[0], cross).transpose();
  const Matrix Bt = linalg::solve_upper_transposed(R[1], half);  // d2×d1
  // The smaller of B Bᵀ and BᵀB has all of σ².
  const bool second = d2 <= d1;
  const linalg::SymmetricEigen eigen = linalg::symmetric_eigen_largest(second ? ABt(Bt, Bt) : AtB(Bt, Bt), c_);
  const Vector sigma = eigen.values.cwiseMax(0).cwiseSqrt();
  if (!(sigma(c_ - 1) > kLeastCorrelation)) return std::nullopt;
  const Matrix other = (second ? AtB(Bt, eigen.Q) : AB(Bt, eigen.Q)) * sigma.cwiseInverse().asDiagonal();
  Numbers found;
  found.R.emplace_back(sigma.asDiagonal());
  for (std::size_t i = 0; i < 2; ++i) {
    const Matrix E = linalg::solve_upper(R[i], (i == 1) == second ? eigen.Q : other);
    const Matrix TE = AB(parts[i].theta, E);
    found.spread.push_back(AtB(E, TE));
    const Vector spreads = found.spread[i].diagonal().cwiseSqrt();
    found.weights.push_back(AtB(parts[i].to, E));
    found.structure.emplace_back(parts[i].variance.cwiseSqrt().cwiseInverse().asDiagonal() * AB(parts[i].from, TE) *
                                 spreads.cwiseInverse().asDiagonal());
  }
  return found;
}

Matrix held_out_correlations(const BootstrapSamples::State& state, const ByDomain<Matrix>& weights,
                             const Drawn& left_out) {
  const std::size_t m = weights.size();
  const bool moments = left_out.products.size() > 0;
  // Columns e with t = eᵀ(y - mean), or scores √w (t - mean) of samples, one a row.
  std::vector<Matrix> scores;
  std::vector<Vector> squares;
  for (std::size_t i = 0; i < m; ++i) {
    if (moments) {
      const Index start = state.start(i), d = state.domains[i].features;
      scores.push_back(AtB(state.from_y[i], weights[i]));
      const Matrix C = AB(left_out.products.block(start, start, d, d), scores[i]);
      squares.emplace_back(C.cwiseProduct(scores[i]).colwise().sum().transpose());
    } else {
      const Vector& w = left_out.rows.weights;
      Matrix t = AtB(left_out.rows.X[i], weights[i]);
      t.rowwise() -= (w.transpose() * t / w.sum()).eval();
      scores.emplace_back(w.cwiseSqrt().asDiagonal() * t);
      squares.emplace_back(scores[i].colwise().squaredNorm().transpose());
    }
  }
  Matrix result(weights.front().cols(), static_cast<Index>(m * (m - 1) / 2));
  Index pair = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = i + 1; j < m; ++j) {
      const Matrix other =
          moments ? AB(left_out.products.block(state.start(i), state.start(j), scores[i].rows(), scores[j].rows()),
                       scores[j])
                  : scores[j];
      const Vector products = scores[i].cwiseProduct(other).colwise().sum().transpose();
      result.col(pair++) = products.array() / (squares[i].cwiseProduct(squares[j])).array().max(1e-300).sqrt();
    }
  }
  return result;
}

}  // namespace cgmca
