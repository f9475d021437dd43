// What several tests need.
#pragma once

#include <gtest/gtest.h>
#include <Eigen/QR>
#include <cgmca/cgmca.hpp>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

namespace cgmca::testing {

// Files that are part of the repository.
inline std::string fixture(const std::string& name) {
  return std::string(CGMCA_SOURCE_DIR) + "/tests/fixtures/" + name;
}

// Data beside the checkout that is not part of the repository; tests that need it skip where it is absent.
inline std::string shared(const std::string& name) { return std::string(CGMCA_SOURCE_DIR) + "/../shared/" + name; }

#define CGMCA_NEEDS_SHARED(name)                                     \
  if (!std::filesystem::exists(::cgmca::testing::shared(name))) {    \
    GTEST_SKIP() << "needs ../shared/" << (name) << ", not present"; \
  }

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cgmca-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  double normal() { return normal_(generator_); }
  Index integer(Index low, Index high) { return std::uniform_int_distribution<Index>(low, high)(generator_); }
  bool coin() { return integer(0, 1) == 1; }
  Matrix matrix(Index rows, Index columns) {
    return Matrix::NullaryExpr(rows, columns, [&] { return normal(); });
  }
  Matrix orthonormal(Index rows, Index columns) {  // columns <= rows
    return Matrix(matrix(rows, columns).householderQr().householderQ() * Matrix::Identity(rows, columns));
  }
  std::mt19937_64& generator() { return generator_; }

 private:
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
};

// Matched pairs that share some hidden causes.   X1: d1×n of rank at most rank1, X2: d2×n
struct Pairs {
  Matrix X1, X2;
};
inline Pairs random_pairs(Random& random, Index d1, Index d2, Index n, double noise = 0.3) {
  const Index hidden = std::max<Index>(1, std::min(d1, d2) / 2 + 1);
  const Matrix causes = random.matrix(hidden, n);
  return {random.matrix(d1, hidden) * causes + noise * random.matrix(d1, n),
          random.matrix(d2, hidden) * causes + noise * random.matrix(d2, n)};
}

// The textbook quantities, computed directly.
inline Matrix centred(const Matrix& X) { return X.colwise() - X.rowwise().mean(); }
inline Matrix sample_covariance(const Matrix& X) {
  const Matrix Xc = centred(X);
  return Xc * Xc.transpose() / static_cast<double>(X.cols() - 1);
}
inline double mean_squared_distance(const Matrix& Z1, const Matrix& Z2) {
  return (Z1 - Z2).squaredNorm() / static_cast<double>(Z1.cols());
}

inline double relative(const Matrix& found, const Matrix& expected) {
  return (found - expected).norm() / std::max(expected.norm(), 1e-300);
}

}  // namespace cgmca::testing
