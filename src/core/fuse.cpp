#include <cgmca/error.hpp>
#include <cgmca/fuse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "linalg/linalg.hpp"
#include "thresholds.hpp"

namespace cgmca {
namespace {

using linalg::AB;

using Presence = std::vector<bool>;  // of each domain

// Cov(t_i, t_j) of the canonical scores, as the model has it: I of a domain's own, the correlations between two.
Matrix score_covariance(const Model& model, std::size_t i, std::size_t j) {
  Matrix R = Matrix::Zero(model.domains[i]->scores(), model.domains[j]->scores());
  if (i == j) {
    R.setIdentity();
  } else {
    const Vector& s = model.certificate.singular_B;
    const Index m = std::min({R.rows(), R.cols(), s.size()});
    R.topLeftCorner(m, m).diagonal() = s.head(m);
  }
  return R;
}

// K⁺ X for a covariance K.
Matrix divided_by(const Matrix& K, const Matrix& X) {
  const auto [values, Q] = linalg::symmetric_eigen(K);
  const double smallest = static_cast<double>(K.rows()) * thresholds::kEpsilon * values(0);
  const Vector inverse = (values.array() > smallest).select(values.array().inverse(), 0.0);
  return AB(Q, inverse.asDiagonal() * linalg::AtB(Q, X));
}

// E[(1/m) Σ_i z_i | t_J] = (1/m) Σ_i M_i E[t_i | t_J],   E[t_i | t_J] = Cov(t_i, t_J) Cov(t_J)⁺ t_J (31)
Matrix estimate(const Model& model, const Presence& present, const std::vector<Matrix>& scores) {
  std::vector<std::size_t> given;
  Index height = 0;
  for (std::size_t j = 0; j < present.size(); ++j) {
    if (!present[j]) continue;
    given.push_back(j);
    height += scores[j].rows();
  }
  Matrix t(height, scores[given.front()].cols()), K(height, height);
  Index row = 0;
  for (const std::size_t j : given) {
    t.middleRows(row, scores[j].rows()) = scores[j];
    Index column = 0;
    for (const std::size_t l : given) {
      K.block(row, column, scores[j].rows(), scores[l].rows()) = score_covariance(model, j, l);
      column += scores[l].rows();
    }
    row += scores[j].rows();
  }
  Matrix sum = Matrix::Zero(model.common_dimension, t.cols()), solved;
  for (std::size_t i = 0; i < present.size(); ++i) {
    const Matrix& M = model.domain(static_cast<Domain>(i + 1)).mixing;
    if (present[i]) {
      sum += AB(M, scores[i]);
      continue;
    }
    if (solved.size() == 0) solved = divided_by(K, t);
    Matrix cross(model.domains[i]->scores(), height);
    Index column = 0;
    for (const std::size_t j : given) {
      cross.middleCols(column, scores[j].rows()) = score_covariance(model, i, j);
      column += scores[j].rows();
    }
    sum += AB(M, AB(cross, solved));
  }
  return sum / static_cast<double>(present.size());
}

Matrix mean(const Model& model, const Presence& present, const std::vector<Matrix>& scores) {
  Matrix sum;
  for (std::size_t j = 0; j < present.size(); ++j) {
    if (!present[j]) continue;
    const Matrix Z = AB(model.domains[j]->mixing, scores[j]);
    sum = sum.size() == 0 ? Z : Matrix(sum + Z);
  }
  return sum / static_cast<double>(std::count(present.begin(), present.end(), true));
}

void check(const Model& model, const std::vector<DomainSamples>& present) {
  if (present.empty()) throw InvalidInput("a fusion needs samples of at least one domain");
  Presence seen(model.domains.size());
  for (const DomainSamples& samples : present) {
    if (number(samples.domain) < 1 || static_cast<std::size_t>(number(samples.domain)) > seen.size()) {
      throw MissingDomain(fmt::format("the model has no domain {}", number(samples.domain)));
    }
    if (seen[slot(samples.domain)]) throw InvalidInput(fmt::format("domain {} is given twice", number(samples.domain)));
    seen[slot(samples.domain)] = true;
    model.domain(samples.domain).check_features(samples.domain, samples.X);
    if (samples.X.cols() == present.front().X.cols()) continue;
    throw UnequalSamples(fmt::format("{} samples of domain {}, {} of domain {}; they must match one to one",
                                     present.front().X.cols(), number(present.front().domain), samples.X.cols(),
                                     number(samples.domain)));
  }
}

// Whether sample j has this domain: NaN says that it has not. Infinity is a mistake of the data.
bool is_present(const DomainSamples& samples, Index j) {
  const auto x = samples.X.col(j);
  if (x.hasNaN()) return false;
  if (x.allFinite()) return true;
  Index feature = 0;
  x.cwiseAbs().maxCoeff(&feature);
  throw NotFinite(fmt::format("domain {} holds infinity at sample {}, feature {} (counted from 0)",
                              number(samples.domain), j, feature),
                  j, feature);
}

// The samples by which domains they have.
std::map<Presence, std::vector<Index>> by_presence(const Model& model, const std::vector<DomainSamples>& given) {
  std::map<Presence, std::vector<Index>> groups;
  for (Index j = 0; j < given.front().X.cols(); ++j) {
    Presence present(model.domains.size());
    for (const DomainSamples& samples : given) present[slot(samples.domain)] = is_present(samples, j);
    groups[present].push_back(j);
  }
  return groups;
}

}  // namespace

const char* name(Fusion how) { return how == Fusion::estimate ? "estimate" : "mean"; }

Matrix fuse(const Model& model, const std::vector<DomainSamples>& given, Fusion how) {
  check(model, given);
  Matrix Z(model.common_dimension, given.front().X.cols());
  for (const auto& [present, columns] : by_presence(model, given)) {
    if (std::count(present.begin(), present.end(), true) == 0) {
      throw InvalidInput(fmt::format("{} sample{} no domain without NaN; the first is sample {} (counted from 0)",
                                     columns.size(), columns.size() == 1 ? " has" : "s have", columns.front()));
    }
    std::vector<Matrix> scores(present.size());
    for (const DomainSamples& samples : given) {
      const DomainMap& map = model.domain(samples.domain);
      if (!present[slot(samples.domain)]) continue;
      scores[slot(samples.domain)] = AB(map.weights, samples.X(Eigen::all, columns).colwise() - map.mean);
    }
    Z(Eigen::all, columns) = how == Fusion::mean ? mean(model, present, scores) : estimate(model, present, scores);
  }
  return Z;
}

}  // namespace cgmca
