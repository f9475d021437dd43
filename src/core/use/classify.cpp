#include <cgmca/classify.hpp>
#include <cgmca/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "core/base/thresholds.hpp"
#include "core/linalg/linalg.hpp"

namespace cgmca {
namespace {

void check_labels(const MatrixView& samples, const std::vector<int>& labels) {
  if (samples.cols() == 0) throw InvalidInput("a classifier needs labelled samples; none are given");
  if (samples.cols() == std::ssize(labels)) return;
  throw InvalidInput(fmt::format("{} samples and {} labels; each sample needs one", samples.cols(), labels.size()));
}

void check_queries(Index features, const MatrixView& queries) {
  if (features == queries.rows()) return;
  throw WrongDimension(
      fmt::format("the labelled samples have {} features, those to classify {}", features, queries.rows()));
}

}  // namespace

// ‖q - x‖² = ‖q‖² + ‖x‖² - 2 q·x, about the mean of the samples so that little cancels.
std::vector<int> nearest_neighbour(const MatrixView& samples, const std::vector<int>& labels,
                                   const MatrixView& queries) {
  check_labels(samples, labels);
  check_queries(samples.rows(), queries);
  const Vector mean = samples.rowwise().mean();
  const Matrix X = samples.colwise() - mean;
  const Vector norms = X.colwise().squaredNorm();
  std::vector<int> found;
  found.reserve(queries.cols());
  constexpr Index block = 512;
  for (Index first = 0; first < queries.cols(); first += block) {
    const Index count = std::min(block, queries.cols() - first);
    const Matrix products = linalg::AtB(X, queries.middleCols(first, count).colwise() - mean);
    for (Index j = 0; j < count; ++j) {
      Index nearest = 0;
      (norms - 2 * products.col(j)).minCoeff(&nearest);
      found.push_back(labels[nearest]);
    }
  }
  return found;
}

// W = Yc Xcᵀ (Xc Xcᵀ + λ I)⁻¹ = Yc V diag(s/(s² + λ)) Uᵀ with Xc = U diag(s) Vᵀ, for k above or below m. Without a ridge
// this is the pseudo-inverse. Then directions in which the samples vary by rounding alone are left out.
LinearClassifier::LinearClassifier(const MatrixView& samples, const std::vector<int>& labels, double ridge) {
  check_labels(samples, labels);
  if (!(ridge >= 0)) throw InvalidInput(fmt::format("the ridge of the classifier is {}; it must be 0 or more", ridge));
  classes_ = labels;
  std::sort(classes_.begin(), classes_.end());
  classes_.erase(std::unique(classes_.begin(), classes_.end()), classes_.end());
  Matrix Y = Matrix::Zero(std::ssize(classes_), samples.cols());
  for (Index j = 0; j < samples.cols(); ++j) {
    const auto place = std::lower_bound(classes_.begin(), classes_.end(), labels[j]);
    Y(place - classes_.begin(), j) = 1;
  }
  mean_ = samples.rowwise().mean();
  offset_ = Y.rowwise().mean();
  const linalg::Svd svd = linalg::thin_svd(samples.colwise() - mean_);
  const double lambda = ridge * svd.s.squaredNorm() / static_cast<double>(samples.rows());
  const double size = static_cast<double>(std::max(samples.rows(), samples.cols()));
  const double none = size * thresholds::kEpsilon * (svd.s.size() > 0 ? svd.s(0) : 0);
  const Vector gain = (svd.s.array() > none).select(svd.s.array() / (svd.s.array().square() + lambda), 0.0);
  const Matrix scores = linalg::AB(Y.colwise() - offset_, svd.V);
  weights_ = linalg::ABt(scores * gain.asDiagonal(), svd.U);
}

std::vector<int> LinearClassifier::operator()(const MatrixView& queries) const {
  check_queries(mean_.size(), queries);
  const Matrix scores = linalg::AB(weights_, queries.colwise() - mean_).colwise() + offset_;
  std::vector<int> found;
  found.reserve(queries.cols());
  for (Index j = 0; j < queries.cols(); ++j) {
    Index best = 0;
    scores.col(j).maxCoeff(&best);
    found.push_back(classes_[best]);
  }
  return found;
}

double accuracy(const std::vector<int>& found, const std::vector<int>& expected) {
  if (found.size() != expected.size() || found.empty()) {
    throw InvalidInput(
        fmt::format("{} labels were found, but {} are expected; give as many of each", found.size(), expected.size()));
  }
  Index right = 0;
  for (std::size_t j = 0; j < found.size(); ++j) right += found[j] == expected[j];
  return static_cast<double>(right) / static_cast<double>(found.size());
}

}  // namespace cgmca
