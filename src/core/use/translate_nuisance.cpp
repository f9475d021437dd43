#include "core/use/translate_nuisance.hpp"

#include <utility>

#include "core/linalg/linalg.hpp"

namespace cgmca {

using linalg::AB;

void add_nuisance(Translation& result, const Model& model, Domain to) {
  const Index q = model.nuisance_values(), d = result.mean_from.size(), c = result.right.rows();
  if (q == 0) return;
  const Nuisance& nuisance = *model.nuisance;
  Matrix effects(d, q);
  Index row = 0;
  for (const Domain j : result.from) {
    const Matrix& own = nuisance.effects[j];
    effects.middleRows(row, own.rows()) = own;
    row += own.rows();
  }
  Matrix right = Matrix::Zero(c + q, d + q), left(result.left.rows(), c + q);
  right.topRows(c) << result.right, -AB(result.right, effects);
  right.bottomRightCorner(q, q).setIdentity();
  left << result.left, nuisance.effects[to];
  result.right = std::move(right);
  result.left = std::move(left);
  result.features_from.push_back(q);
  result.mean_from.conservativeResize(d + q);
  result.mean_from.tail(q) = nuisance.mean;
  if (result.errors.G.size() == 0) return;
  Matrix G = Matrix::Zero(c + q, c + q);
  G.topLeftCorner(c, c) = result.errors.G;
  G.bottomRightCorner(q, q) = (model.free_weight() - 1) / (model.total_weight - 1) * nuisance.inverse;
  result.errors.G = std::move(G);
}

}  // namespace cgmca
