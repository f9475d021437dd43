#include "testing.hpp"

#include <Eigen/QR>

#include <algorithm>
#include <cstdlib>

namespace cgmca::testing {

std::string in_repository(const std::string& name) { return std::string(CGMCA_SOURCE_DIR) + "/" + name; }
std::string fixture(const std::string& name) { return in_repository("tests/fixtures/" + name); }

std::string shared(const std::string& name) { return in_repository("../shared/" + name); }

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "cgmca-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}
TemporaryFolder::~TemporaryFolder() { std::filesystem::remove_all(path_); }

Matrix Random::matrix(Index rows, Index columns) {
  return Matrix::NullaryExpr(rows, columns, [&] { return normal(); });
}
Matrix Random::orthonormal(Index rows, Index columns) {
  return Matrix(matrix(rows, columns).householderQr().householderQ() * Matrix::Identity(rows, columns));
}

Pairs random_pairs(Random& random, Index d1, Index d2, Index n, double noise) {
  const Index hidden = std::max<Index>(1, std::min(d1, d2) / 2 + 1);
  const Matrix causes = random.matrix(hidden, n);
  return {random.matrix(d1, hidden) * causes + noise * random.matrix(d1, n),
          random.matrix(d2, hidden) * causes + noise * random.matrix(d2, n)};
}

Matrix centred(const Matrix& X) { return X.colwise() - X.rowwise().mean(); }
Matrix sample_covariance(const Matrix& X) {
  const Matrix Xc = centred(X);
  return Xc * Xc.transpose() / static_cast<double>(X.cols() - 1);
}
double mean_squared_distance(const Matrix& Z1, const Matrix& Z2) {
  return (Z1 - Z2).squaredNorm() / static_cast<double>(Z1.cols());
}

double relative(const Matrix& found, const Matrix& expected) {
  return (found - expected).norm() / std::max(expected.norm(), 1e-300);
}

}  // namespace cgmca::testing
