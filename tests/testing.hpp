// What several tests need. In testing.cpp, so that it is compiled once.
#pragma once

#include <gtest/gtest.h>
#include <cgmca/cgmca.hpp>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

namespace cgmca::testing {

// Files that are part of the repository: any, and those of tests/fixtures.
std::string in_repository(const std::string& name);
std::string fixture(const std::string& name);

// Data beside the checkout that is not part of the repository; tests that need it skip where it is absent.
std::string shared(const std::string& name);

#define CGMCA_NEEDS_SHARED(name)                                     \
  if (!std::filesystem::exists(::cgmca::testing::shared(name))) {    \
    GTEST_SKIP() << "needs ../shared/" << (name) << ", not present"; \
  }

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
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
  Matrix matrix(Index rows, Index columns);
  Matrix orthonormal(Index rows, Index columns);  // columns <= rows
  std::mt19937_64& generator() { return generator_; }

 private:
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_;
};

// Matched pairs that share some hidden causes.   X1: d1×n of rank at most rank1, X2: d2×n
struct Pairs {
  Matrix X1, X2;
};
Pairs random_pairs(Random& random, Index d1, Index d2, Index n, double noise = 0.3);

// The textbook quantities, computed directly.
Matrix centred(const Matrix& X);
Matrix sample_covariance(const Matrix& X);
double mean_squared_distance(const Matrix& Z1, const Matrix& Z2);

double relative(const Matrix& found, const Matrix& expected);  // ‖found - expected‖ / ‖expected‖

}  // namespace cgmca::testing
