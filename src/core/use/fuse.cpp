#include <cgmca/error.hpp>
#include <cgmca/fuse.hpp>

#include <algorithm>

#include "core/linalg/linalg.hpp"
#include "core/use/translate_scores.hpp"

namespace cgmca {
namespace {

using linalg::AB;

// E[(1/m) Σ_i z_i | t_J] = (1/m) Σ_i M_i E[t_i | t_J],   E[t_i | t_J] = Cov(t_i, t_J) Cov(t_J)⁺ t_J (31)
Matrix estimate(const Model& model, const std::vector<Domain>& J, const std::vector<Matrix>& scores) {
  Index height = 0;
  for (const Matrix& t_j : scores) height += t_j.rows();
  Matrix t(height, scores.front().cols());
  Index row = 0;
  for (const Matrix& t_j : scores) {
    t.middleRows(row, t_j.rows()) = t_j;
    row += t_j.rows();
  }
  Matrix sum = Matrix::Zero(model.common_dimension, t.cols()), solved;
  for (int number = 1; number <= static_cast<int>(model.count()); ++number) {
    const Domain i{number};
    const Matrix& M = model.domain(i).mixing;
    const auto place = std::find(J.begin(), J.end(), i);
    if (place != J.end()) {
      sum += AB(M, scores[place - J.begin()]);
      continue;
    }
    if (solved.size() == 0) solved = divided_by(joint_covariance(model, J), t);
    Matrix cross(M.cols(), height);
    Index column = 0;
    for (const Domain j : J) {
      const Matrix R = model.score_covariance(i, j);
      cross.middleCols(column, R.cols()) = R;
      column += R.cols();
    }
    sum += AB(M, AB(cross, solved));
  }
  return sum / static_cast<double>(model.count());
}

Matrix mean(const Model& model, const std::vector<Domain>& J, const std::vector<Matrix>& scores) {
  Matrix sum = AB(model.domain(J[0]).mixing, scores[0]);
  for (std::size_t j = 1; j < J.size(); ++j) sum += AB(model.domain(J[j]).mixing, scores[j]);
  return sum / static_cast<double>(J.size());
}

}  // namespace

const char* name(Fusion how) { return how == Fusion::estimate ? "estimate" : "mean"; }

Matrix fuse(const Model& model, const std::vector<DomainSamples>& given, Fusion how) {
  if (given.empty()) throw InvalidInput("a fusion needs samples of at least one domain");
  check_present(model, given);
  Matrix Z(model.common_dimension, given.front().X().cols());
  for (const auto& [J, columns] : by_presence(given)) {
    std::vector<Matrix> scores;
    for (const Domain j : J) {
      const DomainMap map = model.with_nuisance(j);
      const auto samples = std::find_if(given.begin(), given.end(), [j](const auto& one) { return one.domain == j; });
      scores.push_back(AB(map.weights, samples->X()(Eigen::all, columns).colwise() - map.mean));
    }
    Z(Eigen::all, columns) = how == Fusion::mean ? mean(model, J, scores) : estimate(model, J, scores);
  }
  return Z;
}

}  // namespace cgmca
