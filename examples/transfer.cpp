// Train on one domain, classify the other: 500 labelled simulations of 200 features, 40 of them with a matched
// measurement, 1,000 measurements to name.
//
// Few pairs, many features: the plain fit is saturated, so rank, max_rank and ridge are tuned by cross-validation over
// the matched pairs. Nothing of the measurements to name is used before the end.
#include <cgmca/cgmca.hpp>

#include <fmt/format.h>

#include <random>

namespace {

using cgmca::Domain;
using cgmca::Index;
using cgmca::Matrix;

struct World {
  std::mt19937_64 generator{1};
  Matrix centres = gaussian(8, 6), simulated = gaussian(200, 8), measured = gaussian(200, 8);

  Matrix gaussian(Index rows, Index columns) {
    std::normal_distribution<double> normal;
    return Matrix::NullaryExpr(rows, columns, [&] { return normal(generator); });
  }

  // n things of six kinds, simulated and measured: 200 features each, from the same eight causes but by other ways.
  struct Things {
    Matrix X1, X2;
    std::vector<int> labels;
  };
  Things draw(Index n) {
    Things things;
    Matrix causes = 0.6 * gaussian(8, n);
    for (Index j = 0; j < n; ++j) {
      things.labels.push_back(static_cast<int>(j % 6));
      causes.col(j) += centres.col(j % 6);
    }
    things.X1 = simulated * causes + 0.5 * gaussian(200, n);
    things.X2 = measured * causes + 5.0 * gaussian(200, n);
    return things;
  }
};

}  // namespace

int main() {
  World world;
  const World::Things known = world.draw(500), unknown = world.draw(1000);
  const Index matched = 40;
  const Matrix pairs1 = known.X1.leftCols(matched), pairs2 = known.X2.leftCols(matched);
  const std::vector<int> pair_labels(known.labels.begin(), known.labels.begin() + matched);

  // 1. Tune over the matched pairs.
  cgmca::Folds folds({pairs1.rows(), pairs2.rows()}, {.folds = 5, .repeats = 2});
  folds.add(pairs1, pairs2);
  cgmca::TuneOptions options;
  options.families = {cgmca::Family::identity, cgmca::Family::correlation};
  options.labels = {&pairs1, pair_labels, &pairs2, pair_labels};
  const cgmca::TuneResult tuned = cgmca::tune(folds, options);
  fmt::print("chosen by cross-validation: {}\n", tuned.choice().description());

  // 2. Fit, and map both domains into the common space.
  const auto share = [&](const cgmca::Model& model) {
    const Matrix train = cgmca::apply(model, Domain::one, known.X1);
    const Matrix test = cgmca::apply(model, Domain::two, unknown.X2);
    return cgmca::accuracy(cgmca::nearest_neighbour(train, known.labels, test), unknown.labels);
  };
  const cgmca::Model model = cgmca::fit(folds.all(), tuned.choice());

  // 3. Classify. Beside it: the plain fit, and only the matched measurements.
  const cgmca::Covariance plain = cgmca::Covariance::largest_identity();
  const double only_matched =
      cgmca::accuracy(cgmca::nearest_neighbour(pairs2, pair_labels, unknown.X2), unknown.labels);
  fmt::print("named right: tuned {:.3f}, plain fit {:.3f}, matched measurements alone {:.3f}, guessing {:.3f}\n",
             share(model), share(cgmca::fit(folds.all(), plain, plain)), only_matched, 1.0 / 6);
  return share(model) > only_matched ? 0 : 1;
}
