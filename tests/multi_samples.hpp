// Samples of several domains for the tests of fits and of what is done with them.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing.hpp"

namespace cgmca::testing {

inline std::string oracle(const std::string& name) { return fixture("oracle/multi/" + name); }

struct Case {
  std::vector<Matrix> X;
  std::vector<Covariance> covariances;
  Matrix weights;
  double objective;
};

inline Case read_case(const std::string& name) {
  std::ifstream in(oracle(name + ".json"));
  const nlohmann::json answer = nlohmann::json::parse(in);
  const auto m = answer["domains"].get<Index>();
  Case result{{}, {}, Matrix(m, m), answer["objective"]};
  for (Index i = 0; i < m; ++i) {
    const auto place = static_cast<std::size_t>(i);
    result.X.push_back(read(oracle(fmt::format("{}.x{}.npy", name, i + 1))));
    const std::string spec = answer["cov"][place];
    const std::string value = spec.substr(spec.find(':') + 1);
    result.covariances.push_back(spec.starts_with("identity") ? Covariance::identity(std::stol(value))
                                                              : Covariance::matrix(read(oracle(value))));
    for (Index j = 0; j < m; ++j) result.weights(i, j) = answer["weights"][place][j];
  }
  return result;
}

// The largest part by which a map of one model differs from the other's.
inline double apart(const Model& one, const Model& two, const std::vector<std::size_t>& order = {}) {
  double most = 0;
  for (std::size_t i = 0; i < one.domains.size(); ++i) {
    const DomainMap &a = *one.domains[i], &b = *two.domains[order.empty() ? i : order[i]];
    most = std::max(most, relative(a.matrix(), b.matrix()));
  }
  return most;
}

inline MatchedSamples matched(const std::vector<Matrix>& X) {
  MatchedSamples result;
  for (const Matrix& one : X) result.emplace_back(one);
  return result;
}

// m domains that share hidden causes of different strengths.
inline std::vector<Matrix> random_domains(std::uint64_t seed, const std::vector<Index>& features, Index n) {
  Random random(seed);
  const Matrix causes = Vector::LinSpaced(3, 2, 1).asDiagonal() * random.matrix(3, n);
  std::vector<Matrix> domains;
  for (const Index d : features) {
    domains.push_back((random.matrix(d, 3) * causes + 0.5 * random.matrix(d, n)).colwise() +
                      3 * random.matrix(d, 1).col(0));
  }
  return domains;
}

inline Summary summarize(const std::vector<Matrix>& X, Accumulate accumulate, Index block = 1 << 20) {
  std::vector<DomainInfo> info;
  for (const Matrix& one : X) info.emplace_back(one.rows());
  Summary summary(info, accumulate);
  for (Index first = 0; first < X[0].cols(); first += block) {
    MatchedSamples part;
    for (const Matrix& one : X) part.emplace_back(one.middleCols(first, std::min(block, one.cols() - first)));
    summary.add(part);
  }
  return summary;
}

// (1/n) Σ_s Σ_{i<j} w_ij ‖z_is - z_js‖², of the maps alone.
inline double objective_of(const Model& model, const std::vector<Matrix>& X) {
  double sum = 0;
  for (std::size_t i = 0; i < X.size(); ++i) {
    for (std::size_t j = i + 1; j < X.size(); ++j) {
      const double weight = model.certificate.edge_weights(static_cast<Index>(i), static_cast<Index>(j));
      sum += weight * mean_squared_distance(apply(model, domain_at(i), X[i]), apply(model, domain_at(j), X[j]));
    }
  }
  return sum;
}

template <class Problem = InvalidInput>
std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Problem& problem) {
    return problem.what();
  }
  return "nothing was thrown";
}

}  // namespace cgmca::testing
