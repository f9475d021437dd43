#include "core/select/tune_multi.hpp"

#include <cgmca/classify.hpp>
#include <cgmca/translate.hpp>

#include <cmath>
#include <limits>

#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

using linalg::AB;
using linalg::ABC;

// ‖x_i - x̂_i‖² / ‖x_i - μ_i‖², summed over the held-out samples.
double translation_error(const Model& model, const HeldOut& held, Domain to) {
  const Translation lmmse = translation(model, model.others(to), to);
  std::vector<SampleView> from;
  for (const Domain j : lmmse.from) from.emplace_back(held.H[j]);
  const Matrix missed = held.H[to] - AB(lmmse.left, AB(lmmse.right, lmmse.stacked(from)));
  return (held.outside[to] + missed.squaredNorm()) / held.total[to];
}

// (1/m) Σ_i A_i y_i
Matrix fused(const Model& model, const std::vector<Matrix>& Y) {
  Matrix sum = Matrix::Zero(model.common_dimension, Y[0].cols());
  for (std::size_t i = 0; i < Y.size(); ++i) {
    sum += ABC(model.domains[i]->mixing, model.domains[i]->weights, Y[i]);
  }
  return sum / static_cast<double>(Y.size());
}

double misclassified(const Matrix& references, const std::vector<int>& known, const Matrix& queries,
                     const std::vector<int>& truth) {
  return 1 - accuracy(nearest_neighbour(references, known, queries), truth);
}

}  // namespace

void add_multi(HeldOut& held, const MatchedLabels& matched, const Directions& training, const Folds& folds,
               Index repeat, Index fold) {
  const Split split = split_of(folds, repeat, fold, folds.samples());
  for (std::size_t i = 0; i < matched.samples.size(); ++i) {
    const auto domain = domain_at(i);
    const Matrix& X = *matched.samples[i];
    held.multi.training.push_back(coordinates(training, domain, X(Eigen::all, split.training)));
    held.multi.held_out.push_back(coordinates(training, domain, X(Eigen::all, split.held_out)));
  }
  held.multi.training_labels = picked(matched.labels, split.training);
  held.multi.held_out_labels = picked(matched.labels, split.held_out);
}

Errors measure_multi(const Model& model, const HeldOut& held, const Matrix& edge_weights) {
  const Index m = model.count();
  std::vector<Matrix> Z;
  double apart = 0, spread = 0, missed = 0;
  for (Index i = 0; i < m; ++i) {
    const DomainMap& map = *model.domains[i];
    Z.push_back(ABC(map.mixing, map.weights, held.H[i]));
    for (Index j = 0; j < i; ++j) {
      apart += edge_weights(i, j) * (Z[i] - Z[j]).squaredNorm();
    }
    spread += edge_weights.row(i).sum() * map.mixing.squaredNorm();
    missed += translation_error(model, held, domain_at(i));
  }
  Errors errors;
  errors.fill(std::numeric_limits<double>::quiet_NaN());
  error_of(errors, Criterion::distance) = apart / held.samples / spread;
  error_of(errors, Criterion::translation) = missed / static_cast<double>(m);
  if (const MultiLabels& labelled = held.multi; !labelled.held_out_labels.empty()) {
    error_of(errors, Criterion::classification) =
        misclassified(fused(model, labelled.training), labelled.training_labels, fused(model, labelled.held_out),
                      labelled.held_out_labels);
  }
  return errors;
}

MultiWithoutMap classify_without_map(const MatchedLabels& matched, const Folds& folds, const Directions& directions,
                                     Index repeat, Index fold) {
  const Split split = split_of(folds, repeat, fold, folds.samples());
  const std::vector<int> known = picked(matched.labels, split.training), truth = picked(matched.labels, split.held_out);
  Index features = 0;
  for (const Matrix* X : matched.samples) features += X->rows();
  Matrix references(features, std::ssize(split.training)), queries(features, std::ssize(split.held_out));
  MultiWithoutMap result;
  Index row = 0;
  for (std::size_t i = 0; i < matched.samples.size(); ++i) {
    const Matrix X = directions.scaled(*matched.samples[i], domain_at(i));
    const Matrix training = X(Eigen::all, split.training), asked = X(Eigen::all, split.held_out);
    result.single.push_back(misclassified(training, known, asked, truth));
    const double size = (training.colwise() - training.rowwise().mean()).norm();
    references.middleRows(row, X.rows()) = training / size;
    queries.middleRows(row, X.rows()) = asked / size;
    row += X.rows();
  }
  result.stacked = misclassified(references, known, queries, truth);
  return result;
}

}  // namespace cgmca
