// What the tests on a GPU share.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/linalg/device.hpp"
#include "testing.hpp"

namespace cgmca::testing {

#define CGMCA_NEEDS_GPU()                                        \
  if (const DeviceReport found = cuda_device(); !found.usable) { \
    GTEST_SKIP() << "needs a GPU: " << found.description;        \
  }

// Arrays as NumPy writes them, doubles or bytes, as d×n: their rows are our columns. (The core has no readers of
// files.)
inline Matrix read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InvalidInput("cannot open " + path);
  std::string magic(8, '\0');
  file.read(magic.data(), 8);
  unsigned char size[2] = {};
  file.read(reinterpret_cast<char*>(size), 2);
  std::string header(static_cast<std::size_t>(size[0] + 256 * size[1]), '\0');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  std::istringstream shape(header.substr(header.find('(') + 1));
  Index n = 0, d = 1;
  char comma = 0;
  shape >> n >> comma >> d;
  if (d < 1) d = 1;
  const bool by_columns = header.find("'fortran_order': True") != std::string::npos;
  Matrix result(by_columns ? n : d, by_columns ? d : n);
  if (header.find("u1") != std::string::npos) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(result.size()));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    for (Index k = 0; k < result.size(); ++k) result.data()[k] = bytes[k];
  } else {
    file.read(reinterpret_cast<char*>(result.data()), static_cast<std::streamsize>(sizeof(double)) * result.size());
  }
  return by_columns ? Matrix(result.transpose()) : result;
}

// Ranks, forms of the answer, maps and proof agree.
inline void expect_same_answer(const Model& gpu, const Model& cpu, double tolerance = 1e-9) {
  ASSERT_EQ(gpu.count(), cpu.count());
  EXPECT_EQ(gpu.samples, cpu.samples);
  EXPECT_EQ(gpu.certificate.ranks, cpu.certificate.ranks);
  EXPECT_EQ(gpu.certificate.covariance_ranks, cpu.certificate.covariance_ranks);
  for (int i = 1; i <= static_cast<int>(cpu.count()); ++i) {
    const DomainMap &found = gpu.domain(Domain{i}), &expected = cpu.domain(Domain{i});
    EXPECT_LE(relative(found.mean, expected.mean), tolerance) << "domain " << i;
    EXPECT_LE(relative(found.matrix(), expected.matrix()), tolerance) << "domain " << i;
    EXPECT_LE(relative(found.offset(), expected.offset()), tolerance) << "domain " << i;
    EXPECT_LE(relative(found.loadings.leftCols(expected.scores()), expected.loadings.leftCols(expected.scores())),
              tolerance)
        << "domain " << i;
    EXPECT_LE(gpu.certificate.constraint_residuals[i - 1], 1e-10) << "domain " << i;
  }
  const double scale = std::abs(cpu.certificate.covariance_trace);
  EXPECT_NEAR(gpu.certificate.objective, cpu.certificate.objective, tolerance * scale);
  EXPECT_NEAR(gpu.certificate.bound, cpu.certificate.bound, tolerance * scale);
}

}  // namespace cgmca::testing
