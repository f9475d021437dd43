// Problems with more than two domains, for test_multi and check_multi.
#pragma once

#include <fmt/format.h>
#include <Eigen/SVD>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/model/graph.hpp"
#include "core/multi/match.hpp"
#include "testing.hpp"

namespace cgmca::multi::testing {

using cgmca::testing::Random;

// V of the thin SVD S = U Σ Vᵀ of the centred samples over √(n-1), so that B_ij = W_i Θ_ij W_jᵀ = V_iᵀ V_j; at most
// max_rank leading columns.   X: d×n, V: n×r
inline Matrix whitened(const Matrix& X, Index max_rank = 1 << 20) {
  const Matrix S = cgmca::testing::centred(X) / std::sqrt(static_cast<double>(X.cols() - 1));
  const Eigen::BDCSVD<Matrix> svd(S.transpose(), Eigen::ComputeThinU);
  Index rank = 0;
  while (rank < svd.singularValues().size() && svd.singularValues()(rank) > 1e-10 * svd.singularValues()(0)) ++rank;
  return svd.matrixU().leftCols(std::min(rank, max_rank));
}

inline std::vector<std::vector<Matrix>> cross_matrices(const std::vector<Matrix>& V) {
  std::vector<std::vector<Matrix>> B(V.size(), std::vector<Matrix>(V.size()));
  for (std::size_t i = 0; i < V.size(); ++i) {
    for (std::size_t j = i + 1; j < V.size(); ++j) B[i][j] = V[i].transpose() * V[j];
  }
  return B;
}

// F = U √Σ of C = U Σ Uᵀ, only the columns above rounding.
inline Matrix covariance_factor(const Matrix& C) {
  const Eigen::JacobiSVD<Matrix> svd(C, Eigen::ComputeThinU);
  Index rank = 0;
  while (rank < svd.singularValues().size() && svd.singularValues()(rank) > 1e-10 * svd.singularValues()(0)) ++rank;
  return svd.matrixU().leftCols(rank) * svd.singularValues().head(rank).cwiseSqrt().asDiagonal();
}

inline std::string oracle(const std::string& name) { return cgmca::testing::fixture("oracle/multi/" + name); }

struct DataCase {
  MatchingProblem problem;
  double samples, objective, f;
};

inline DataCase data_case(const std::string& name) {
  std::ifstream in(oracle(name + ".json"));
  const nlohmann::json answer = nlohmann::json::parse(in);
  const Index m = answer["domains"].get<Index>();
  std::vector<Matrix> V, F;
  Matrix weights(m, m);
  for (Index i = 0; i < m; ++i) {
    V.push_back(whitened(read(oracle(fmt::format("{}.x{}.npy", name, i + 1)))));
    const std::string spec = answer["cov"][i];
    const std::string value = spec.substr(spec.find(':') + 1);
    F.push_back(spec.starts_with("identity") ? Matrix(Matrix::Identity(std::stol(value), std::stol(value)))
                                             : covariance_factor(read(oracle(value))));
    for (Index j = 0; j < m; ++j) {
      weights(i, j) = answer["weights"][i][j];
    }
  }
  return {MatchingProblem(F, cross_matrices(V), weights), answer["n"], answer["objective"], answer["f"]};
}

// The trace problem itself, from NAME.npz.
inline MatchingProblem trace_case(const std::string& name) {
  const auto member = [&](const std::string& key) -> Matrix { return read(oracle(name + ".npz:" + key)).transpose(); };
  const Matrix weights = member("w");
  const auto m = static_cast<std::size_t>(weights.rows());
  std::vector<Matrix> F;
  std::vector<std::vector<Matrix>> B(m, std::vector<Matrix>(m));
  for (std::size_t i = 0; i < m; ++i) {
    F.push_back(member(fmt::format("F{}", i)));
    for (std::size_t j = i + 1; j < m; ++j) B[i][j] = member(fmt::format("B{}_{}", i, j));
  }
  return MatchingProblem(F, B, weights);
}

enum class Kind { identity, equal, commuting, general, unequal_ranks };
inline constexpr std::array kKinds = {Kind::identity, Kind::equal, Kind::commuting, Kind::general, Kind::unequal_ranks};
inline const char* name(Kind kind) {
  constexpr std::array names = {"identity", "equal", "commuting", "general", "unequal ranks"};
  return names[static_cast<std::size_t>(kind)];
}

inline Vector uniform(Random& random, Index size, double low, double high) {
  std::uniform_real_distribution<double> numbers(low, high);
  return Vector::NullaryExpr(size, [&] { return numbers(random.generator()); });
}

inline std::vector<Matrix> random_factors(Random& random, Kind kind, Index m, Index k) {
  std::vector<Matrix> F;
  const Matrix U = random.orthonormal(k, k);
  const Vector equal = uniform(random, k, 0.2, 2).cwiseSqrt();
  for (Index i = 0; i < m; ++i) {
    const Matrix V = random.orthonormal(k, k);
    const Vector a = uniform(random, k, 0.2, 2).cwiseSqrt();
    const Index c = kind == Kind::unequal_ranks ? random.integer(1, k) : k;
    if (kind == Kind::identity) F.push_back(V * std::sqrt(a(0)));
    if (kind == Kind::equal) F.push_back(U * equal.asDiagonal() * V);
    if (kind == Kind::commuting) F.push_back(U * a.asDiagonal() * V);
    if (kind == Kind::general || kind == Kind::unequal_ranks)
      F.push_back(random.orthonormal(k, c) * a.head(c).asDiagonal());
  }
  return F;
}

inline Matrix random_weights(Random& random, Index m) {
  const Index graph = random.integer(0, 3);
  if (graph < 3) return graph_weights(graph == 0 ? "full" : graph == 1 ? "path" : fmt::format("star:{}", m), m);
  Matrix w = Matrix::Zero(m, m);
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < i; ++j) w(i, j) = w(j, i) = uniform(random, 1, 0.2, 2)(0);
  }
  return w;
}

// m = 3 … most_domains domains of k … 8 features that share k + 1 hidden causes, or nothing where `latent` is false.
inline MatchingProblem random_problem(std::uint64_t seed, Kind kind, bool latent, Index most_domains = 6) {
  Random random(seed);
  const Index m = random.integer(3, most_domains), k = random.integer(1, 3), n = 200;
  const Matrix causes = random.matrix(k + 1, n);
  std::vector<Matrix> V;
  for (Index i = 0; i < m; ++i) {
    const Index d = random.integer(k, 8);
    const Matrix noise = random.matrix(d, n);
    V.push_back(whitened(latent ? Matrix(random.matrix(d, k + 1) * causes + noise) : noise));
  }
  return MatchingProblem(random_factors(random, kind, m, k), cross_matrices(V), random_weights(random, m));
}

inline Point random_point(Random& random, const MatchingProblem& problem) {
  Point D;
  for (Index i = 0; i < problem.domains(); ++i) {
    D.push_back(random.orthonormal(problem.rank(i), problem.covariance_rank(i)).transpose());
  }
  return D;
}

}  // namespace cgmca::multi::testing
