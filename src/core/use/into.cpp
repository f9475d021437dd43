#include <cgmca/error.hpp>
#include <cgmca/into.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/base/distributions.hpp"
#include "core/linalg/one_sample.hpp"

namespace cgmca {
namespace {

void check_shapes(const MatrixView& X, Index features, const Eigen::Ref<Matrix>& Y, Index results) {
  if (X.rows() == features && Y.rows() == results && Y.cols() == X.cols()) return;
  throw WrongDimension(fmt::format("a map of {} features to {} numbers; the samples are {}×{}, room is for {}×{}",
                                   features, results, X.rows(), X.cols(), Y.rows(), Y.cols()));
}

// Throws where a translation has no standard errors.
void check_errors(const Translation& map) {
  if (map.errors.scale.size() == 0) map.standard_errors(Matrix(map.mean_from.size(), 0));
}

// E = factor s (1 + 1/n + tᵀ G t/(n-1))^½ of each sample.                                                  (29) (42)
void spread_into(const Translation& map, double factor, const MatrixView& X, Eigen::Ref<Matrix> E) {
  check_errors(map);
  check_shapes(X, map.mean_from.size(), E, map.mean_to.size());
  const double n = map.errors.total_weight;
  for (Index first = 0; first < X.cols(); first += linalg::kBlock) {
    const Index count = std::min(linalg::kBlock, X.cols() - first);
    const auto [t, Gt] = linalg::scores_and_product(map.right, map.mean_from, map.errors.G, X.middleCols(first, count));
    for (Index j = 0; j < count; ++j) {
      const double spread =
          std::sqrt(1 + 1 / map.errors.mean_weight + t.col(j).cwiseProduct(Gt.col(j)).sum() / (n - 1));
      E.col(first + j) = (factor * map.errors.scale) * spread;
    }
  }
}

}  // namespace

void apply_block_into(const Model& model, Domain domain, const MatrixView& X, Eigen::Ref<Matrix> Z) {
  model.check_features(domain, X.rows());
  std::optional<DomainMap> longer;
  if (model.nuisance_values() > 0) longer = model.with_nuisance(domain);
  const DomainMap& map = longer ? *longer : model.domain(domain);
  check_shapes(X, map.mean.size(), Z, map.mixing.rows());
  static const Vector none;
  linalg::affine_block_into(map.mixing, map.weights, map.mean, none, X, Z);
}

void translate_block_into(const Translation& map, const MatrixView& X, Eigen::Ref<Matrix> Y) {
  check_shapes(X, map.mean_from.size(), Y, map.mean_to.size());
  linalg::affine_block_into(map.left, map.right, map.mean_from, map.mean_to, X, Y);
  if (map.identity) Y += X.colwise() - map.mean_from;
}

void standard_errors_block_into(const Translation& map, const MatrixView& X, Eigen::Ref<Matrix> E) {
  spread_into(map, 1, X, E);
}

void half_widths_block_into(const Translation& map, const MatrixView& X, double probability, Eigen::Ref<Matrix> W) {
  if (!(probability > 0 && probability < 1)) {
    throw InvalidInput(fmt::format("an interval of probability {}; give one between 0 and 1", probability));
  }
  check_errors(map);
  spread_into(map, student_quantile((1 + probability) / 2, map.errors.degrees), X, W);
}

}  // namespace cgmca
